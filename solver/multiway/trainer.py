"""Training for two to nine seats. One epoch:

1. regrets are discounted by the schedule (Linear CFR by default);
2. every stream plays its deals on a copy of the regrets: for each deal, for each seat in turn, the seat tries all
   actions with all its hands, while the others draw their actions with the hands dealt to them (`traversal`);
3. the mean of the changes of all streams is added;
4. the strategy that the regrets give now is added to the average, weighted by each seat's own reach (`tables`).

`replica` has the tables and says how the streams are spread over workers.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from solver.cfr.schedules import Schedule, schedule
from solver.multiway.game import MultiwayGame
from solver.multiway.replica import BoardBuckets, Replica, Streams
from solver.multiway.strategy import MultiwayStrategy
from solver.multiway.tables import normalised

Arrays = dict[str, NDArray[Any]]


class Workers(Protocol):
    """Replicas that play the streams of an epoch between them."""

    def run_epoch(self) -> None:
        """Steps 1 to 4 on every replica."""

    def state(self) -> Arrays:
        """Regrets, average and counters."""

    def restore(self, state: Arrays) -> None:
        """Continue from a saved state."""


class LocalWorkers:
    """One replica in this process that plays all streams."""

    def __init__(
        self, game: MultiwayGame, rule: Schedule, streams: Streams, buckets: BoardBuckets | None = None
    ) -> None:
        self.replica = Replica(game, rule, streams, buckets)
        self._count = streams.count

    def run_epoch(self) -> None:
        """See `Workers.run_epoch`."""
        self.replica.begin_epoch()
        self.replica.end_epoch([self.replica.play(stream) for stream in range(self._count)])

    def state(self) -> Arrays:
        """See `Workers.state`."""
        return self.replica.state()

    def restore(self, state: Arrays) -> None:
        """See `Workers.restore`."""
        self.replica.restore(state)


class MultiwayTrainer:
    """Trains a game.

    Parameters
    ----------
    workers
        Where streams are played; by default in this process.

    Examples
    --------
    >>> from solver.betting.game import GameConfig
    >>> config = GameConfig(stacks=(500, 500, 500), raise_sizes=("a",), limp=False)
    >>> trainer = MultiwayTrainer(MultiwayGame.build(config), Streams(seed=1, count=1, deals=500))
    >>> trainer.run(2)
    >>> 0.9 < trainer.strategy().probability("A", "AA", "call")
    True
    """

    def __init__(
        self,
        game: MultiwayGame,
        streams: Streams,
        *,
        rule: Schedule | None = None,
        buckets: BoardBuckets | None = None,
        workers: Workers | None = None,
    ) -> None:
        self.game = game
        self.epoch = 0
        self.workers = workers or LocalWorkers(game, rule or schedule("lcfr"), streams, buckets)

    def run(self, epochs: int) -> None:
        """Train for some epochs."""
        for _ in range(epochs):
            self.workers.run_epoch()
            self.epoch += 1

    def strategy(self, table: str = "average") -> MultiwayStrategy:
        """The average strategy, or that of the `regret` as it is now."""
        return MultiwayStrategy(self.game, normalised(self.game, self.workers.state()[table]))

    def state(self) -> Arrays:
        """What training goes on from."""
        return self.workers.state()

    def restore(self, state: Arrays) -> None:
        """Continue from a saved state."""
        self.epoch = int(np.asarray(state["counters"])[1])
        self.workers.restore(state)
