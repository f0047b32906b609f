// How a line plays over the cards to come: a table to sort and filter, from the blueprint or from kept solves.

import { actionClasses, actionName, drawnOrder } from "./actions.js";
import { ask, cards, el, percent, signed } from "./dom.js";

export async function drawReport(panel, context) {
  const { state, node, go } = context;
  if (node.kind !== "deal") {
    panel.replaceChildren(el("p", { class: "empty" }, "A report shows how the next decision plays on every card. Walk to the end of a street, where cards are dealt."));
    return;
  }
  if (node.seats.length > 2) {
    panel.replaceChildren(el("p", { class: "empty" }, `This game has ${node.seats.length} seats. Reports are of games of two.`));
    return;
  }
  const options = { solved: false, flops: 60 };
  const holder = el("div");
  const load = async () => {
    holder.replaceChildren(el("p", { class: "loading" }, "Playing every card …"));
    try {
      const data = await ask("report", { source: state.source, line: node.line, board: node.board, flops: options.flops, solved: options.solved }, { signal: context.signal });
      holder.replaceChildren(...table(data));
    } catch (error) {
      if (error.name !== "AbortError") holder.replaceChildren(el("p", { class: "empty" }, error.message));
    }
  };

  function table(data) {
    if (!data.rows.length) return [el("p", { class: "empty" }, options.solved ? "No solve of this street is kept yet. Solve some boards first." : "The source knows no board here.")];
    const classes = actionClasses(data.actions);
    const order = drawnOrder(data.actions);
    const names = data.actions.map((label) => actionName(label, node.big_blind));
    const total = data.rows.reduce((sum, row) => sum + row.weight, 0);
    const sorting = { key: "cards", down: false };
    const withEv = data.rows.some((row) => row.ev !== null);
    const body = el("tbody");
    let find = "";
    const value = (row) => {
      if (sorting.key === "cards") return null;
      return sorting.key.startsWith("a") && sorting.key.length > 1 && !Number.isNaN(Number(sorting.key.slice(1))) ? row.frequencies[Number(sorting.key.slice(1))] : row[sorting.key];
    };
    const refresh = () => {
      const rows = data.rows.filter((row) => !find || row.cards.toLowerCase().includes(find.toLowerCase()));
      if (sorting.key !== "cards") rows.sort((a, b) => ((value(a) ?? -1e9) - (value(b) ?? -1e9)) * (sorting.down ? -1 : 1));
      else if (sorting.down) rows.reverse();
      body.replaceChildren(
        ...rows.map((row) =>
          el(
            "tr",
            { class: "clickable", tabindex: "0", onclick: () => go({ source: row.source || state.source, line: node.line, board: row.board }), onkeydown: (event) => { if (event.key === "Enter") event.currentTarget.click(); } },
            el("td", {}, el("span", { class: "cards" }, cards(row.cards))),
            el("td", { class: "number" }, percent(row.weight / total)),
            el("td", { class: "bar-cell" }, el("span", { class: "bar" }, order.filter((action) => row.frequencies[action] >= 0.005).map((action) => el("i", { class: classes[action], style: { "flex-grow": row.frequencies[action] } })))),
            ...row.frequencies.map((share) => el("td", { class: "number" }, percent(share, 0))),
            el("td", { class: "number" }, percent(row.equity)),
            withEv ? el("td", { class: "number" }, signed(row.ev)) : null,
          ),
        ),
      );
    };
    const columns = [["cards", data.over], ["weight", "Dealt"], ["bar", ""], ...names.map((name, index) => [`a${index}`, name]), ["equity", "Equity"], ...(withEv ? [["ev", "EV"]] : [])];
    const head = columns.map(([key, name]) => el("th", { scope: "col", class: key === "cards" ? "" : "number" }, key === "bar" ? "" : el("button", { type: "button", onclick: () => { sorting.down = sorting.key === key ? !sorting.down : true; sorting.key = key; refresh(); } }, name)));
    refresh();
    return [
      el("p", { class: "hint" }, `${data.rows[0].seat.toUpperCase()} acts. On average: ${names.map((name, index) => `${name} ${percent(data.mean[index])}`).join(", ")}.`, data.missing ? ` ${data.missing} boards have no answer.` : "", withEv && data.ev_meaning ? ` ${data.ev_meaning}.` : ""),
      el("input", { type: "search", placeholder: "find: h, A, 9s", "aria-label": "Find cards", oninput: (event) => { find = event.target.value; refresh(); } }),
      el("div", { class: "scroll" }, el("table", { class: "report" }, el("thead", {}, el("tr", {}, head)), body)),
    ];
  }

  panel.replaceChildren(
    el(
      "div",
      { class: "tools" },
      el("label", { class: "check" }, el("input", { type: "checkbox", onchange: (event) => { options.solved = event.target.checked; load(); } }), "kept solves only"),
      node.cards_needed === 3 ? el("label", {}, "flops ", el("input", { type: "number", min: 1, max: 500, value: options.flops, onchange: (event) => { options.flops = event.target.value; load(); } })) : null,
    ),
    holder,
  );
  if (node.cards_needed === 3) {
    // Many flops take a few seconds, so they are played when somebody asks for them.
    holder.replaceChildren(el("button", { type: "button", class: "primary", id: "play-flops", onclick: load }, "Report over flops"));
    return;
  }
  await load();
}
