// The page: reads the address, asks the server, and draws. Everything that is shown follows from the address.

import { actionClasses, actionName } from "./actions.js";
import { drawChooser } from "./chooser.js";
import { drawCategories, drawCombos } from "./combos.js";
import { $, ask, bigBlinds, cards, el, percent, signed } from "./dom.js";
import { Grid, MODES } from "./grid.js";
import { drawPlay } from "./play.js";
import { drawPlots, drawRuns } from "./plots.js";
import { drawReport } from "./report.js";
import { drawSolve } from "./solve.js";
import * as address from "./state.js";
import { drawStrip, stepBack } from "./strip.js";

const TABS = [
  ["combos", "Combos", drawCombos],
  ["range", "Range", drawCategories],
  ["plots", "Plots", drawPlots],
  ["solve", "Solve", drawSolve],
  ["report", "Report", drawReport],
];
const KINDS = { blueprint: "Blueprints", preflop: "Preflop solves", subgame: "Solved subgames", spot: "Saved spots", agent: "Agents" };

let state = address.read();
let sources = [];
let about = null;
let node = null;
let compare = null;
let asked = null;
const grid = new Grid($("grid"), (hand) => change({ hand: hand === state.hand ? "" : hand }, { onlyHand: true }));

function change(values, { onlyHand = false, replace = false } = {}) {
  state = { ...state, ...values };
  (replace ? address.replace : address.push)(state);
  if (onlyHand) {
    grid.mark(state.hand);
    if (tabName() === "combos") drawPanel();
  } else show();
}

const go = (place) => change({ hand: state.hand, seat: "", ...place });

function tabName() {
  if (TABS.some(([name]) => name === state.tab)) return state.tab;
  return { deal: "report", unsolved: "solve" }[node && node.kind] || "combos";
}

function say(text, kind = "problem") {
  const box = $("message");
  box.hidden = !text;
  box.className = `message ${kind}`;
  box.textContent = text || "";
}

function drawSources() {
  const groups = Object.entries(KINDS).map(([kind, title]) => {
    const members = sources.filter((source) => source.kind === kind);
    return members.length ? el("optgroup", { label: title }, members.map((source) => el("option", { value: source.id, disabled: source.problem !== null }, source.title))) : null;
  });
  $("source").replaceChildren(...groups.filter(Boolean));
  $("other").replaceChildren(el("option", { value: "" }, "nothing"), ...groups.filter(Boolean).map((group) => group.cloneNode(true)));
  $("source").value = state.source;
  $("other").value = state.other;
}

function titleOf(id) {
  const source = sources.find((one) => one.id === id);
  return source ? source.title : id;
}

// A locked blueprint is no bundle: its name says all that there is to know.
function lockedOf(id) {
  const [blueprint, line, shares, hands] = id.slice("locked:".length).split("|");
  const below = sources.find((one) => one.id === blueprint);
  return { id, kind: "agent", title: `locked at ${line || "the start"}: ${shares}${hands ? ` with ${hands}` : ""}`, game: below ? below.game : null, seats: below ? below.seats : [], blueprint, locked: [], tier: null, problem: null };
}

function noteLocked() {
  for (const id of [state.source, state.other]) if (id.startsWith("locked:") && !sources.some((one) => one.id === id)) { sources.push(lockedOf(id)); drawSources(); }
}

function drawAbout() {
  const source = sources.find((one) => one.id === state.source);
  const facts = [];
  if (source) {
    facts.push(KINDS[source.kind].replace(/s$/, ""), source.title);
    if (source.tier) facts.push(`tier ${source.tier}`);
    if (source.locked.length) facts.push(`locked at ${source.locked.join(", ")}`);
    if (node && !state.page && node.answered_by !== state.source) facts.push(`here: ${titleOf(node.answered_by)}`);
  }
  $("about").textContent = facts.join(" · ");
  document.title = node ? `${node.line || "first in"}${node.board ? ` on ${node.board}` : ""} · Explorer` : "Explorer";
}

