"""Charts of a decision: the 13 x 13 grid of hands, each cell divided by action.

What every rendering shares is here (colours, order of the actions, frequencies) beside the picture;
`pipelines.figures.chart_text` draws the same chart in a terminal and as a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import CLASS_COMBOS, CLASS_NAMES, NUM_CLASSES
from pipelines.figures.contrast import ink_on

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Reasons = Sequence[str | None]

OFF_PATH_COLOUR = "#e4e4e4"
OFF_PATH_INK = "#5c5c5c"
DASH = "—"
#: A smaller share is not drawn: it would be a line thinner than a pixel, in a colour that nobody can name.
SMALLEST_DRAWN = 0.005
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
    "blocked": "blocked by the board",
    "not_held": "not in the range that was solved",
}


@dataclass(frozen=True, eq=False)
class ChartValues:
    """What hands win, in big blinds; nan where it is undefined.

    Attributes
    ----------
    by_hand : float array [169]
        Of the strategy that is drawn.
    by_action : float array [169, action]
        Of each action.
    meaning
        What is counted, for the reader.
    action_errors : float array [169, action] or None
        Standard error of `by_action`, where it is known.
    """

    by_hand: Floats
    by_action: Floats
    meaning: str
    action_errors: Floats | None = None


def value_text(value: float) -> str:
    """Big blinds in at most five characters; a dash where they are undefined.

    >>> value_text(1.25), value_text(-12.34), value_text(104.4), value_text(-0.001), value_text(float("nan"))
    ('+1.25', '-12.3', '+104', '+0.00', '—')
    """
    if np.isnan(value):
        return DASH
    digits = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    # Adding zero turns the -0.0 of a rounded value into 0.0.
    return f"{round(value, digits) + 0.0:+.{digits}f}"


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


def drawn_shares(shares: Floats) -> Floats:
    """The shares of ``[hand, action]`` that are wide enough to see; those of a hand fill its cell.

    >>> drawn_shares(np.array([[0.001, 0.999], [0.25, 0.75]])).tolist()
    [[0.0, 1.0], [0.25, 0.75]]
    """
    drawn = np.where(shares < SMALLEST_DRAWN, 0.0, shares)
    total = drawn.sum(axis=1, keepdims=True)
    return np.divide(drawn, total, out=np.zeros_like(drawn), where=total > 0)


@dataclass(frozen=True)
class Segment:
    """A part of a cell, from the left: where it starts and ends (0 to 1), and its colour."""

    start: float
    end: float
    colour: str


def cell_segments(row: Sequence[float], colours: Sequence[str]) -> list[Segment]:
    """The parts of a cell that have a width; the last one ends at exactly 1.

    Parameters
    ----------
    row
        Widths from left to right, as `drawn_shares` makes them.
    colours
        Colour of each.
    """
    edges = np.minimum(np.concatenate([[0.0], np.cumsum(row)]), 1.0)
    filled = [k for k, width in enumerate(row) if width > 0]
    return [
        Segment(float(edges[k]), 1.0 if k == filled[-1] else float(edges[k + 1]), colours[k]) for k in filled
    ]


def ink_segments(segments: Sequence[Segment]) -> list[Segment]:
    """The same cell in the colours of the text that stands on it, neighbours of one ink joined."""
    joined = []
    for ink, group in groupby(segments, key=lambda segment: ink_on(segment.colour)):
        parts = list(group)
        joined.append(Segment(parts[0].start, parts[-1].end, ink))
    return joined


def chart_figure(
    title: str,
    actions: Sequence[str],
    shares: Floats,
    reasons: Reasons | None = None,
    *,
    reach: Floats | None = None,
    played: Floats | None = None,
    values: ChartValues | None = None,
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
    values
        Write what each hand wins under its name.
    caption
        What the chart was made from, in small letters at the bottom.
    """
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    order, colours = drawn_order(actions), action_colours(actions)
    tones = [colours[i] for i in order]
    figure = Figure(figsize=(8, 8.6))
    axes = figure.add_axes((0.02, 0.1, 0.96, 0.84))
    rows, columns = np.divmod(np.arange(NUM_CLASSES), 13)
    shown = in_range(reasons)
    drawn = drawn_shares(shares)[:, order]
    axes.barh(rows[~shown], 1.0, left=columns[~shown], height=1.0, color=OFF_PATH_COLOUR)
    left = columns[shown].astype(np.float64)
    for position, tone in enumerate(tones):
        width = drawn[shown, position]
        axes.barh(rows[shown], width, left=left, height=1.0, color=tone)
        left = left + width
    for index, hand in enumerate(CLASS_NAMES):
        if shown[index]:
            text = hand if values is None else f"{hand}\n{value_text(values.by_hand[index])}"
            inks = ink_segments(cell_segments(drawn[index], tones))
        else:
            text, inks = f"{hand}\n{DASH}", [Segment(0.0, 1.0, OFF_PATH_INK)]
        _write_in_cell(axes, int(rows[index]), int(columns[index]), text, inks)
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
    if values is not None:
        figure.text(0.5, 0.038, values.meaning, ha="center", fontsize=8, color=OFF_PATH_INK)
    found = [reason for reason in reasons or () if reason is not None]
    notes = [f"{reason_text(reason)} ({found.count(reason)})" for reason in sorted(set(found))]
    if notes:
        words = f"{DASH} not in range: {', '.join(notes)}"
        figure.text(0.5, 0.02, words, ha="center", fontsize=8, color=OFF_PATH_INK)
    if caption:
        figure.text(0.5, 0.006, caption, ha="center", fontsize=7, color=OFF_PATH_INK)
    return figure


def _write_in_cell(axes: Any, row: int, column: int, text: str, inks: Sequence[Segment]) -> None:
    """Write in the middle of a cell, in each part of it with the ink of that part."""
    from matplotlib.transforms import Bbox, TransformedBbox

    for part in inks:
        label = axes.text(
            column + 0.5, row, text, ha="center", va="center", fontsize=8, color=part.colour, linespacing=1.1
        )
        if len(inks) > 1:
            box = Bbox([[column + part.start, row - 0.5], [column + part.end, row + 0.5]])
            # Pictures of pixels clip text by rectangles only, so each part has a text of its own.
            label.set_clip_path(None)
            label.set_clip_box(TransformedBbox(box, axes.transData))
            label.set_clip_on(True)
