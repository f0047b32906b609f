"""A shard: the postflop tables of some flop lines, and the sweeps that train them.

A shard owns the tables of its lines, which nobody else touches, for all textures or for a group of them. It
is told boards and the opponent's reach at its roots, sweeps, updates its own regrets and averages, and
answers with the counterfactual value of its roots by hand class. The boards of an iteration are swept one
after the other. Results depend neither on which lines share a shard nor on how textures are grouped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_CLASSES
from solver.betting.public_tree import PublicTree
from solver.blueprint.board_play import table_side
from solver.blueprint.boards import (
    LIVE_FRACTION,
    NUM_LIVE,
    BoardBatch,
    BoardHands,
    Bucketing,
    board_hands,
)
from solver.blueprint.flop_values import FlopBoards, FlopEvaluator, Response
from solver.blueprint.late_discounts import _refresh
from solver.blueprint.opponents import Opponents
from solver.blueprint.plan import LanePlan
from solver.blueprint.pot_types import PotTypes
from solver.blueprint.river_choices import NO_CHOICES
from solver.blueprint.rows import ALL_TEXTURES, RowKey
from solver.blueprint.sweep import _sweep_board
from solver.blueprint.sweep_arrays import (
    ANSWERED,
    FROM_TABLES,
    RESPONDS,
    UPDATE,
    BucketShowdown,
    Runs,
    Side,
    bucket_runs,
    by_hand_showdown,
    make_work,
)
from solver.blueprint.tables import TableLayout
from solver.cfr.epochs import EpochClock
from solver.cfr.schedules import Schedule

#: Share of the live hands of a board that a given live hand can meet.
MEET_SHARE = 990 / 1081


def _edges(equity: NDArray, num_buckets: int, textures: Sequence[int] | None) -> NDArray[np.float32]:
    """Chance of winning less chance of losing, ``[texture of the shard, bucket, bucket]``.

    Even where a pair of buckets never meets (nan).
    """
    given = np.asarray(equity, dtype=np.float64)
    if given.shape[-2:] != (num_buckets, num_buckets) or given.ndim != (2 if textures is None else 3):
        kind = "[bucket, bucket]" if textures is None else "[texture, bucket, bucket]"
        raise ValueError(f"river_equity of shape {given.shape}: expected {kind} with {num_buckets} buckets")
    given = given[None] if textures is None else given[np.array(textures)]
    edge = np.nan_to_num(2 * given - 1, nan=0.0)
    # Antisymmetric to the last bit: what one player wins the other loses.
    return ((edge - edge.transpose(0, 2, 1)) / 2).astype(np.float32)


class _Play(NamedTuple):
    """What a sweep plays from: see `_sweep_board`."""

    own: Side
    opponent: Side
    average: NDArray[Any]
    river: int
    choices: NDArray[np.uint8]
    showdown: BucketShowdown


class Shard:
    """Tables and sweeps of some pot types (with ``per_line``, flop lines).

    The lines may also begin a later street, all of them the same.

    Parameters
    ----------
    tree
        The whole game's tree.
    pots
        All pot types of the game.
    types
        Numbers of those that this shard owns.
    bucketing
        Buckets of hands on boards.
    textures
        Textures that this shard owns, each with tables of its own (scope ``texture``); None: all textures
        share one set of tables (scope ``global``).
    river_equity
        Equity of river bucket against river bucket, ``[bucket, bucket]``, in scope ``texture`` ``[texture,
        bucket, bucket]``: showdowns by bucket; None: by hand, exact.
    opponents
        Each player is trained in a game of its own, against an opponent who responds on the river and sees these
        buckets on flop and turn; None: against itself.
    dtype
        Element type of the tables.
    """

    def __init__(
        self,
        tree: PublicTree,
        pots: PotTypes,
        types: Sequence[int],
        bucketing: Bucketing,
        *,
        textures: Sequence[int] | None = None,
        river_equity: NDArray | None = None,
        opponents: Bucketing | None = None,
        dtype: Any = np.float32,
    ) -> None:
        if opponents is not None and river_equity is not None:
            raise ValueError("river_equity: opponents that respond by hand need showdowns by hand")
        self.types = tuple(types)
        self.textures = None if textures is None else tuple(int(t) for t in textures)
        self.bucketing = bucketing
        self.pots = PotTypes(
            templates=tuple(pots.templates[k] for k in self.types),
            members=tuple(pots.members[k] for k in self.types),
            shares=tuple(pots.shares[k] for k in self.types),
        )
        plan = LanePlan.build(tree, self.pots.templates)
        self.layout = TableLayout(plan, bucketing.num_buckets, 1 if textures is None else len(textures))
        self.lines = tuple(sorted(line for members in self.pots.members for line in members))
        self.clock = EpochClock()
        self.regret = np.zeros(self.layout.size, dtype=dtype)
        self.average = np.zeros(self.layout.size, dtype=dtype)
        self.clocks = [
            np.zeros((self.layout.num_textures, buckets), dtype=np.int32) for buckets in bucketing.num_buckets
        ]
        self._work = make_work(plan.programs, NUM_LIVE, dtype)
        self._pays = [
            [plan.payoffs(own, self.pots.round_shares(k)).ravel().astype(dtype) for own in range(2)]
            for k in range(self.pots.num_rounds)
        ]
        self._low = self._work if river_equity is None else make_work(plan.programs, NUM_LIVE, dtype)
        self._edge = (
            None if river_equity is None else _edges(river_equity, bucketing.num_buckets[2], self.textures)
        )
        self._by_hand = by_hand_showdown(dtype)
        self._deals: dict[bytes, BoardHands] = {}
        self.opponents = None if opponents is None else Opponents(self.layout, opponents, dtype)

    def begin_phase(self, first_epoch: int, schedule: Schedule) -> None:
        """Discount by a schedule from an epoch on, with a fresh average."""
        self.clock.begin_phase(first_epoch, schedule)

    def sweep(
        self,
        own: int,
        batch: BoardBatch,
        reach: NDArray,
        epoch: int,
        *,
        trained: int | None = None,
        prune_below: float | None = None,
    ) -> NDArray[np.float64]:
        """Value and update one player on the boards of an iteration.

        Parameters
        ----------
        own
            Player whose regrets are updated; the average of the other one is.
        batch
            Boards (of this shard's textures).
        reach
            The opponent's reach by line of the whole game and class ``[line, 169]`` or combo ``[line, 1326]``.
        epoch
            Discount epoch.
        trained
            With opponents, the player whose game this is. Its opponent is updated first. Then it is updated on the
            same boards, on whose rivers it meets the opponent's best responses.
        prune_below
            Skip what lies behind an action on flop or turn (never on the river) whose regret is below this
            number, in chips times deals, in every bucket of the board. Opponents are never pruned.

        Returns
        -------
        Value of each board and line of this shard to `own` by class or combo, as `reach` is, ``[board, line, 169]``
        or ``[board, line, 1326]``, in chips times deals.
        """
        deals = self._deal(batch)
        factors = self.clock.factors(epoch)
        place = {line: k for k, line in enumerate(self.lines)}
        values = np.zeros((len(batch), len(self.lines), np.shape(reach)[1]))
        self._work.keep[:] = 1.0
        responds = trained is not None and own != trained
        floor = -np.inf if prune_below is None or responds else prune_below
        for b, deal in enumerate(deals):
            texture = self._slot(int(batch.textures[b]))
            self._refresh(deal, texture, epoch, factors)
            for number in range(self.pots.num_rounds):
                lines = np.array(self.pots.round_lines(number))
                here = np.where((lines >= 0)[:, None], np.asarray(reach)[lines], 0)
                play = self._play(own, trained, deal, texture, (b, number))
                found = self._sweep(
                    own, deal, here, self._pays[number][own], float(batch.weights[b]), floor, play
                )
                for line, value in zip(lines.tolist(), found):
                    if line >= 0:
                        values[b, place[line]] = value
        return values

    def _play(
        self, own: int, trained: int | None, deal: BoardHands, texture: int, place: tuple[int, int]
    ) -> _Play:
        """Which tables a sweep plays from; `place` is the number of the board and of the round."""
        tables = table_side(self.layout, self.regret, deal.runs, texture)
        if trained is None:
            return _Play(tables, tables, self.average, FROM_TABLES, NO_CHOICES, self._showdown(deal, texture))
        if self.opponents is None:
            raise ValueError("trained: this shard has no opponents")
        opponent = self.opponents.side(deal, texture)
        choices = self.opponents.choices(trained, *place)
        if own == trained:
            return _Play(tables, opponent, self.average[:0], ANSWERED, choices, self._by_hand)
        return _Play(opponent, tables, self.average, RESPONDS, choices, self._by_hand)

    def _deal(self, batch: BoardBatch) -> list[BoardHands]:
        """Hands of the boards, kept from the last call because both players sweep the same ones."""
        keys = [bytes(board) + int(t).to_bytes(2, "little") for board, t in zip(batch.boards, batch.textures)]
        seen = None if self.opponents is None else self.opponents.bucketing
        self._deals = {
            key: self._deals.get(key) or board_hands(board, self.bucketing, int(texture), seen)
            for key, board, texture in zip(keys, batch.boards, batch.textures)
        }
        return [self._deals[key] for key in keys]

    def _slot(self, texture: int) -> int:
        if self.textures is None:
            return 0
        if texture not in self.textures:
            raise ValueError(f"texture {texture}: this shard owns {', '.join(map(str, self.textures))}")
        return self.textures.index(texture)

    def _refresh(self, deal: BoardHands, texture: int, epoch: int, factors: NDArray[np.float64]) -> None:
        if self.opponents is not None:
            self.opponents.refresh(deal, texture, epoch, factors)
        starts = self.layout.starts(texture)
        for street in range(3):
            _refresh(
                self.layout.plan.programs[0],
                street,
                deal.runs[street],
                starts[street],
                self.layout.num_buckets[street],
                self.regret,
                self.average,
                self.clocks[street][texture],
                epoch,
                factors,
            )

    def _sweep(
        self,
        own: int,
        deal: BoardHands,
        reach: NDArray,
        pays: NDArray,
        weight: float,
        prune_below: float,
        play: _Play,
    ) -> NDArray[np.float64]:
        values = np.zeros((len(self.pots.templates), reach.shape[1]))
        _sweep_board(
            self.layout.plan.programs[own],
            pays,
            deal.hands,
            deal.classes if reach.shape[1] == NUM_CLASSES else deal.combos,
            play.own,
            play.opponent,
            np.ascontiguousarray(reach, dtype=self.regret.dtype),
            play.average,
            UPDATE,
            weight / LIVE_FRACTION,
            play.river,
            play.choices,
            play.showdown,
            prune_below,
            self._work,
            self._low,
            values,
        )
        return values

    def _showdown(self, deal: BoardHands, texture: int) -> BucketShowdown:
        """How the river of a board is played."""
        if self._edge is None:
            return self._by_hand
        rivers = deal.runs[2]
        matrix = MEET_SHARE * self._edge[texture][np.ix_(rivers.bucket, rivers.bucket)]
        return BucketShowdown(
            runs=Runs(
                np.arange(len(rivers.bucket), dtype=np.int32),
                np.arange(len(rivers.bucket) + 1, dtype=np.int32),
                rivers.bucket,
            ),
            mass=np.diff(rivers.start).astype(np.float64),
            matrix=np.ascontiguousarray(matrix, dtype=self.regret.dtype),
            met=MEET_SHARE,
        )

    def flop_values(
        self,
        table: str,
        epoch: int,
        flops: Sequence[FlopBoards],
        reach: Sequence[NDArray],
        responses: Sequence[Response],
    ) -> NDArray[np.float64]:
        """Values of this shard's lines on flops under the strategy in table `regret` or `average`.

        Parameters
        ----------
        flops
            Boards (of this shard's textures).
        reach
            Of each seat, by flop line of the whole game and class, ``[line, 169]``.
        responses
            Whether the responder chooses on flop, turn and river.

        Returns
        -------
        ``[flop, line, seat, response, 169]``, in chips times deals.
        """
        layout = TableLayout(self.layout.plan, self.layout.num_buckets)
        evaluator = FlopEvaluator(layout, self.pots, self.bucketing, self.regret.dtype)
        strategies: dict[int, NDArray[Any]] = {}
        values = []
        for flop in flops:
            slot = self._slot(flop.texture)
            if slot not in strategies:  # one at a time: a copy of all tables would double the memory
                strategies = {slot: self.up_to_date(table, epoch, flop.texture)}
            found = evaluator.flop_values(strategies[slot], flop, reach, responses)
            values.append(np.moveaxis(found, -2, 0))
        return np.array(values)

    def up_to_date(self, name: str, epoch: int, texture: int = 0) -> NDArray[Any]:
        """A texture's part of table `regret` or `average` with every discount up to an epoch applied, as a copy."""
        slot, size = self._slot(texture), sum(self.layout.street_sizes)
        part = slice(slot * size, (slot + 1) * size)
        regret, average = self.regret[part].copy(), self.average[part].copy()
        factors = self.clock.factors(epoch)
        for street, clocks in enumerate(self.clocks):
            _refresh(
                self.layout.plan.programs[0],
                street,
                bucket_runs(np.arange(self.layout.num_buckets[street])),
                self.layout.starts()[street],
                self.layout.num_buckets[street],
                regret,
                average,
                clocks[slot].copy(),
                epoch,
                factors,
            )
        return regret if name == "regret" else average

    def rows(self, table: NDArray[Any], street: int) -> dict[int, NDArray[Any]]:
        """Rows ``[action, bucket]`` of each pot type on a street of a texture's table, by the game's pot types."""
        return {pot_type: self.layout.rows(table, k, street) for k, pot_type in enumerate(self.types)}

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything `restore` needs, keyed by pot type, texture and street, whatever shares this shard."""
        state: dict[str, NDArray[Any]] = {}
        for texture in self.textures or (ALL_TEXTURES,):
            slot = 0 if texture < 0 else self._slot(texture)
            for street in range(3):
                state[f"clock/{texture}/{street}"] = self.clocks[street][slot].copy()
                for k, pot_type in enumerate(self.types):
                    key = RowKey(pot_type, texture, street)
                    state[key.name("regret")] = self.layout.rows(self.regret, k, street, slot)
                    state[key.name("average")] = self.layout.rows(self.average, k, street, slot)
            if self.opponents is not None:
                state |= self.opponents.state(self.types, texture, slot)
        return state

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Continue from a saved `state`, possibly of shards that held more lines or textures."""
        for texture in self.textures or (ALL_TEXTURES,):
            slot = 0 if texture < 0 else self._slot(texture)
            for street in range(3):
                self.clocks[street][slot] = state[f"clock/{texture}/{street}"]
                for k, pot_type in enumerate(self.types):
                    key = RowKey(pot_type, texture, street)
                    self.layout.fill(self.regret, k, street, state[key.name("regret")], slot)
                    self.layout.fill(self.average, k, street, state[key.name("average")], slot)
            if self.opponents is not None:
                self.opponents.restore(state, self.types, texture, slot)
