// Choosing the flop, the turn or the river: a deck in which cards that are gone are grey.

import { card, cardsOf, el } from "./dom.js";

const RANKS = "AKQJT98765432";
const SUITS = "shdc";

export function drawChooser(root, node, go) {
  const gone = new Set(cardsOf(node.board));
  const chosen = [];
  const name = { 3: "flop", 1: gone.size === 3 ? "turn" : "river" }[node.cards_needed] || "cards";
  const title = el("h2", {}, `Choose the ${name}`);
  const hint = el("p", { class: "hint", "aria-live": "polite" });
  const finish = () => go({ line: node.line, board: node.board + chosen.join("") });
  const buttons = new Map();

  function refresh() {
    hint.replaceChildren(
      ...(chosen.length ? [el("span", { class: "cards" }, chosen.map(card)), ` ${node.cards_needed - chosen.length} more`] : [`${node.cards_needed} ${node.cards_needed > 1 ? "cards" : "card"}, or any at random`]),
    );
    for (const [text, button] of buttons) button.setAttribute("aria-pressed", String(chosen.includes(text)));
  }

  function choose(text) {
    const place = chosen.indexOf(text);
    if (place >= 0) chosen.splice(place, 1);
    else chosen.push(text);
    if (chosen.length === node.cards_needed) finish();
    else refresh();
  }

  function random() {
    if (node.known_boards) {
      go({ line: node.line, board: node.known_boards[Math.floor(Math.random() * node.known_boards.length)] });
      return;
    }
    const deck = [...buttons.keys()].filter((text) => !gone.has(text) && !chosen.includes(text));
    while (chosen.length < node.cards_needed) chosen.push(...deck.splice(Math.floor(Math.random() * deck.length), 1));
    finish();
  }

  const rows = [...SUITS].map((suit) =>
    el(
      "div",
      { class: "deck-row" },
      [...RANKS].map((rank) => {
        const text = rank + suit;
        const button = el(
          "button",
          { type: "button", class: "deck-card", disabled: gone.has(text), "data-card": text, "aria-label": text, onclick: () => choose(text) },
          card(text),
        );
        buttons.set(text, button);
        return button;
      }),
    ),
  );
  const typical = node.known_boards
    ? el(
        "div",
        { class: "typical" },
        el("p", { class: "hint" }, "This source knows typical boards only:"),
        el("div", { class: "tools" }, node.known_boards.slice(0, 60).map((board) => el("button", { type: "button", class: "plain", "data-board": board, onclick: () => go({ line: node.line, board }) }, el("span", { class: "cards" }, cardsOf(board.slice(node.board.length)).map(card))))),
      )
    : null;
  root.replaceChildren(title, hint, el("div", { class: "deck" }, rows), el("button", { type: "button", class: "plain", id: "random-cards", onclick: random }, "Random"), ...(typical ? [typical] : []));
  refresh();
}
