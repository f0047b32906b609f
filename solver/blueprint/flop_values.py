"""Best responses to, and expected values of, a bucketed strategy over a set of full boards.

The responder sees its real cards and the real board, street by street, and no buckets. Boards that share a
flop are evaluated together: values are summed over the rivers of a turn before the responder chooses on the
turn, and over the turns before it chooses on the flop. Over the boards of a small game (`medoids`) the
result is exact; over a sample of run-outs it is exact for the game that deals only these, which the
responder can exploit a little better than hold'em.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import CLASS_OF_COMBO, NUM_CLASSES, NUM_COMBOS
from solver.blueprint.boards import (
    LIVE_FRACTION,
    NUM_LIVE,
    BoardHands,
    Bucketing,
    board_hands,
    combo_runs,
)
from solver.blueprint.kernels import (
    BEST_RESPONSE,
    EXPECTED,
    _ascend,
    _clear_exits,
    _descend,
    _enter,
    _leave,
    _set_roots,
    make_work,
)
from solver.blueprint.plan import LaneProgram
from solver.blueprint.pot_types import PotTypes
from solver.blueprint.tables import TableLayout
from solver.blueprint.terminals import _terminals
from solver.blueprint.trunk import Floats
from solver.cfr.simd import WIDTH, fused, load, splat, store

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
    """

    boards: NDArray[np.uint8]
    weights: NDArray[np.float64]
    texture: int = 0


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
def _add_rows(num_rows: int, combos: Any, weight: float, work: Any, upper: Any) -> None:
    """Add the value rows of flop and turn on one board to the same rows by combo."""
    n = len(combos)
    factor = splat(work.value, weight)
    for row in range(num_rows):
        source = row * np.int64(n * WIDTH)
        to = row * np.int64(NUM_COMBOS * WIDTH)
        for h in range(n):
            at = to + np.int64(combos[h]) * WIDTH
            here = load(work.value, source + h * WIDTH)
            store(upper.value, at, fused(factor, here, load(upper.value, at)))


