// Solving from the page: settings, progress, cancelling, locks, and the solves so far.

import { actionName } from "./actions.js";
import { $, ask, bytes, el, fill, percent, send } from "./dom.js";

const settings = { depth: "quick", safety: "unsafe", sizes: "", raises: "", iterations: 300, target_pct: "" };
const locks = new Map();
const begun = new Set();
let watching = null;
// The solve that was told of last: the panel is drawn anew when a solve is shown, and must still tell of it.
let latest = null;
let forecasts = 0;

const seconds = (value) => (value === null || value === undefined ? "–" : value < 90 ? `${value.toFixed(0)} s` : `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`);

// A blueprint with one locked decision, as a source: the server reads it from its name.
export function lockedSource(blueprint, lock) {
  const shares = Object.entries(lock.strategy).map(([token, share]) => `${token}=${share}`).join(",");
  return `locked:${blueprint}|${lock.line}|${shares}${lock.hands ? `|${lock.hands}` : ""}`;
}

// Follow a solve by server-sent events until it has ended.
function watch(model, context) {
  if (watching) watching.close();
  const events = new EventSource(`/api/solve/${model.id}/events`);
  watching = events;
  events.onmessage = (event) => {
    const now = JSON.parse(event.data);
    drawProgress(now, context);
    if (now.grid && context.onLive) context.onLive(now);
    if (["done", "cancelled", "failed"].includes(now.state)) {
      events.close();
      watching = null;
      listSolves(context).catch(() => {});
      context.onEnd(now);
    }
  };
  events.onerror = () => {
    events.close();
    watching = null;
  };
}

function drawProgress(model, context) {
  latest = model;
  const box = $("progress");
  if (!box) return;
  const words = {
    queued: model.position > 0 ? `Waiting: ${model.position} ahead` : "Starting",
    running: model.iteration ? "Solving" : "Preparing",
    done: model.cached ? "Kept from an earlier solve" : "Solved",
    cancelled: "Cancelled",
    failed: "Not solved",
  };
  const busy = model.state === "queued" || model.state === "running";
  const facts = [
    ["iteration", `${model.iteration.toLocaleString("en")} of ${model.iterations.toLocaleString("en")}`],
    ["time", seconds(model.seconds)],
    ["left", busy ? seconds(model.seconds_left) : "–"],
    ["exploitability", model.exploitability === null ? (model.title.endsWith("quick") ? "deep only" : "–") : `${model.exploitability.toPrecision(3)} ${model.unit}`],
    ["memory", `${bytes(model.memory_bytes)} of ${bytes(model.memory_limit)}`],
  ];
  box.hidden = false;
  box.dataset.state = model.state;
  fill(
    box,
    el("div", { class: "progress-head" }, el("b", {}, words[model.state]), el("span", {}, model.title), busy ? el("button", { type: "button", class: "plain", id: "cancel-solve", onclick: () => send("DELETE", `solve/${model.id}`) }, "Cancel") : null),
    el("progress", { max: model.iterations, value: model.state === "done" ? model.iterations : model.iteration, "aria-label": "Progress of the solve" }),
    el("dl", { class: "facts" }, facts.map(([name, text]) => el("div", {}, el("dt", {}, name), el("dd", {}, text)))),
    model.detail ? el("p", { class: "problem" }, model.detail) : null,
    model.state === "done" && model.source ? el("button", { type: "button", class: "plain", onclick: () => context.open(model.source) }, "Show") : null,
  );
}

// Whether a solve is of what is shown: the decision that it began at, or what it found.
function ofPlace(model, { node, state }) {
  return model.source === state.source || model.title.startsWith(`${node.line} on ${node.board},`);
}

async function start(request, context) {
  try {
    const model = await send("POST", "solve", request);
    drawProgress(model, context);
    listSolves(context).catch(() => {});
    if (model.state === "done") context.onEnd(model);
    else watch(model, context);
  } catch (error) {
    const box = $("progress");
    if (!box) return;
    box.hidden = false;
    box.dataset.state = "failed";
    box.replaceChildren(el("p", { class: "problem" }, error.message));
  }
}

