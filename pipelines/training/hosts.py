"""Hosts of the blueprint trainer's shards: one Ray actor per core, or one object in this process.

A host has its tables and the buckets of the boards it sweeps or is measured on; what it is sent and what it answers
is in `pipelines.training.fleet`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_CLASSES
from pipelines.run.errors import MachineError
from solver.betting.public_tree import PublicTree
from solver.blueprint.boards import BatchBuckets, BoardBatch
from solver.blueprint.fleet import LocalFleet, ShardSpec, Update, shard_values
from solver.blueprint.flop_values import FlopBoards, Response
from solver.blueprint.pot_types import PotTypes
from solver.blueprint.rows import RowKey
from solver.blueprint.shard import Shard
from solver.cfr.schedules import Schedule

Arrays = dict[str, NDArray[Any]]
RowsByKey = dict[RowKey, NDArray[Any]]


class ShardsLostError(MachineError):
    """A host or its node died: its tables are gone, and all hosts have to start again from a checkpoint."""


@dataclass(frozen=True, eq=False)
class Postflop:
    """What every host knows: the betting after the flop, the sizes of the tables, how showdowns are valued.

    Attributes
    ----------
    tree, pots
        The game's tree and its pot types.
    num_buckets
        Buckets of flop, turn and river.
    river_equity
        Equity of river bucket against river bucket; None: showdowns by hand.
    opponents
        Whether each player is trained against an opponent who responds on the river.
    opponent_buckets
        Buckets of flop and turn that opponents see; None: those of the players.
    """

    tree: PublicTree
    pots: PotTypes
    num_buckets: tuple[int, int, int]
    river_equity: NDArray[Any] | None = None
    opponents: bool = False
    opponent_buckets: tuple[int, int] | None = None

    @property
    def num_lines(self) -> int:
        """Flop lines of the game."""
        return sum(len(members) for members in self.pots.members)


class ShardHost:
    """One shard and the buckets of the boards it is sweeping."""

    def __init__(self, postflop: Postflop, spec: ShardSpec) -> None:
        self._bucketing = BatchBuckets(postflop.num_buckets)
        self._seen = self._bucketing
        if postflop.opponent_buckets is not None:
            self._seen = BatchBuckets((*postflop.opponent_buckets, 0))
        self._num_lines = postflop.num_lines
        self._shard = Shard(
            postflop.tree,
            postflop.pots,
            spec.types,
            self._bucketing,
            textures=spec.textures,
            river_equity=postflop.river_equity,
            opponents=self._seen if postflop.opponents else None,
        )
        self._fleet = LocalFleet([self._shard])
        self._batch: BoardBatch | None = None

    def begin_phase(self, first_epoch: int, schedule: Schedule) -> None:
        """Discount by a schedule from an epoch on, with a fresh average."""
        self._fleet.begin_phase(first_epoch, schedule)

    def load(
        self, batch: BoardBatch, buckets: NDArray[np.uint16], seen: NDArray[np.uint16] | None = None
    ) -> None:
        """Take the boards of the sweeps to come, with the buckets of players and, where they differ, of opponents."""
        # What Ray delivers is read-only, for which the kernels would be compiled once more.
        self._batch = BoardBatch(batch.boards.copy(), batch.weights.copy(), batch.textures.copy())
        self._bucketing.load(batch.boards, batch.textures, buckets)
        if seen is not None:
            self._seen.load(batch.boards, batch.textures, seen)

    def sweep(
        self,
        updates: Sequence[Update],
        boards: tuple[BoardBatch, NDArray[np.uint16], NDArray[np.uint16] | None] | None,
        reach: NDArray[np.float32],
        epoch: int,
        prune_below: float | None,
    ) -> NDArray[np.float64]:
        """See `Fleet.sweep`, on the boards given now or on the last ones; `reach` is that of the shard's lines."""
        if boards is not None:
            self.load(*boards)
        if self._batch is None:
            raise ValueError("a host sweeps boards that it was sent: none so far")
        whole = np.zeros((len(updates), self._num_lines, NUM_CLASSES), dtype=np.float32)
        whole[:, list(self._shard.lines)] = reach
        return shard_values(self._shard, updates, self._batch, whole, epoch, prune_below)

    def rows(self, table: str, epoch: int) -> RowsByKey:
        """See `solver.blueprint.fleet.Fleet.rows`."""
        return self._fleet.rows(table, epoch)

    def state(self) -> Arrays:
        """The tables of the shard."""
        return self._fleet.state()

    def restore(self, state: Arrays) -> None:
        """Continue from a saved state that has this shard's tables."""
        self._fleet.restore(state)

    def flop_values(
        self,
        table: str,
        epoch: int,
        flops: Sequence[FlopBoards],
        buckets: NDArray[np.uint16],
        reach: Sequence[NDArray],
        responses: Sequence[Response],
    ) -> NDArray[np.float64]:
        """See `Shard.flop_values`; `buckets` are the `street_buckets` of the boards of all flops."""
        # What Ray delivers is read-only, for which the kernels would be compiled once more.
        here = [flop.copy() for flop in flops]
        boards = np.concatenate([flop.boards for flop in here])
        textures = np.repeat([flop.texture for flop in here], [len(flop.boards) for flop in here])
        self._bucketing.load(boards, textures, buckets)
        return self._shard.flop_values(table, epoch, here, reach, responses)


