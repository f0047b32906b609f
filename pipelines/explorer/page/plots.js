// Plots as plain SVG: curves of both ranges, the exploitability of a run, and of all runs.

import { ask, el, fill, percent, signed } from "./dom.js";

const SPACE = "http://www.w3.org/2000/svg";

function svg(tag, attributes, ...children) {
  const node = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function ticks(low, high, count = 4) {
  const step = 10 ** Math.floor(Math.log10((high - low) / count || 1));
  const width = [1, 2, 5, 10].map((factor) => factor * step).find((size) => (high - low) / size <= count + 1) || step;
  const found = [];
  for (let value = Math.ceil(low / width) * width; value <= high + 1e-9; value += width) found.push(+value.toFixed(10));
  return found;
}

// `series`: [{name, points: [[x, y], ...], dots}]
export function plot({ title, series, xLabel, yLabel, log = false, xText = String, yText = String }) {
  const [width, height, left, bottom, top, right] = [440, 250, 52, 36, 10, 12];
  const points = series.flatMap((one) => one.points);
  if (!points.length) return el("p", { class: "empty" }, `${title}: nothing to draw.`);
  const along = log ? Math.log10 : (value) => value;
  const range = (values) => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const room = high > low ? 0.05 * (high - low) : Math.abs(high) * 0.1 || 1;
    return [low - room, high + room];
  };
  const [x0, x1] = range(points.map(([x]) => along(x)));
  const [y0, y1] = range(points.map(([, y]) => along(y)));
  const x = (value) => left + ((along(value) - x0) / (x1 - x0)) * (width - left - right);
  const y = (value) => height - bottom - ((along(value) - y0) / (y1 - y0)) * (height - bottom - top);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "plot", role: "img", "aria-label": title });
  const places = (low, high) => (log ? ticks(low, high, 3).map((power) => 10 ** power) : ticks(low, high));
  for (const value of places(y0, y1)) {
    picture.append(svg("line", { x1: left, x2: width - right, y1: y(value), y2: y(value), class: "gridline" }));
    picture.append(svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, yText(value)));
  }
  for (const value of places(x0, x1)) picture.append(svg("text", { x: x(value), y: height - bottom + 15, "text-anchor": "middle" }, xText(value)));
  picture.append(svg("text", { x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle", class: "axis" }, xLabel));
  picture.append(svg("text", { x: 12, y: (height - bottom) / 2, transform: `rotate(-90 12 ${(height - bottom) / 2})`, "text-anchor": "middle", class: "axis" }, yLabel));
  series.forEach((one, number) => {
    const path = one.points.map(([a, b], index) => `${index ? "L" : "M"}${x(a).toFixed(1)},${y(b).toFixed(1)}`).join("");
    if (!one.dots) picture.append(svg("path", { d: path, class: `curve curve-${number}` }));
    if (one.dots || one.points.length < 40) for (const [a, b, note] of one.points) picture.append(svg("circle", { cx: x(a), cy: y(b), r: 3.5, class: `dot curve-${number}` }, svg("title", {}, note || `${xText(a)}, ${yText(b)}`)));
  });
  const legend = series.length > 1 ? el("div", { class: "plot-legend" }, series.map((one, number) => el("span", {}, el("i", { class: `key curve-${number}` }), one.name))) : null;
  return el("figure", {}, el("figcaption", {}, title), picture, legend);
}

const two = (value) => `${+value.toPrecision(3)}`;

export async function drawPlots(panel, context) {
  const { state, node } = context;
  const figures = [];
  const data = await ask("distribution", { source: state.source, line: node.line, board: node.board }, { signal: context.signal });
  const curve = (one) => ({ name: one.seat.toUpperCase(), points: one.shares.map((share, index) => [share, one.values[index]]) });
  if (!data.equity.length) figures.push(el("p", { class: "empty" }, node.seats.filter((seat) => !seat.folded).length > 2 ? "Equity is drawn where two players are left." : "No hands get here, so there is nothing to draw."));
  else figures.push(plot({ title: "Equity over each range, best hands first", series: data.equity.map(curve), xLabel: "share of the range", yLabel: "equity", xText: (v) => percent(v, 0), yText: (v) => percent(v, 0) }));
  if (data.ev.length) figures.push(plot({ title: `EV over each range (${data.ev_meaning || "bb"})`, series: data.ev.map(curve), xLabel: "share of the range", yLabel: "EV, bb", xText: (v) => percent(v, 0), yText: (v) => signed(v, 1) }));
  const trace = await tracePlot(node.answered_by, context.signal);
  fill(panel, ...figures, trace);
}

// The exploitability of a source while it was made; nothing for one that was not trained.
export async function tracePlot(source, signal) {
  const trace = await ask("trace", { source }, { signal });
  if (!trace.points.length) return null;
  const phases = [...new Set(trace.points.map((point) => point.phase))];
  const series = phases.map((phase) => ({ name: phase || "solve", points: trace.points.filter((point) => point.phase === phase).map((point) => [point.iteration, point.exploitability]) }));
  return plot({ title: `Exploitability while it was made (${trace.unit})`, series, xLabel: "iterations of the phase", yLabel: trace.unit, xText: two, yText: two });
}

export async function drawRuns(root, source) {
  root.replaceChildren(el("p", { class: "loading" }, "Reading the recorded runs …"));
  const data = await ask("runs");
  const parts = [el("h2", {}, "Recorded runs")];
  if (data.note) parts.push(el("p", { class: "empty" }, data.note));
  const measured = data.runs.filter((run) => run.exploitability_mbb > 0 && run.core_hours > 0);
  const groups = [...new Set(measured.map((run) => `${run.game}, tier ${run.tier}`))];
  const pictures = groups.map((group) =>
    plot({
      title: `Exploitability against core-hours, ${group}`,
      log: true,
      series: [{ name: group, dots: true, points: measured.filter((run) => `${run.game}, tier ${run.tier}` === group).map((run) => [run.core_hours, run.exploitability_mbb, `${run.preset} ${run.run}`]) }],
      xLabel: "core-hours", yLabel: "mbb/hand", xText: two, yText: two,
    }),
  );
  const trace = source ? await tracePlot(source) : null;
  parts.push(el("div", { class: "figures" }, ...pictures, trace));
  if (data.runs.length) {
    parts.push(el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ["run", "preset", "game", "tier", "mbb/hand", "core-hours", "bundle"].map((name) => el("th", { scope: "col", class: name === "mbb/hand" || name === "core-hours" ? "number" : "" }, name)))), el("tbody", {}, data.runs.map((run) => el("tr", {}, el("td", {}, run.run), el("td", {}, run.preset), el("td", {}, run.game), el("td", {}, run.tier), el("td", { class: "number" }, run.exploitability_mbb === null ? "–" : two(run.exploitability_mbb)), el("td", { class: "number" }, run.core_hours === null ? "–" : two(run.core_hours)), el("td", {}, el("a", { href: `/?source=${encodeURIComponent(run.bundle)}` }, run.bundle.slice(0, 13)))))))));
  }
  root.replaceChildren(...parts);
}
