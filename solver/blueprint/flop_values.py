"""Best responses to, and expected values of, a bucketed strategy over a set of full boards.

The responder sees its real cards and the real board, street by street, and no buckets. Boards that share a
flop are evaluated together: values are summed over the rivers of a turn before the responder chooses on the
turn, and over the turns before it chooses on the flop. Over the boards of a small game (`medoids`) and over
all run-outs of a flop the result is exact; over a sample of run-outs it is exact for the game that deals only
these, which the responder can exploit a little better than hold'em.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import CLASS_OF_COMBO, COMBO_CARDS, NUM_CLASSES, NUM_COMBOS, format_cards, live_combos
from abstractions.isomorphism import COMBO_PERMUTATION
from solver.blueprint.board_links import _leave
from solver.blueprint.boards import LIVE_FRACTION, Bucketing, combo_runs
from solver.blueprint.node_kernels import _ascend
from solver.blueprint.plan import LaneProgram
from solver.blueprint.pot_types import PotTypes
from solver.blueprint.river_values import Rivers, make_river_work, rank_rivers
from solver.blueprint.run_outs import keeping_renamings
from solver.blueprint.sweep_arrays import BEST_RESPONSE, EXPECTED, Runs, Work, make_work
from solver.blueprint.tables import TableLayout
from solver.blueprint.trunk import Floats
from solver.blueprint.turn_values import _symmetrise, _turn_reach, _value_turn
from solver.cfr.simd import WIDTH

#: Whether a responder chooses on flop, turn and river.
Response = tuple[bool, bool, bool]
#: What the responder may choose in `Evaluation.flop_values`: nothing after the flop is dealt, the river,
#: turn and river, and every postflop street.
RESPONSES: tuple[Response, ...] = (
    (False, False, False),
    (False, False, True),
    (False, True, True),
    (True, True, True),
)


@dataclass(frozen=True, eq=False)
class FlopBoards:
    """Full boards that share a flop, turn by turn.

    Attributes
    ----------
    boards
        Boards as dealt, ``[n, 5]``, boards of one turn next to each other.
    weights
        Probability of each; over all flops of a game they sum to 1.
    texture
        Texture of the flop.
    symmetric
        Whether a board stands for all that it becomes when suits are renamed that the flop does not distinguish.
        Its weight is that of all of them.
    """

    boards: NDArray[np.uint8]
    weights: NDArray[np.float64]
    texture: int = 0
    symmetric: bool = False

    def copy(self) -> FlopBoards:
        """The same boards in arrays of their own."""
        return replace(self, boards=self.boards.copy(), weights=self.weights.copy())


def group_boards(
    boards: NDArray[np.uint8], weights: NDArray, textures: NDArray[np.integer]
) -> list[FlopBoards]:
    """Group full boards by flop and sort them by turn; weights are normalised to sum to 1.

    >>> deals = np.array([[0, 5, 10, 15, 20], [10, 5, 0, 15, 24], [0, 5, 11, 15, 20]], dtype=np.uint8)
    >>> [len(flop.boards) for flop in group_boards(deals, np.ones(3), np.zeros(3, dtype=int))]
    [2, 1]
    """
    real = np.asarray(boards, dtype=np.uint8).copy()
    if real.ndim != 2 or real.shape[1] != 5 or not len(real):
        raise ValueError(f"boards of shape {real.shape}: expected full boards [n, 5]")
    mass = np.asarray(weights, dtype=np.float64)
    if mass.shape != (len(real),) or not (mass > 0).all():
        raise ValueError("weights: expected one positive number for each board")
    real[:, :3].sort(axis=1)
    order = np.lexsort(real.T[::-1])
    real, mass, owners = real[order], mass[order] / mass.sum(), np.asarray(textures)[order]
    edges = np.flatnonzero((real[1:, :3] != real[:-1, :3]).any(axis=1)) + 1
    return [
        FlopBoards(real[rows], mass[rows], int(owners[rows[0]]))
        for rows in np.split(np.arange(len(real)), edges)
    ]


@njit(cache=True, nogil=True)
def _street_up(
    lanes: Any,
    s: int,
    runs: Any,
    mass: Any,
    strategy: Any,
    table: int,
    num_buckets: int,
    mode: int,
    work: Any,
) -> None:
    """Combine a street's values by combo and hand them to the exits of the street before."""
    n = len(runs.order)
    for b in range(lanes.street_blocks[s], lanes.street_blocks[s + 1]):
        _ascend(lanes, b, n, runs, mass, strategy, table, num_buckets, mode, 0.0, work)
        if s > 0:
            _leave(lanes, b, n, work)


