"""Seconds and real loss of subgame solves, spot by spot.

    python scripts/bench_subgame.py BUNDLE [--spots b250c/@QsJh2h ...] [--seconds 3] [--depth 1] [--threads 2]

Real loss is what the solved street loses in the full tree to the river, mean of both players, in percent of the pot
(`solver.subgame.judge`). Solving that tree takes far longer than the subgame; --no-judge leaves it out.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from artifacts import open_blueprint
from solver.blueprint.strategy import Blueprint
from solver.subgame import SubgameConfig, SubgameSolution, solve_subgame
from solver.subgame.judge import Judge

#: Lines that most hands of a 100 bb game go through, each on three boards.
SPOTS = tuple(
    f"{line}@{board}"
    for line, boards in (
        ("b250c/", ("QsJh2h", "Kh7d2c", "9s8s7d")),
        ("b250r750c/", ("AsTd4d", "JcJd5h", "6h5h4c")),
        ("b250c/xx/", ("QsJh2h8d", "Kh7d2c7s", "9s8s7d2s")),
        ("cx/xx/", ("AsTd4d3h", "JcJd5h9c", "6h5h4cKs")),
    )
    for board in boards
)


def real_loss(solution: SubgameSolution, target_pct: float) -> float:
    """Mean real loss of both players' searched street, in percent of the pot."""
    subgame = solution.subgame

    def strategy(node: int, board: tuple[int, ...]) -> NDArray[np.float64] | None:
        if len(board) > len(subgame.board):
            return None
        return solution.strategy(subgame.root_line + subgame.tree.line(node))

    return Judge(subgame.tree, subgame.cards, target_pct=target_pct).mean_loss(strategy)


def measure(blueprint: Blueprint, spot: str, config: SubgameConfig, judge_pct: float | None) -> str:
    """One row of the report."""
    line, _, board = spot.partition("@")
    solution = solve_subgame(blueprint, line, board, config)
    row = (
        f"{spot:28}{solution.seconds:8.2f} s{solution.iterations:8,} iterations{solution.num_leaves:5} leaves"
    )
    if judge_pct is not None:
        begun = time.perf_counter()
        row += (
            f"  loss {real_loss(solution, judge_pct):6.3f} %  (judged in {time.perf_counter() - begun:.0f} s)"
        )
    return row


def main() -> None:
    """Print a row for every spot."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--spots", nargs="+", default=SPOTS)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--depth", default="1")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--sizes", default=SubgameConfig.sizes)
    parser.add_argument(
        "--judge-pct", type=float, default=0.1, help="exploitability of the judge's own solves"
    )
    parser.add_argument("--no-judge", action="store_true")
    options = parser.parse_args()
    blueprint = open_blueprint(options.bundle).blueprint
    config = SubgameConfig(
        depth=int(options.depth) if options.depth.isdigit() else options.depth,
        sizes=options.sizes,
        iterations=None,
        time_s=options.seconds,
        threads=options.threads,
    )
    # The first solve compiles the kernels.
    line, _, board = options.spots[0].partition("@")
    solve_subgame(blueprint, line, board, replace(config, time_s=None, iterations=1))
    for spot in options.spots:
        print(measure(blueprint, spot, config, None if options.no_judge else options.judge_pct), flush=True)


if __name__ == "__main__":
    main()
