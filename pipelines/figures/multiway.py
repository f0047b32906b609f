"""Pictures of games of three or more seats: gains by seat, and the charts that players look at first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from artifacts.blueprint.line_reach import line_play
from artifacts.blueprint.multiway_bundle import MultiwayBundle
from artifacts.bundle import Bundle
from pipelines.figures.charts import chart_figure
from solver.betting.lines import Letter

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def gain_figures(bundle: Bundle) -> dict[str, Figure]:
    """What a responder gains in each seat, with its 95 % interval."""
    from matplotlib.figure import Figure

    table = bundle["gains"]
    gain = np.asarray(table["gain"])
    reach = np.abs(np.stack([gain - np.asarray(table["gain_low"]), np.asarray(table["gain_high"]) - gain]))
    figure = Figure(figsize=(7, 4))
    axes = figure.add_subplot()
    axes.bar([str(seat) for seat in table["seat"]], gain, yerr=reach, capsize=3)
    axes.set(ylabel="mbb/hand", title="What a responder gains in each seat (95 % interval)")
    figure.tight_layout()
    return {"gains": figure}


def multiway_figures(bundle: Bundle) -> dict[str, Figure]:
    """A chart for every seat first in, and for every seat that faces one first raise."""
    assert isinstance(bundle, MultiwayBundle)
    return {name: _chart(bundle, title, line) for name, title, line in spots(bundle)}


def spots(bundle: MultiwayBundle) -> Iterator[tuple[str, str, str]]:
    """Name, title and line of every first-in and facing-a-raise decision; all other seats have folded."""
    line, seats = "", bundle.seats
    while True:
        decision = bundle.decision(line)
        seat = seats[decision.player]
        raises = [token for token in decision.tokens if token[0] in (Letter.BET, Letter.ALLIN)]
        yield f"chart_{seat}_first_in", f"{seat} first in ({line or 'start'})", line
        if raises:
            yield from _facing(bundle, seat, line + raises[0])
        following = line + Letter.FOLD
        if Letter.FOLD not in decision.tokens or bundle.ends_hand(following):
            return
        line = following


def _facing(bundle: MultiwayBundle, raiser: str, line: str) -> Iterator[tuple[str, str, str]]:
    while not bundle.ends_hand(line):
        decision = bundle.decision(line)
        seat = bundle.seats[decision.player]
        if seat == raiser:
            return
        yield f"chart_{seat}_vs_{raiser}", f"{seat} against a raise of {raiser} ({line})", line
        line += Letter.FOLD


def _chart(bundle: MultiwayBundle, title: str, line: str) -> Figure:
    rows = bundle.preflop(line)
    return chart_figure(
        title,
        rows.actions,
        rows.raw_probability,
        rows.reasons,
        reach=rows.reach,
        played=np.nan_to_num(line_play(bundle, line).frequencies),
    )
