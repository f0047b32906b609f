// The combos of the chosen cell or of the whole range: sorted, filtered, and copied as CSV or as a range.

import { actionClasses, actionName, drawnOrder } from "./actions.js";
import { ask, card, cardsOf, copy, el, percent, signed } from "./dom.js";

const ROWS = 150;
const sorting = { key: "reach", down: true };
const filters = { made: "", draw: "", text: "", all: false };

export async function drawCombos(panel, context) {
  const { state, node } = context;
  const data = await ask("combos", { source: state.source, line: node.line, board: node.board, raw: state.raw, values: true }, { signal: context.signal });
  const classes = actionClasses(data.actions);
  const order = drawnOrder(data.actions);
  const names = data.actions.map((label) => actionName(label, node.big_blind));
  const body = el("tbody");
  const count = el("span", { class: "hint", "aria-live": "polite" });
  let most = ROWS; // More rows are drawn when somebody asks for them.
  const more = el("button", { type: "button", class: "plain", id: "more-combos", onclick: () => { most = Infinity; refresh(); } }, "show all");

  const value = (row, key) => {
    if (key.startsWith("a")) {
      const index = Number(key.slice(1));
      if (Number.isInteger(index)) return row.strategy[index];
    }
    return row[key];
  };
  const chosen = () =>
    [...data.combos]
      .reverse() // Of equal rows the higher cards come first.
      .filter((row) => filters.all || !state.hand || row.hand === state.hand)
      .filter((row) => !filters.made || row.made === filters.made)
      .filter((row) => !filters.draw || row.draw === filters.draw)
      .filter((row) => !filters.text || row.combo.toLowerCase().includes(filters.text.toLowerCase()) || row.hand.toLowerCase().includes(filters.text.toLowerCase()))
      .sort((a, b) => {
        const [x, y] = [value(a, sorting.key), value(b, sorting.key)];
        if (x === null || x === undefined) return 1;
        if (y === null || y === undefined) return -1;
        const difference = typeof x === "string" ? x.localeCompare(y) : x - y;
        return sorting.down ? -difference : difference;
      });

  function refresh() {
    const rows = chosen();
    count.textContent = rows.length > most ? `${most} of ${rows.length} combos` : `${rows.length} combos`;
    more.hidden = rows.length <= most;
    body.replaceChildren(
      ...rows.slice(0, most).map((row) =>
        el(
          "tr",
          { class: row.reason && row.reason !== "rarely_reached" ? "off" : "", title: row.reason ? `off-path: ${node.reasons[row.reason] || row.reason}` : "" },
          el("td", {}, el("span", { class: "cards" }, cardsOf(row.combo).map(card))),
          el("td", { class: "bar-cell" }, el("span", { class: "bar" }, order.filter((action) => row.strategy[action] >= 0.005).map((action) => el("i", { class: classes[action], style: { "flex-grow": row.strategy[action] }, title: `${names[action]} ${percent(row.strategy[action])}` })))),
          ...row.strategy.map((share) => el("td", { class: "number" }, percent(share, 0))),
          el("td", { class: "number" }, percent(row.reach, 1)),
          el("td", { class: "number" }, signed(row.ev)),
          el("td", { class: "number" }, percent(row.equity, 1)),
          el("td", { class: "number" }, percent(row.realisation, 0)),
          el("td", {}, row.made || "–"),
          el("td", {}, row.draw || "–"),
        ),
      ),
    );
    for (const heading of headings) heading.setAttribute("aria-sort", heading.dataset.key === sorting.key ? (sorting.down ? "descending" : "ascending") : "none");
  }

  const columns = [["combo", "Combo"], ["bar", ""], ...names.map((name, index) => [`a${index}`, name]), ["reach", "Reach"], ["ev", "EV"], ["equity", "Equity"], ["realisation", "EQR"], ["made", "Made"], ["draw", "Draw"]];
  const headings = columns.map(([key, name]) =>
    el("th", { scope: "col", "data-key": key, class: ["combo", "bar", "made", "draw"].includes(key) ? "" : "number" }, key === "bar" ? "" : el("button", { type: "button", onclick: () => {
      if (sorting.key === key) sorting.down = !sorting.down;
      else { sorting.key = key; sorting.down = key !== "combo"; }
      refresh();
    } }, name)),
  );
  const select = (key, values) =>
    el("select", { "aria-label": key, onchange: (event) => { filters[key] = event.target.value; refresh(); } }, el("option", { value: "" }, key === "made" ? "any made hand" : "any draw"), values.map((name) => el("option", { value: name, selected: filters[key] === name }, name)));

  const csv = () => {
    const head = ["combo", "hand", "made", "draw", ...data.actions, "reach", "ev_bb", "equity", "realisation", "reason"];
    const rows = chosen().map((row) => [row.combo, row.hand, row.made, row.draw, ...row.strategy, row.reach, row.ev, row.equity, row.realisation, row.reason]);
    return [head, ...rows].map((row) => row.map((item) => item ?? "").join(",")).join("\n");
  };
  panel.replaceChildren(
    el(
      "div",
      { class: "tools" },
      el("label", { class: "check" }, el("input", { type: "checkbox", id: "all-combos", checked: filters.all || !state.hand, disabled: !state.hand, onchange: (event) => { filters.all = event.target.checked; refresh(); } }), state.hand ? `all hands, not ${state.hand} only` : "all hands"),
      data.made.length ? select("made", data.made.map((row) => row.name)) : null,
      data.draws.length ? select("draw", data.draws.map((row) => row.name)) : null,
      el("input", { type: "search", placeholder: "find: AhK", "aria-label": "Find combos", value: filters.text, oninput: (event) => { filters.text = event.target.value; refresh(); } }),
      el("button", { type: "button", class: "plain", onclick: (event) => copy(csv(), event.target) }, "copy CSV"),
      el("button", { type: "button", class: "plain", onclick: (event) => copy(data.range, event.target) }, "copy range"),
      count,
      more,
    ),
    el("div", { class: "scroll" }, el("table", { class: "combos" }, el("thead", {}, el("tr", {}, headings)), body)),
    el("p", { class: "hint" }, data.ev_meaning || ""),
  );
  refresh();
}