@dataclass(frozen=True, eq=False)
class _Turn:
    """A turn of a flop: its hands by bucket and its rivers."""

    live: NDArray[np.uint8]
    runs: Runs
    rivers: Rivers
    renamings: NDArray[np.int16]


@dataclass(frozen=True, eq=False)
class _Flop:
    """A flop as the kernels read it. `renamings` are those of its combos that keep the flop (or the turn)."""

    runs: Runs
    turns: list[_Turn]
    renamings: NDArray[np.int16]


class FlopEvaluator:
    """Evaluates postflop tables flop by flop; scratch is kept between calls.

    Parameters
    ----------
    layout, pots, bucketing
        As in `Blueprint`.
    dtype
        Element type of the strategy tables that will be given, and of the arithmetic.
    """

    def __init__(
        self, layout: TableLayout, pots: PotTypes, bucketing: Bucketing, dtype: Any = np.float32
    ) -> None:
        self.layout = layout
        self.pots = pots
        self.bucketing = bucketing
        plan = layout.plan
        self.lines = tuple(sorted(line for members in pots.members for line in members))
        self.pays = [
            [plan.payoffs(own, pots.round_shares(k)).ravel().astype(dtype) for own in range(2)]
            for k in range(pots.num_rounds)
        ]
        self._dtype = dtype
        self._upper = _upper_work(plan.programs, dtype)
        rows = max((block.action_rows for block in plan.blocks if block.street == 2), default=1)
        self._work = make_river_work(plan.programs, rows, layout.num_buckets[2], dtype)
        self._values: dict[tuple[bool, bool], Work] = {}
        self._exits = {best: np.zeros_like(self._upper.value) for best in (False, True)}
        self._listed = np.zeros((max(len(p.blocks) * len(p.terminals) for p in plan.programs), 2), np.int64)
        self._scratch = np.zeros(NUM_COMBOS * WIDTH, dtype=dtype)
        self._mass = np.ones(NUM_COMBOS)
        self._last: tuple[FlopBoards, _Flop] | None = None

    def combo_values(
        self,
        table: NDArray[Any],
        flop: FlopBoards,
        reach: NDArray,
        own: int,
        best: Response = (True, True, True),
    ) -> Floats:
        """Value of each flop line of `pots` to `own` by combo, ``[line, 1326]``, in chips times opponent reach.

        Parameters
        ----------
        table
            Strategy of both players.
        flop
            Boards, with their weights.
        reach
            The opponent's reach of each line of the game, by class ``[line, 169]`` or by combo ``[line, 1326]``.
        best
            Whether `own` responds as well as possible on flop, turn and river; where not, it plays the
            strategy.
        """
        return self._response_values(table, flop, reach, own, [best])[0]

    def _response_values(
        self, table: NDArray[Any], flop: FlopBoards, reach: NDArray, own: int, responses: Sequence[Response]
    ) -> Floats:
        """`combo_values` for several responses, ``[response, line, 1326]``: the streets below are shared."""
        known = np.asarray(reach)
        if known.shape[1] == NUM_CLASSES:
            known = known[:, CLASS_OF_COMBO]
        elif flop.symmetric:
            raise ValueError("reach by combo: boards that stand for others need reach by class")
        dealt = self._deal(flop)
        values = np.zeros((len(responses), len(self.lines), NUM_COMBOS))
        for number in range(self.pots.num_rounds):
            lines = np.array(self.pots.round_lines(number))
            played = lines >= 0
            here = np.where(played[:, None], known[lines], 0)
            starts = self.layout.starts(flop.texture if self.layout.num_textures > 1 else 0)
            found = self._round_values(table, starts, dealt, here, own, responses, self.pays[number][own])
            values[:, np.searchsorted(self.lines, lines[played])] = found[:, played]
        return values / LIVE_FRACTION

    def _deal(self, flop: FlopBoards) -> _Flop:
        """Hands of a flop's boards, kept from the last call because a flop is asked about several times."""
        if self._last is None or self._last[0] is not flop:
            self._last = flop, self._deal_turns(flop)
        return self._last[1]

    def _deal_turns(self, flop: FlopBoards) -> _Flop:
        boards, texture = flop.boards, flop.texture
        edges = np.flatnonzero(boards[1:, 3] != boards[:-1, 3]) + 1
        turns = []
        for rows in np.split(np.arange(len(boards)), edges):
            known = np.stack([self.bucketing.buckets(board, texture) for board in boards[rows]])
            rivers = rank_rivers(boards[rows], flop.weights[rows], known)
            _check_buckets(rivers.used, self.layout.num_buckets[2], boards[rows[0], :4])
            turn = boards[rows[0], :4]
            turns.append(
                _Turn(
                    live=live_combos(turn).astype(np.uint8),
                    runs=self._runs(turn, texture),
                    rivers=rivers,
                    renamings=_combo_images(turn, flop.symmetric),
                )
            )
        return _Flop(self._runs(boards[0, :3], texture), turns, _combo_images(boards[0, :3], flop.symmetric))

    def _runs(self, board: NDArray[np.uint8], texture: int) -> Runs:
        runs = combo_runs(self.bucketing, board, texture)
        _check_buckets(runs.bucket, self.layout.num_buckets[len(board) - 3], board)
        return runs

    def _round_values(
        self,
        table: NDArray[Any],
        starts: NDArray[np.int64],
        flop: _Flop,
        reach: NDArray,
        own: int,
        responses: Sequence[Response],
        pays: NDArray[Any],
    ) -> Floats:
        """Values of the plan's lines, given the reach and the payoffs of the lines that play them."""
        layout, upper, exits = self.layout, self._upper, self._exits
        lanes = layout.plan.programs[own]
        counts = np.array(layout.num_buckets)
        size = NUM_COMBOS * WIDTH
        turn_row, river_row = _first_row(lanes, 1), _first_row(lanes, 2)
        turn_part = slice(turn_row * size, river_row * size)
        # What is played on turn and river; responses that differ on the flop alone share it.
        below = self._below({(turn, river) for _, turn, river in responses})
        upper.value[:] = 0.0
        for works in below.values():
            works.value[:] = 0.0
        combos = np.arange(NUM_COMBOS)
        for turn in flop.turns:
            upper.value[turn_part] = 0.0
            for part in exits.values():
                part[turn_part] = 0.0
            alive = np.where(turn.live, reach, 0).astype(upper.reach.dtype)
            _turn_reach(lanes, alive, combos, (flop.runs, turn.runs), table, starts, counts, upper)
            _value_turn(
                lanes,
                pays,
                turn.rivers,
                turn.live,
                COMBO_CARDS,
                table,
                starts[2],
                counts[2],
                any(river for _, river in below),
                not all(river for _, river in below),
                self._listed,
                upper,
                self._work,
                exits[True],
                exits[False],
            )
            for (best_turn, best_river), works in below.items():
                np.add(upper.value[turn_part], exits[best_river][turn_part], out=works.value[turn_part])
                if len(turn.renamings) > 1:
                    _symmetrise(works.value, turn_row, river_row, turn.renamings, self._scratch)
                self._street_up(lanes, 1, turn.runs, table, starts, best_turn, works)
        values = np.empty((len(responses), len(lanes.entry), NUM_COMBOS))
        flop_part = slice(0, turn_row * size)
        for k, (best_flop, *later) in enumerate(responses):
            done = upper._replace(
                value=upper.value[flop_part] + below[later[0], later[1]].value[flop_part],
                alive=np.ones_like(upper.alive),
            )
            if len(flop.renamings) > 1:
                _symmetrise(done.value, 0, turn_row, flop.renamings, self._scratch)
            self._street_up(lanes, 0, flop.runs, table, starts, best_flop, done)
            for line, (block, lane) in enumerate(lanes.entry):
                root = int(lanes.blocks[block]["value"]) * size
                values[k, line] = done.value[root : root + size].reshape(NUM_COMBOS, WIDTH)[:, lane]
        return values

    def _below(self, kinds: Iterable[tuple[bool, bool]]) -> dict[tuple[bool, bool], Work]:
        """Value rows of flop and turn for each way to play turn and river."""
        for kind in kinds:
            if kind not in self._values:
                self._values[kind] = self._upper._replace(
                    value=np.zeros_like(self._upper.value), alive=np.ones_like(self._upper.alive)
                )
        return {kind: self._values[kind] for kind in sorted(kinds)}

    def _street_up(
        self,
        lanes: LaneProgram,
        street: int,
        runs: Runs,
        table: NDArray[Any],
        starts: NDArray[np.int64],
        best: bool,
        work: Work,
    ) -> None:
        mode = BEST_RESPONSE if best else EXPECTED
        count = self.layout.num_buckets[street]
        _street_up(lanes, street, runs, self._mass, table, starts[street], count, mode, work)

    def class_values(
        self,
        table: NDArray[Any],
        flop: FlopBoards,
        reach: NDArray,
        own: int,
        best: Response = (True, True, True),
    ) -> Floats:
        """As `combo_values`, summed over the combos of each class, ``[line, 169]``."""
        return _sum_by_class(self.combo_values(table, flop, reach, own, best))

    def flop_values(
        self, table: NDArray[Any], flop: FlopBoards, reach: Sequence[NDArray], responses: Sequence[Response]
    ) -> Floats:
        """`class_values` of both seats for several responses, ``[seat, response, line, 169]``.

        Parameters
        ----------
        reach
            Of each seat.
        """
        values = [
            self._response_values(table, flop, reach[1 - seat], seat, list(responses)) for seat in range(2)
        ]
        return np.stack([_sum_by_class(found) for found in values])


