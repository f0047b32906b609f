"""Seconds and real loss of subgame solves on the lines of a blueprint, spot by spot.

    python scripts/bench_subgame.py BUNDLE [--kinds river turn flop exact] [--spots b250c/@QsJh2h ..] [--threads 2]

river   exact, six sizes: the time to .3 % of the pot
turn    depth 1, six sizes, half a second
flop    depth 1, the blueprint's sizes, 3 and 15 seconds
exact   flop to river, the blueprint's sizes, a minute

Real loss is what the solved street loses in the full tree to the river, mean of both players, in percent of the pot
(`solver.subgame.judge`). The judge solves that tree itself, which takes far longer than the subgame. With six sizes on
the flop it would not fit into memory, so flops are judged with the blueprint's sizes, in 16-bit tables. On flops hands
below --least-weight of the heaviest one of their range are left out, which off-path cleaning calls rarely reached.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from artifacts import open_blueprint
from solver.betting.lines import FLOP
from solver.blueprint.strategy import Blueprint
from solver.subgame import SubgameConfig, SubgameSolution, solve_subgame
from solver.subgame.judge import Judge
from solver.subgame.subgame import Ranges, Subgame

#: Lines that most hands of a 100 bb game go through, each with its boards.
SPOTS: dict[str, dict[str, tuple[str, ...]]] = {
    "river": {
        "b250c/xx/xx/": ("QsJh2h8d3c", "9s8s7d2sKc"),
        "b250c/b250c/xx/": ("Kh7d2c7s4h", "6h5h4cKs9d"),
        "b250r750c/xx/xx/": ("AsTd4d3h8c", "JcJd5h9c2d"),
    },
    "turn": {
        "b250c/xx/": ("QsJh2h8d", "Kh7d2c7s", "9s8s7d2s"),
        "b250c/b250c/": ("AsTd4d3h", "JcJd5h9c"),
        "b250r750c/xx/": ("AsTd4d3h", "JcJd5h9c", "6h5h4cKs"),
    },
    "flop": {
        "b250c/": ("QsJh2h", "Kh7d2c"),
        "b250r750c/": ("AsTd4d", "JcJd5h", "9s8s7d", "Kh7d2c", "Kh7h2h"),
    },
}


Spots = list[tuple[str, str]]


def spots(kind: str) -> Spots:
    """Lines and boards of a kind."""
    return [(line, board) for line, boards in SPOTS[kind].items() for board in boards]


class SpotJudge:
    """What strategies of one spot's first street really lose; the spot itself is solved once."""

    def __init__(self, solution: SubgameSolution, target_pct: float, threads: int) -> None:
        subgame = solution.subgame
        precision = "int16" if subgame.street == FLOP else "float32"
        self._judge = Judge(
            subgame.tree, subgame.cards, target_pct=target_pct, threads=threads, precision=precision
        )

    def loss(self, solution: SubgameSolution) -> float:
        """Mean real loss of both players, in percent of the pot."""
        subgame = solution.subgame

        def strategy(node: int, board: tuple[int, ...]) -> NDArray[np.float64] | None:
            if len(board) > len(subgame.board):
                return None
            return solution.strategy(subgame.root_line + subgame.tree.line(node))

        return self._judge.mean_loss(strategy)


def wide_ranges(
    blueprint: Blueprint, line: str, board: str, config: SubgameConfig, least: float | None
) -> Ranges | None:
    """The blueprint's ranges without hands below a share of the heaviest one; None: as solves take them."""
    if least is None:
        return None
    first, second = Subgame.build(blueprint, line, board, config).ranges
    first, second = (np.where(weights >= least, weights, 0.0) for weights in (first, second))
    print(f"  {line + ' ' + board:30}{np.count_nonzero(first):6,} and {np.count_nonzero(second):,} hands")
    return first, second


