// The page of a flop report. DATA holds tables by street, each with the names of its columns and its rows, and the
// columns by which to filter.

const { tables, filters } = DATA;
let { names, rows } = Object.values(tables)[0];
const COLOURS = ["#9aa5b0", "#2f6fde", "#d9822b", "#c23b3b", "#3b9c5a", "#7a4fc2"];
const SVG = "http://www.w3.org/2000/svg";
const chosen = {};
let sortColumn = names.indexOf("weight");
let direction = -1;

const words = (name) => name.replaceAll("_", " ");

// Ranks sort by strength, everything else by itself.
function sortKey(value) {
  const rank = typeof value === "string" && value.length === 1 ? "23456789TJQKA".indexOf(value) : -1;
  return rank < 0 ? (value ?? "") : rank;
}

function compare(first, second) {
  const a = sortKey(first), b = sortKey(second);
  return a > b ? 1 : a < b ? -1 : 0;
}

function format(value, name) {
  if (typeof value !== "number") return value ?? "";
  if (name === "weight") return (100 * value).toFixed(2) + " %";
  if (/^(blueprint_)?(oop|ip)_|equity|bets/.test(name)) return (100 * value).toFixed(1);
  if (/^eqr/.test(name)) return value.toFixed(3);
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}

function weightedMean(list, column) {
  let sum = 0, total = 0;
  for (const row of list) {
    if (typeof row[column] !== "number") return null;
    const weight = row[names.indexOf("weight")];
    sum += weight * row[column];
    total += weight;
  }
  return total ? sum / total : null;
}

function shownRows() {
  const matches = (row) => filters.every((name) => !chosen[name] || String(row[names.indexOf(name)]) === chosen[name]);
  return rows.filter(matches).sort((a, b) => direction * compare(a[sortColumn], b[sortColumn]));
}

