"""Time the blueprint's sweeps: milliseconds per board, and node-and-hand updates per second as ratios.

    python scripts/bench_blueprint.py                  100 bb, 500 buckets
    python scripts/bench_blueprint.py --stack 25 --buckets 2000

Speeds are divided by others: the exact river solver of this build on the spot R1, measured in the same run; the
reference solver's time per iteration on R1 and a sweep in plain numba, both measured once on a machine of two cores.
A node-and-hand update is one node of the tree for one hand of one player; an iteration on R1 makes 75 x 1,081 x 2.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_CLASSES, NUM_COMBOS
from abstractions.features.rivers import river_equity_counts
from abstractions.isomorphism import COMBO_PERMUTATION, board_index, permutation_number
from solver.betting.game import GameConfig
from solver.blueprint.boards import BoardBatch, board_hands
from solver.blueprint.flop_values import FlopEvaluator, group_boards
from solver.blueprint.pot_types import pot_types
from solver.blueprint.shard import Shard
from solver.blueprint.trunk import TrunkGame
from solver.cfr.schedules import schedule
from solver.postflop.solver import PostflopSolver

REFERENCE_R1_MS = 0.655
R1_UPDATES = 75 * 1081 * 2
#: A sweep of one board, one terminal at a time, on a tree of so many postflop nodes.
PLAIN_SWEEP_MS, PLAIN_SWEEP_NODES = 190.0, 9600


class EquityBuckets:
    """Buckets of equal width in river equity; on flop and turn, in the mean over a few run-outs."""

    def __init__(self, count: int) -> None:
        self.num_buckets = (count, count, count)
        self.known: dict[bytes, NDArray[np.int64]] = {}

    def buckets(self, board: NDArray[np.uint8], texture: int) -> NDArray[np.integer]:  # noqa: ARG002
        """Bucket of every combo on a board; the same for every texture."""
        key = bytes(board)
        if key not in self.known:
            rest = np.setdiff1d(np.arange(52), board)[:: 9 + len(board)]
            tails = [rest[k : k + 5 - len(board)] for k in range(3 if len(board) < 5 else 1)]
            equity = np.mean([self._equity(np.concatenate([board, tail])) for tail in tails], axis=0)
            count = self.num_buckets[0]
            self.known[key] = np.minimum((equity * count).astype(np.int64), count - 1)
        return self.known[key]

    @staticmethod
    def _equity(board: NDArray) -> NDArray[np.float64]:
        ids, renaming = board_index(board.astype(np.uint8)[None])
        counts = river_equity_counts(int(ids[0]), int(ids[0]) + 1)[0].astype(np.float64)
        return np.minimum(counts / 1980, 1.0)[COMBO_PERMUTATION[int(permutation_number(renaming[0]))]]


def best_of(repeats: int, work: Callable[[], object]) -> float:
    """Least processor time of some repeats, in milliseconds; the first, which may compile, is left out."""
    work()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return 1000 * min(times)


def sweep_both_seats(shard: Shard, batch: BoardBatch, reach: NDArray[np.float32]) -> None:
    """One iteration of a shard."""
    for seat in range(2):
        shard.sweep(seat, batch, reach, 1)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stack", type=int, default=100, help="big blinds")
    parser.add_argument("--buckets", type=int, default=500, help="per street")
    parser.add_argument("--boards", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    config = GameConfig(
        stacks=(100 * options.stack, 100 * options.stack),
        raise_sizes=("2.5,a", "3x,a", "2.5x,a", "a"),
        add_allin_threshold=1.5,
        merging_threshold=0.1,
    )
    no_equity = np.zeros((NUM_CLASSES, NUM_CLASSES), dtype=np.int64)
    game = TrunkGame.build(config, (no_equity, no_equity, no_equity))
    nodes = int((game.tree.street > 0).sum())
    rng = np.random.default_rng(1)
    boards = np.stack([rng.choice(52, 5, replace=False) for _ in range(options.boards)]).astype(np.uint8)
    batch = BoardBatch(boards, np.full(len(boards), 1 / len(boards)), np.zeros(len(boards), dtype=np.int16))
    bucketing = EquityBuckets(options.buckets)
    reach = rng.random((len(game.lines), NUM_CLASSES)).astype(np.float32)
    order = np.arange(options.buckets)
    equity = 1 / (1 + np.exp((order[None, :] - order[:, None]) / (0.06 * options.buckets)))
    pots = pot_types(game)
    figures: dict[str, float] = {"nodes": float(len(game.tree)), "postflop_nodes": float(nodes)}
    for name, matrix in (("exact", None), ("bucket", equity)):
        shard = Shard(game.tree, pots, range(len(pots.templates)), bucketing, river_equity=matrix)
        shard.begin_phase(1, schedule("lcfr"))

        sweeps = partial(sweep_both_seats, shard, batch, reach)
        figures[f"{name}_ms"] = best_of(options.repeats, sweeps) / len(boards)
    figures["table_mb"] = shard.layout.size * 8 / 1e6
    hands = [board_hands(board, bucketing) for board in boards]
    figures["river_buckets_per_board"] = float(np.mean([len(deal.runs[2].bucket) for deal in hands]))
    evaluator = FlopEvaluator(shard.layout, pots, bucketing)
    flop = group_boards(boards[:1], np.ones(1), np.zeros(1, dtype=int))[0]
    figures["best_response_ms"] = sum(
        best_of(min(options.repeats, 5), partial(evaluator.combo_values, shard.average, flop, reach, seat))
        for seat in range(2)
    )
    solver = PostflopSolver(
        board="QsJh2h8d3c",
        oop_range=np.ones(NUM_COMBOS),
        ip_range=np.ones(NUM_COMBOS),
        pot=200,
        stack=900,
        bet_sizes={"river": {"bet": "50%,100%,a", "raise": "60%,2.5x"}},
        schedule="dcfr",
    )
    figures["exact_solver_r1_ms"] = best_of(options.repeats, lambda: solver.engine.run(20)) / 20

    updates = 2 * nodes * 1081
    speed = updates / figures["exact_ms"] / 1e3
    figures["million_updates_per_second"] = speed
    figures["over_exact_solver"] = speed / (R1_UPDATES / figures["exact_solver_r1_ms"] / 1e3)
    figures["over_reference_solver"] = speed / (R1_UPDATES / REFERENCE_R1_MS / 1e3)
    figures["over_plain_sweep"] = PLAIN_SWEEP_MS * nodes / PLAIN_SWEEP_NODES / figures["exact_ms"]
    if options.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:32s}{value:12.2f}")


if __name__ == "__main__":
    main()
