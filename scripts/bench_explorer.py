"""Time the steps of the explorer at the server: python scripts/bench_explorer.py STORE/export-KEY

Hands are walked from the first decision to the river along actions that are played, each on cards of its own, as the
page asks: the strategy first, then what hands win. Milliseconds of the clock, and of the processor, which other work on
the machine disturbs less.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import anyio
import httpx
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from abstractions.cards import format_cards
from artifacts.blueprint.bundle import open_blueprint
from artifacts.blueprint.known_boards import draw_board
from pipelines.explorer.server import create_app
from solver.betting.lines import PUBLIC_CARDS, STREETS

Times = dict[tuple[str, bool], list[tuple[float, float]]]


def main() -> None:
    """Walk and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bundle", type=Path, help="an exported blueprint of two seats")
    parser.add_argument("--hands", type=int, default=20, help="hands that are walked")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    bundle = asked.bundle.resolve()
    with tempfile.TemporaryDirectory() as store:
        times = anyio.run(_walk_all, create_app(Path(store), bundle), bundle, asked.hands, asked.seed)
    print("street   asks for   steps   clock: median  worst   processor: median  worst, ms")
    for street in STREETS:
        for values in (False, True):
            if not times[street, values]:
                continue  # no hand went so far
            clock, processor = np.array(times[street, values]).T * 1000
            print(
                f"{street:8} {'EVs' if values else 'strategy':8} {len(clock):7} {np.median(clock):15.0f} "
                f"{clock.max():6.0f} {np.median(processor):19.0f} {processor.max():6.0f}"
            )


async def _walk_all(app: Any, bundle: Path, hands: int, seed: int) -> Times:
    rng = np.random.default_rng(seed)
    times: Times = defaultdict(list)
    source = open_blueprint(bundle)
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8780") as client,
    ):
        # Kernels are loaded by the first hand.
        await _walk(client, bundle.name, format_cards(draw_board(source, rng)), rng, defaultdict(list))
        for _ in range(hands):
            await _walk(client, bundle.name, format_cards(draw_board(source, rng)), rng, times)
    return times


async def _walk(
    client: httpx.AsyncClient, name: str, board: str, rng: np.random.Generator, times: Times
) -> None:
    """Walk one hand to its end; the steps are timed."""
    line, cards = "", ""
    while True:
        for values in (False, True):
            clock, processor = time.perf_counter(), time.process_time()
            answer = await client.get(
                "/api/node", params={"source": name, "line": line, "board": cards, "values": values}
            )
            taken = time.perf_counter() - clock, time.process_time() - processor
            node = answer.raise_for_status().json()
            if node["kind"] != "decision":
                break
            times[node["street"], values].append(taken)
        if node["kind"] == "end":
            return
        if node["kind"] == "deal":
            cards = board[: 2 * PUBLIC_CARDS[STREETS.index(node["street"]) + 1]]
            continue
        # An all-in ends the walk, and so does a fold: they are taken only where there is nothing else.
        going_on = [action for action in node["actions"] if action["token"] not in ("f", "A")]
        line = str(rng.choice([action["next"] for action in going_on or node["actions"]]))


if __name__ == "__main__":
    main()