def _sum_by_class(values: Floats) -> Floats:
    """Values by combo on the last axis, summed over the combos of each class."""
    rows = values.reshape(-1, NUM_COMBOS)
    sums = np.empty((len(rows), NUM_CLASSES))
    for row, found in zip(rows, sums):
        found[:] = np.bincount(CLASS_OF_COMBO, row, minlength=NUM_CLASSES)
    return sums.reshape(*values.shape[:-1], NUM_CLASSES)


def _combo_images(board: NDArray[np.uint8], symmetric: bool) -> NDArray[np.int16]:
    """What the combos become under the renamings that a board allows; none but the identity unless symmetric."""
    numbers = keeping_renamings(board[:3], board[3:]) if symmetric else [0]
    return np.ascontiguousarray(COMBO_PERMUTATION[numbers])


def _check_buckets(buckets: NDArray[np.integer], accepted: int, board: NDArray[np.uint8]) -> None:
    lowest, highest = int(buckets.min()), int(buckets.max())
    if lowest < 0 or highest >= accepted:
        raise ValueError(
            f"buckets after {format_cards(board)}: {lowest} to {highest}; accepted: 0 to {accepted - 1}"
        )


def _upper_work(programs: Sequence[LaneProgram], dtype: Any) -> Work:
    """Scratch of flop and turn by combo, with one row of reach for the roots of a river."""
    tiny = make_work(programs, 1, dtype)
    values = max(_first_row(lanes, 2) for lanes in programs)
    size = NUM_COMBOS * WIDTH
    return tiny._replace(
        reach=np.zeros((_first_reach_row(programs) + 1) * size, dtype=dtype),
        value=np.zeros(values * size, dtype=dtype),
    )


def _first_reach_row(programs: Sequence[LaneProgram]) -> int:
    """Reach rows of flop and turn."""
    rows = []
    for lanes in programs:
        upper = lanes.blocks[: int(lanes.street_blocks[2])]
        rows.append(int(lanes.programs[upper["program"]]["reach_rows"].sum()))
    return max(rows)


def _first_row(lanes: LaneProgram, street: int) -> int:
    """First value row of a street (2: one past the rows of flop and turn)."""
    number = int(lanes.street_blocks[street])
    if number < len(lanes.blocks):
        return int(lanes.blocks[number]["value"])
    last = lanes.blocks[-1]
    return int(last["value"]) + int(lanes.programs[last["program"]]["value_rows"])