export async function drawCategories(panel, context) {
  const { state, node } = context;
  const data = await ask("combos", { source: state.source, line: node.line, board: node.board, raw: state.raw, values: false }, { signal: context.signal });
  const classes = actionClasses(data.actions);
  const order = drawnOrder(data.actions);
  const names = data.actions.map((label) => actionName(label, node.big_blind));
  const bars = (rows) => {
    const most = Math.max(...rows.map((row) => row.share));
    return rows.map((row) =>
      el(
        "div",
        { class: "category" },
        el("span", { class: "category-name" }, row.name),
        el("span", { class: "number" }, percent(row.share)),
        el(
          "span",
          { class: "category-bar", style: { "--share": `${(100 * row.share) / most}%` }, role: "img", "aria-label": order.map((action) => `${names[action]} ${percent(row.strategy[action])}`).join(", ") },
          el("span", { class: "bar" }, order.filter((action) => row.strategy[action] >= 0.005).map((action) => el("i", { class: classes[action], style: { "flex-grow": row.strategy[action] }, title: `${names[action]} ${percent(row.strategy[action])}` }))),
        ),
        el("small", {}, order.filter((action) => row.strategy[action] >= 0.05).map((action) => `${names[action]} ${percent(row.strategy[action], 0)}`).join(" · ")),
      ),
    );
  };
  if (!data.made.length) {
    panel.replaceChildren(el("p", { class: "empty" }, "Before the flop hands have made nothing yet. Deal a flop to see the range by what it has made."), el("h3", {}, `Range of ${data.seat.toUpperCase()}`), el("p", { class: "range-text" }, data.range), el("button", { type: "button", class: "plain", onclick: (event) => copy(data.range, event.target) }, "copy range"));
    return;
  }
  panel.replaceChildren(
    el("h3", {}, `${data.seat.toUpperCase()}: made hands`),
    el("div", { class: "categories" }, bars(data.made)),
    el("h3", {}, "Draws"),
    el("div", { class: "categories" }, bars(data.draws)),
  );
}
