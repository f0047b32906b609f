"""The shards of the blueprint trainer on hosts: what each owns, what it is sent and what it answers.

Tables never move. A host is sent the boards of an iteration with the buckets of their hands (once, for the
first seat) and the opponent's reach of its lines, and answers with values by board, line and hand class. How
many hosts there are changes nothing in the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abstractions.buckets import BucketSource
from pipelines.run.cluster import Cluster, RayCluster
from pipelines.training.hosts import (
    Arrays,
    Hosts,
    InProcessHosts,
    Postflop,
    RayHosts,
    RowsByKey,
)
from solver.blueprint.boards import BoardBatch, street_buckets
from solver.blueprint.fleet import Answer, ShardSpec, Update, balanced, owned
from solver.blueprint.flop_values import FlopBoards, Response
from solver.blueprint.opponents import opponent_names
from solver.blueprint.rows import ALL_TEXTURES, RowKey
from solver.cfr.schedules import Schedule


@dataclass
class Traffic:
    """Messages to and from the hosts during sweeps, and their bytes of arrays."""

    iterations: int = 0
    messages: int = 0
    sent: int = 0
    received: int = 0

    def figures(self) -> dict[str, float]:
        """Per iteration: messages, and kilobytes each way."""
        count = max(self.iterations, 1)
        return {
            "messages_per_iteration": self.messages / count,
            "sent_kb_per_iteration": self.sent / count / 1024,
            "received_kb_per_iteration": self.received / count / 1024,
        }


class _Buckets(NamedTuple):
    """Buckets of the boards of a batch that players see, and that opponents see where they differ."""

    own: NDArray[np.uint16]
    seen: NDArray[np.uint16] | None

    def select(self, kept: NDArray[np.bool_]) -> _Buckets:
        """Of some of the boards."""
        return _Buckets(self.own[kept], None if self.seen is None else self.seen[kept])


class HostFleet:
    """The trainer's `Fleet` on hosts.

    Parameters
    ----------
    postflop
        What the hosts share.
    specs
        What each host owns.
    source
        Buckets of all boards.
    hosts
        The hosts, one per spec.
    seen
        Buckets of all boards on flop and turn that opponents see; None: those of the players.
    """

    def __init__(
        self,
        postflop: Postflop,
        specs: Sequence[ShardSpec],
        source: BucketSource,
        hosts: Hosts,
        seen: BucketSource | None = None,
    ) -> None:
        self.specs = list(specs)
        self.traffic = Traffic()
        self.hosts = hosts
        self._source = source
        self._seen = seen
        self._opponents = postflop.opponents
        self._lines = [
            tuple(sorted(line for pot_type in spec.types for line in postflop.pots.members[pot_type]))
            for spec in specs
        ]
        self._batch: BoardBatch | None = None
        self._prepared: list[tuple[BoardBatch, _Buckets]] = []

    def prepare(self, batch: BoardBatch) -> None:
        """See `Fleet.prepare`: look up the buckets."""
        # The batch before may not have been sent yet.
        self._prepared = [*self._prepared[-1:], (batch, self._look_up(batch))]

    def begin_phase(self, first_epoch: int, schedule: Schedule) -> None:
        """See `Fleet.begin_phase`."""
        self.hosts.call("begin_phase", [(first_epoch, schedule)] * len(self.specs))

    def sweep(
        self,
        updates: Sequence[Update],
        batch: BoardBatch,
        reach: NDArray[np.float32],
        epoch: int,
        prune_below: float | None = None,
    ) -> list[Answer]:
        """See `Fleet.sweep`."""
        is_new = batch is not self._batch
        buckets = self._buckets(batch) if is_new else None
        swept = [owned(batch.textures, spec.textures) for spec in self.specs]
        arguments: list[tuple[Any, ...] | None] = []
        for lines, mine in zip(self._lines, swept):
            if not mine.any():
                arguments.append(None)
                continue
            boards = None if buckets is None else (batch.select(mine), *buckets.select(mine))
            arguments.append((updates, boards, reach[:, list(lines)], epoch, prune_below))
        values = self.hosts.call("sweep", arguments)
        self._batch = batch
        self._count(is_new, arguments, values)
        return self._answers(swept, values)

    def _answers(
        self, taken: Sequence[NDArray[np.bool_]], values: Sequence[NDArray[np.float64] | None]
    ) -> list[Answer]:
        """What the hosts that were asked said, each with its lines and the boards it took."""
        return [
            (lines, mine, value)
            for lines, mine, value in zip(self._lines, taken, values)
            if value is not None
        ]

    def flop_values(
        self,
        table: str,
        epoch: int,
        flops: Sequence[FlopBoards],
        reach: Sequence[NDArray],
        responses: Sequence[Response],
    ) -> list[Answer]:
        """See `Fleet.flop_values`."""
        taken = [owned([flop.texture for flop in flops], spec.textures) for spec in self.specs]
        arguments: list[tuple[Any, ...] | None] = []
        for mine in taken:
            given = [flop for flop, wanted in zip(flops, mine) if wanted]
            if not given:
                arguments.append(None)
                continue
            buckets = street_buckets(self._source, np.concatenate([flop.boards for flop in given]))
            arguments.append((table, epoch, given, buckets, reach, responses))
        return self._answers(taken, self.hosts.call("flop_values", arguments))

    def _buckets(self, batch: BoardBatch) -> _Buckets:
        for prepared, buckets in self._prepared:
            if prepared is batch:
                return buckets
        return self._look_up(batch)

    def _look_up(self, batch: BoardBatch) -> _Buckets:
        seen = None if self._seen is None else street_buckets(self._seen, batch.boards, streets=2)
        return _Buckets(street_buckets(self._source, batch.boards), seen)

    def _count(
        self, is_new: bool, arguments: Sequence[tuple[Any, ...] | None], values: Sequence[NDArray | None]
    ) -> None:
        traffic = self.traffic
        traffic.iterations += is_new
        for given, value in zip(arguments, values):
            if given is None or value is None:
                continue
            _, boards, reach, _, _ = given
            traffic.messages += 2
            traffic.sent += reach.nbytes
            traffic.received += value.nbytes
            if boards is not None:
                batch, buckets, seen = boards
                traffic.sent += batch.boards.nbytes + batch.weights.nbytes + batch.textures.nbytes
                traffic.sent += buckets.nbytes + (0 if seen is None else seen.nbytes)

    def rows(self, table: str, epoch: int) -> RowsByKey:
        """See `Fleet.rows`."""
        return _joined(self.hosts.call("rows", [(table, epoch)] * len(self.specs)))

    def state(self) -> Arrays:
        """See `Fleet.state`."""
        return _joined(self.hosts.call("state", [()] * len(self.specs)))

    def restore(self, state: Arrays) -> None:
        """See `Fleet.restore`."""
        keys = [_keys(spec, self._opponents) for spec in self.specs]
        self.hosts.call("restore", [({key: state[key] for key in part},) for part in keys])

    def close(self) -> None:
        """Let the hosts go."""
        self.hosts.close()


def _joined(parts: Sequence[Mapping[Any, NDArray[Any]]]) -> dict[Any, NDArray[Any]]:
    return {key: array for part in parts for key, array in part.items()}


def _keys(spec: ShardSpec, opponents: bool) -> list[str]:
    """Names of a shard's arrays in a trainer's state."""
    keys = []
    for texture in (ALL_TEXTURES,) if spec.textures is None else spec.textures:
        for street in range(3):
            keys.append(f"clock/{texture}/{street}")
            for pot_type in spec.types:
                key = RowKey(pot_type, texture, street)
                keys += [key.name("regret"), key.name("average")]
        if opponents:
            keys += opponent_names(spec.types, texture)
    return keys


def neighbours(weights: Sequence[float], groups: int) -> list[tuple[int, ...]]:
    """Items in at most so many groups of neighbours of about equal weight.

    >>> neighbours([2, 2, 1, 1, 2], 2)
    [(0, 1), (2, 3, 4)]
    """
    ends = np.cumsum(weights)
    middles = (ends - np.asarray(weights) / 2) / ends[-1]
    owners = np.minimum((middles * groups).astype(int), groups - 1)
    return [tuple(np.flatnonzero(owners == owner).tolist()) for owner in np.unique(owners)]


def shard_specs(postflop: Postflop, texture_weights: NDArray[Any] | None, hosts: int) -> list[ShardSpec]:
    """What each of at most `hosts` hosts owns: pot types, or textures when they have tables of their own.

    Parameters
    ----------
    texture_weights
        How often each texture is dealt, in scope ``texture``; None in scope ``global``.
    """
    types = tuple(range(len(postflop.pots.templates)))
    if texture_weights is not None:
        # An iteration draws evenly over the textures in their order: neighbours share its boards evenly.
        return [ShardSpec(types, group) for group in neighbours(texture_weights.tolist(), hosts)]
    tree = postflop.tree
    sizes = [
        float(tree.subtree_end[root] - root) * len(members)
        for root, members in zip(postflop.pots.templates, postflop.pots.members)
    ]
    return [ShardSpec(group) for group in balanced(sizes, hosts)]


def open_fleet(
    postflop: Postflop,
    texture_weights: NDArray[Any] | None,
    source: BucketSource,
    cluster: Cluster,
    seen: BucketSource | None = None,
) -> HostFleet:
    """Hosts on a cluster: one per core of it on Ray, one in this process otherwise."""
    specs = shard_specs(postflop, texture_weights, cluster.num_cpus)
    on_ray = isinstance(cluster, RayCluster)
    hosts: Hosts = RayHosts(postflop, specs) if on_ray else InProcessHosts(postflop, specs)
    return HostFleet(postflop, specs, source, hosts, seen)
