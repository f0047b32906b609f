// The strip: every decision so far with all its actions, and the cards between them. Each part can be clicked.

import { actionClasses, actionName } from "./actions.js";
import { bigBlinds, card, cardsOf, el, percent } from "./dom.js";

const PUBLIC = { preflop: 0, flop: 3, turn: 4, river: 5 };

function step(data, bigBlind, go) {
  const classes = actionClasses(data.actions.map((action) => action.label));
  const list = data.actions.map((action, index) =>
    el(
      "button",
      {
        type: "button",
        class: `choice ${index === data.taken ? "taken" : ""}`,
        "aria-pressed": String(index === data.taken),
        onclick: () => go({ line: action.next, board: data.board }),
      },
      el("i", { class: `swatch ${classes[index]}` }),
      el("span", {}, actionName(action.label, bigBlind)),
      el("small", {}, action.frequency === null ? "" : percent(action.frequency, 0)),
    ),
  );
  return el(
    "div",
    { class: "step" },
    el(
      "button",
      { type: "button", class: "head", title: "Go back to this decision", onclick: () => go({ line: data.line, board: data.board }) },
      el("b", {}, data.seat.toUpperCase()),
      el("span", {}, bigBlinds(data.pot, bigBlind)),
    ),
    ...list,
  );
}

function deal(street, board, line, go) {
  const shown = cardsOf(board).slice(PUBLIC[street] === 3 ? 0 : PUBLIC[street] - 1, PUBLIC[street]);
  const before = cardsOf(board).slice(0, PUBLIC[street] === 3 ? 0 : PUBLIC[street] - 1).join("");
  return el(
    "button",
    { type: "button", class: "step deal", title: `Choose another ${street}`, onclick: () => go({ line, board: before }) },
    el("b", {}, street),
    el("span", { class: "cards" }, shown.map(card)),
  );
}

export function drawStrip(root, node, go) {
  const parts = [];
  let street = "preflop";
  let closing = "";
  const first = node.history.length ? node.history[0].street : node.street;
  if (first !== "preflop") street = first;
  const enter = (next, line) => {
    const order = ["preflop", "flop", "turn", "river"];
    while (street !== next) {
      street = order[order.indexOf(street) + 1];
      parts.push(deal(street, node.board, line, go));
    }
  };
  for (const data of node.history) {
    enter(data.street, closing);
    parts.push(step(data, node.big_blind, go));
    closing = data.actions[data.taken].next;
  }
  if (node.kind === "decision" || node.kind === "unsolved") enter(node.street, closing);
  const now =
    node.kind === "decision"
      ? step({ ...node, taken: -1 }, node.big_blind, go)
      : el("div", { class: "step" }, el("span", { class: "waits" }, { deal: "cards to come", unsolved: "to be solved" }[node.kind] || "the hand is over"));
  now.classList.add("now");
  parts.push(now);
  root.replaceChildren(...parts);
  root.scrollLeft = root.scrollWidth;
}

// Where a step back leads: the last decision, or the cards before it.
export function stepBack(node) {
  const last = node.history[node.history.length - 1];
  if (!last) return null;
  return { line: last.line, board: last.board };
}
