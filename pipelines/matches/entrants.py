"""Who plays: a bundle, a bundle that solves again, or a strategy that looks at no cards."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from artifacts.blueprint.bundle import BlueprintBundle
from artifacts.readers import read_bucket_tables
from pipelines.run.cluster import unlocked
from solver.blueprint.boards import BatchBuckets, SourceBuckets, street_buckets
from solver.blueprint.strategy import Blueprint
from solver.match.players import BlueprintPlayer, ResolvingPlayer
from solver.match.table import Table
from solver.strategy import TableStrategy
from solver.subgame.config import SubgameConfig

#: Buckets of every combo on the three streets of each board of a task, uint16 [board, street, 1326].
TaskBuckets = NDArray[np.uint16] | None


@dataclass(frozen=True)
class Resolving:
    """From which street on (1 flop .. 3 river) a blueprint solves again, and with how many iterations."""

    street: int
    iterations: int


@dataclass(frozen=True, eq=False)
class Entrant:
    """A strategy that takes part.

    Attributes
    ----------
    name
        For people.
    identity
        What its play depends on, for keys.
    blueprint
        What it plays, or solves on top of. Its buckets are read from the bundle by the driver.
    bundle
        None for a strategy that looks at no cards.
    resolving
        None for one that does not solve.
    """

    name: str
    identity: dict[str, Any]
    blueprint: Blueprint
    bundle: BlueprintBundle | None = None
    resolving: Resolving | None = None

    def shipped(self) -> Entrant:
        """The same for workers, which may be on other machines: without the bundle's files.

        A blueprint that solves again needs the buckets of all boards. Any other gets those of a task's boards with the
        task.
        """
        if self.bundle is None:
            return self
        if self.resolving is None:
            bucketing: Any = BatchBuckets(self.blueprint.layout.num_buckets)
        else:
            bucketing = SourceBuckets(read_bucket_tables(self.bundle), self.blueprint.layout.num_buckets)
        return replace(self, bundle=None, blueprint=replace(self.blueprint, bucketing=bucketing))

    def task_buckets(self, boards: NDArray[np.uint8]) -> TaskBuckets:
        """Buckets that a task needs, looked up by the driver."""
        if self.bundle is None or self.resolving is not None:
            return None
        return street_buckets(self.bundle, boards)

    def unpacked(self, boards: NDArray[np.uint8], buckets: TaskBuckets) -> Entrant:
        """In a worker: a blueprint whose arrays kernels accept, with the buckets of a task."""
        blueprint = self.blueprint
        # What Ray delivers is read-only, for which the kernels would be compiled once more.
        table, bucketing = unlocked(blueprint.table), blueprint.bucketing
        light = replace(blueprint, table=np.empty(0, dtype=table.dtype), bucketing=None)  # type: ignore[arg-type]
        if buckets is not None:
            bucketing = BatchBuckets(blueprint.layout.num_buckets)
            textures = np.array([blueprint.texture(board) for board in boards])
            bucketing.load(boards, textures, buckets)
        return replace(self, blueprint=replace(copy.deepcopy(light), table=table, bucketing=bucketing))

    def sit(self, table: Table) -> TableStrategy:
        """The strategy at a table."""
        if self.resolving is None:
            return BlueprintPlayer(table, self.blueprint)
        config = SubgameConfig(iterations=self.resolving.iterations)
        return ResolvingPlayer(table, self.blueprint, self.resolving.street, config)
