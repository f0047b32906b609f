"""How far the mean over a few flops is from that over all 1,755: on equities, a blueprint's play, or solved flops.

    python scripts/flop_subset_error.py [--pairs N] [--save FILE.npz] [--load FILE.npz]
    python scripts/flop_subset_error.py --bundle STORE/export-KEY [--line b250c] [--save FILE.npz]
    python scripts/flop_subset_error.py --report STORE/flop_report-KEY      of `python -m pipelines.solve .. flops=all`

For each pair of ranges the equity of the first on every flop is computed exactly, about half a minute a pair on one
core. With a blueprint the figures are its own answers where a line meets the flop: how often the player who acts first
takes each action, and what it gets of the pot on average (24 run-outs of each flop). With a report they are those of
exact solutions: the first player's actions, both players' EVs and equities. The table shows the error of the
mean over the subset in points of percent, the standard deviation over flops, and what as many flops drawn by chance
would be off by on average (the standard error).
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import parse_board
from abstractions.equity import equity
from abstractions.isomorphism import board_index, canonical_boards
from artifacts.blueprint.bundle import BlueprintBundle, open_blueprint
from artifacts.blueprint.line_reach import line_play
from artifacts.bundle import Bundle, open_bundle
from artifacts.hand_values import mean_over, met_weights
from pipelines.reports.flop_subset import USUAL_SIZES, flop_subset

#: Run-outs of each flop on which a blueprint's EV is measured.
RUNOUTS = 24
PAIRS = {
    "open against call": (
        "22+,A2s+,K2s+,Q4s+,J6s+,T6s+,96s+,85s+,75s+,64s+,54s,A2o+,K5o+,Q8o+,J8o+,T8o+,98o",
        "22-99,A2s-A9s,K2s-KJs,Q3s+,J6s+,T6s+,96s+,86s+,75s+,65s,54s,A2o-ATo,K7o-KJo,Q9o+,J9o+,T9o",
    ),
    "three-bet pot": (
        "TT+,AJs+,KQs,AKo,A5s-A2s,K9s,Q9s,J9s,T8s",
        "22-JJ,ATs+,KTs+,QTs+,JTs,T9s,98s,87s,AJo+,KQo",
    ),
    "limped pot": ("22+,A2s+,K2s+,Q2s+,J4s+,T6s+,96s+,A2o+,K4o+,Q7o+,J8o+,T8o+", "all"),
    "pairs against high cards": ("22-99", "AT+,KT+,QJ"),
}


def blueprint_figures(bundle: BlueprintBundle, line: str) -> dict[str, NDArray[np.float64]]:
    """Frequencies of the first player's actions on every flop, and its share of the pot."""
    decision = bundle.decision(line)
    own, pot = decision.player, float(decision.pot)
    found = []
    for flop in canonical_boards(3).boards:
        shares = line_play(bundle, line, flop).frequencies
        weights = met_weights(bundle.range(line, own, flop), bundle.range(line, 1 - own, flop))
        won = mean_over(weights, bundle.continuation_value(line, flop, runouts=RUNOUTS))
        assert won is not None
        found.append([*shares, (won + float(decision.committed[own])) / pot])
    return dict(zip((*decision.actions, "EV"), np.array(found).T))


def solved_figures(report: Bundle) -> dict[str, NDArray[np.float64]]:
    """The first player's frequencies, and both players' shares of the pot and equities on every flop of a report."""
    table = report["flops"].table()
    numbers = board_index(np.stack([parse_board(flop) for flop in table.column("flop").to_pylist()]))[0]
    if len(set(numbers.tolist())) != len(canonical_boards(3).boards):
        raise SystemExit(f"{report.path}: {len(numbers):,} flops; expected all of them, as flops=all solves")
    figures = {
        name: table.column(name).to_numpy().astype(np.float64)[np.argsort(numbers)]
        for name in table.column_names
        if re.fullmatch(r"oop_.+|(ev|equity)_(oop|ip)", name)
    }
    pot = figures["ev_oop"] + figures["ev_ip"]
    return {name: row / pot if name.startswith("ev_") else row for name, row in figures.items()}


def main() -> None:
    """Compute, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pairs", type=int, default=len(PAIRS), help="how many pairs of ranges to compute")
    parser.add_argument(
        "--bundle", type=Path, help="an exported blueprint, whose answers are averaged instead"
    )
    parser.add_argument("--report", type=Path, help="a report over all flops, whose solutions are averaged")
    parser.add_argument("--line", default="b250c", help="its line that meets the flop")
    parser.add_argument("--save", type=Path, help="keep the figures in a file")
    parser.add_argument("--load", type=Path, help="read them from such a file")
    options = parser.parse_args()
    if options.load:
        with np.load(options.load) as known:
            equities = {name: known[name] for name in known.files}
    elif options.report:
        equities = solved_figures(open_bundle(options.report))
    elif options.bundle:
        equities = blueprint_figures(open_blueprint(options.bundle), f"{options.line}/")
    else:
        equities = {}
        for name, (first, second) in list(PAIRS.items())[: options.pairs]:
            equities[name] = np.array([equity(first, second, flop) for flop in canonical_boards(3).boards])
    if options.save:
        np.savez(options.save, **equities)
    everything = flop_subset(1755)
    print(f"{'ranges':>26} {'flops':>6} {'error':>8} {'sd':>7} {'by chance':>10}")
    for name, figures in equities.items():
        mean = everything.mean(figures)
        sd = float(np.sqrt(everything.mean((figures - mean) ** 2)))
        for size in USUAL_SIZES:
            subset = flop_subset(size)
            error = subset.mean(figures[subset.numbers]) - mean
            print(f"{name:>26} {size:>6} {100 * error:>8.3f} {100 * sd:>7.2f} {100 * sd / size**0.5:>10.2f}")


if __name__ == "__main__":
    main()
