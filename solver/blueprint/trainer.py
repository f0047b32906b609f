"""The blueprint trainer: a trunk, its shards and the boards, iteration by iteration.

An iteration draws boards. The trunk then updates its two seats in turn, and the shards say what its flop lines are
worth on these boards. The shards form a fleet (`solver.blueprint.fleet`), in this process or anywhere else.

With opponents (`solver.blueprint.opponents`) each player is trained in a game of its own, with a trunk of its own. In
both games the opponent is updated first and the trained player second. The blueprint is what the two trained players
play.

Against such an opponent every flop costs something, because it sees more. A player who learned before the flop what
that opponent takes would fold what two equals play. One who learned it where two players trained like that meet would
learn what hands win between careful players, which is not what they are worth either. So a phase of the plain game
comes first, in which both players meet each other on all streets, with a third trunk. Its average strategy before the
flop stays. Only after the flop do the players go on to learn against their opponents. With ``guarded`` they learn
against them before the flop too.

A trunk learns from few boards, on which the luck of the cards is larger than what it has to learn. Where boards are
dealt from the whole deck, known luck is taken off first (`solver.blueprint.known_luck`).
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abstractions.rank_moments import rank_moments
from solver.blueprint.boards import BoardBatch, BoardSampler, Bucketing
from solver.blueprint.evaluation import gain_responses, mean_gain
from solver.blueprint.fleet import Fleet, LocalFleet, ShardSpec, Update, board_values, sum_boards
from solver.blueprint.flop_values import FlopBoards
from solver.blueprint.known_luck import LUCK_SAVED, KnownLuck
from solver.blueprint.pot_types import PotTypes
from solver.blueprint.shard import Shard
from solver.blueprint.strategy import Blueprint, count_textures
from solver.blueprint.trunk import NO_DISCOUNT, SAVED, Trunk, TrunkGame
from solver.cfr.epochs import EpochClock
from solver.cfr.schedules import DiscountWeights, Schedule
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


class _Step(NamedTuple):
    """An update of the shards, with the number of the trunk whose lines it values.

    `moves` says whether the values update that trunk.
    """

    update: Update
    trunk: int = 0
    moves: bool = True


class _Dealt(NamedTuple):
    """Boards of an iteration, and the rank moments of each where known luck is taken off."""

    batch: BoardBatch
    moments: Floats | None


_Rounds = tuple[tuple[_Step, ...], ...]

#: An iteration in two games: the opponents first, then the trained players, before and after the flop.
_TWO_GAMES: _Rounds = (
    (_Step(Update(1, trained=0), 0), _Step(Update(0, trained=1), 1)),
    (_Step(Update(0, trained=0), 0), _Step(Update(1, trained=1), 1)),
)
#: The same, but the trained players do not learn before the flop.
_AFTER_THE_FLOP: _Rounds = (_TWO_GAMES[0], tuple(step._replace(moves=False) for step in _TWO_GAMES[1]))
#: The trunk of the plain game where there are opponents too.
_PLAIN = 2


def _plain_game(trunk: int) -> _Rounds:
    """An iteration in which the players meet each other: one seat after the other."""
    return tuple((_Step(Update(seat), trunk),) for seat in range(2))


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
    opponents
        Each player is trained in a game of its own, against an opponent who responds on the river and sees these
        buckets on flop and turn; None: against itself.
    guarded
        With opponents: whether players learn against them before the flop as well. Without, that is learned in a phase
        of the plain game.
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
        opponents: Bucketing | None = None,
        guarded: bool = False,
        pruning: Pruning | None = None,
        dtype: Any = np.float32,
    ) -> None:
        self.game = game
        self.pots = pots
        self.bucketing = bucketing
        self.pruning = pruning
        if opponents is None:
            self._rounds, trunks = _plain_game(0), 1
        else:
            self._rounds, trunks = (_TWO_GAMES, 2) if guarded else (_AFTER_THE_FLOP, 3)
        self.trunks = [Trunk(game) for _ in range(trunks)]
        self._plain = False
        self._luck: dict[tuple[int, int], KnownLuck] = {}
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
                    opponents=opponents,
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
        self._boards: dict[int, Future[_Dealt]] = {}
        self._second_thread = ThreadPoolExecutor(1)

    @property
    def has_plain_phase(self) -> bool:
        """Whether play before the flop is learned in a phase of the plain game, and kept from then on."""
        return len(self.trunks) > _PLAIN

    def begin_phase(
        self,
        schedule: Schedule,
        sampler: BoardSampler,
        after_epoch: int | None = None,
        *,
        plain: bool = False,
    ) -> None:
        """Start a phase: regrets continue, the average starts afresh, iterations count from 1.

        Parameters
        ----------
        schedule, sampler
            Discounts and boards of the phase.
        after_epoch
            Last epoch of the phase before, needed to begin phases again before `restore`.
        plain
            Whether this is the phase of the plain game, for trainers that have one (`has_plain_phase`).
        """
        if plain and not self.has_plain_phase:
            raise ValueError("plain: this trainer learns before the flop in every phase")
        self._plain = plain
        self.phase_epoch = self.epoch if after_epoch is None else after_epoch
        self.clock.begin_phase(self.phase_epoch + 1, schedule)
        self.fleet.begin_phase(self.phase_epoch + 1, schedule)
        self.sampler = sampler
        self._boards = {}
        self.iteration = 0
        if sampler.deals_all_boards:
            for step in (step for steps in self._phase_rounds() for step in steps if step.moves):
                self._luck.setdefault((step.trunk, step.update.own), KnownLuck(self.game))

    def _phase_rounds(self) -> _Rounds:
        return _plain_game(_PLAIN) if self._plain else self._rounds

    def run(self, iterations: int) -> None:
        """Run more iterations of the phase."""
        for _ in range(iterations):
            self._iterate()

    def _iterate(self) -> None:
        """Draw boards, ask the shards about them and update the trunks."""
        if self.sampler is None:
            raise ValueError("the trainer runs in phases: begin_phase comes first")
        self.iteration += 1
        dealt = self._draw(self.sampler)
        epoch = self.phase_epoch + self.sampler.epoch(self.iteration)
        weights = NO_DISCOUNT
        if epoch > self.epoch:
            self.epoch, weights = epoch, self.clock.weights(epoch)
        prune_below = None if self.pruning is None else self.pruning.threshold(self.iteration)
        if self._keeps_preflop:
            self._play_as_in_plain_game()
        for steps in self._phase_rounds():
            self._update(steps, dealt, weights, prune_below)

    def _update(
        self,
        steps: Sequence[_Step],
        dealt: _Dealt,
        discounts: DiscountWeights,
        prune_below: float | None,
    ) -> None:
        """Let the shards value the lines of some trunks, all at once, and update the trunks."""
        updates, batch = [step.update for step in steps], dealt.batch
        reach = np.stack(
            [self.game.reach(self.trunks[step.trunk].strategy, 1 - step.update.own) for step in steps]
        )
        answers = self.fleet.sweep(updates, batch, reach.astype(np.float32), self.epoch, prune_below)
        by_board = np.moveaxis(board_values(len(self.game.lines), answers), 2, 0)
        for step, seen, boards in zip(steps, reach, by_board):
            if not step.moves:
                continue
            value = sum_boards(boards)
            if dealt.moments is not None:
                known = self._luck[step.trunk, step.update.own]
                value -= known.luck(batch.boards, dealt.moments, batch.weights, seen, boards)
            self.trunks[step.trunk].update(step.update.own, value, discounts)

    @property
    def _keeps_preflop(self) -> bool:
        return self.has_plain_phase and not self._plain

    def _play_as_in_plain_game(self) -> None:
        """Let the trained player of each game play before the flop as the average of the plain game."""
        seats, played = self._seats(), self.trunks[_PLAIN].average()
        for seat in range(2):
            rows = seats == seat
            self.trunks[seat].strategy[rows] = played[rows]

    def _seats(self) -> NDArray[np.int8]:
        """Who acts before each preflop node."""
        tree = self.game.preflop.tree
        return tree.player[np.maximum(tree.parent, 0)]

    def _draw(self, sampler: BoardSampler) -> _Dealt:
        """Boards of this iteration; those of the next are drawn while the shards work on these."""

        def draw(iteration: int) -> _Dealt:
            batch = sampler.draw(iteration)
            self.fleet.prepare(batch)
            moments = None
            if sampler.deals_all_boards:
                moments = np.stack([rank_moments(board) for board in batch.boards])
            return _Dealt(batch, moments)

        boards = self._boards.get(self.iteration) or self._second_thread.submit(draw, self.iteration)
        dealt = boards.result()
        self._boards = {self.iteration + 1: self._second_thread.submit(draw, self.iteration + 1)}
        return dealt

    def exploitability(self, flops: Sequence[FlopBoards], table: str = "average") -> float:
        """Exploitability in mbb/hand of the average strategy, or with ``regret`` of the current one.

        Every shard evaluates its own tables, which stay where they are.

        Parameters
        ----------
        flops
            Boards of the game that is evaluated.
        """
        preflop = self.preflop(table)
        reach = self.game.reach(preflop, 0), self.game.reach(preflop, 1)
        responses = gain_responses(self.game)
        answers = self.fleet.flop_values(table, self.epoch, flops, reach, responses)
        values = np.moveaxis(sum_boards(board_values(len(self.game.lines), answers)), 0, -2)
        return mean_gain(self.game, preflop, values)

    def preflop(self, table: str = "average") -> Floats:
        """The average strategy before the flop, or with ``regret`` the current one, ``[node, class]``."""
        if self._keeps_preflop:
            return self.trunks[_PLAIN].average()
        played = [trunk.average() if table == "average" else trunk.strategy for trunk in self.trunks]
        if len(played) == 2:
            return np.where((self._seats() == 1)[:, None], played[1], played[0])
        return played[-1].copy()

    def blueprint(self, table: str = "average", dtype: Any = np.float32) -> Blueprint:
        """The average strategy, or with ``regret`` the current one, gathered from all shards."""
        rows = self.fleet.rows(table, self.epoch)
        return Blueprint.from_rows(
            self.game,
            self.pots,
            self.bucketing,
            self.preflop(table),
            rows.items(),
            num_textures=count_textures(rows),
            dtype=dtype,
        )

    def _trunk_names(self) -> list[tuple[str, Trunk]]:
        """The trunks by their names in a saved state."""
        names = ("trunk",) if len(self.trunks) == 1 else ("trunk_0", "trunk_1", "trunk")
        return list(zip(names, self.trunks))

    def _luck_names(self) -> list[tuple[str, KnownLuck]]:
        """What is known about the luck of each trunk and seat, by its name in a saved state."""
        return [(f"luck/{trunk}/{seat}", known) for (trunk, seat), known in self._luck.items()]

    def state(self) -> dict[str, NDArray[Any]]:
        """Trunks, what is known about luck, shards and counters as arrays."""
        state = {
            f"{place}/{name}": array
            for place, trunk in self._trunk_names()
            for name, array in trunk.state().items()
        }
        state |= {
            f"{place}/{name}": array
            for place, known in self._luck_names()
            for name, array in known.state().items()
        }
        state |= self.fleet.state()
        state["counters"] = np.array([self.epoch, self.iteration, self.phase_epoch])
        return state

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Continue from a saved `state` in the same phase, whatever the grouping into shards was."""
        for place, trunk in self._trunk_names():
            trunk.restore({name: state[f"{place}/{name}"] for name in SAVED})
        for place, known in self._luck_names():
            # A state from before this phase knows nothing of trunks that only this phase moves.
            if f"{place}/{LUCK_SAVED[0]}" in state:
                known.restore({name: state[f"{place}/{name}"] for name in LUCK_SAVED})
        self.fleet.restore(state)
        self.epoch, self.iteration, self.phase_epoch = (int(n) for n in state["counters"])
