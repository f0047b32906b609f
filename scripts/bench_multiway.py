"""Time the trainer of three or more seats: whole epochs, by number of seats.

    python scripts/bench_multiway.py                       checked down, 3, 6 and 9 seats
    python scripts/bench_multiway.py --joint --seats 6     with play after the flop in 500 buckets of made-up hands
    python scripts/bench_multiway.py --json

A traversal is one deal for one seat. A hand-update is one decision of that seat for one of its hands: 169 classes
before the flop, the hands that nobody blocks after it. Times are of the CPU and of one core, with everything that an
epoch does besides: discounts, sums and averages. `cost per seat` is that of a traversal over the one of the first line.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace

import numpy as np

from abstractions.buckets import BucketTables
from abstractions.cards import NUM_CLASSES, NUM_COMBOS
from abstractions.isomorphism import canonical_boards
from pipelines.config.named_games import named_games
from solver.betting.game import GameConfig
from solver.multiway.game import MultiwayGame
from solver.multiway.replica import BoardBuckets, Streams
from solver.multiway.trainer import LocalWorkers, MultiwayTrainer

STACK = 10_000


def bench_game(seats: int) -> GameConfig:
    """The named game of so many seats, or one like it."""
    named = named_games()
    if seats > 6:
        return replace(named["nine_max100"], stacks=(STACK,) * seats, antes=(0,) * seats)
    return replace(named["six_max100"], stacks=(STACK,) * seats, antes=(0,) * seats)


def made_up_buckets(count: int) -> BoardBuckets:
    """Buckets drawn at random for every hand on every board: their cost is that of real ones."""
    rng = np.random.default_rng(1)
    tables = {
        cards: rng.integers(0, count, (len(canonical_boards(cards).boards), NUM_COMBOS), dtype=np.uint16)
        for cards in (3, 4, 5)
    }
    return BoardBuckets(BucketTables(tables), (count,) * 3)


def run(seats: int, deals: int, epochs: int, buckets: BoardBuckets | None) -> dict[str, float]:
    """Speeds of one core."""
    game = MultiwayGame.build(bench_game(seats), buckets=None if buckets is None else buckets.widths)
    trainer = MultiwayTrainer(game, Streams(seed=1, count=1, deals=deals), buckets=buckets)
    assert isinstance(trainer.workers, LocalWorkers)
    counts = trainer.workers.replica.player.counts
    trainer.run(1)
    counts[:] = 0
    started = time.process_time()
    trainer.run(epochs)
    seconds = time.process_time() - started
    traversals = deals * epochs * seats
    _, decisions, _, _, later = counts.tolist()
    free = 52 - 5 - 2 * seats
    updates = decisions * NUM_CLASSES + later * free * (free - 1) // 2
    return {
        "seats": seats,
        "nodes": len(game.tree),
        "table_mb": 4 * game.entries / 1e6,
        "traversals_per_second": traversals / seconds,
        "hand_updates_per_second": updates / seconds,
        "seconds_per_traversal": seconds / traversals,
    }


def main() -> None:
    """Print a line for each number of seats."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seats", default="3,6,9", help="numbers of seats, with commas")
    parser.add_argument("--deals", type=int, default=10_000, help="deals of an epoch")
    parser.add_argument("--epochs", type=int, default=4, help="epochs that are timed")
    parser.add_argument("--joint", action="store_true", help="play after the flop too")
    parser.add_argument("--buckets", type=int, default=500, help="buckets of each street with --joint")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    buckets = made_up_buckets(options.buckets) if options.joint else None
    rows = [run(int(seats), options.deals, options.epochs, buckets) for seats in options.seats.split(",")]
    for row in rows:
        row["cost_per_seat"] = row["seconds_per_traversal"] / rows[0]["seconds_per_traversal"]
    if options.json:
        print(json.dumps(rows))
        return
    for row in rows:
        print(
            f"{row['seats']} seats: {row['traversals_per_second']:,.0f} traversals/s, "
            f"{row['hand_updates_per_second'] / 1e6:,.0f} M hand-updates/s, {row['nodes']:,} nodes, "
            f"{row['table_mb']:,.0f} MB per table, cost per seat {row['cost_per_seat']:.2f}"
        )


if __name__ == "__main__":
    main()
