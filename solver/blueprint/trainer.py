"""The blueprint trainer: a trunk, its shards and the boards, iteration by iteration.

An iteration draws boards. The trunk then updates its two seats in turn, and the shards say what its flop lines are
worth on these boards (`ShardLeaves`). The shards form a fleet in this process (`LocalFleet`) or anywhere else: the
same calls, with the shards behind actors, make the distributed trainer.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from solver.blueprint.boards import BoardBatch, BoardSampler, Bucketing
from solver.blueprint.evaluation import (
    FlopBoards,
    Response,
    gain_responses,
    mean_gain,
)
from solver.blueprint.pot_types import PotTypes
from solver.blueprint.rows import ALL_TEXTURES, RowKey
from solver.blueprint.shard import Shard
from solver.blueprint.strategy import Blueprint, count_textures
from solver.blueprint.trunk import NO_DISCOUNT, Trunk, TrunkGame
from solver.cfr.epochs import EpochClock
from solver.cfr.leaves import Leaves, Reach
from solver.cfr.schedules import Schedule
from solver.preflop.probabilities import Floats

#: A shard's answer about boards or flops: its lines, which of the boards it took, values [board, line, ...].
Answer = tuple[tuple[int, ...], NDArray[np.bool_], NDArray[np.float64]]


def sum_boards(num_lines: int, answers: Sequence[Answer]) -> Floats:
    """Value of every flop line from the answers of all shards, ``[line, ...]``, boards added in their order."""
    _, taken, first = answers[0]
    values = np.zeros((len(taken), num_lines, *first.shape[2:]))
    for lines, taken, answer in answers:
        values[np.ix_(np.flatnonzero(taken), np.array(lines))] = answer
    total = np.zeros(values.shape[1:])
    for board in values:
        total += board
    return total


@dataclass(frozen=True)
class ShardSpec:
    """What a shard owns: numbers of pot types, and textures (None: all, sharing their tables)."""

    types: tuple[int, ...]
    textures: tuple[int, ...] | None = None


def owned(textures: Sequence[int] | NDArray[np.integer], owner: Sequence[int] | None) -> NDArray[np.bool_]:
    """Which of some textures belong to a shard that owns those given (None: all)."""
    return np.ones(len(textures), dtype=np.bool_) if owner is None else np.isin(textures, owner)


class Fleet(Protocol):
    """The shards of a trainer, wherever they are."""

    def prepare(self, batch: BoardBatch) -> None:
        """Get ready for the sweeps of a batch; called from a second thread while another batch is swept."""

    def begin_phase(self, first_epoch: int, schedule: Schedule) -> None:
        """Discount by a schedule from an epoch on, with a fresh average."""

    def sweep(
        self,
        seat: int,
        batch: BoardBatch,
        reach: NDArray[np.float32],
        epoch: int,
        prune_below: float | None = None,
    ) -> list[Answer]:
        """Train a seat on the boards of an iteration, given the opponent's reach of every flop line.

        Actions with a regret under `prune_below` are skipped (None: no action).
        """

    def flop_values(
        self,
        table: str,
        epoch: int,
        flops: Sequence[FlopBoards],
        reach: Sequence[NDArray],
        responses: Sequence[Response],
    ) -> list[Answer]:
        """Values of all lines under the strategy in a table: see `Shard.flop_values`."""

    def rows(self, table: str, epoch: int) -> dict[RowKey, NDArray[Any]]:
        """Rows of table `regret` or `average` by pot type, texture (-1: shared by all) and street."""

    def state(self) -> dict[str, NDArray[Any]]:
        """The tables of all shards."""

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Continue from a saved `state`, whatever the grouping into shards was."""


