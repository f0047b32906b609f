"""Time equities of several players: core time of each board, and multiples of ranking every hand on a board.

    python scripts/bench_equities.py                   one core
    python scripts/bench_equities.py --boards 50       a quick trial

The table of three classes runs over all 134,459 canonical rivers; its whole time is projected from the boards timed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from abstractions.class_triples import NUM_TRIPLES
from abstractions.evaluator import _board_strengths
from abstractions.isomorphism import canonical_boards
from abstractions.multiway_equity.deal import Deal, read_deal
from abstractions.multiway_equity.equity import _ways
from abstractions.multiway_equity.sampling import BLOCK, sampled_winners
from abstractions.three_way import three_way_chunk

RANGES = (
    ("AA", "KK"),
    ("all", "all"),
    ("22+,A2s+", "22+,A2s+", "22+,A2s+"),
    ("all", "all", "all"),
    ("AA", "KK", "QQ", "JJ"),
)


def seconds(work: Callable[[], object]) -> float:
    """Core-seconds of the quicker of two runs, after one that compiles."""
    work()
    times = []
    for _ in range(2):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Print one line for each way to count."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--boards", type=int, default=500, help="boards that are timed")
    count = parser.parse_args().boards
    rivers = canonical_boards(5)
    picked = np.linspace(0, len(rivers.boards) - 1, count).astype(int)
    boards, weights = rivers.boards[picked], rivers.weights[picked]
    strengths = np.empty(1326, dtype=np.int16)

    def rank() -> None:
        for board in boards:
            _board_strengths(board, strengths)

    raw = seconds(rank) / count
    print(f"{'ranking every hand':44} {1e6 * raw:10.1f} us a board")
    for hands in RANGES:
        for way in _ways(read_deal(hands)):
            counts = np.zeros(1 << len(hands))
            spent = seconds(partial(way.kernel, boards, weights, *way.arguments, counts)) / count
            name = f"{' '.join(hands)} {way.kernel.__name__}"
            print(f"{name:44} {1e6 * spent:10.1f} us a board, {spent / raw:8.1f} times ranking")
    deal: Deal = read_deal(["all"] * 6)
    spent = seconds(lambda: sampled_winners(deal, None, seed=1, error=1.0, max_tries=BLOCK))
    print(f"{'six random hands, sampled':44} {BLOCK / spent:10,.0f} tries a second")
    middle = len(rivers.boards) // 2
    spent = seconds(lambda: three_way_chunk(middle, middle + count)) / count
    print(f"{'every three classes':44} {1e6 * spent:10.1f} us a board, {spent / raw:8.1f} times ranking")
    whole = spent * len(rivers.boards)
    each = 1e6 * whole / NUM_TRIPLES
    print(f"{'every three classes, all boards':44} {whole:10.0f} core-seconds, {each:.0f} us a triple")


if __name__ == "__main__":
    main()
