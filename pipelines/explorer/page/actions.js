// How actions are named, coloured and textured: the same everywhere on the page.

const NAMES = { fold: "Fold", check: "Check", call: "Call", all_in: "All-in" };

export function actionName(label, bigBlind) {
  if (NAMES[label]) return NAMES[label];
  const [kind, to] = label.split("_");
  const verb = { open: "Open", bet: "Bet", raise: "Raise" }[kind] || kind;
  return to ? `${verb} ${bigBlind ? +(to / bigBlind).toFixed(2) : to}` : verb;
}

function size(label) {
  if (label === "all_in") return Infinity;
  if (label === "fold") return -2;
  if (label === "check" || label === "call") return -1;
  return Number(label.split("_")[1] || 0);
}

// The largest raise is drawn first, the fold last.
export function drawnOrder(labels) {
  return labels.map((_, index) => index).sort((a, b) => size(labels[b]) - size(labels[a]));
}

// A class for each action: colour and texture are in the style sheet. Bets grow from bet-1 to bet-4.
export function actionClasses(labels) {
  const bets = labels.filter((label) => size(label) > 0 && size(label) < Infinity).sort((a, b) => size(a) - size(b));
  return labels.map((label) => {
    if (label === "all_in") return "act-allin";
    if (label === "fold") return "act-fold";
    if (label === "check" || label === "call") return "act-call";
    const place = bets.indexOf(label);
    const step = bets.length === 1 ? 2 : 1 + Math.round((3 * place) / (bets.length - 1));
    return `act-bet-${step}`;
  });
}