def measure_exact(
    blueprint: Blueprint, chosen: Spots, config: SubgameConfig, least: float | None = None
) -> None:
    """Solves to the river: seconds, and exploitability at their end."""
    seconds, gaps = [], []
    for number, (line, board) in enumerate(chosen):
        ranges = wide_ranges(blueprint, line, board, config, least)
        if number == 0:
            # A machine may take seconds to hand out gigabytes that nobody has used for a while.
            solve_subgame(blueprint, line, board, replace(config, time_s=None, iterations=2), ranges=ranges)
        solution = solve_subgame(blueprint, line, board, config, ranges=ranges)
        gap = 100.0 * solution.engine.exploitability() / solution.subgame.pot
        seconds.append(solution.seconds)
        gaps.append(gap)
        print(
            f"  {line + ' ' + board:30}{solution.seconds:8.3f} s{solution.iterations:7,} iterations"
            f"{solution.memory_bytes / 2**20:8,.0f} MiB   {gap:.3f} % of pot",
            flush=True,
        )
        # The next solve takes the same memory.
        del solution
    print(
        f"  mean {np.mean(seconds):.3f} s and {np.mean(gaps):.3f} %, "
        f"at most {max(seconds):.3f} s and {max(gaps):.3f} %"
    )


def measure_searched(
    blueprint: Blueprint,
    chosen: Spots,
    config: SubgameConfig,
    budgets: tuple[float, ...],
    judge_pct: float | None,
    least: float | None = None,
) -> None:
    """Depth-limited solves: iterations within each budget, then the real loss of each."""
    solved: dict[tuple[str, str], list[SubgameSolution]] = {}
    for line, board in chosen:
        ranges = wide_ranges(blueprint, line, board, config, least)
        for seconds in budgets:
            timed = replace(config, time_s=seconds)
            solution = solve_subgame(blueprint, line, board, timed, ranges=ranges)
            solved.setdefault((line, board), []).append(solution)
            print(
                f"  {line + ' ' + board:30}{solution.seconds:8.2f} s{solution.iterations:7,} iterations",
                flush=True,
            )
    if judge_pct is None:
        return
    # All solves come first, so that they are timed on a machine that does nothing else.
    losses: dict[float, list[float]] = {seconds: [] for seconds in budgets}
    for (line, board), solutions in solved.items():
        begun = time.perf_counter()
        judge = SpotJudge(solutions[0], judge_pct, config.threads)
        for seconds, solution in zip(budgets, solutions):
            losses[seconds].append(judge.loss(solution))
        found = ", ".join(f"{losses[seconds][-1]:.3f} % after {seconds:g} s" for seconds in budgets)
        print(
            f"  {line + ' ' + board:30}loss {found}  (judged in {time.perf_counter() - begun:.0f} s)",
            flush=True,
        )
    for seconds, each in losses.items():
        print(f"  {seconds:g} s: mean loss {np.mean(each):.3f} %, at most {max(each):.3f} %")


def main() -> None:
    """Print a table for every kind."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--kinds", nargs="+", default=("river", "turn", "flop", "exact"))
    parser.add_argument("--spots", nargs="+", help="line@board, instead of those of each kind")
    parser.add_argument("--sizes", default=SubgameConfig.sizes, help="bets of river and turn")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--judge-pct", type=float, default=0.1, help="exploitability of the judge's own solves"
    )
    parser.add_argument("--no-judge", action="store_true")
    parser.add_argument(
        "--least-weight", type=float, default=0.005, help="of a hand on a flop, of the heaviest one's"
    )
    options = parser.parse_args()
    blueprint = open_blueprint(options.bundle).blueprint
    judge_pct = None if options.no_judge else options.judge_pct
    finer = SubgameConfig(iterations=None, time_s=0.5, sizes=options.sizes, threads=options.threads)
    # The sizes of presets `fast`, `standard` and `accurate`.
    coarse = replace(finer, sizes="50%,100%", raises="2.5x", raise_cap=1)
    given = [tuple(spot.split("@", 1)) for spot in options.spots or ()]
    for kind in options.kinds:
        chosen: Spots = [(line, board) for line, board in given] or spots("flop" if kind == "exact" else kind)
        print(kind)
        # The first solve compiles the kernels.
        solve_subgame(blueprint, *chosen[0], replace(coarse, time_s=None, iterations=2))
        if kind == "river":
            measure_exact(blueprint, chosen, replace(finer, time_s=5.0, target_pct=0.3))
        elif kind == "turn":
            measure_searched(blueprint, chosen, finer, (0.5,), judge_pct)
        elif kind == "flop":
            measure_searched(blueprint, chosen, coarse, (3.0, 15.0), judge_pct, options.least_weight)
        else:
            exact = replace(coarse, depth="full", time_s=60.0, target_pct=0.5)
            measure_exact(blueprint, chosen, exact, options.least_weight)


if __name__ == "__main__":
    main()