function drawPosition() {
  const seats = node.seats.map((seat) => el("span", { class: `player-chip ${seat.acts ? "to-act" : ""} ${seat.folded ? "folded" : ""}` }, el("b", {}, seat.name.toUpperCase()), ` ${bigBlinds(seat.stack, node.big_blind)}`));
  const means = node.kind === "decision" ? [node.ev === null ? null : `EV ${signed(node.ev)} bb`, node.equity === null ? null : `equity ${percent(node.equity)}`].filter(Boolean).join(" · ") : "";
  $("position").replaceChildren(
    el("span", { class: "cards" }, node.board ? cards(node.board) : el("span", { class: "no-board" }, "before the flop")),
    el("span", { class: "pot" }, `Pot ${bigBlinds(node.pot, node.big_blind)}`),
    ...seats,
    el("span", { class: "means" }, means),
  );
}

function drawLegend(actions = node.actions) {
  const labels = actions.map((action) => action.label);
  const classes = actionClasses(labels);
  $("legend").replaceChildren(
    ...actions.map((action, index) =>
      el(
        "button",
        {
          type: "button", class: "legend-action", "data-token": action.token, disabled: !action.next,
          "aria-label": `${actionName(action.label, node.big_blind)}, ${action.frequency === null ? "never reached" : percent(action.frequency)}`,
          onclick: () => go({ line: action.next, board: node.board }),
        },
        el("i", { class: `swatch ${classes[index]}` }),
        el("span", {}, actionName(action.label, node.big_blind)),
        el("b", {}, percent(action.frequency)),
        compare && compare.by === "action" ? el("small", {}, otherFrequency(action.label)) : null,
      ),
    ),
  );
  if (node.kind === "unsolved") $("legend").replaceChildren(el("p", { class: "empty" }, node.note));
  if (node.kind === "end") $("legend").replaceChildren(el("p", { class: "empty" }, node.note || "The hand is over here. Step back, or click an action above."));
}

function otherFrequency(label) {
  const found = compare.second.actions.find((action) => action.label === label);
  return `other ${found ? percent(found.frequency) : "–"}`;
}

function drawModes() {
  const current = state.mode || "strategy";
  $("modes").replaceChildren(
    ...MODES.map(([name, title]) => el("button", { type: "button", role: "radio", class: "tab", "aria-checked": String(name === current), onclick: () => change({ mode: name === "strategy" ? "" : name }) }, title)),
  );
  $("raw").checked = state.raw === "true";
  const seats = node ? node.seats.map((seat) => seat.name) : [];
  $("seat").replaceChildren(...seats.map((name) => el("option", { value: name }, `as ${name.toUpperCase()}`)));
  $("seat").value = state.seat || (node && node.seat) || "";
  $("seat").disabled = !node || node.kind !== "decision";
}

function drawGrid() {
  const chooser = $("chooser");
  chooser.hidden = node.kind !== "deal";
  $("grid").classList.toggle("behind", node.kind !== "decision");
  if (node.kind === "decision") grid.draw(node, state.mode || "strategy", compare);
  else grid.clear();
  if (node.kind === "deal") drawChooser(chooser, node, go);
  grid.mark(state.hand);
  const sizes = compare && compare.by === "kind" ? `, by fold, call and raise, as the sizes differ (other: ${compare.second.actions.map((action) => `${actionName(action.label, node.big_blind)} ${percent(action.frequency, 0)}`).join(", ")})` : "";
  const differs = compare ? `Numbers: percent of the strategy that differs${sizes}. Mean ${percent(compare.mean)}. ` : "";
  $("meaning").textContent = differs + (node.kind === "decision" ? seatText() + modeText(state.mode) : "");
}

