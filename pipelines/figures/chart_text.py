"""Charts as text: 13 x 13 hands in a terminal, with colours where it has them, and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from rich.text import Text

from abstractions.cards import CLASS_NAMES
from abstractions.ranges import format_range, from_class_weights
from pipelines.figures.charts import (
    DASH,
    OFF_PATH_COLOUR,
    OFF_PATH_INK,
    ChartValues,
    Floats,
    Reasons,
    Segment,
    action_colours,
    action_text,
    cell_segments,
    drawn_order,
    drawn_shares,
    frequencies,
    in_range,
    ink_segments,
    reason_text,
    value_text,
)
from pipelines.figures.contrast import ink_on

_WIDTH = 6
_RANGE_COLOUR, _EMPTY_COLOUR = "#67ad77", "#d7dce0"
#: Ink and background of a hand that is off-path.
OFF_PATH_IN_TERMINALS = "#c4c4c4", "#3a3a3a"


def _cell(label: str, segments: Sequence[Segment]) -> Text:
    """A name on a background that is divided from the left, to the nearest character."""
    text = Text(label.center(_WIDTH))
    for segment in segments:
        start, end = round(_WIDTH * segment.start), round(_WIDTH * segment.end)
        if end > start:
            text.stylize(f"{ink_on(segment.colour)} on {segment.colour}", start, end)
    return text


def _grid(cells: Sequence[Sequence[Text]]) -> list[Text]:
    """Rows of 13 cells. All cells have the same number of lines, and so many lines have their rows."""
    rows = []
    for start in range(0, len(cells), 13):
        rows += [Text(" ").join(line) for line in zip(*cells[start : start + 13])]
    return rows


def chart_lines(
    actions: Sequence[str],
    shares: Floats,
    reasons: Reasons | None = None,
    *,
    reach: Floats | None = None,
    played: Floats | None = None,
    values: ChartValues | None = None,
    caption: str = "",
    colours: bool = True,
) -> list[Text]:
    """A decision as lines of text: the grid, the frequencies, and why hands are off-path.

    Parameters are those of `pipelines.figures.charts.chart_figure`. Without colours a cell names the action that is
    taken most and its percentage. With `values` a cell has a second line: what the hand wins.
    """
    order, tones = drawn_order(actions), action_colours(actions)
    shown, drawn = in_range(reasons), drawn_shares(shares)[:, order]
    cells = []
    for index, (hand, row) in enumerate(zip(CLASS_NAMES, shares)):
        worth = "" if values is None else value_text(values.by_hand[index])
        if not shown[index]:
            style = "{} on {}".format(*OFF_PATH_IN_TERMINALS) if colours else ""
            width = _WIDTH if colours else _WIDTH + 1
            cell = [Text(word.ljust(width), style) for word in (f"{hand:3} {DASH}", "")]
        elif colours:
            segments = cell_segments(drawn[index], [tones[i] for i in order])
            cell = [_cell(word, segments) for word in (hand, worth)]
        else:
            top = int(np.argmax(row))
            words = (f"{hand:3}{_letter(actions[top])}{100 * row[top]:.0f}", worth)
            cell = [Text(word.ljust(_WIDTH + 1)) for word in words]
        cells.append(cell if values is not None else cell[:1])
    lines = [Text(caption)] if caption else []
    lines += [*_grid(cells), Text()]
    share_of = frequencies(shares, reasons, reach) if played is None else played
    for position, share in zip(order, share_of[order]):
        key = (
            Text("   ", f"on {tones[position]}")
            if colours
            else Text(f"{_letter(actions[position])} =".rjust(3))
        )
        lines.append(key + Text(f" {action_text(actions[position])} {share:.1%}"))
    if values is not None:
        lines.append(Text(values.meaning))
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
            cells.append([_cell(hand, cell_segments([weight, 1 - weight], [_RANGE_COLOUR, _EMPTY_COLOUR]))])
        else:
            cells.append([Text(f"{hand:3}{100 * weight:.0f}".ljust(_WIDTH + 1))])
    return _grid(cells)


def chart_html(
    title: str,
    actions: Sequence[str],
    shares: Floats,
    reasons: Reasons | None = None,
    *,
    reach: Floats | None = None,
    played: Floats | None = None,
    values: ChartValues | None = None,
    caption: str = "",
) -> str:
    """A decision as one page without other files; a hand's figures and reason are its tooltip.

    Parameters are those of `pipelines.figures.charts.chart_figure`.
    """
    order, tones = drawn_order(actions), action_colours(actions)
    drawn = drawn_shares(shares)[:, order]
    cells = []
    for index, hand in enumerate(CLASS_NAMES):
        reason = reasons[index] if reasons else None
        if reason is not None:
            tip = f"{hand} {DASH} not in range on this line ({reason_text(reason)})"
            cells.append(f'<td class="off" title="{escape(tip)}"><div>{hand}<br>{DASH}</div></td>')
            continue
        row = shares[index]
        tip = ", ".join(f"{action_text(actions[i])} {row[i]:.1%}" for i in order)
        if reach is not None:
            tip += f"; reach {reach[index]:.2%}"
        words = hand
        if values is not None:
            words += f"<small>{value_text(values.by_hand[index])}</small>"
            by_action = values.by_action[index]
            worth = ", ".join(f"{action_text(actions[i])} {_exact(by_action[i])}" for i in order)
            tip += f"; EV {_exact(values.by_hand[index])} bb ({worth})"
        segments = cell_segments(drawn[index], [tones[i] for i in order])
        cells.append(_html_cell(words, f"{hand}: {tip}", segments))
    rows = "\n".join(f"<tr>{''.join(cells[start : start + 13])}</tr>" for start in range(0, len(cells), 13))
    share_of = frequencies(shares, reasons, reach) if played is None else played
    legend = "\n".join(
        f'<li><span style="background:{tones[i]}"></span>{escape(action_text(actions[i]))} {share_of[i]:.1%}</li>'
        for i in order
    )
    notes = [] if values is None else [f"<li>{escape(values.meaning)}</li>"]
    notes += [
        f"<li>{DASH} {escape(reason_text(reason))}: {escape(_hands(reasons, reason))}</li>"
        for reason in sorted({reason for reason in reasons or () if reason is not None})
    ]
    return _PAGE.format(
        title=escape(title),
        caption=f'<p class="caption">{escape(caption)}</p>\n' if caption else "",
        rows=rows,
        legend=legend,
        notes="\n".join(notes),
        grey=OFF_PATH_COLOUR,
        faded=OFF_PATH_INK,
    )


def _exact(value: float) -> str:
    return DASH if np.isnan(value) else f"{value:+.3f}"


def _html_cell(words: str, tip: str, segments: Sequence[Segment]) -> str:
    """A cell whose background is divided exactly; its text has the ink of whatever part it stands on."""
    inks = ink_segments(segments)
    # A gradient that ends a fraction of a pixel before its cell leaves the colour of its last part there.
    back = f"background-color:{segments[-1].colour};background-image:{_gradient(segments)}"
    if len(inks) == 1:
        text = f'<div style="color:{inks[0].colour}">{words}</div>'
    else:
        text = f'<div class="split" style="background-image:{_gradient(inks)}">{words}</div>'
    return f'<td style="{back}" title="{escape(tip)}">{text}</td>'


def _gradient(segments: Sequence[Segment]) -> str:
    """Colours side by side without a transition: each stops where the next one starts."""
    stops = [f"{part.colour} {100 * part.start:.4g}% {100 * part.end:.4g}%" for part in segments]
    return f"linear-gradient(to right,{','.join(stops)})"


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
* {{ box-sizing: border-box; }}
body {{ font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; padding: 1rem; max-width: 54rem;
  color: #1c1c1c; background: #fff; overflow-wrap: anywhere; }}
h1 {{ font-size: clamp(1.1rem, 4.5vw, 1.6rem); line-height: 1.25; margin: 0 0 .5rem; }}
p {{ margin: 0 0 .75rem; color: {faded}; }}
table {{ width: 100%; table-layout: fixed; border-collapse: separate; border-spacing: 1px;
  font-size: clamp(8px, 2.3vw, 16px); line-height: 1.2; overflow-wrap: normal; }}
td {{ padding: 0; background-repeat: no-repeat; font-weight: 600; text-align: center;
  -webkit-print-color-adjust: exact; print-color-adjust: exact; }}
td div {{ aspect-ratio: 1; display: flex; flex-direction: column; align-items: center; justify-content: center;
  overflow: hidden; background-repeat: no-repeat; }}
td .split {{ color: transparent; -webkit-background-clip: text; background-clip: text; }}
td small {{ font-size: .8em; font-weight: 500; }}
td.off {{ background: {grey}; color: {faded}; font-weight: 400; }}
ul {{ list-style: none; padding: 0; margin: .75rem 0 0; }}
.legend {{ display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; }}
p.caption {{ color: #6f6f6f; font-size: .85em; }}
li span {{ display: inline-block; width: 1.2em; height: 1.2em; margin-right: .5em; vertical-align: -.2em; }}
</style>
</head>
<body>
<h1>{title}</h1>
{caption}<table>
{rows}
</table>
<ul class="legend">
{legend}
</ul>
<ul>
{notes}
</ul>
</body>
</html>
"""
