"""Pictures of an exported blueprint: charts, frequencies, exploitability, equity realisation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from abstractions.cards import CLASS_COMBOS, CLASS_NAMES, NUM_CLASSES
from artifacts.blueprint.bundle import BlueprintBundle
from artifacts.blueprint.line_reach import line_play
from artifacts.bundle import Bundle
from pipelines.figures.charts import action_colours, action_text, chart_figure, drawn_order
from pipelines.figures.contrast import ink_on
from pipelines.figures.trace import trace_figure
from pipelines.stages.preflop_spots import spot_line
from solver.betting.lines import without_prefix
from solver.blueprint.trunk import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Titles of the spots of `pipelines.stages.preflop_spots`.
TITLES = {
    "sb_first_in": "Small blind, first in",
    "bb_vs_limp": "Big blind against a limp",
    "bb_vs_open": "Big blind against an open",
    "sb_vs_3bet": "Small blind against a 3-bet",
}


def bundle_figures(bundle: Bundle) -> dict[str, Figure]:
    """All pictures of a bundle of stage `export`."""
    assert isinstance(bundle, BlueprintBundle)
    pictures = {"exploitability": trace_figure(bundle["trace"]), "frequencies": frequency_figure(bundle)}
    lines = bundle.lines("preflop")
    for spot, title in TITLES.items():
        line = spot_line(lines, spot)
        if line is not None:
            rows = bundle.preflop(line)
            pictures[f"chart_{spot}"] = chart_figure(
                f"{title} ({without_prefix(line) or 'start'})",
                rows.actions,
                rows.raw_probability,
                rows.reasons,
                reach=rows.reach,
                played=np.nan_to_num(line_play(bundle, line).frequencies),
            )
    pictures["equity_realisation"] = realisation_figure(bundle)
    return pictures


def frequency_figure(bundle: BlueprintBundle) -> Figure:
    """How often each action is taken at every preflop decision when its line is played."""
    from matplotlib.figure import Figure

    lines = bundle.lines("preflop")
    figure = Figure(figsize=(9, 1 + 0.45 * len(lines)))
    axes = figure.add_subplot()
    for row, line in enumerate(lines):
        play = line_play(bundle, line)
        shares = np.nan_to_num(play.frequencies)
        colours, left = action_colours(play.actions), 0.0
        for position in reversed(drawn_order(play.actions)):
            share = float(shares[position])
            axes.barh(row, share, left=left, color=colours[position])
            if share > 0.06:
                words = f"{action_text(play.actions[position])} {share:.0%}"
                ink = ink_on(colours[position])
                axes.text(left + share / 2, row, words, ha="center", va="center", fontsize=7, color=ink)
            left += share
    axes.set_yticks(range(len(lines)), [without_prefix(line) or "start" for line in lines])
    axes.set(xlim=(0, 1), ylim=(len(lines) - 0.5, -0.5), xlabel="how often, when the line is played")
    axes.set_title("Preflop frequencies")
    figure.tight_layout()
    return figure


def equity_realisation(bundle: BlueprintBundle, line: str) -> Floats:
    """Share of its pot equity that each hand wins at a preflop decision, [169]; nan where undefined.

    What a hand wins from the decision on (its chips there included) over its equity times the pot, if the
    pot were checked down from there against the opponent's range.
    """
    rows, decision = bundle.preflop(line), bundle.decision(line)
    value = (rows.raw_probability * np.where(rows.raw_probability > 0, rows.ev, 0.0)).sum(axis=1)
    wins, ties, totals = (np.asarray(bundle["equity"][name]) for name in ("wins", "ties", "totals"))
    weights = bundle.range(line, 1 - decision.player)
    with np.errstate(invalid="ignore", divide="ignore"):
        equity = (wins + ties / 2) @ weights / (totals @ weights)
    return (value + decision.committed[decision.player]) / (equity * decision.pot)


def realisation_figure(bundle: BlueprintBundle) -> Figure:
    """Heat maps of equity realisation: the small blind first in, the big blind against an open."""
    from matplotlib.figure import Figure

    lines = bundle.lines("preflop")
    spots = [spot for spot in ("sb_first_in", "bb_vs_open") if spot_line(lines, spot) is not None]
    figure = Figure(figsize=(7.5 * len(spots), 7))
    for position, spot in enumerate(spots):
        line = spot_line(lines, spot)
        assert line is not None
        share = equity_realisation(bundle, line)
        mean = float(np.nansum(share * CLASS_COMBOS) / CLASS_COMBOS[~np.isnan(share)].sum())
        axes = figure.add_subplot(1, len(spots), position + 1)
        axes.imshow(share.reshape(13, 13), cmap="RdYlGn", vmin=0.0, vmax=2.0)
        for index in range(NUM_CLASSES):
            row, column = divmod(index, 13)
            words = f"{CLASS_NAMES[index]}\n{share[index]:.2f}"
            ink = "white" if abs(share[index] - 1) > 0.75 else "black"
            axes.text(column, row, words, ha="center", va="center", fontsize=6, color=ink)
        axes.set_axis_off()
        axes.set_title(f"{TITLES[spot]}: chips won over equity times pot, mean {mean:.2f}")
    figure.tight_layout()
    return figure