// Whose hands are shown, where it is not the seat to act.
function seatText() {
  return node.viewing === node.seat ? "" : `The grid shows the range of ${node.viewing.toUpperCase()}; ${node.seat.toUpperCase()} acts. `;
}

// What the numbers of a mode count, or why there are none.
function modeText(mode) {
  const known = (name) => node.grid.some((cell) => cell[name] !== null);
  if (mode === "ev" || (mode === "realisation" && known("equity") && !known("realisation"))) return node.ev_meaning || "This source has no values here.";
  if ((mode === "equity" || mode === "realisation") && !known("equity")) return node.seats.filter((seat) => !seat.folded).length > 2 ? "Equity is shown where two players are left." : "This source has no equities here.";
  return "";
}

function drawTabs() {
  const current = tabName();
  $("tabs").replaceChildren(
    ...TABS.map(([name, title]) => el("button", { type: "button", role: "tab", class: "tab", id: `tab-${name}`, "aria-selected": String(name === current), onclick: () => change({ tab: name }, { replace: true }) }, title)),
  );
}

async function drawPanel() {
  const panel = $("panel");
  const [name, , draw] = TABS.find(([key]) => key === tabName());
  const context = {
    state, node, about, go,
    signal: asked.signal,
    canSolve: node.can_solve,
    blueprint: (sources.find((one) => one.id === state.source && one.kind === "blueprint" && one.seats.length === 2) || { id: null }).id,
    open: (source) => { loadSources().then(() => go({ source, line: node.line, board: node.board })); },
    onLive: (live) => {
      if (!shown(live)) return;
      grid.drawLive(node, live);
      drawLegend(live.actions.map((label, index) => ({ label, frequency: live.frequencies[index] })));
    },
    onEnd: async (ended) => {
      await loadSources();
      if (ended.state !== "done" || !ended.source) { drawGrid(); drawLegend(); return; }
      const kept = sources.find((source) => source.id === ended.source);
      if (kept && kept.kind === "preflop") go({ source: ended.source, line: "", board: "", other: "" });
      else if (node.goes_on && kept && kept.line === node.line) show();
      else if (kept && kept.line === node.line) go({ source: ended.source });
    },
  };
  const asks = name === "combos" || name === "range" || name === "plots";
  if (asks && node.kind !== "decision") {
    panel.replaceChildren(el("p", { class: "empty" }, { deal: "Deal the next cards to go on.", unsolved: "Solve this street first." }[node.kind] || "Nobody acts here."));
    return;
  }
  if (panel.dataset.name !== name) panel.replaceChildren(el("p", { class: "loading" }, "Loading …"));
  panel.dataset.name = name;
  panel.setAttribute("aria-labelledby", `tab-${name}`);
  try {
    await draw(panel, context);
  } catch (error) {
    if (error.name !== "AbortError") panel.replaceChildren(el("p", { class: "empty" }, error.message));
  }
}

// A solve belongs on the grid while the decision that it is of is shown.
function shown(live) {
  return node.kind === "decision" && live.title.startsWith(`${node.line} on ${node.board},`);
}

async function loadSources() {
  const found = await ask("sources");
  sources = [...found.sources, ...sources.filter((one) => one.id.startsWith("locked:"))];
  drawSources();
}

function pages() {
  const page = state.page || "study";
  for (const name of ["study", "play", "runs"]) {
    $(name).hidden = name !== page;
    $(`page-${name}`).setAttribute("aria-pressed", String(name === page));
  }
  return page;
}