// What both solves would take, told before one is started.
async function tellForecast(box, request, signal) {
  forecasts += 1;
  const mine = forecasts;
  try {
    const told = await Promise.all(["quick", "deep"].map((depth) => send("POST", "forecast", request(depth), { signal })));
    if (mine !== forecasts) return;
    const limit = told[0].memory_limit;
    const words = told.map((one, index) => `${["quick", "deep"][index]} ${one.kept ? "is kept" : bytes(one.memory_bytes)}`);
    const over = told.some((one) => !one.kept && one.memory_bytes > limit);
    box.textContent = `Memory: ${words.join(", ")}; the limit is ${bytes(limit)}.${over ? " Use fewer sizes for what is over it." : ""}`;
  } catch (error) {
    if (error.name !== "AbortError") box.textContent = error.message;
  }
}

function field(name, label, attributes, changed, tag = "input", ...children) {
  const input = el(tag, { ...attributes, id: `solve-${name}`, onchange: (event) => { settings[name] = event.target.value; changed(); } }, ...children);
  return el("label", { class: "field" }, el("span", {}, label), input);
}

function lockEditor(context, refresh) {
  const { node, state } = context;
  if (node.kind !== "decision") return null;
  const inputs = node.actions.map((action) => el("input", { type: "number", min: 0, max: 100, step: 1, placeholder: "%", "aria-label": `Percent of ${action.label}` }));
  const hands = el("input", { type: "text", placeholder: "all hands, or a range: QQ+,AKs", "aria-label": "Hands to lock" });
  const problem = el("p", { class: "problem" });
  const add = (lock) => { locks.set(lock.line, lock); refresh(); };
  // The lock that the percentages say, or nothing with a word about what is wrong.
  const written = () => {
    const shares = inputs.map((input) => Number(input.value || 0) / 100);
    const total = shares.reduce((sum, share) => sum + share, 0);
    problem.textContent = Math.abs(total - 1) > 1e-6 ? `The percentages sum to ${Math.round(100 * total)}; they must sum to 100.` : "";
    if (problem.textContent) return null;
    return { line: node.line, strategy: Object.fromEntries(node.actions.map((action, index) => [action.token, shares[index]]).filter(([, share]) => share > 0)), hands: hands.value || null };
  };
  return el(
    "details",
    { class: "locks", open: locks.size > 0 },
    el("summary", {}, `Lock decisions${locks.size ? ` (${locks.size})` : ""}`),
    el("p", { class: "hint" }, "A locked decision is played as you say.", context.canSolve ? " The solve then finds the best play around it." : ""),
    el("div", { class: "lock-row" }, node.actions.map((action, index) => el("label", { class: "field" }, el("span", {}, actionName(action.label, node.big_blind)), inputs[index]))),
    el("label", { class: "field wide" }, el("span", {}, "Hands"), hands),
    el(
      "div",
      { class: "tools" },
      !context.canSolve ? null : el("button", { type: "button", class: "plain", id: "lock-percent", onclick: () => { const lock = written(); if (lock) add(lock); } }, "Lock to these"),
      !context.canSolve ? null : el("button", { type: "button", class: "plain", id: "lock-shown", onclick: () => add({ line: node.line, source: state.source, hands: hands.value || null }) }, "Lock as shown"),
      context.blueprint ? el("button", { type: "button", class: "plain", id: "lock-agent", title: "The blueprint with this decision as you say, as a source and to play against", onclick: () => { const lock = written(); if (lock) context.go({ source: lockedSource(context.blueprint, lock), line: node.line, board: node.board }); } }, "Show as agent") : null,
    ),
    problem,
    [...locks.values()].map((lock) =>
      el("div", { class: "lock" }, el("code", {}, lock.line || "start"), " ", lock.strategy ? Object.entries(lock.strategy).map(([token, share]) => `${token} ${percent(share, 0)}`).join(", ") : "as shown", lock.hands ? ` with ${lock.hands}` : "", " ", el("button", { type: "button", class: "plain", onclick: () => { locks.delete(lock.line); refresh(); } }, "remove")),
    ),
  );
}

