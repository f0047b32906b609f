"""How training scales out: costs measured here, a model of an iteration made of them, and what it says.

    python scripts/bench_scaling.py                         100 bb, 500 buckets, 50 textures
    python scripts/bench_scaling.py --buckets 2000 --textures 200

An iteration on P hosts with a batch of B boards takes, for each of the two seats, what the driver does alone
(`trunk`: draw boards, look up buckets, reach, back up and update), then what it does per host (`call`: send
the arguments, take the answer; it has one process, so calls queue), a `trip` to a host and back, and the slowest
host's sweep:

    T(P, B) = trunk0 + trunk1 B + sum over seats (trip + sum over hosts (call0 + bytes / rate)) + slowest host
    scope global:  a host owns whole flop lines and sweeps all B boards:    B * max over hosts (its lines' cost)
    scope texture: a host owns textures with tables of their own and sweeps the boards that fall to it, all lines

Lines share vectors when one host sweeps them, so every group of lines that some number of hosts leads to is timed,
on fresh boards in every iteration as in training: ranking their hands and discounting the rows they touch count.

The pieces are measured in this process and between Ray actors on this machine; then whole iterations on 1 and
2 hosts are timed against the model. All are means, not minima: an iteration waits for the slowest host. On a machine of
two cores 2 hosts take longer than the model says, because the driver and Ray's daemons run on the same cores. Between
machines a trip takes longer: --latency adds to it (milliseconds).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from abstractions.buckets import BucketTables
from abstractions.cards import NUM_CLASSES, NUM_COMBOS
from abstractions.isomorphism import canonical_boards
from pipelines.run.cluster import open_cluster
from pipelines.training.fleet import HostFleet, shard_specs
from pipelines.training.hosts import Postflop, RayHosts
from solver.betting.game import GameConfig
from solver.blueprint.boards import BatchBuckets, BoardSampler, street_buckets
from solver.blueprint.pot_types import pot_types
from solver.blueprint.shard import Shard
from solver.blueprint.trainer import BlueprintTrainer, ShardSpec, sum_boards
from solver.blueprint.trunk import Trunk, TrunkGame
from solver.cfr.schedules import schedule

BYTES_PER_BOARD = 3 * NUM_COMBOS * 2
CORES = (1, 2, 8, 16, 32, 64, 128, 256, 512)
BATCHES = (8, 32, 128, 512, 2048, 8192)


@dataclass(frozen=True)
class Costs:
    """Measured pieces of an iteration, in milliseconds.

    `rate` is in bytes per millisecond, `boards` by the pot types of a host in scope ``global``, `texture_board` a
    board of all pot types in scope ``texture``.
    """

    trunk0: float
    trunk1: float
    call0: float
    trip: float
    rate: float
    boards: dict[tuple[int, ...], float]
    texture_board: float


def mean_of(repeats: int, work: Callable[[], object]) -> float:
    """Mean time of some repeats in milliseconds; one before them, which may compile, is left out."""
    work()
    start = time.perf_counter()
    for _ in range(repeats):
        work()
    return 1000 * (time.perf_counter() - start) / repeats


class Bench:
    """A game on made-up buckets: costs do not depend on what is in a bucket, only on how many there are."""

    def __init__(self, stack: int, buckets: int, textures: int) -> None:
        config = GameConfig(stacks=(100 * stack, 100 * stack), over_limp_sizes="4")
        nothing = np.zeros((NUM_CLASSES, NUM_CLASSES), dtype=np.int64)
        self.game = TrunkGame.build(config, (nothing, nothing, nothing))
        self.pots = pot_types(self.game)
        self.postflop = Postflop(self.game.tree, self.pots, (buckets,) * 3)
        rng = np.random.default_rng(1)
        row = rng.integers(0, buckets, NUM_COMBOS).astype(np.uint16)
        # One row stands for all boards: a lookup reads as much as it would from the real table.
        self.source = BucketTables(
            {
                cards: np.broadcast_to(row, (len(canonical_boards(cards).boards), NUM_COMBOS))
                for cards in (3, 4, 5)
            }
        )
        self.num_textures = textures
        self.owners = np.sort(rng.integers(0, textures, 1755)).astype(np.int16)

    @property
    def answer_bytes(self) -> int:
        """Bytes of the values of one board for one seat."""
        return 8 * NUM_CLASSES * len(self.game.lines)

    def sampler(self, batch: int) -> BoardSampler:
        """Boards as training draws them."""
        flops = canonical_boards(3)
        return BoardSampler(flops.boards, flops.weights, self.owners, batch, 5)

    def board_cost(self, types: tuple[int, ...], textures: range | None = None, boards: int = 8) -> float:
        """Both seats' sweep of one board on a host that owns some pot types."""
        bucketing = BatchBuckets(self.postflop.num_buckets)
        shard = Shard(self.game.tree, self.pots, types, bucketing, textures=textures)
        shard.begin_phase(1, schedule("lcfr"))
        sampler = self.sampler(boards)
        reach = np.ones((len(self.game.lines), NUM_CLASSES), dtype=np.float32)
        numbers = count(1)

        def iteration() -> None:
            number = next(numbers)
            batch = sampler.draw(number)
            bucketing.load(batch.boards, batch.textures, street_buckets(self.source, batch.boards))
            for seat in range(2):
                shard.sweep(seat, batch, reach, sampler.epoch(number))

        # New tables cost extra when they are first touched: go over every texture before the clock runs.
        for _ in range(2 * sampler.epoch_length if textures else 2):
            iteration()
        return mean_of(20, iteration) / boards

    def trunk_cost(self, boards: int) -> float:
        """What the driver does in an iteration besides talking to hosts."""
        sampler, trunk = self.sampler(boards), Trunk(self.game)
        lines = len(self.game.lines)
        answer = np.ones((boards, lines, NUM_CLASSES))
        swept = np.ones(boards, dtype=np.bool_)

        def work() -> None:
            batch = sampler.draw(3)
            street_buckets(self.source, batch.boards)
            for seat in range(2):
                self.game.reach(trunk.strategy, 1 - seat)
                trunk.update(seat, sum_boards(lines, [(tuple(range(lines)), swept, answer)]))

        return mean_of(50, work)

    def message_costs(self) -> tuple[float, float, float]:
        """Milliseconds of the driver per call to an actor and of a trip there and back, bytes per millisecond."""
        import ray

        @ray.remote(num_cpus=0)
        class Echo:
            def sweep(self, _: NDArray, size: int) -> NDArray:
                return np.zeros(size, dtype=np.uint8)

        actors = [Echo.remote() for _ in range(4)]

        def ask(size: int, asked: int) -> float:
            payload = np.zeros(size, dtype=np.uint8)
            return mean_of(
                50, lambda: ray.get([actor.sweep.remote(payload, size) for actor in actors[:asked]])
            )

        # Calls to several actors overlap but for what the driver does: the rest of a single call is the trip.
        one, all_small, all_large = ask(1_000, 1), ask(1_000, 4), ask(1_000_000, 4)
        for actor in actors:
            ray.kill(actor)
        call = max(all_small - one, 0.0) / 3
        return call, max(one - call, 0.0), 8 * 999_000 / max(all_large - all_small, 1e-6)

    def iteration(self, hosts: int, batch: int, by_texture: bool) -> float:
        """Milliseconds of a real iteration."""
        weights = np.bincount(self.owners, minlength=self.num_textures).astype(float) if by_texture else None
        specs = shard_specs(self.postflop, weights, hosts)
        fleet = HostFleet(self.postflop, specs, self.source, RayHosts(self.postflop, specs))
        trainer = BlueprintTrainer(self.game, self.pots, BatchBuckets(self.postflop.num_buckets), fleet=fleet)
        sampler = self.sampler(batch)
        trainer.begin_phase(schedule("lcfr"), sampler)
        trainer.run(2 * sampler.epoch_length if by_texture else 2)  # as in `board_cost`
        value = mean_of(30, lambda: trainer.run(1))
        fleet.close()
        return value

    def model(self, costs: Costs, hosts: int, batch: int, by_texture: bool) -> tuple[float, float]:
        """Milliseconds of an iteration, and the driver's share of them."""
        weights = np.bincount(self.owners, minlength=self.num_textures).astype(float) if by_texture else None
        specs = shard_specs(self.postflop, weights, hosts)
        answers = self.answer_bytes
        if by_texture:
            slowest, called = self._shares(specs, batch)
            work = slowest * costs.texture_board
            moved = batch * (BYTES_PER_BOARD + 2 * answers)
        else:
            called = len(specs)
            work = batch * max(costs.boards[spec.types] for spec in specs)
            moved = batch * (BYTES_PER_BOARD * called + 2 * answers)
        talk = 2 * (costs.trip + called * costs.call0) + moved / costs.rate
        driver = costs.trunk0 + costs.trunk1 * batch + talk
        return driver + work, driver / (driver + work)

    def _shares(self, specs: list[ShardSpec], batch: int) -> tuple[float, float]:
        """Boards of the busiest host, and hosts with any board, per iteration of a batch; means over draws."""
        host_of = np.zeros(self.num_textures, dtype=int)
        for host, spec in enumerate(specs):
            host_of[list(spec.textures or ())] = host
        sampler = self.sampler(batch)
        counts = [np.bincount(host_of[sampler.draw(k).textures], minlength=len(specs)) for k in range(1, 21)]
        return float(np.mean([c.max() for c in counts])), float(np.mean([(c > 0).sum() for c in counts]))


