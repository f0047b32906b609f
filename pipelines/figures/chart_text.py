"""Charts as text: 13 x 13 hands in a terminal, with colours where it has them, and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import accumulate

import numpy as np
from rich.text import Text

from abstractions.cards import CLASS_NAMES
from abstractions.ranges import format_range, from_class_weights
from pipelines.figures.charts import (
    DASH,
    INK,
    OFF_PATH_COLOUR,
    OFF_PATH_INK,
    Floats,
    Reasons,
    action_colours,
    action_text,
    drawn_order,
    frequencies,
    in_range,
    reason_text,
)

_WIDTH = 6
_RANGE_COLOUR, _EMPTY_COLOUR = "#67ad77", "#d7dce0"
_OFF_PATH = f"{OFF_PATH_INK} on #3a3a3a"


def _cell(label: str, shares: Sequence[float], colours: Sequence[str]) -> Text:
    """A name on a background that is divided from the left, to the nearest character."""
    edges = [round(_WIDTH * share) for share in accumulate(shares)]
    text = Text(label.center(_WIDTH))
    start = 0
    for edge, colour in zip(edges, colours):
        if edge > start:
            text.stylize(f"{INK} on {colour}", start, edge)
        start = max(start, edge)
    return text


def _grid(cells: Sequence[Text]) -> list[Text]:
    return [Text(" ").join(cells[row : row + 13]) for row in range(0, len(cells), 13)]


def chart_lines(
    actions: Sequence[str],
    shares: Floats,
    reasons: Reasons | None = None,
    *,
    reach: Floats | None = None,
    played: Floats | None = None,
    caption: str = "",
    colours: bool = True,
) -> list[Text]:
    """A decision as lines of text: the grid, the frequencies, and why hands are off-path.

    Parameters are those of `pipelines.figures.charts.chart_figure`. Without colours a cell names the action that is
    taken most and its percentage.
    """
    order, tones = drawn_order(actions), action_colours(actions)
    shown = in_range(reasons)
    cells = []
    for hand, row, is_shown in zip(CLASS_NAMES, shares, shown):
        if not is_shown:
            cells.append(Text(f"{hand:3} {DASH}".ljust(_WIDTH), _OFF_PATH if colours else ""))
        elif colours:
            cells.append(_cell(hand, [row[i] for i in order], [tones[i] for i in order]))
        else:
            top = int(np.argmax(row))
            cells.append(Text(f"{hand:3}{_letter(actions[top])}{100 * row[top]:.0f}".ljust(_WIDTH + 1)))
    lines = [*([Text(caption)] if caption else []), *_grid(cells), Text()]
    share_of = frequencies(shares, reasons, reach) if played is None else played
    for position, share in zip(order, share_of[order]):
        key = (
            Text("   ", f"on {tones[position]}")
            if colours
            else Text(f"{_letter(actions[position])} =".rjust(3))
        )
        lines.append(key + Text(f" {action_text(actions[position])} {share:.1%}"))
    for reason in sorted({reason for reason in reasons or () if reason is not None}):
        lines.append(Text(f"{DASH} {reason_text(reason)}: {_hands(reasons, reason)}"))
    return lines


def _letter(action: str) -> str:
    """One letter for an action: a all-in, r raise of any size, c call, x check, f fold."""
    return {"all_in": "a", "call": "c", "check": "x", "fold": "f"}.get(action, "r")


def _hands(reasons: Reasons | None, reason: str) -> str:
    chosen = np.array([found == reason for found in reasons or ()], dtype=np.float64)
    return format_range(from_class_weights(chosen))


def range_lines(weights: Floats, *, colours: bool = True) -> list[Text]:
    """The grid of a range, each cell filled by how much of the hand is in it; `weights` by class."""
    cells = []
    for hand, weight in zip(CLASS_NAMES, np.clip(weights, 0.0, 1.0)):
        if colours:
            cells.append(_cell(hand, [weight, 1 - weight], [_RANGE_COLOUR, _EMPTY_COLOUR]))
        else:
            cells.append(Text(f"{hand:3}{100 * weight:.0f}".ljust(_WIDTH + 1)))
    return _grid(cells)


def chart_html(
    title: str,
    actions: Sequence[str],
    shares: Floats,
    reasons: Reasons | None = None,
    *,
    reach: Floats | None = None,
    played: Floats | None = None,
    caption: str = "",
) -> str:
    """A decision as one page without other files; a hand's figures and reason are its tooltip."""
    order, tones = drawn_order(actions), action_colours(actions)
    cells = []
    for index, hand in enumerate(CLASS_NAMES):
        reason = reasons[index] if reasons else None
        if reason is not None:
            tip = f"{hand} {DASH} not in range on this line ({reason_text(reason)})"
            cells.append(f'<td class="off" title="{escape(tip)}">{hand}<br>{DASH}</td>')
            continue
        row = shares[index]
        tip = ", ".join(f"{action_text(actions[i])} {row[i]:.1%}" for i in order)
        if reach is not None:
            tip += f"; reach {reach[index]:.2%}"
        back = _gradient([float(row[i]) for i in order], [tones[i] for i in order])
        cells.append(f'<td style="background:{back}" title="{escape(f"{hand}: {tip}")}">{hand}</td>')
    rows = "\n".join(f"<tr>{''.join(cells[start : start + 13])}</tr>" for start in range(0, len(cells), 13))
    share_of = frequencies(shares, reasons, reach) if played is None else played
    legend = "\n".join(
        f'<li><span style="background:{tones[i]}"></span>{escape(action_text(actions[i]))} {share_of[i]:.1%}</li>'
        for i in order
    )
    notes = "\n".join(
        f"<li>{DASH} {escape(reason_text(reason))}: {escape(_hands(reasons, reason))}</li>"
        for reason in sorted({reason for reason in reasons or () if reason is not None})
    )
    return _PAGE.format(
        title=escape(title),
        caption=f'<p class="caption">{escape(caption)}</p>' if caption else "",
        rows=rows,
        legend=legend,
        notes=notes,
        grey=OFF_PATH_COLOUR,
        faded=OFF_PATH_INK,
    )


def _gradient(shares: Sequence[float], colours: Sequence[str]) -> str:
    stops = []
    start = 0.0
    for share, colour in zip(shares, colours):
        if share > 0:
            stops.append(f"{colour} {start:.2%} {start + share:.2%}")
            start += share
    return f"linear-gradient(to right,{','.join(stops)})"


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 14px/1.4 system-ui, sans-serif; margin: 1.5rem; color: #1c1c1c; background: #fff; }}
table {{ border-collapse: collapse; }}
td {{ width: 3.3rem; height: 3.3rem; border: 1px solid #fff; text-align: center; font-weight: 600; }}
td.off {{ background: {grey}; color: {faded}; font-weight: 400; }}
ul {{ list-style: none; padding: 0; }}
p.caption {{ color: #6f6f6f; font-size: .85em; }}
li span {{ display: inline-block; width: 1.2em; height: 1.2em; margin-right: .5em; vertical-align: -.2em; }}
</style>
</head>
<body>
<h1>{title}</h1>
{caption}
<table>
{rows}
</table>
<ul>
{legend}
</ul>
<ul>
{notes}
</ul>
</body>
</html>
"""