function element(kind, attributes, text) {
  const made = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function label(x, y, text, size = 11) {
  return element("text", { x, y, "font-size": size, fill: "currentColor" }, text);
}

function canvas(height, title) {
  const made = element("svg", { width: 380, height });
  made.append(label(10, 16, title, 12));
  return made;
}

function withTitle(shape, text) {
  shape.append(element("title", {}, text));
  return shape;
}

function scatter(list, xName, yName, title) {
  const x = names.indexOf(xName), y = names.indexOf(yName);
  if (x < 0 || y < 0) return null;
  const points = list.filter((row) => typeof row[x] === "number" && typeof row[y] === "number");
  const made = canvas(300, title);
  if (!points.length) return made;
  const range = (column) => [Math.min(...points.map((r) => r[column])), Math.max(...points.map((r) => r[column]))];
  const [x0, x1] = range(x), [y0, y1] = range(y);
  const across = (value) => 45 + (320 * (value - x0)) / (x1 - x0 || 1);
  const down = (value) => 265 - (230 * (value - y0)) / (y1 - y0 || 1);
  for (const value of [x0, (x0 + x1) / 2, x1]) made.append(label(across(value) - 12, 285, format(value, xName), 10));
  for (const value of [y0, (y0 + y1) / 2, y1]) made.append(label(4, down(value) + 3, format(value, yName), 10));
  for (const row of points) {
    const dot = element("circle", { cx: across(row[x]), cy: down(row[y]), r: 3, fill: COLOURS[1], "fill-opacity": 0.55 });
    made.append(withTitle(dot, `${row[0]}: ${format(row[x], xName)}, ${format(row[y], yName)}`));
  }
  return made;
}

function stackedBars(list, group, columns, title) {
  const by = names.indexOf(group);
  if (by < 0 || !columns.length) return null;
  const groups = [...new Set(list.map((row) => row[by]))].sort(compare);
  const made = canvas(40 + 22 * groups.length + 20 * columns.length, title);
  groups.forEach((value, position) => {
    const members = list.filter((row) => row[by] === value);
    let left = 80;
    made.append(label(10, 42 + 22 * position, value));
    columns.forEach((name, number) => {
      const share = weightedMean(members, names.indexOf(name)) ?? 0;
      const attributes = { x: left, y: 30 + 22 * position, width: 280 * share, height: 16 };
      const bar = element("rect", { ...attributes, fill: COLOURS[number % COLOURS.length] });
      made.append(withTitle(bar, `${value}, ${words(name)}: ${(100 * share).toFixed(1)} %`));
      left += 280 * share;
    });
  });
  columns.forEach((name, number) => {
    const top = 40 + 22 * groups.length + 20 * number;
    made.append(element("rect", { x: 80, y: top, width: 10, height: 10, fill: COLOURS[number % COLOURS.length] }));
    made.append(label(96, top + 9, words(name)));
  });
  return made;
}

function drawPlots(list) {
  const beginning = (start) => names.filter((name) => name.startsWith(start));
  const plots = [
    scatter(list, "equity_oop", "ev_oop", "EV over equity, out of position"),
    scatter(list, "ev_oop", "blueprint_ev_oop", "EV of the blueprint over the exact one"),
    stackedBars(list, "high", beginning("oop_"), "out of position, by high card"),
    stackedBars(list, "high", beginning("blueprint_oop_"), "the same, blueprint"),
    stackedBars(list, "high", beginning("ip_"), "in position after a check, by high card"),
    stackedBars(list, "high", beginning("blueprint_ip_"), "the same, blueprint"),
    stackedBars(list, "suits", beginning("oop_"), "out of position, by suits"),
    stackedBars(list, "pairing", beginning("oop_"), "out of position, by pairing"),
  ];
  document.getElementById("plots").replaceChildren(...plots.filter((plot) => plot !== null));
}

function cells(row, values, kind = "td") {
  for (const value of values) {
    const cell = document.createElement(kind);
    cell.textContent = value;
    row.append(cell);
  }
  return row;
}

function meanCell(list, name, column) {
  if (column === 0) return `mean of ${list.length}`;
  if (name === "weight") return format(list.reduce((sum, row) => sum + row[column], 0), name);
  const mean = filters.includes(name) ? null : weightedMean(list, column);
  return mean === null ? "" : format(mean, name);
}

function drawTable(list) {
  const arrow = (column) => (column === sortColumn ? (direction > 0 ? " ▲" : " ▼") : "");
  const head = cells(document.createElement("tr"), names.map((name, k) => words(name) + arrow(k)), "th");
  [...head.children].forEach((cell, column) => {
    cell.onclick = () => {
      direction = column === sortColumn ? -direction : -1;
      sortColumn = column;
      draw();
    };
  });
  const means = cells(document.createElement("tr"), names.map((name, k) => meanCell(list, name, k)));
  means.className = "mean";
  const body = list.map((row) => cells(document.createElement("tr"), row.map((value, k) => format(value, names[k]))));
  document.getElementById("table").replaceChildren(head, means, ...body);
}

function chooseStreet() {
  const choice = document.createElement("select");
  choice.append(...Object.keys(tables).map((street) => new Option(street, street)));
  choice.onchange = () => {
    ({ names, rows } = tables[choice.value]);
    sortColumn = names.indexOf("weight");
    draw();
  };
  const holder = document.createElement("label");
  holder.append("rows by ", choice);
  document.getElementById("filters").append(holder);
}

function drawFilters() {
  if (Object.keys(tables).length > 1) chooseStreet();
  for (const name of filters.filter((filter) => names.includes(filter))) {
    const values = [...new Set(rows.map((row) => row[names.indexOf(name)]))].sort(compare);
    const choice = document.createElement("select");
    choice.append(new Option("all", ""), ...values.map((value) => new Option(value, String(value))));
    choice.onchange = () => {
      chosen[name] = choice.value;
      draw();
    };
    const holder = document.createElement("label");
    holder.append(`${name} `, choice);
    document.getElementById("filters").append(holder);
  }
}

function draw() {
  const list = shownRows();
  drawTable(list);
  drawPlots(list);
}

drawFilters();
draw();