def main() -> None:
    """Measure, compare the model with real iterations, and print what it says for more cores."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stack", type=int, default=100, help="big blinds")
    parser.add_argument("--buckets", type=int, default=500, help="per street")
    parser.add_argument("--textures", type=int, default=50)
    parser.add_argument("--latency", type=float, default=0.0, help="milliseconds added to a trip")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    bench = Bench(options.stack, options.buckets, options.textures)
    small, large = bench.trunk_cost(8), bench.trunk_cost(64)
    settings = SimpleNamespace(
        kind="local", address=None, num_cpus=2, object_store_mb=512, retries=0, in_flight=2
    )
    with open_cluster(settings) as _:  # type: ignore[arg-type]
        call, trip, rate = bench.message_costs()
        slope = (large - small) / 56
        groups = {spec.types for hosts in CORES for spec in shard_specs(bench.postflop, None, hosts)}
        by_group = {types: bench.board_cost(types) for types in groups}
        everything = tuple(range(len(bench.pots.templates)))
        by_texture_cost = bench.board_cost(everything, range(options.textures))
        trip += options.latency
        costs = Costs(small - 8 * slope, slope, call, trip, rate, by_group, by_texture_cost)
        checks = [
            (
                hosts,
                by_texture,
                bench.iteration(hosts, 8, by_texture),
                bench.model(costs, hosts, 8, by_texture)[0],
            )
            for by_texture in (False, True)
            for hosts in (1, 2)
        ]
    table = {
        ("texture" if by_texture else "global", hosts, batch): bench.model(costs, hosts, batch, by_texture)
        for by_texture in (False, True)
        for hosts in CORES
        for batch in BATCHES
    }
    if options.json:
        rows = [
            {"scope": scope, "cores": hosts, "batch": batch, "ms": ms, "driver_share": share}
            for (scope, hosts, batch), (ms, share) in table.items()
        ]
        pieces = asdict(costs) | {"boards": {str(types): ms for types, ms in costs.boards.items()}}
        print(json.dumps({"costs": pieces, "checks": checks, "model": rows}))
        return
    show(costs, checks, table)
    alone = costs.trunk1 + (BYTES_PER_BOARD + 2 * bench.answer_bytes) / costs.rate
    print(
        f"\nscope texture: a board takes the driver {alone:.3f} ms and a host {costs.texture_board:.1f} ms,"
    )
    print(f"so that it is under a quarter of the time on {costs.texture_board / alone / 3:.0f} cores at most")


def show(
    costs: Costs,
    checks: list[tuple[int, bool, float, float]],
    table: dict[tuple[str, int, int], tuple[float, float]],
) -> None:
    """Print costs, checks and the model."""
    print(f"trunk {costs.trunk0:.2f} ms + {costs.trunk1:.3f} ms per board")
    print(f"call {costs.call0:.2f} ms, trip {costs.trip:.2f} ms")
    print(f"arrays {costs.rate / 1000:.0f} MB/s; a board, both seats, by pot types:")
    for types, cost in sorted(costs.boards.items()):
        print(f"    {', '.join(map(str, types))}: {cost:.2f} ms")
    print(f"    all, tables by texture: {costs.texture_board:.2f} ms")
    for hosts, by_texture, real, said in checks:
        scope = "texture" if by_texture else "global"
        print(f"{hosts} host(s), scope {scope}, 8 boards: measured {real:.1f} ms, model {said:.1f} ms")
    for scope in ("global", "texture"):
        one = {batch: table[scope, 1, batch][0] / batch for batch in BATCHES}
        print(f"\nscope {scope}: boards per second (times one core; driver's share)")
        print("cores".rjust(6), *(f"batch {batch}".rjust(24) for batch in BATCHES))
        for hosts in CORES:
            cells = []
            for batch in BATCHES:
                ms, share = table[scope, hosts, batch]
                cells.append(f"{1000 * batch / ms:9.0f} ({one[batch] * batch / ms:5.1f}x; {share:4.0%})")
            print(f"{hosts:6d}", *(cell.rjust(24) for cell in cells))
        for hosts in CORES[2:]:
            enough = [batch for batch in BATCHES if table[scope, hosts, batch][1] < 0.25]
            word = f"batch {enough[0]}" if enough else "no batch here"
            print(f"    {hosts} cores: {word} keeps the driver under a quarter of the time")


if __name__ == "__main__":
    main()
