// Small helpers: elements, numbers as text, and questions to the server.

export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") Object.entries(value).forEach(([key, text]) => node.style.setProperty(key, text));
    else if (name === "class") node.className = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

// Replace what an element holds; nothing stands for no child.
export function fill(root, ...children) {
  root.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
}

export const $ = (id) => document.getElementById(id);

export function percent(value, digits = 1) {
  if (value === null || value === undefined) return "–";
  return `${(100 * value).toFixed(digits)} %`;
}

export function signed(value, digits = 2) {
  if (value === null || value === undefined) return "–";
  const text = value.toFixed(digits);
  return Number(text) > 0 ? `+${text}` : text.replace("-", "−");
}

export function bigBlinds(chips, bigBlind) {
  return `${+(chips / bigBlind).toFixed(2)} bb`;
}

export function bytes(count) {
  if (count === null || count === undefined) return "–";
  const units = ["B", "KB", "MB", "GB"];
  let power = 0;
  while (count >= 1000 && power < units.length - 1) { count /= 1000; power += 1; }
  return `${count.toFixed(count < 10 && power ? 1 : 0)} ${units[power]}`;
}

export class Refused extends Error {}

export async function ask(path, parameters = {}, options = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null && value !== "") query.set(name, value);
  }
  const text = query.toString();
  let response;
  try {
    response = await fetch(`/api/${path}${text ? `?${text}` : ""}`, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused("The server does not answer. Start it again with poker-solver explore.");
  }
  const data = await response.json();
  if (!response.ok) throw new Refused(data.detail || `The server answered ${response.status}.`);
  return data;
}

export function send(method, path, body, more = {}) {
  const options = { method, ...more };
  if (body !== undefined) {
    options.headers = { "content-type": "application/json" };
    options.body = JSON.stringify(body);
  }
  return ask(path, {}, options);
}

const SUITS = { c: "♣", d: "♦", h: "♥", s: "♠" };

export function cardsOf(text) {
  return text.match(/../g) || [];
}

export function card(text) {
  return el("span", { class: `card suit-${text[1]}`, "aria-label": text }, text[0], el("i", {}, SUITS[text[1]]));
}

export function cards(text) {
  return cardsOf(text).map(card);
}

export async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without permission for the clipboard: select the text in a field instead.
    const field = el("textarea", {}, text);
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  const before = button.textContent;
  button.textContent = "copied";
  setTimeout(() => { button.textContent = before; }, 1200);
}