export async function drawSolve(panel, context) {
  const { node, state, about } = context;
  settings.sizes ||= about.sizes;
  settings.raises ||= about.raises;
  const refresh = () => drawSolve(panel, context);
  const progress = el("div", { id: "progress", class: "progress", role: "status", hidden: true });
  const parts = [];
  if (!about.write) parts.push(el("p", { class: "empty" }, "The store cannot be written to, so nothing can be solved here."));
  else if (context.canSolve) {
    const street = node.street;
    const root = node.line.includes("/") ? node.line.slice(0, node.line.lastIndexOf("/") + 1) : node.line;
    for (const line of [...locks.keys()]) if (!line.startsWith(root)) locks.delete(line);
    const request = (depth) => ({
      kind: "subgame", source: state.source, line: node.line, board: node.board, depth,
      safety: settings.safety, sizes: settings.sizes, raises: settings.raises, iterations: Number(settings.iterations),
      ...(settings.target_pct ? { target_pct: Number(settings.target_pct) } : {}),
      ...(locks.size ? { locks: [...locks.values()] } : {}),
    });
    const forecast = el("p", { class: "hint forecast", id: "forecast", "aria-live": "polite" });
    const tell = () => tellForecast(forecast, request, context.signal);
    parts.push(
      el("p", { class: "hint" }, `Solve the ${street} again: the actual board, hand by hand, with the ranges that get here. Later streets of a deep solve have the blueprint's sizes.`),
      el(
        "div",
        { class: "form" },
        field("sizes", "Bets", { type: "text", value: settings.sizes, maxlength: 60 }, tell),
        field("raises", "Raises", { type: "text", value: settings.raises, maxlength: 60 }, tell),
        field("iterations", "Iterations", { type: "number", min: 1, max: 100000, value: settings.iterations }, tell),
        field("target_pct", "Target, % of pot", { type: "number", min: 0.01, max: 100, step: 0.01, value: settings.target_pct, placeholder: "deep only" }, tell),
        field("safety", "Opponent may stay out", {}, tell, "select", about.safeties.map((name) => el("option", { value: name, selected: name === settings.safety }, name === "unsafe" ? "no (unsafe)" : name))),
      ),
      el(
        "div",
        { class: "tools" },
        el("button", { type: "button", class: "primary", id: "solve-quick", onclick: () => start(request("quick"), context) }, "Quick: this street"),
        el("button", { type: "button", class: "primary second", id: "solve-deep", onclick: () => start(request("deep"), context) }, "Deep: to the river"),
      ),
      forecast,
      lockEditor(context, refresh),
    );
    tell();
  } else if (node.seats.length > 2) parts.push(el("p", { class: "empty" }, `This game has ${node.seats.length} seats. The page solves streets of two; the command poker-solver subgame solves those of more.`));
  else parts.push(el("p", { class: "empty" }, "Walk to a decision after the flop to solve its street again. Blueprints and subgames can be solved; saved spots and agents cannot."), context.blueprint ? lockEditor(context, refresh) : null);
  parts.push(progress);
  parts.push(
    el("h3", {}, "Preflop game"),
    el(
      "div",
      { class: "tools" },
      el("select", { id: "preflop-game", "aria-label": "Game" }, about.games.map((name) => el("option", { value: name }, name))),
      el("button", { type: "button", class: "plain", id: "solve-preflop", disabled: !about.write, onclick: () => start({ kind: "preflop", game: $("preflop-game").value }, context) }, "Solve before the flop"),
    ),
  );
  parts.push(el("h3", {}, "Solves of this session"), el("div", { class: "solves", id: "solves" }));
  fill(panel, ...parts);
  if (latest && ofPlace(latest, context)) drawProgress(latest, context);
  const place = [state.source, node.line, node.board].join(" ");
  if (node.goes_on && about.write && !begun.has(place)) {
    // A deep solve goes on by itself on the cards that were chosen, once; after a cancel the buttons are there.
    begun.add(place);
    await start({ kind: "next_street", source: state.source, line: node.line, board: node.board }, context);
    return;
  }
  const solves = await listSolves(context);
  const running = solves.find((model) => model.state === "running" || model.state === "queued");
  if (running && !watching) watch(running, context);
}

async function listSolves(context) {
  const { solves } = await ask("solves");
  const list = $("solves");
  if (!list) return solves;
  fill(
    list,
    solves.length
      ? solves.slice(0, 12).map((model) => el("div", { class: "solve" }, el("span", { class: `state ${model.state}` }, model.state), el("span", {}, model.title), model.source ? el("button", { type: "button", class: "plain", onclick: () => context.open(model.source) }, "show") : null))
      : el("p", { class: "hint" }, "None yet. Kept solves of earlier sessions are among the sources."),
  );
  return solves;
}
