"""Seconds that the evaluation of one flop with all its run-outs takes, beside a plain sweep of every board.

    python scripts/bench_evaluate.py [--flops rainbow monotone ..] [--boards 40] [game=hu25 ...]

The plain way sweeps each of the 2,352 full boards from the flop down, for each seat and response on its own; it is
timed on some of them. Strategies and buckets are random, which costs as much as trained ones.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import COMBO_CARDS, NUM_CLASSES, parse_board
from pipelines.config.composition import compose_config
from solver.blueprint.board_links import _clear_exits, _enter, _leave, _set_roots
from solver.blueprint.boards import NUM_LIVE, board_hands
from solver.blueprint.flop_values import RESPONSES, FlopBoards, FlopEvaluator
from solver.blueprint.node_kernels import _ascend, _descend
from solver.blueprint.plan import LanePlan
from solver.blueprint.pot_types import pot_types
from solver.blueprint.run_outs import all_run_outs
from solver.blueprint.sweep_arrays import BEST_RESPONSE, EXPECTED, make_work
from solver.blueprint.tables import TableLayout
from solver.blueprint.terminals import _terminals
from solver.blueprint.trunk import TrunkGame

FLOPS = {"rainbow": "5d9hQs", "two-tone": "9hJsQs", "monotone": "2sJsKs", "paired": "2d7h7s"}
BUCKETS = 100


class Buckets:
    """Buckets by ranks, and by how many cards of its suits a hand finds on the board."""

    num_buckets = (BUCKETS, BUCKETS, BUCKETS)

    def buckets(self, board: NDArray[np.uint8], texture: int) -> NDArray[np.integer]:  # noqa: ARG002
        """See `Bucketing.buckets`."""
        ranks, suits = COMBO_CARDS // 4, COMBO_CARDS % 4
        shared = np.bincount(board % 4, minlength=4)[suits].sum(axis=1)
        return (7 * ranks[:, 0] + 3 * ranks[:, 1] + 11 * shared + int((board // 4).sum())) % BUCKETS


@njit(nogil=True)
def _sweep(
    lanes: Any, pays: Any, hands: Any, keys: Any, runs: Any, tables: Any, counts: Any, reach: Any, table: Any,
    mode: int, work: Any,
) -> None:  # fmt: skip
    """One board from the flop down and up again."""
    n = len(keys)
    _set_roots(lanes, reach, keys, n, work)
    for s in range(3):
        for b in range(lanes.street_blocks[s], lanes.street_blocks[s + 1]):
            if s > 0 and not _enter(lanes, b, n, work) and s == 2:
                continue
            _descend(lanes, b, n, runs[s], table, tables[s], counts[s], table, 0.0, work)
            if s < 2:
                _clear_exits(lanes, b, n, work)
                continue
            _terminals(lanes, b, n, hands, pays, work)
            _ascend(lanes, b, n, runs[2], hands.mass, table, tables[2], counts[2], mode, 0.0, work)
            _leave(lanes, b, n, work)
    for s in range(1, -1, -1):
        for b in range(lanes.street_blocks[s], lanes.street_blocks[s + 1]):
            _terminals(lanes, b, n, hands, pays, work)
            _ascend(lanes, b, n, runs[s], hands.mass, table, tables[s], counts[s], mode, 0.0, work)
            if s > 0:
                _leave(lanes, b, n, work)


def main() -> None:
    """Print seconds per flop, board by board and as it is done."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--flops", nargs="+", choices=list(FLOPS), default=list(FLOPS))
    parser.add_argument("--boards", type=int, default=40, help="boards on which the plain way is timed")
    parser.add_argument("overrides", nargs="*", help="keys of the game")
    options = parser.parse_args()
    game = TrunkGame.build(compose_config(options.overrides).game.game_config())
    pots = pot_types(game)
    layout = TableLayout(LanePlan.build(game.tree, pots.templates), Buckets.num_buckets)
    rng = np.random.default_rng(1)
    table = rng.random(layout.size, dtype=np.float32)
    reach = [rng.random((len(game.lines), NUM_CLASSES)).astype(np.float32) for _ in range(2)]
    work = make_work(layout.plan.programs, NUM_LIVE, np.float32)
    evaluator = FlopEvaluator(layout, pots, Buckets())
    responses = {"best response": RESPONSES[-1:], "all responses by street": RESPONSES}

    def plain(board: NDArray[np.uint8], count: int) -> None:
        deal = board_hands(board, Buckets())
        for seat in range(2):
            for k in range(count):
                mode = EXPECTED if k == 0 and count > 1 else BEST_RESPONSE
                _sweep(
                    layout.plan.programs[seat], evaluator.pays[0][seat], deal.hands, deal.classes, deal.runs,
                    layout.starts(), np.array(layout.num_buckets), reach[1 - seat], table, mode, work,
                )  # fmt: skip

    for name in options.flops:
        boards, counts = all_run_outs(parse_board(FLOPS[name]))
        flop = FlopBoards(boards, counts / counts.sum(), symmetric=True)
        warm = FlopBoards(boards[:1], np.ones(1))
        for asked, given in responses.items():
            plain(boards[0], len(given))
            evaluator.flop_values(table, warm, reach, given)
            begin = time.process_time()
            for board in boards[: options.boards]:
                plain(board, len(given))
            old = (time.process_time() - begin) / options.boards * 49 * 48
            begin = time.process_time()
            evaluator.flop_values(table, flop, reach, given)
            new = time.process_time() - begin
            print(
                f"{name:9} {asked:24} {len(boards):5} boards: board by board {old:6.1f} s, now {new:5.1f} s, "
                f"{old / new:4.1f} times faster"
            )


if __name__ == "__main__":
    main()