class LocalFleet:
    """Shards in this process, swept one after the other."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self.shards = list(shards)

    def prepare(self, batch: BoardBatch) -> None:
        """See `Fleet.prepare`: nothing to do."""

    def begin_phase(self, first_epoch: int, schedule: Schedule) -> None:
        """See `Fleet.begin_phase`."""
        for shard in self.shards:
            shard.begin_phase(first_epoch, schedule)

    def sweep(
        self,
        seat: int,
        batch: BoardBatch,
        reach: NDArray[np.float32],
        epoch: int,
        prune_below: float | None = None,
    ) -> list[Answer]:
        """See `Fleet.sweep`."""
        answers: list[Answer] = []
        for shard in self.shards:
            mine = owned(batch.textures, shard.textures)
            if mine.any():
                answer = shard.sweep(seat, batch.select(mine), reach, epoch, prune_below=prune_below)
                answers.append((shard.lines, mine, answer))
        return answers

    def flop_values(
        self,
        table: str,
        epoch: int,
        flops: Sequence[FlopBoards],
        reach: Sequence[NDArray],
        responses: Sequence[Response],
    ) -> list[Answer]:
        """See `Fleet.flop_values`."""
        answers: list[Answer] = []
        for shard in self.shards:
            mine = owned([flop.texture for flop in flops], shard.textures)
            if mine.any():
                given = [flop for flop, wanted in zip(flops, mine) if wanted]
                answers.append((shard.lines, mine, shard.flop_values(table, epoch, given, reach, responses)))
        return answers

    def rows(self, table: str, epoch: int) -> dict[RowKey, NDArray[Any]]:
        """See `Fleet.rows`."""
        found: dict[RowKey, NDArray[Any]] = {}
        for shard in self.shards:
            for texture in (ALL_TEXTURES,) if shard.textures is None else shard.textures:
                source = shard.up_to_date(table, epoch, texture)
                for street in range(3):
                    for pot_type, rows in shard.rows(source, street).items():
                        found[RowKey(pot_type, texture, street)] = rows
        return found

    def state(self) -> dict[str, NDArray[Any]]:
        """See `Fleet.state`."""
        return {key: array for shard in self.shards for key, array in shard.state().items()}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """See `Fleet.restore`."""
        for shard in self.shards:
            shard.restore(state)


@dataclass(frozen=True, eq=False)
class ShardLeaves:
    """The shards as the leaf provider of the trunk, on the boards of one iteration.

    Asking for the values of a player trains the shards for that player. So each player is asked for once.

    Attributes
    ----------
    fleet
        The shards.
    batch
        Boards of the iteration.
    epoch
        Discount epoch.
    prune_below
        Regret under which an action is skipped (None: no action).
    """

    fleet: Fleet
    batch: BoardBatch
    epoch: int
    prune_below: float | None = None

    def values(self, leaves: Leaves, reach: Reach, player: int) -> Floats:
        """See `solver.cfr.leaves.LeafProvider.values`; the leaves are the flop lines."""
        opponent = reach[1 - player].astype(np.float32)
        answers = self.fleet.sweep(player, self.batch, opponent, self.epoch, self.prune_below)
        return sum_boards(len(leaves), answers)


@dataclass(frozen=True)
class Pruning:
    """Regret-based pruning of flop and turn actions.

    Attributes
    ----------
    below
        Regret, in chips times deals, under which an action is skipped where all buckets of a board agree.
    start
        First iteration of a phase that prunes.
    full_every
        Every so many iterations nothing is pruned, so that a skipped action can come back.
    """

    below: float
    start: int = 1
    full_every: int = 20

    def threshold(self, iteration: int) -> float | None:
        """Regret below which an iteration prunes, None where it does not."""
        prunes = iteration >= self.start and iteration % self.full_every != 0
        return self.below if prunes else None


class BlueprintTrainer:
    """Trains trunk and shards together.

    Parameters
    ----------
    game
        The game.
    pots
        Which flop lines share their betting.
    bucketing
        Buckets of hands on boards.
    shards
        How the tables are split; by default one shard holds everything (scope ``global``).
    fleet
        The shards themselves, when they are not to be made in this process.
    river_equity
        Equity of river bucket against river bucket: showdowns by bucket; None: by hand, exact.
    pruning
        Whether and when to prune.
    dtype
        Element type of the postflop tables.
    """

    def __init__(
        self,
        game: TrunkGame,
        pots: PotTypes,
        bucketing: Bucketing,
        shards: Sequence[ShardSpec] | None = None,
        *,
        fleet: Fleet | None = None,
        river_equity: NDArray | None = None,
        pruning: Pruning | None = None,
        dtype: Any = np.float32,
    ) -> None:
        self.game = game
        self.pots = pots
        self.bucketing = bucketing
        self.pruning = pruning
        self.trunk = Trunk(game)
        self.clock = EpochClock()
        self.shards: list[Shard] = []
        if fleet is None:
            specs = shards or [ShardSpec(tuple(range(len(pots.templates))))]
            self.shards = [
                Shard(
                    game.tree,
                    pots,
                    spec.types,
                    bucketing,
                    textures=spec.textures,
                    river_equity=river_equity,
                    dtype=dtype,
                )
                for spec in specs
            ]
            fleet = LocalFleet(self.shards)
        self.fleet = fleet
        self.epoch = 0
        self.iteration = 0
        self.phase_epoch = 0
        self.sampler: BoardSampler | None = None
        self._boards: dict[int, Future[BoardBatch]] = {}
        self._second_thread = ThreadPoolExecutor(1)

    def begin_phase(self, schedule: Schedule, sampler: BoardSampler, after_epoch: int | None = None) -> None:
        """Start a phase: regrets continue, the average starts afresh, iterations count from 1.

        `after_epoch` is the last epoch of the phase before, needed to begin phases again before `restore`.
        """
        self.phase_epoch = self.epoch if after_epoch is None else after_epoch
        self.clock.begin_phase(self.phase_epoch + 1, schedule)
        self.fleet.begin_phase(self.phase_epoch + 1, schedule)
        self.sampler = sampler
        self._boards = {}
        self.iteration = 0

    def run(self, iterations: int) -> None:
        """Run more iterations of the phase."""
        for _ in range(iterations):
            self._iterate()

    def _iterate(self) -> None:
        """Draw boards, then let the trunk ask the shards about them and update."""
        if self.sampler is None:
            raise ValueError("the trainer runs in phases: begin_phase comes first")
        self.iteration += 1
        batch = self._draw(self.sampler)
        epoch = self.phase_epoch + self.sampler.epoch(self.iteration)
        weights = NO_DISCOUNT
        if epoch > self.epoch:
            self.epoch, weights = epoch, self.clock.weights(epoch)
        prune_below = None if self.pruning is None else self.pruning.threshold(self.iteration)
        self.trunk.iterate(ShardLeaves(self.fleet, batch, epoch, prune_below), weights)

    def _draw(self, sampler: BoardSampler) -> BoardBatch:
        """Boards of this iteration; those of the next are drawn while the shards work on these."""

        def draw(iteration: int) -> BoardBatch:
            batch = sampler.draw(iteration)
            self.fleet.prepare(batch)
            return batch

        boards = self._boards.get(self.iteration) or self._second_thread.submit(draw, self.iteration)
        batch = boards.result()
        self._boards = {self.iteration + 1: self._second_thread.submit(draw, self.iteration + 1)}
        return batch

    def exploitability(self, flops: Sequence[FlopBoards], table: str = "average") -> float:
        """Exploitability in mbb/hand of the average strategy, or with ``regret`` of the current one.

        Every shard evaluates its own tables, which stay where they are.

        Parameters
        ----------
        flops
            Boards of the game that is evaluated.
        """
        preflop = self._preflop(table)
        reach = self.game.reach(preflop, 0), self.game.reach(preflop, 1)
        responses = gain_responses(self.game)
        answers = self.fleet.flop_values(table, self.epoch, flops, reach, responses)
        values = np.moveaxis(sum_boards(len(self.game.lines), answers), 0, -2)
        return mean_gain(self.game, preflop, values)

    def _preflop(self, table: str) -> Floats:
        return self.trunk.average() if table == "average" else self.trunk.strategy.copy()

    def blueprint(self, table: str = "average", dtype: Any = np.float32) -> Blueprint:
        """The average strategy, or with ``regret`` the current one, gathered from all shards."""
        rows = self.fleet.rows(table, self.epoch)
        return Blueprint.from_rows(
            self.game,
            self.pots,
            self.bucketing,
            self._preflop(table),
            rows.items(),
            num_textures=count_textures(rows),
            dtype=dtype,
        )

    def state(self) -> dict[str, NDArray[Any]]:
        """Trunk, shards and counters as arrays."""
        state = {f"trunk/{name}": array for name, array in self.trunk.state().items()}
        state |= self.fleet.state()
        state["counters"] = np.array([self.epoch, self.iteration, self.phase_epoch])
        return state

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Continue from a saved `state` in the same phase, whatever the grouping into shards was."""
        self.trunk.restore({name: state[f"trunk/{name}"] for name in ("regret", "strategy_sum", "strategy")})
        self.fleet.restore(state)
        self.epoch, self.iteration, self.phase_epoch = (int(n) for n in state["counters"])
