"""The blueprint trainer: a trunk, its shards and the boards, iteration by iteration.

An iteration draws boards. The trunk then updates its two seats in turn, and the shards say what its flop lines are
worth on these boards. The shards form a fleet (`solver.blueprint.fleet`), in this process or anywhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.blueprint.boards import BoardBatch, BoardSampler, Bucketing
from solver.blueprint.evaluation import gain_responses, mean_gain
from solver.blueprint.fleet import Fleet, LocalFleet, ShardLeaves, ShardSpec, sum_boards
from solver.blueprint.flop_values import FlopBoards
from solver.blueprint.pot_types import PotTypes
from solver.blueprint.shard import Shard
from solver.blueprint.strategy import Blueprint, count_textures
from solver.blueprint.trunk import NO_DISCOUNT, Trunk, TrunkGame
from solver.cfr.epochs import EpochClock
from solver.cfr.schedules import Schedule
from solver.preflop.probabilities import Floats


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
