"""The tables of a training run on one machine, and the streams that are played there.

Training goes by epochs. In an epoch a fixed number of streams each play deals of their own on a copy of the regrets,
in place: every deal meets the strategy that the deals before have made. Then the mean of all changes is added, in the
order of the streams. Their sum would overshoot, because each stream has moved as far as all of them should together.
Who played which stream makes no difference, so the result has the same bytes whatever the number of workers. Each
worker has a replica of the tables and adds all changes itself; no table is ever sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstractions.buckets import BucketSource, board_buckets
from abstractions.isomorphism import board_index
from abstractions.streets import FLOP, PUBLIC_CARDS
from solver.cfr.epochs import discount
from solver.cfr.schedules import Schedule
from solver.multiway.deals import WIDTH, boards_dealt
from solver.multiway.game import MultiwayGame
from solver.multiway.space import COUNTERS, NO_COLUMNS, Columns, space_for
from solver.multiway.tables import Change, Table, add, add_average, change
from solver.multiway.traversal import _play_deals

#: Deals whose buckets are looked up together.
CHUNK = 256


@dataclass(frozen=True)
class Streams:
    """How an epoch is split.

    Attributes
    ----------
    seed
        Of all deals.
    count
        Streams of an epoch: as many workers can share it.
    deals
        Deals of a stream in an epoch.
    """

    seed: int
    count: int
    deals: int

    def first_deal(self, epoch: int, stream: int) -> int:
        """Number of the first deal of a stream in an epoch, epochs counted from 1."""
        return ((epoch - 1) * self.count + stream) * self.deals


@dataclass(frozen=True, eq=False)
class BoardBuckets:
    """Hand buckets of the boards dealt.

    Attributes
    ----------
    source
        Tables of `abstractions.buckets`.
    counts
        Buckets of flop, turn and river, of one texture where buckets belong to textures.
    """

    source: BucketSource
    counts: tuple[int, int, int]

    def columns(self, boards: NDArray[np.uint8]) -> Columns:
        """What the kernels read for some boards."""
        streets = [board_buckets(self.source, boards[:, :cards]) for cards in PUBLIC_CARDS[FLOP:]]
        textures = self.source.flop_textures()
        own = np.zeros(len(boards), np.int64)
        if textures is not None:
            own[:] = textures[board_index(boards[:, :3])[0]]
        return Columns(np.array(self.counts, np.int64), np.stack(streets, axis=1), own)

    @property
    def widths(self) -> tuple[int, int, int]:
        """Columns of a row by street: the buckets of all textures."""
        textures = self.source.flop_textures()
        number = 1 if textures is None else int(textures.max()) + 1
        flop, turn, river = (number * count for count in self.counts)
        return flop, turn, river


class Player:
    """Plays deals on given tables."""

    def __init__(self, game: MultiwayGame, buckets: BoardBuckets | None = None) -> None:
        self.game = game
        self.counts = np.zeros(len(COUNTERS), np.int64)
        self._buckets = buckets
        self._space = space_for(game, 1 if buckets is None else max(buckets.counts))

    def play(
        self,
        own: Table,
        others: Table,
        seed: int,
        first: int,
        deals: int,
        *,
        seats: Sequence[int] | None = None,
        added: Table | None = None,
        learn: bool = True,
    ) -> NDArray[np.float32]:
        """Play deals for some seats (all by default); what each wins on each deal, in big blinds [deal, seat].

        Parameters
        ----------
        own, others
            Tables of the seats that are played for, and of their opponents: regrets, or probabilities.
        added
            Table that the regrets of these seats are added to; None: `own`.
        learn
            Whether there is anything to add.
        """
        game = self.game
        learns = np.zeros(game.seats, np.bool_)
        learns[list(range(game.seats) if seats is None else seats)] = True
        target = (own if added is None else added) if learn else own[:0]
        values = np.zeros((deals, game.seats), np.float32)
        for start in range(0, deals, CHUNK):
            count = min(CHUNK, deals - start)
            columns = NO_COLUMNS
            if self._buckets is not None:
                columns = self._buckets.columns(boards_dealt(seed, first + start, count, game.cards))
            _play_deals(
                game.arrays,
                own,
                others,
                target,
                np.uint64(seed),
                np.int64(first + start),
                learns,
                columns,
                values[start : start + count],
                self._space,
                self.counts,
            )
        return values


class Replica:
    """Regrets, and the average where this replica keeps it."""

    def __init__(
        self,
        game: MultiwayGame,
        schedule: Schedule,
        streams: Streams,
        buckets: BoardBuckets | None = None,
        *,
        averages: bool = True,
    ) -> None:
        self.game = game
        self.player = Player(game, buckets)
        self.epoch = 0
        self.regret = np.zeros(game.entries, np.float32)
        self.average = np.zeros(game.entries if averages else 0, np.float32)
        self._schedule = schedule
        self._streams = streams
        self._averages = averages
        self._local = np.zeros(game.entries, np.float32)
        self._reach = np.zeros((game.rows if averages else 0, WIDTH), np.float32)

    def begin_epoch(self) -> None:
        """Discount the regrets for the next epoch."""
        self.epoch += 1
        discount(self.regret, self._schedule.weights(self.epoch))

    def play(self, stream: int) -> Change:
        """Play a stream of this epoch; what it adds to the regrets."""
        self._local[:] = self.regret
        streams = self._streams
        first = streams.first_deal(self.epoch, stream)
        self.player.play(self._local, self._local, streams.seed, first, streams.deals)
        return change(self.regret, self._local)

    def end_epoch(self, changes: Sequence[Change]) -> None:
        """Add the mean of the changes of all streams, and the strategy that the regrets give then to the average."""
        for changed in changes:
            add(self.regret, changed, 1.0 / len(changes))
        if self._averages:
            factor = self._schedule.weights(self.epoch).strategy
            add_average(self.game, self.regret, self.average, factor, self._reach)

    def state(self) -> dict[str, NDArray[Any]]:
        """What training goes on from."""
        counters = np.array([self.epoch, self.epoch], np.int64)
        return {"counters": counters, "regret": self.regret, "average": self.average}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Continue from a saved state."""
        self.epoch = int(state["counters"][1])
        self.regret[:] = state["regret"]
        if self._averages:
            self.average[:] = state["average"]