class Hosts(Protocol):
    """Some `ShardHost`s and a way to call them all."""

    def call(self, method: str, arguments: Sequence[tuple[Any, ...] | None]) -> list[Any]:
        """Call a method of every host with its arguments (None: leave the host alone), all at a time."""
        ...

    def close(self) -> None:
        """Let the hosts go."""
        ...


class InProcessHosts:
    """Hosts as plain objects."""

    def __init__(self, postflop: Postflop, specs: Sequence[ShardSpec]) -> None:
        self._hosts = [ShardHost(postflop, spec) for spec in specs]

    def call(self, method: str, arguments: Sequence[tuple[Any, ...] | None]) -> list[Any]:
        """See `Hosts.call`."""
        return [
            None if given is None else getattr(host, method)(*given)
            for host, given in zip(self._hosts, arguments)
        ]

    def close(self) -> None:
        """See `Hosts.close`."""
        self._hosts = []


class RayHosts:
    """Hosts as Ray actors, spread over the nodes; a lost one is raised, for its tables went with it."""

    def __init__(self, postflop: Postflop, specs: Sequence[ShardSpec]) -> None:
        import ray

        self.actors = start_actors(ShardHost, ray.put(postflop), specs)

    def call(self, method: str, arguments: Sequence[tuple[Any, ...] | None]) -> list[Any]:
        """See `Hosts.call`."""
        import ray

        under_way = {
            k: getattr(actor, method).remote(*given)
            for k, (actor, given) in enumerate(zip(self.actors, arguments))
            if given is not None
        }
        with losses_raised():
            results = dict(zip(under_way, ray.get(list(under_way.values()))))
        return [results.get(k) for k in range(len(self.actors))]

    def close(self) -> None:
        """See `Hosts.close`."""
        import ray

        for actor in self.actors:
            ray.kill(actor)
        self.actors = []


def start_actors(host: type, shared: Any, specs: Sequence[Any]) -> list[Any]:
    """Actors of a class, each made from what all share and its own part, spread over the nodes."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    # Ray's default for actors: a core to be placed, none to run. So a cluster that lost a node can still hold
    # all hosts. As they hold no core, Ray's own strategies may pile them up on one node: places are given out here.
    remote = ray.remote(host)
    cores = {node["NodeID"]: float(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]}
    return [
        remote.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=True)).remote(
            shared, spec
        )
        for node, spec in zip(spread(cores, len(specs)), specs)
    ]


@contextmanager
def losses_raised() -> Iterator[None]:
    """What Ray says of a dead actor or node, as `ShardsLostError`."""
    from ray import exceptions

    try:
        yield
    except (
        exceptions.RayActorError,
        exceptions.ObjectLostError,
        exceptions.WorkerCrashedError,
        exceptions.NodeDiedError,
        exceptions.RaySystemError,
    ) as error:
        raise ShardsLostError(f"a shard host was lost ({type(error).__name__})") from error


def spread(cores: Mapping[str, float], hosts: int) -> list[str]:
    """Node of each host, in proportion to the cores of the nodes.

    >>> spread({"a": 4, "b": 2, "c": 0}, 6)
    ['a', 'a', 'b', 'a', 'a', 'b']
    """
    held = dict.fromkeys(sorted(node for node, count in cores.items() if count > 0), 0)
    if not held:
        raise ShardsLostError("no node with a core is up")
    places = []
    for _ in range(hosts):
        node = min(held, key=lambda name: (held[name] + 1) / cores[name])
        held[node] += 1
        places.append(node)
    return places
