// What is shown is in the address, so that any view can be shared and the back button works.

const KEYS = ["page", "source", "other", "line", "board", "hand", "mode", "seat", "raw", "tab"];

export function read() {
  const query = new URLSearchParams(location.search);
  const state = {};
  for (const key of KEYS) state[key] = query.get(key) || "";
  return state;
}

function address(state) {
  const query = new URLSearchParams();
  for (const key of KEYS) if (state[key]) query.set(key, state[key]);
  const text = query.toString().replaceAll("%2F", "/").replaceAll("%3A", ":");
  return `${location.pathname}${text ? `?${text}` : ""}`;
}

export function push(state) {
  history.pushState(null, "", address(state));
}

export function replace(state) {
  history.replaceState(null, "", address(state));
}
