// The 13 x 13 grid: cells divided by action, as high as the hand's reach, or coloured by a value.

import { actionClasses, actionName, drawnOrder } from "./actions.js";
import { $, el, percent, signed } from "./dom.js";

const RANKS = "AKQJT98765432";
export const MODES = [
  ["strategy", "Strategy"],
  ["ev", "EV"],
  ["equity", "Equity"],
  ["reach", "Reach"],
  ["realisation", "Realisation"],
];

export function handAt(row, column) {
  if (row === column) return RANKS[row] + RANKS[column];
  return row < column ? `${RANKS[row]}${RANKS[column]}s` : `${RANKS[column]}${RANKS[row]}o`;
}

export const HANDS = Array.from({ length: 169 }, (_, index) => handAt(Math.floor(index / 13), index % 13));

export class Grid {
  constructor(root, onSelect) {
    this.root = root;
    this.cells = [];
    this.onSelect = onSelect;
    for (let row = 0; row < 13; row += 1) {
      const line = el("div", { role: "row", class: "row" });
      for (let column = 0; column < 13; column += 1) {
        const hand = handAt(row, column);
        const cell = el(
          "div",
          { role: "gridcell", class: "cell", "data-hand": hand, tabindex: row + column ? "-1" : "0" },
          el("span", { class: "fill" }),
          el("span", { class: "name" }, hand),
          el("span", { class: "value" }),
        );
        cell.addEventListener("click", () => this.select(row * 13 + column));
        cell.addEventListener("pointerenter", () => this.tell(cell));
        cell.addEventListener("pointerleave", () => { $("tooltip").hidden = true; });
        cell.addEventListener("focus", () => this.tell(cell));
        cell.addEventListener("blur", () => { $("tooltip").hidden = true; });
        line.append(cell);
        this.cells.push(cell);
      }
      root.append(line);
    }
    root.addEventListener("keydown", (event) => this.move(event));
  }

  move(event) {
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -13, ArrowDown: 13 };
    const index = this.cells.indexOf(document.activeElement);
    if (event.key === "Enter" || event.key === " ") {
      if (index >= 0) { this.select(index); event.preventDefault(); }
      return;
    }
    if (!(event.key in steps)) return;
    event.preventDefault();
    const from = Math.max(index, 0);
    const sideways = event.key === "ArrowLeft" || event.key === "ArrowRight";
    const to = from + steps[event.key];
    if (to < 0 || to > 168 || (sideways && Math.floor(to / 13) !== Math.floor(from / 13))) return;
    this.focus(to);
    this.select(to);
  }

  focus(index) {
    this.cells.forEach((cell, place) => cell.setAttribute("tabindex", place === index ? "0" : "-1"));
    this.cells[index].focus();
  }

  select(index) {
    this.cells.forEach((cell, place) => cell.setAttribute("tabindex", place === index ? "0" : "-1"));
    this.onSelect(HANDS[index]);
  }

  mark(hand) {
    for (const cell of this.cells) cell.setAttribute("aria-selected", String(cell.dataset.hand === hand));
  }

  tell(cell) {
    const box = $("tooltip");
    const text = cell.dataset.tip;
    if (!text) { box.hidden = true; return; }
    box.replaceChildren(...text.split("\n").map((line) => el("div", {}, line)));
    box.hidden = false;
    const place = cell.getBoundingClientRect();
    const left = Math.min(place.left, innerWidth - box.offsetWidth - 8);
    const above = place.top - box.offsetHeight - 6;
    box.style.left = `${Math.max(4, left)}px`;
    box.style.top = `${above > 4 ? above : place.bottom + 6}px`;
  }

  // Draw a node; `compare` holds the distance of another source by hand, where there is one.
  draw(node, mode, compare) {
    const labels = node.actions.map((action) => action.label);
    const classes = actionClasses(labels);
    const order = drawnOrder(labels);
    const highest = Math.max(...node.grid.map((cell) => cell.reach), 1e-9);
    const scale = scaleOf(mode, node.grid);
    const names = labels.map((label) => actionName(label, node.big_blind));
    // A narrow cell has room for one digit behind the point.
    const narrow = this.cells[0].clientWidth < 34;
    node.grid.forEach((data, index) => {
      const cell = this.cells[index];
      const [fill, , value] = cell.children;
      const other = compare ? compare.second.grid[index] : null;
      const off = data.reason !== null || data.combos === 0;
      cell.className = "cell";
      fill.replaceChildren();
      fill.style.height = "";
      cell.style.removeProperty("--heat");
      value.textContent = "";
      if (off) {
        cell.classList.add("off");
        value.textContent = "—";
      } else if (compare) {
        cell.classList.add("heat", "differs");
        cell.style.setProperty("--heat", `${Math.round(75 * (compare.distance[index] ?? 0))}%`);
        value.textContent = compare.distance[index] === null ? "" : (100 * compare.distance[index]).toFixed(0);
      } else if (mode === "strategy" && labels.length && data.strategy.length) {
        fill.style.height = `${(100 * data.reach) / highest}%`;
        for (const action of order) {
          if (data.strategy[action] < 0.005) continue;
          fill.append(el("i", { class: classes[action], style: { "flex-grow": data.strategy[action] } }));
        }
      } else {
        const shown = mode === "strategy" ? data.reach : data[mode];
        if (shown === null || shown === undefined) value.textContent = "–";
        else {
          cell.classList.add("heat", shown < scale.middle ? "cold" : "warm");
          cell.style.setProperty("--heat", `${Math.round(85 * scale.share(shown))}%`);
          value.textContent = valueText(mode, shown, narrow);
        }
      }
      const tip = tipOf(node, data, names, order, other, compare ? compare.distance[index] : null, compare);
      cell.dataset.tip = tip;
      cell.setAttribute("aria-label", tip.replaceAll("\n", "; "));
    });
  }

  // While a solve runs: its strategy so far, by class.
  drawLive(node, live) {
    const shown = {
      ...node,
      actions: live.actions.map((label) => ({ label })),
      grid: node.grid.map((cell, index) => ({ ...cell, strategy: live.grid[index], ev: null, realisation: null })),
    };
    this.draw(shown, "strategy", null);
  }

  clear() {
    for (const cell of this.cells) {
      cell.className = "cell";
      cell.children[0].replaceChildren();
      cell.children[2].textContent = "";
      cell.dataset.tip = "";
      cell.setAttribute("aria-label", cell.dataset.hand);
    }
  }
}

