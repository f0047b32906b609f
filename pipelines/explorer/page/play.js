// A table: play hands against a blueprint or an agent, and see afterwards what it would have done and what was lost.

import { actionClasses, actionName } from "./actions.js";
import { bigBlinds, cards, el, fill, percent, send, signed } from "./dom.js";

let table = null;
let opponent = "blueprint";

function backs() {
  return [0, 1].map(() => el("span", { class: "card back", "aria-label": "hidden card" }, "?"));
}

function reviewOf(step, bigBlind) {
  const classes = actionClasses(step.actions);
  return el(
    "div",
    { class: "review" },
    el("div", {}, el("code", {}, step.line || "start"), " ", el("span", { class: "cards" }, cards(step.board))),
    el(
      "div",
      { class: "choices" },
      step.actions.map((label, index) =>
        el("span", { class: `choice ${index === step.taken ? "taken" : ""}` }, el("i", { class: `swatch ${classes[index]}` }), actionName(label, bigBlind), el("small", {}, `${percent(step.strategy[index], 0)}, EV ${signed(step.ev[index])}`)),
      ),
    ),
    el("b", { class: step.lost > 0.05 ? "lost" : "" }, step.lost === null ? "EV unknown" : `lost ${step.lost.toFixed(2)} bb`),
  );
}

export function drawPlay(root, source, opponents) {
  if (!opponents.length) {
    root.replaceChildren(el("p", { class: "empty" }, "There is no blueprint in this store to play against. make blueprint trains one."));
    return;
  }
  const chosen = opponents.find((one) => one.id === source) || opponents[0];
  const problem = el("p", { class: "problem", role: "alert" });
  const area = el("div", { class: "felt", "aria-live": "polite" });
  const isAgent = (id) => opponents.find((one) => one.id === id).kind === "agent";
  const against = el("select", { id: "play-source", "aria-label": "Opponent's strategy", onchange: () => { kind.disabled = isAgent(against.value); } }, opponents.map((one) => el("option", { value: one.id, selected: one === chosen }, one.title)));
  const kind = el("select", { id: "play-opponent", "aria-label": "Opponent", disabled: chosen.kind === "agent", onchange: (event) => { opponent = event.target.value; } }, el("option", { value: "blueprint", selected: opponent === "blueprint" }, "plays it as it is"), el("option", { value: "subgame", selected: opponent === "subgame" }, "solves every street again"));

  async function tell(question) {
    problem.textContent = "";
    area.classList.add("busy");
    try {
      table = await question;
      refresh();
    } catch (error) {
      problem.textContent = error.message;
    }
    area.classList.remove("busy");
  }

  function refresh() {
    if (!table) {
      area.replaceChildren(el("p", { class: "empty" }, "Take a seat to be dealt a hand."));
      return;
    }
    const own = table.seats.find((seat) => seat.name === table.seat);
    const other = table.seats.find((seat) => seat.name !== table.seat);
    const classes = actionClasses(table.actions.map((action) => action.label));
    const place = (seat, shown, name) => el("div", { class: "player" }, el("span", { class: "cards big" }, shown), el("span", {}, el("b", {}, name), ` ${seat.name.toUpperCase()} · ${bigBlinds(seat.stack, table.big_blind)} behind`));
    const story = el("ol", { class: "story", tabindex: "0", "aria-label": "What happened" }, table.story.map((line) => el("li", {}, line)));
    fill(
      area,
      place(other, table.opponent_cards ? cards(table.opponent_cards) : backs(), "Opponent"),
      el("div", { class: "middle" }, el("span", { class: "cards big" }, table.board ? cards(table.board) : el("small", {}, "before the flop")), el("span", { class: "pot" }, `pot ${bigBlinds(table.pot, table.big_blind)}`)),
      place(own, cards(table.cards), "You"),
      el(
        "div",
        { class: "tools acts" },
        table.actions.map((action, index) => el("button", { type: "button", class: `act ${classes[index]}`, "data-token": action.token, onclick: () => tell(send("POST", `play/${table.id}/act`, { token: action.token })) }, actionName(action.label, table.big_blind))),
        table.over ? el("button", { type: "button", class: "primary", id: "next-hand", onclick: () => tell(send("POST", `play/${table.id}/deal`, {})) }, "Next hand") : null,
      ),
      story,
      table.over ? el("div", { class: "reviews" }, el("h3", {}, `${table.won >= 0 ? "Won" : "Lost"} ${Math.abs(table.won).toFixed(2)} bb`), table.review.map((step) => reviewOf(step, table.big_blind))) : null,
      el(
        "dl",
        { class: "facts" },
        [["hands", table.hands_played], ["bb/100", table.mean === null ? "–" : `${signed(table.mean, 1)}${table.interval === null ? "" : ` ± ${table.interval.toFixed(1)}`}`], ["EV lost", `${table.lost.toFixed(2)} bb`]].map(([name, text]) => el("div", {}, el("dt", {}, name), el("dd", {}, String(text)))),
      ),
    );
    story.scrollTop = story.scrollHeight;
  }

  root.replaceChildren(
    el("h2", {}, "Play against a blueprint or an agent"),
    el("div", { class: "tools" }, against, kind, el("button", { type: "button", class: "primary", id: "take-seat", onclick: () => tell(send("POST", "play", { source: against.value, opponent: isAgent(against.value) ? "blueprint" : opponent })) }, table ? "New table" : "Take a seat")),
    problem,
    area,
    el("p", { class: "hint" }, "bb/100 is the mean of all hands with its 95 % interval. EV lost compares each of your actions with the best one by the values of the blueprint, also against an agent."),
  );
  refresh();
}
