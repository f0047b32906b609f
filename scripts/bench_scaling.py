"""How training scales out: times the pieces of an iteration, and models from them what more cores would do.

    python scripts/bench_scaling.py                                100 bb, 100 buckets, 50 textures
    python scripts/bench_scaling.py --buckets 100 --textures 200   the sizes of preset standard

An iteration of B boards on P hosts trains both seats. For each seat the driver calls every host that has a board, and
waits for the slowest of them. The model adds up:

    milliseconds =   trunk + trunk_board * B                what the driver computes itself
                   + 2 * (trip + called hosts * call)       two rounds of calls; one process makes them in turn
                   + bytes sent and received * byte         the arrays of all calls
                   + boards of the slowest host * board     both seats' sweeps on that host

    scope global:  a host owns whole flop lines and sweeps all B boards; `board` depends on its lines.
    scope texture: a host owns textures and sweeps the boards that fall to it, on all lines.

The driver's part is an upper bound: it draws the next boards while the hosts sweep, and the model counts that in full.

For each scope, the pieces and whole iterations on 1 and 2 hosts are timed in turns in one run, so that a busy moment of
the machine slows all of them and hardly changes a ratio. All times are means, because an iteration waits for the
slowest host. On a machine of two cores 2 hosts take longer than the model says: the driver and Ray's own processes
need the same cores. Between machines a trip takes longer: `--latency` adds to it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from itertools import count
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from abstractions.buckets import BucketTables
from abstractions.cards import NUM_CLASSES, NUM_COMBOS
from abstractions.isomorphism import canonical_boards
from pipelines.config.composition import compose_config
from pipelines.run.cluster import open_cluster
from pipelines.training.fleet import HostFleet, shard_specs
from pipelines.training.hosts import Postflop, RayHosts
from solver.betting.game import GameConfig
from solver.blueprint.boards import BatchBuckets, BoardSampler, street_buckets
from solver.blueprint.fleet import ShardSpec, board_values, sum_boards
from solver.blueprint.pot_types import pot_types
from solver.blueprint.shard import Shard
from solver.blueprint.trainer import BlueprintTrainer
from solver.blueprint.trunk import Trunk, TrunkGame
from solver.cfr.schedules import schedule

SCOPES = ("global", "texture")
#: Boards of the iterations that are timed, and of the larger one that shows the trunk's cost per board.
TIMED_BATCH, LARGE_BATCH = 8, 64
TIMED_HOSTS = (1, 2)
#: A board's buckets on three streets, two bytes each.
BYTES_PER_BOARD = 3 * NUM_COMBOS * 2
#: Actors and bytes of the messages that are timed.
ECHOES, SMALL, LARGE = 4, 1_000, 1_000_000
#: The driver is called the bottleneck above this share of an iteration.
DRIVER_LIMIT = 0.25

Work = Callable[[], object]
Name = TypeVar("Name")


@dataclass(frozen=True)
class Costs:
    """Mean milliseconds of the pieces of an iteration; see the formula at the top.

    `board` is keyed by the pot types that a host owns: hosts share vectors among their lines, so that the cost of a
    group of lines is not the sum of theirs.
    """

    trunk: float
    trunk_board: float
    call: float
    trip: float
    byte: float
    board: dict[tuple[int, ...], float]


@dataclass(frozen=True)
class Estimate:
    """What the model says about an iteration: milliseconds, and those that the driver needs."""

    ms: float
    driver_ms: float

    @property
    def driver_share(self) -> float:
        """Share of the iteration in which the hosts wait for the driver."""
        return self.driver_ms / self.ms


def mean_times(works: Mapping[Name, Work], repeats: int) -> dict[Name, float]:
    """Mean milliseconds of each piece of work, timed in turns after one untimed call, which may compile."""
    for work in works.values():
        work()
    seconds = dict.fromkeys(works, 0.0)
    for _ in range(repeats):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            seconds[name] += time.perf_counter() - start
    return {name: 1000 * total / repeats for name, total in seconds.items()}


class Bench:
    """A game on made-up buckets: a sweep costs the same whatever hands share a bucket."""

    def __init__(self, stack: int, buckets: int, textures: int, scope: str) -> None:
        config = GameConfig(stacks=(100 * stack, 100 * stack), over_limp_sizes="4")
        no_equity = np.zeros((NUM_CLASSES, NUM_CLASSES), dtype=np.int64)
        self.game = TrunkGame.build(config, (no_equity, no_equity, no_equity))
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
        self.texture_of_flop = np.sort(rng.integers(0, textures, 1755)).astype(np.int16)
        self.num_textures = textures
        self.by_texture = scope == "texture"
        # One float64 per hand class and flop line, for one board and one seat.
        self.answer_bytes = 8 * NUM_CLASSES * len(self.game.lines)

    def specs(self, hosts: int) -> list[ShardSpec]:
        """What each host owns."""
        weights = np.bincount(self.texture_of_flop, minlength=self.num_textures).astype(float)
        return shard_specs(self.postflop, weights if self.by_texture else None, hosts)

    def sampler(self, batch: int) -> BoardSampler:
        """Boards as training draws them."""
        flops = canonical_boards(3)
        return BoardSampler(flops.boards, flops.weights, self.texture_of_flop, batch, seed=5)

    def warm_up(self, sampler: BoardSampler) -> int:
        """Iterations before the clock runs: memory costs extra when it is first touched, table by table."""
        return 2 * sampler.epoch_length if self.by_texture else 2

    def trunk_work(self, batch: int) -> Work:
        """What the driver computes in an iteration: draw boards, look up buckets, reach, sum, update."""
        sampler, trunk = self.sampler(batch), Trunk(self.game)
        lines = tuple(range(len(self.game.lines)))
        answer = (lines, np.ones(batch, dtype=np.bool_), np.ones((batch, len(lines), NUM_CLASSES)))
        numbers = count(1)

        def work() -> None:
            street_buckets(self.source, sampler.draw(next(numbers)).boards)
            for seat in range(2):
                self.game.reach(trunk.strategy, 1 - seat)
                trunk.update(seat, sum_boards(board_values(len(lines), [answer])))

        return work

    def sweep_work(self, types: tuple[int, ...], calls: int) -> Work:
        """Both seats' sweeps of `TIMED_BATCH` boards, fresh ones in each call, on a host that owns some pot types."""
        bucketing = BatchBuckets(self.postflop.num_buckets)
        textures = range(self.num_textures) if self.by_texture else None
        shard = Shard(self.game.tree, self.pots, types, bucketing, textures=textures)
        shard.begin_phase(1, schedule("lcfr"))
        sampler = self.sampler(TIMED_BATCH)
        reach = np.ones((len(self.game.lines), NUM_CLASSES), dtype=np.float32)
        warm_up = self.warm_up(sampler)
        # Drawn before the clock runs, because this is the driver's work.
        batches = [sampler.draw(number) for number in range(1, warm_up + calls + 1)]
        buckets = [street_buckets(self.source, batch.boards) for batch in batches]
        numbers = count()

        def work() -> None:
            number = next(numbers)
            batch = batches[number]
            bucketing.load(batch.boards, batch.textures, buckets[number])
            for seat in range(2):
                shard.sweep(seat, batch, reach, sampler.epoch(number + 1))

        for _ in range(warm_up):
            work()
        return work

    @contextmanager
    def iteration_work(self, hosts: int) -> Iterator[Work]:
        """A whole iteration of `TIMED_BATCH` boards on hosts of a Ray cluster."""
        specs = self.specs(hosts)
        fleet = HostFleet(self.postflop, specs, self.source, RayHosts(self.postflop, specs))
        try:
            bucketing = BatchBuckets(self.postflop.num_buckets)
            trainer = BlueprintTrainer(self.game, self.pots, bucketing, fleet=fleet)
            sampler = self.sampler(TIMED_BATCH)
            trainer.begin_phase(schedule("lcfr"), sampler)
            trainer.run(self.warm_up(sampler))
            yield lambda: trainer.run(1)
        finally:
            fleet.close()

    def estimate(self, costs: Costs, hosts: int, batch: int) -> Estimate:
        """The model: see the formula at the top."""
        specs = self.specs(hosts)
        if self.by_texture:
            slowest, called = self._shares(specs, batch)
            sweeps = slowest * costs.board[specs[0].types]
            moved = batch * (BYTES_PER_BOARD + 2 * self.answer_bytes)
        else:
            called = len(specs)
            sweeps = batch * max(costs.board[spec.types] for spec in specs)
            moved = batch * (BYTES_PER_BOARD * called + 2 * self.answer_bytes)
        driver = costs.trunk + costs.trunk_board * batch
        driver += 2 * (costs.trip + called * costs.call) + moved * costs.byte
        return Estimate(driver + sweeps, driver)

    def most_cores(self, costs: Costs) -> float | None:
        """Cores above which no batch keeps the driver under `DRIVER_LIMIT`, in scope ``texture``.

        In a large batch only what grows with it counts: per board, the driver's part and a sweep shared by all cores.
        """
        if not self.by_texture:
            return None
        moved = BYTES_PER_BOARD + 2 * self.answer_bytes
        driver = costs.trunk_board + moved * costs.byte
        sweep = costs.board[self.specs(1)[0].types]
        return sweep / driver * DRIVER_LIMIT / (1 - DRIVER_LIMIT)

    def _shares(self, specs: Sequence[ShardSpec], batch: int) -> tuple[float, float]:
        """Boards of the busiest host, and hosts with any board; means over 20 iterations."""
        host_of = np.zeros(self.num_textures, dtype=int)
        for host, spec in enumerate(specs):
            host_of[list(spec.textures or ())] = host
        sampler = self.sampler(batch)
        counts = [np.bincount(host_of[sampler.draw(k).textures], minlength=len(specs)) for k in range(1, 21)]
        return float(np.mean([c.max() for c in counts])), float(np.mean([(c > 0).sum() for c in counts]))