async function show() {
  if (asked) asked.abort();
  asked = new AbortController();
  const { signal } = asked;
  const page = pages();
  noteLocked();
  $("source").value = state.source;
  $("other").value = state.other;
  if (page !== "study") drawAbout();
  if (page === "play") { drawPlay($("play"), state.source, sources.filter((one) => ["blueprint", "agent"].includes(one.kind) && one.seats.length === 2)); return; }
  if (page === "runs") {
    drawRuns($("runs"), state.source).catch((error) => $("runs").replaceChildren(el("p", { class: "empty" }, error.message)));
    return;
  }
  const where = { source: state.source, line: state.line, board: state.board, seat: state.seat, raw: state.raw };
  document.body.classList.add("asking");
  try {
    node = await ask("node", { ...where, values: false }, { signal });
    compare = null;
    if (state.other && node.kind === "decision" && !state.seat) {
      try {
        compare = await ask("compare", { source: state.source, other: state.other, line: node.line, board: node.board, raw: state.raw }, { signal });
      } catch (error) {
        if (error.name === "AbortError") return;
        say(`Not compared: ${error.message}`);
      }
    }
    if (!state.other || compare || node.kind !== "decision") say(node.note, "note");
    drawAll();
    if (node.kind === "decision") {
      // What hands win takes longer: it is asked for once the strategy is shown.
      const full = await ask("node", { ...where, values: true }, { signal });
      node = full;
      drawPosition();
      if (!document.querySelector('#progress[data-state="running"]')) drawGrid();
    }
  } catch (error) {
    if (error.name === "AbortError") return;
    say(error.message);
    if (node === null && state.source) {
      // A bad address: show the start of the source instead, so that there is something to go on from.
      state = { ...state, line: "", board: "", seat: "", other: "" };
      node = await ask("node", { source: sources.some((one) => one.id === state.source) ? state.source : (state.source = sources[0].id), values: true });
      drawAll();
    }
  } finally {
    document.body.classList.remove("asking");
  }
}

function drawAll() {
  drawAbout();
  drawStrip($("strip"), node, go);
  drawPosition();
  drawModes();
  drawGrid();
  drawLegend();
  drawTabs();
  drawPanel();
}

function keys(event) {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
  if (typing || event.ctrlKey || event.metaKey || event.altKey || state.page) return;
  if (event.key === "Backspace" && node) {
    event.preventDefault();
    const place = stepBack(node);
    if (place) go(place);
  } else if (/^[1-9]$/.test(event.key) && node && node.kind === "decision") {
    const action = node.actions[Number(event.key) - 1];
    if (action) go({ line: action.next, board: node.board });
  }
}

async function begin() {
  document.addEventListener("keydown", keys);
  addEventListener("popstate", () => { state = address.read(); if (!state.source && sources.length) state.source = sources[0].id; show(); });
  $("source").addEventListener("change", (event) => {
    const source = sources.find((one) => one.id === event.target.value);
    const start = source.kind === "subgame" ? { line: source.line, board: source.board } : source.kind === "spot" ? { line: "", board: source.board } : {};
    const before = sources.find((one) => one.id === state.source);
    const sameGame = before && (before.game === source.game || before.blueprint === source.id);
    go({ source: source.id, ...(sameGame ? {} : { line: "", board: "" }), ...start });
  });
  $("other").addEventListener("change", (event) => change({ other: event.target.value }));
  $("raw").addEventListener("change", (event) => change({ raw: event.target.checked ? "true" : "" }));
  $("seat").addEventListener("change", (event) => change({ seat: event.target.value === node.seat ? "" : event.target.value }));
  for (const name of ["study", "play", "runs"]) $(`page-${name}`).addEventListener("click", () => change({ page: name === "study" ? "" : name }));
  $("theme").addEventListener("click", () => {
    const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    localStorage.setItem("theme", document.documentElement.dataset.theme);
  });
  try {
    [about] = await Promise.all([ask("about"), loadSources()]);
  } catch (error) {
    say(error.message);
    return;
  }
  if (!sources.length) {
    say("There is nothing in this store yet. make blueprint PRESET=smoke trains a small blueprint in a minute.", "note");
    return;
  }
  $("about").textContent = "Loading …";
  if (!state.source) {
    state.source = sources[0].id;
    address.replace(state);
    drawSources();
  }
  await show();
}

begin();