@njit(cache=True, nogil=True)
def _board_ends(
    lanes: Any,
    pays: Any,
    hands: Any,
    keys: Any,
    runs: Any,
    tables: Any,
    num_buckets: Any,
    reach: Any,
    strategy: Any,
    mode: int,
    work: Any,
) -> None:
    """Values of one board at the ends of flop and turn: terminals, and exits to rivers played in `mode`."""
    n = len(keys)
    _set_roots(lanes, reach, keys, n, work)
    for s in range(2):
        for b in range(lanes.street_blocks[s], lanes.street_blocks[s + 1]):
            if s > 0:
                _enter(lanes, b, n, work)
            _descend(lanes, b, n, runs[s], strategy, tables[s], num_buckets[s], strategy, 0.0, work)
            _clear_exits(lanes, b, n, work)
    for b in range(lanes.street_blocks[2], lanes.street_blocks[3]):
        if not _enter(lanes, b, n, work):
            continue
        _descend(lanes, b, n, runs[2], strategy, tables[2], num_buckets[2], strategy, 0.0, work)
        _terminals(lanes, b, n, hands, pays, work)
        _ascend(lanes, b, n, runs[2], hands.mass, strategy, tables[2], num_buckets[2], mode, 0.0, work)
        _leave(lanes, b, n, work)
    for s in range(2):
        for b in range(lanes.street_blocks[s], lanes.street_blocks[s + 1]):
            _terminals(lanes, b, n, hands, pays, work)


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
        self.work = make_work(plan.programs, NUM_LIVE, dtype)
        size = NUM_COMBOS * WIDTH
        upper = max(_first_row(p, 2) for p in plan.programs)
        self.upper = self.work._replace(
            value=np.zeros(upper * size, dtype=dtype),
            alive=np.ones_like(self.work.alive),
        )
        self.mass = np.ones(NUM_COMBOS)
        self._last: tuple[FlopBoards, list[BoardHands]] | None = None

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
        deals = self._deal(flop)
        values = np.zeros((len(self.lines), NUM_COMBOS))
        for number in range(self.pots.num_rounds):
            lines = np.array(self.pots.round_lines(number))
            played = lines >= 0
            here = np.where(played[:, None], np.asarray(reach)[lines], 0)
            result = self._round_values(table, flop, deals, here, own, best, self.pays[number][own])
            values[np.searchsorted(self.lines, lines[played])] = result[played]
        return values / LIVE_FRACTION

    def _deal(self, flop: FlopBoards) -> list[BoardHands]:
        """Hands of a flop's boards, kept from the last call because a flop is asked about several times."""
        if self._last is None or self._last[0] is not flop:
            self._last = flop, [board_hands(board, self.bucketing, flop.texture) for board in flop.boards]
        return self._last[1]

    def _round_values(
        self,
        table: NDArray[Any],
        flop: FlopBoards,
        deals: list[BoardHands],
        reach: NDArray,
        own: int,
        best: Response,
        pays: NDArray[Any],
    ) -> Floats:
        """Values of the plan's lines, given the reach and the payoffs of the lines that play them."""
        layout, work, upper = self.layout, self.work, self.upper
        lanes = layout.plan.programs[own]
        flop_mode, turn_mode, river_mode = (BEST_RESPONSE if b else EXPECTED for b in best)
        starts = layout.starts(flop.texture if layout.num_textures > 1 else 0)
        num_buckets = np.array(layout.num_buckets)
        size = NUM_COMBOS * WIDTH
        turn_rows = upper.value[_first_row(lanes, 1) * size :]
        upper.value[:] = 0.0
        reach = np.ascontiguousarray(reach, dtype=work.reach.dtype)
        edges = np.flatnonzero(flop.boards[1:, 3] != flop.boards[:-1, 3]) + 1
        for rows in np.split(np.arange(len(deals)), edges):
            turn_rows[:] = 0.0
            for row in rows.tolist():
                deal = deals[row]
                keys = deal.classes if reach.shape[1] == NUM_CLASSES else deal.combos
                _board_ends(
                    lanes,
                    pays,
                    deal.hands,
                    keys,
                    deal.runs,
                    starts,
                    num_buckets,
                    reach,
                    table,
                    river_mode,
                    work,
                )
                _add_rows(_first_row(lanes, 2), deal.combos, float(flop.weights[row]), work, upper)
            runs = combo_runs(self.bucketing, flop.boards[rows[0], :4], flop.texture)
            _street_up(lanes, 1, runs, self.mass, table, starts[1], num_buckets[1], turn_mode, upper)
        runs = combo_runs(self.bucketing, flop.boards[0, :3], flop.texture)
        _street_up(lanes, 0, runs, self.mass, table, starts[0], num_buckets[0], flop_mode, upper)
        values = np.empty((len(lanes.entry), NUM_COMBOS))
        for line, (block, lane) in enumerate(lanes.entry):
            root = int(lanes.blocks[block]["value"]) * size
            values[line] = upper.value[root : root + size].reshape(NUM_COMBOS, WIDTH)[:, lane]
        return values

    def class_values(
        self,
        table: NDArray[Any],
        flop: FlopBoards,
        reach: NDArray,
        own: int,
        best: Response = (True, True, True),
    ) -> Floats:
        """As `combo_values`, summed over the combos of each class, ``[line, 169]``."""
        values = self.combo_values(table, flop, reach, own, best)
        return np.stack([np.bincount(CLASS_OF_COMBO, row, minlength=NUM_CLASSES) for row in values])

    def flop_values(
        self, table: NDArray[Any], flop: FlopBoards, reach: Sequence[NDArray], responses: Sequence[Response]
    ) -> Floats:
        """`class_values` of both seats for several responses, ``[seat, response, line, 169]``.

        Parameters
        ----------
        reach
            Of each seat.
        """
        return np.array(
            [
                [self.class_values(table, flop, reach[1 - seat], seat, best) for best in responses]
                for seat in range(2)
            ]
        )


def _first_row(lanes: LaneProgram, street: int) -> int:
    """First value row of a street (2: one past the rows of flop and turn)."""
    number = int(lanes.street_blocks[street])
    if number < len(lanes.blocks):
        return int(lanes.blocks[number]["value"])
    last = lanes.blocks[-1]
    return int(last["value"]) + int(lanes.programs[last["program"]]["value_rows"])
