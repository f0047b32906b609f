"""Charts of a preflop decision: the 13 x 13 grid of hands, each cell divided by action.

What every rendering shares is here (colours, order of the actions, frequencies) beside the picture;
`pipelines.figures.chart_text` draws the same chart in a terminal and as a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import CLASS_COMBOS, CLASS_NAMES, NUM_CLASSES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Reasons = Sequence[str | None]

OFF_PATH_COLOUR = "#e4e4e4"
OFF_PATH_INK = "#8f8f8f"
INK = "#1c1c1c"
DASH = "—"
_PASSIVE = {"fold": "#93a8bd", "check": "#67ad77", "call": "#67ad77"}
_ALL_IN = "#92203a"
_SMALLEST_RAISE, _LARGEST_RAISE = (247, 178, 168), (196, 49, 53)
#: What a reason says to the reader of a chart.
REASON_TEXT = {
    "folded": "folded earlier on this line",
    "all_in": "already all-in earlier",
    "checked_closed": "checked and closed the action earlier",
    "called_closed": "called and closed the action earlier",
    "low_reach_same_street": "does not reach this line; reach about 0 %",
}


def reason_text(reason: str) -> str:
    """A reason in words; one that is unknown as it is written.

    >>> reason_text("folded")
    'folded earlier on this line'
    """
    return REASON_TEXT.get(reason, reason)


def _size(action: str) -> float:
    """How far an action raises; passive ones below every raise, all-in above."""
    if action == "all_in":
        return np.inf
    digits = action.rpartition("_")[2]
    return float(digits) if digits.isdigit() else {"fold": -2.0, "check": -1.0, "call": -1.0}.get(action, 0.0)


def drawn_order(actions: Sequence[str]) -> list[int]:
    """Positions of the actions from left to right of a cell: the largest raise first, fold last.

    >>> drawn_order(["fold", "call", "raise_600", "raise_900", "all_in"])
    [4, 3, 2, 1, 0]
    """
    return sorted(range(len(actions)), key=lambda position: -_size(actions[position]))


def action_colours(actions: Sequence[str]) -> list[str]:
    """Colour of each action as ``#rrggbb``: fold grey-blue, check and call green, raises redder by size."""
    sizes = sorted(_size(action) for action in actions if action not in _PASSIVE and action != "all_in")
    colours = []
    for action in actions:
        if action in _PASSIVE:
            colours.append(_PASSIVE[action])
        elif action == "all_in":
            colours.append(_ALL_IN)
        else:
            depth = (sizes.index(_size(action)) + 1) / len(sizes)
            mixed = [round(a + (b - a) * depth) for a, b in zip(_SMALLEST_RAISE, _LARGEST_RAISE)]
            colours.append("#" + "".join(f"{part:02x}" for part in mixed))
    return colours


def action_text(action: str) -> str:
    """An action label for readers.

    >>> action_text("open_250"), action_text("all_in")
    ('open 250', 'all-in')
    """
    return "all-in" if action == "all_in" else action.replace("_", " ")


def frequencies(shares: Floats, reasons: Reasons | None = None, reach: Floats | None = None) -> Floats:
    """How often the range takes each action: hands weighted by combos, and by `reach` where given.

    Off-path hands count nothing. All zeros where no hand is in range.
    """
    weights = CLASS_COMBOS * (np.ones(NUM_CLASSES) if reach is None else reach)
    weights = weights * in_range(reasons)
    total = float(weights.sum())
    return weights @ shares / total if total > 0 else np.zeros(shares.shape[1])


def in_range(reasons: Reasons | None) -> NDArray[np.bool_]:
    """Hands that are not off-path, bool [169]."""
    return np.array([reason is None for reason in reasons or [None] * NUM_CLASSES])


def chart_figure(
    title: str,
    actions: Sequence[str],
    shares: Floats,
    reasons: Reasons | None = None,
    *,
    reach: Floats | None = None,
    played: Floats | None = None,
    caption: str = "",
) -> Figure:
    """13 x 13 grid in which each cell is divided from the left by action.

    Parameters
    ----------
    actions
        Strategy labels: ``fold``, ``call``, ``open_250``, ``all_in`` and so on.
    shares : float array [169, action]
        Probability of each action, hands in grid order.
    reasons
        Why a hand is off-path, None where it is in range; off-path cells are grey with an em dash.
    reach : float array [169]
        Weights the frequencies of the legend where `played` is left out.
    played : float array [action]
        How often each action is taken when the line is played, for the legend.
    caption
        What the chart was made from, in small letters at the bottom.
    """
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch
    from matplotlib.patheffects import withStroke

    order, colours = drawn_order(actions), action_colours(actions)
    figure = Figure(figsize=(8, 8.6))
    axes = figure.add_axes((0.02, 0.1, 0.96, 0.84))
    rows, columns = np.divmod(np.arange(NUM_CLASSES), 13)
    shown = in_range(reasons)
    axes.barh(rows[~shown], 1.0, left=columns[~shown], height=1.0, color=OFF_PATH_COLOUR)
    left = columns[shown].astype(np.float64)
    for position in order:
        width = shares[shown, position]
        axes.barh(rows[shown], width, left=left, height=1.0, color=colours[position])
        left = left + width
    outline = withStroke(linewidth=1.6, foreground="white", alpha=0.75)
    for hand, row, column, is_shown in zip(CLASS_NAMES, rows, columns, shown):
        ink = INK if is_shown else OFF_PATH_INK
        text = hand if is_shown else f"{hand}\n{DASH}"
        label = axes.text(column + 0.5, row, text, ha="center", va="center", fontsize=8, color=ink)
        label.set_path_effects([outline])
    for edge in range(14):
        axes.axhline(edge - 0.5, color="white", linewidth=1.2)
        axes.axvline(edge, color="white", linewidth=1.2)
    axes.set(xlim=(0, 13), ylim=(12.5, -0.5))
    axes.set_title(title, fontsize=12)
    axes.set_axis_off()
    share_of = frequencies(shares, reasons, reach) if played is None else played
    axes.legend(
        handles=[
            Patch(color=colours[i], label=f"{action_text(actions[i])} {share_of[i]:.1%}") for i in order
        ],
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncols=min(len(actions), 5),
        frameon=False,
        fontsize=9,
    )
    found = [reason for reason in reasons or () if reason is not None]
    notes = [f"{reason_text(reason)} ({found.count(reason)})" for reason in sorted(set(found))]
    if notes:
        words = f"{DASH} not in range: {', '.join(notes)}"
        figure.text(0.5, 0.02, words, ha="center", fontsize=8, color=OFF_PATH_INK)
    if caption:
        figure.text(0.5, 0.006, caption, ha="center", fontsize=7, color=OFF_PATH_INK)
    return figure