@contextmanager
def message_works() -> Iterator[dict[str, Work]]:
    """Calls to Ray actors that send back as much as they get: one small, all small, all large."""
    import ray

    class Echo:
        def answer(self, _: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
            return np.zeros(size, dtype=np.uint8)

    echo: Any = ray.remote(num_cpus=0)(Echo)
    actors = [echo.remote() for _ in range(ECHOES)]

    def ask(asked: int, size: int) -> Work:
        payload = np.zeros(size, dtype=np.uint8)
        return lambda: ray.get([actor.answer.remote(payload, size) for actor in actors[:asked]])

    try:
        yield {
            "one message": ask(1, SMALL),
            "small messages": ask(ECHOES, SMALL),
            "large messages": ask(ECHOES, LARGE),
        }
    finally:
        for actor in actors:
            ray.kill(actor)


def measure(
    bench: Bench, cores: Sequence[int], repeats: int, latency: float
) -> tuple[Costs, dict[int, float]]:
    """The pieces of an iteration, and whole iterations by number of hosts, timed in turns."""
    groups = sorted({spec.types for hosts in {*cores, *TIMED_HOSTS} for spec in bench.specs(hosts)})
    with ExitStack() as stack:
        works: dict[Any, Work] = dict(stack.enter_context(message_works()))
        works |= {f"trunk {batch}": bench.trunk_work(batch) for batch in (TIMED_BATCH, LARGE_BATCH)}
        works |= {types: bench.sweep_work(types, 1 + repeats) for types in groups}
        works |= {hosts: stack.enter_context(bench.iteration_work(hosts)) for hosts in TIMED_HOSTS}
        ms = mean_times(works, repeats)
    # Calls to several actors overlap but for what the driver does: the rest of a single call is the trip.
    call = max(ms["small messages"] - ms["one message"], 0.0) / (ECHOES - 1)
    trunk_board = (ms[f"trunk {LARGE_BATCH}"] - ms[f"trunk {TIMED_BATCH}"]) / (LARGE_BATCH - TIMED_BATCH)
    costs = Costs(
        trunk=ms[f"trunk {TIMED_BATCH}"] - TIMED_BATCH * trunk_board,
        trunk_board=trunk_board,
        call=call,
        trip=max(ms["one message"] - call, 0.0) + latency,
        byte=max(ms["large messages"] - ms["small messages"], 0.0) / (2 * ECHOES * (LARGE - SMALL)),
        board={types: ms[types] / TIMED_BATCH for types in groups},
    )
    return costs, {hosts: ms[hosts] for hosts in TIMED_HOSTS}


def show(
    scope: str,
    costs: Costs,
    measured: Mapping[int, float],
    modelled: Mapping[int, float],
    table: Mapping[tuple[int, int], Estimate],
    most_cores: float | None,
) -> None:
    """Print the costs of a scope, its model beside what was measured, and what the model says of more cores."""
    print(f"\nscope {scope}")
    print(f"    trunk {costs.trunk:.2f} ms + {costs.trunk_board:.3f} ms per board")
    print(f"    call {costs.call:.2f} ms, trip {costs.trip:.2f} ms, {1e6 * costs.byte:.2f} ms per megabyte")
    print("    a board, both seats, by the pot types of a host:")
    for types, ms in costs.board.items():
        print(f"        {', '.join(map(str, types))}: {ms:.2f} ms")
    print(f"    iterations of {TIMED_BATCH} boards:")
    for hosts, ms in measured.items():
        words = f"measured {ms:.1f} ms, model {modelled[hosts]:.1f} ms, {ms / modelled[hosts]:.2f} times the model"
        print(f"        {hosts} host(s): {words}")
    one, two = TIMED_HOSTS
    print(
        f"        {two} hosts over {one}: measured {measured[one] / measured[two]:.2f} times as fast, "
        f"model {modelled[one] / modelled[two]:.2f}"
    )
    cores, batches = (sorted({key[k] for key in table}) for k in (0, 1))
    print("    model: boards per second (times one core; driver's share)")
    print("cores".rjust(10), *(f"batch {batch}".rjust(24) for batch in batches))
    for hosts in cores:
        cells = []
        for batch in batches:
            said, alone = table[hosts, batch], table[cores[0], batch]
            speed = f"{1000 * batch / said.ms:9.0f} ({alone.ms / said.ms:5.1f}x; {said.driver_share:4.0%})"
            cells.append(speed.rjust(24))
        print(f"{hosts:10d}", *cells)
    for hosts in cores:
        enough = [batch for batch in batches if table[hosts, batch].driver_share < DRIVER_LIMIT]
        words = f"batch {enough[0]} keeps" if enough else "no batch here keeps"
        print(f"    {hosts} core(s): {words} the driver under {DRIVER_LIMIT:.0%} of the time")
    if most_cores is not None:
        print(f"    on more than {most_cores:.0f} cores no batch does, however large")


def ascending(text: str) -> list[int]:
    """Ascending numbers from a list with commas."""
    return sorted({int(word) for word in text.split(",")})


def main() -> None:
    """Measure both scopes and print them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stack", type=int, default=100, help="big blinds")
    parser.add_argument("--buckets", type=int, default=100, help="per street")
    parser.add_argument("--textures", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=30, help="of every timed piece")
    parser.add_argument("--latency", type=float, default=0.0, help="milliseconds added to a trip")
    parser.add_argument(
        "--cores", type=ascending, default=[1, 2, 8, 16, 32, 64, 128, 256, 512], help="of the model: 1,2,8"
    )
    parser.add_argument(
        "--batches", type=ascending, default=[8, 32, 128, 512, 2048, 8192], help="boards per iteration"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    report = {}
    cluster = compose_config(["cluster=local", "cluster.num_cpus=2", "cluster.object_store_mb=512"]).cluster
    with open_cluster(cluster):
        for scope in SCOPES:
            bench = Bench(options.stack, options.buckets, options.textures, scope)
            costs, measured = measure(bench, options.cores, options.repeats, options.latency)
            modelled = {hosts: bench.estimate(costs, hosts, TIMED_BATCH).ms for hosts in TIMED_HOSTS}
            table = {
                (hosts, batch): bench.estimate(costs, hosts, batch)
                for hosts in options.cores
                for batch in options.batches
            }
            if not options.json:
                show(scope, costs, measured, modelled, table, bench.most_cores(costs))
            report[scope] = {
                "costs": asdict(costs) | {"board": {str(types): ms for types, ms in costs.board.items()}},
                "measured_ms": measured,
                "modelled_ms": modelled,
                "most_cores": bench.most_cores(costs),
                "model": [
                    {"cores": hosts, "batch": batch, "ms": said.ms, "driver_share": said.driver_share}
                    for (hosts, batch), said in table.items()
                ],
            }
    if options.json:
        print(json.dumps(report))


if __name__ == "__main__":
    main()
