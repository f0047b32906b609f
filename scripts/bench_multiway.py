"""Time the trainer of three or more seats: whole epochs, by number of seats.

    python scripts/bench_multiway.py                       checked down, 3, 6 and 9 seats
    python scripts/bench_multiway.py --joint --seats 6     with play after the flop in 500 buckets of made-up hands
    python scripts/bench_multiway.py --seats 6 --gains 500000,2000000
                                                           what responders gain after so many deals, and when
    python scripts/bench_multiway.py --json

A traversal is one deal for one seat. A hand-update is one decision of that seat for one of its hands: 169 classes
before the flop, the hands that nobody blocks after it. Times are of the CPU and of one core, with everything that an
epoch does besides: discounts, sums and averages. `cost per seat` is that of a traversal over the one of the first line.

With `--gains` the same two streams are played as by the pipeline with two workers, one after the other, so the time is
what both cores spend together. Three sizes and all-in are the menu of six and more seats (2.5, 3x, 2.5x; nine have 2.5
and 3x). Responders learn on many more deals than in a run of the pipeline, because one of few deals finds too little.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from abstractions.buckets import BucketTables
from abstractions.cards import NUM_CLASSES, NUM_COMBOS
from abstractions.evaluator import evaluate_board
from abstractions.isomorphism import canonical_boards
from pipelines.config.named_games import named_games
from solver.betting.game import GameConfig
from solver.multiway.game import MultiwayGame
from solver.multiway.replica import BoardBuckets, Streams
from solver.multiway.responder import Responding, evaluate_seat
from solver.multiway.trainer import LocalWorkers, MultiwayTrainer

STACK = 10_000
#: Batches that a responder learns on.
RESPONDER_BATCHES = 20


def bench_game(seats: int) -> GameConfig:
    """The named game of so many seats, or one like it."""
    named = named_games()
    if seats > 6:
        return replace(named["nine_max100"], stacks=(STACK,) * seats, antes=(0,) * seats)
    return replace(named["six_max100"], stacks=(STACK,) * seats, antes=(0,) * seats)


def made_up_buckets(count: int) -> BoardBuckets:
    """Buckets of equal size by strength: neighbours in strength share one, as in real ones, and cost what those cost.

    Before the river, hands are ranked as if the lowest cards that are left came.
    """
    tables = {}
    for cards in (3, 4, 5):
        boards = canonical_boards(cards).boards
        rows = np.empty((len(boards), NUM_COMBOS), dtype=np.uint16)
        for row, board in zip(rows, boards):
            later = [card for card in range(52) if card not in board][: 5 - cards]
            strengths = evaluate_board(np.array([*board, *later], dtype=np.uint8))
            row[:] = np.argsort(np.argsort(strengths, kind="stable")) * count // NUM_COMBOS
        tables[cards] = rows
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


def gains(
    config: GameConfig, steps: Sequence[int], responding: Responding, buckets: BoardBuckets | None
) -> Iterator[dict[str, Any]]:
    """Train to each number of deals; what a responder gains in every seat there, in mbb/hand with its interval."""
    game = MultiwayGame.build(config, buckets=None if buckets is None else buckets.widths)
    streams = Streams(seed=1, count=2, deals=2500)
    trainer = MultiwayTrainer(game, streams, buckets=buckets)
    seconds, in_epoch = 0.0, streams.count * streams.deals
    for deals in steps:
        started = time.process_time()
        trainer.run(-(-deals // in_epoch) - trainer.epoch)
        seconds += time.process_time() - started
        table = trainer.strategy().table
        started = time.process_time()
        found = {
            name: asdict(evaluate_seat(game, table, seat, responding, buckets).gain)
            for seat, name in enumerate(game.seat_names)
        }
        yield {
            "seats": game.seats,
            "nodes": len(game.tree),
            "table_mb": 4 * game.entries / 1e6,
            "deals": trainer.epoch * in_epoch,
            "training_seconds": seconds,
            "responder_seconds": time.process_time() - started,
            "gains": found,
        }


def gains_line(row: dict[str, Any]) -> str:
    """A step of `gains` as text."""
    found = ", ".join(
        f"{name} {gain['mean']:.1f} ({gain['low']:.1f} to {gain['high']:.1f})"
        for name, gain in row["gains"].items()
    )
    return (
        f"{row['seats']} seats, {row['nodes']:,} nodes, {row['deals']:,} deals: {row['training_seconds']:.0f} s "
        f"of training, {row['responder_seconds']:.0f} s of responders, who gain {found} mbb/hand"
    )


def main() -> None:
    """Print a line for each number of seats, or for each step of training."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seats", default="3,6,9", help="numbers of seats, with commas")
    parser.add_argument("--deals", type=int, default=10_000, help="deals of an epoch")
    parser.add_argument("--epochs", type=int, default=4, help="epochs that are timed")
    parser.add_argument("--joint", action="store_true", help="play after the flop too")
    parser.add_argument("--buckets", type=int, default=500, help="buckets of each street with --joint")
    parser.add_argument(
        "--gains", help="measure what responders gain after these numbers of deals, with commas"
    )
    parser.add_argument(
        "--responder-deals", type=int, default=500_000, help="deals that a responder learns on"
    )
    parser.add_argument("--measured-deals", type=int, default=200_000, help="deals that it is measured on")
    parser.add_argument("--max-flop-players", type=int, help="as game.max_flop_players, with --gains")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    buckets = made_up_buckets(options.buckets) if options.joint else None
    if options.gains:
        steps = [int(deals) for deals in options.gains.split(",")]
        batch = max(options.responder_deals // RESPONDER_BATCHES, 1)
        responding = Responding(RESPONDER_BATCHES, batch, options.measured_deals, seed=1_000_003)
        for seats in options.seats.split(","):
            config = bench_game(int(seats))
            if options.max_flop_players is not None:
                config = replace(config, max_flop_players=options.max_flop_players)
            for step in gains(config, steps, responding, buckets):
                print(json.dumps(step) if options.json else gains_line(step), flush=True)
        return
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