function valueText(mode, value, narrow) {
  if (mode === "ev") return signed(value, (Math.abs(value) < 10 ? 2 : 1) - narrow);
  return `${Math.round(100 * value)}`;
}

// Values below the middle are drawn cold, those above it warm.
function scaleOf(mode, grid) {
  const key = mode === "strategy" ? "reach" : mode;
  const known = grid.filter((cell) => cell.reason === null && cell.combos).map((cell) => cell[key]).filter((v) => v !== null && v !== undefined);
  if (mode === "ev" || mode === "realisation") {
    const middle = mode === "ev" ? 0 : 1;
    const widest = Math.max(...known.map((value) => Math.abs(value - middle)), 1e-9);
    const limit = mode === "realisation" ? Math.min(widest, 1) : widest;
    return { middle, share: (value) => Math.min(1, Math.abs(value - middle) / limit) };
  }
  return { middle: mode === "equity" ? 0.5 : -1, share: (value) => (mode === "equity" ? Math.min(1, Math.abs(value - 0.5) * 2) : value) };
}

function strategyText(strategy, names, order) {
  return order.filter((action) => strategy[action] >= 0.0005).map((action) => `${names[action]} ${percent(strategy[action])}`).join(", ");
}

function tipOf(node, data, names, order, other, distance, compare) {
  const lines = [`${data.hand}, ${data.combos} combos, reach ${percent(data.reach)}`];
  if (data.combos === 0) return `${data.hand}: blocked by the board`;
  if (data.reason !== null) lines.push(`off-path: ${node.reasons[data.reason] || data.reason}`);
  else if (data.strategy.length) lines.push(strategyText(data.strategy, names, order));
  if (other && compare) {
    const labels = compare.second.actions.map((action) => action.label);
    const text = strategyText(other.strategy, labels.map((label) => actionName(label, compare.second.big_blind)), drawnOrder(labels));
    lines.push(`other: ${other.reason ? "off-path" : text}`);
    if (distance !== null) lines.push(`${percent(distance)} of the strategy differs`);
  }
  const values = [];
  if (data.ev !== null) values.push(`EV ${signed(data.ev)} bb`);
  if (data.equity !== null) values.push(`equity ${percent(data.equity)}`);
  if (data.realisation !== null) values.push(`realises ${percent(data.realisation, 0)}`);
  if (values.length) lines.push(values.join(", "));
  return lines.join("\n");
}
