"""Lines that are played to the river in buckets: their betting, their tables, and what they are worth on a board."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import NUM_COMBOS
from solver.betting.public_tree import PublicTree
from solver.blueprint.boards import BoardHands
from solver.blueprint.plan import LanePlan, num_action_rows, shape_of
from solver.blueprint.river_choices import NO_CHOICES
from solver.blueprint.sweep import _sweep_board
from solver.blueprint.sweep_arrays import EXPECTED, FROM_TABLES, UPDATE, Side, Work, by_hand_showdown
from solver.blueprint.tables import TableLayout
from solver.cfr.epochs import discount
from solver.cfr.resolved import resolved
from solver.cfr.schedules import DiscountWeights
from solver.cfr.simd import WIDTH
from solver.subgame.leaf_boards import LeafBoard

#: Element type of the tables, as in training.
DTYPE = np.float32


@dataclass(frozen=True, eq=False)
class RunOuts:
    """The run-outs of a board in an iteration.

    Attributes
    ----------
    board
        The board where the search ends.
    deals
        Its run-outs.
    learns
        Whether current strategies are played and updated; else average ones are played.
    """

    board: LeafBoard
    deals: Sequence[BoardHands]
    learns: bool

    @property
    def weight(self) -> float:
        """Weight of a run-out in the mean over all."""
        return self.board.dealer.scale / len(self.deals)


class BucketedLines:
    """Some lines that begin the same street: their betting to the river, and tables by bucket.

    Parameters
    ----------
    lines
        First node of each line.
    combos
        Of each player's hands.
    masses
        Of each player, how much a hand counts in what its bucket learns, by combo.
    """

    def __init__(
        self,
        tree: PublicTree,
        lines: Sequence[int],
        num_buckets: tuple[int, int, int],
        combos: tuple[NDArray[np.int64], NDArray[np.int64]],
        masses: tuple[NDArray[np.float64], NDArray[np.float64]],
    ) -> None:
        self.plan = LanePlan.build(tree, lines)
        self.layout = TableLayout(self.plan, num_buckets)
        self.regret = np.zeros(self.layout.size, dtype=DTYPE)
        self.average = np.zeros(self.layout.size, dtype=DTYPE)
        first, second = (line_payoffs(self.plan, own) for own in range(2))
        self.pays = (first, second)
        self.combos, self.masses = combos, masses
        self._starts, self._counts = self.layout.starts(), np.array(num_buckets)
        self._by_hand = by_hand_showdown(DTYPE)
        shape = self._shape()
        # Combos outside of a range stay zero, so reach has an array for each player.
        self._arriving = (np.zeros(shape, dtype=DTYPE), np.zeros(shape, dtype=DTYPE))
        self._found = np.zeros(shape)
        self._code: Callable[..., None] | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of tables, reach and values."""
        arrays = (self.regret, self.average, *self._arriving, self._found)
        return sum(array.nbytes for array in arrays)

    def discount(self, weights: DiscountWeights) -> None:
        """Discount all that was learnt."""
        discount(self.regret, weights)
        self.average *= np.float32(weights.strategy)

    def value(
        self,
        own: int,
        places: NDArray[np.int64],
        run_outs: RunOuts,
        reach: NDArray[Any],
        values: NDArray[np.float64],
        work: Work,
    ) -> None:
        """Write what the lines are worth to a player, the mean over some run-outs, into ``values[place, hand]``.

        Parameters
        ----------
        places
            Row of each line in `reach` and `values`.
        reach
            The opponent's, ``[place, hand]``.
        """
        self.spread(own, places, reach)
        self._found[:] = 0.0
        self.sweep(own, run_outs, run_outs.deals, self._found, work)
        self.collect(own, places, run_outs, self._found, values)

    def spread(self, own: int, places: NDArray[np.int64], reach: NDArray[Any]) -> None:
        """Take over the opponent's reach, as `value` describes it."""
        self._spread(reach, places, self.combos[1 - own], self._arriving[own])

    def sweep(
        self,
        own: int,
        run_outs: RunOuts,
        deals: Sequence[BoardHands],
        found: NDArray[np.float64],
        work: Work,
    ) -> None:
        """Play some of the run-outs, one after the other, and add what the lines are worth to `found`."""
        for deal in deals:
            arguments = self._arguments(own, deal, run_outs, work, found)
            if self._code is None:
                self._code = resolved(self._kernel, *arguments)
            self._code(*arguments)

    def no_values(self) -> NDArray[np.float64]:
        """What `sweep` adds to, still empty."""
        return np.zeros_like(self._found)

    def collect(
        self,
        own: int,
        places: NDArray[np.int64],
        run_outs: RunOuts,
        found: NDArray[np.float64],
        values: NDArray[np.float64],
    ) -> None:
        """Write what sweeps have found as `value` does."""
        self._collect(found, run_outs.board, places, self.combos[own], values)

    @property
    def _kernel(self) -> Any:
        """The kernel that sweeps the lines on one full board."""
        return _sweep_board

    def _shape(self) -> tuple[int, ...]:
        """Shape of reach and values."""
        return len(self.plan.lines), NUM_COMBOS

    def _spread(
        self, reach: NDArray[Any], places: NDArray[np.int64], combos: NDArray[np.int64], out: NDArray[Any]
    ) -> None:
        _spread_rows(reach, places, combos, out)

    def _collect(
        self,
        found: NDArray[np.float64],
        board: LeafBoard,
        places: NDArray[np.int64],
        combos: NDArray[np.int64],
        values: NDArray[np.float64],
    ) -> None:
        _collect_rows(board.evened(found), places, combos, values)

    def _arguments(
        self, own: int, deal: BoardHands, run_outs: RunOuts, work: Work, found: NDArray[np.float64]
    ) -> tuple[Any, ...]:
        """What the kernel takes."""
        learns = run_outs.learns
        side = Side(self.regret if learns else self.average, self._starts, self._counts, deal.runs)
        return (
            self.plan.programs[own],
            self.pays[own],
            deal.hands._replace(mass=self.masses[own][deal.combos]),
            deal.combos,
            side,
            side,
            self._arriving[own],
            self.average,
            UPDATE if learns else EXPECTED,
            run_outs.weight,
            FROM_TABLES,
            NO_CHOICES,
            self._by_hand,
            -np.inf,
            work,
            work,
            found,
        )


def line_payoffs(plan: LanePlan, own: int) -> NDArray[Any]:
    """Payoffs of a plan's terminals over an even split of the dead money, as leaves are valued."""
    pays = plan.payoffs(own)
    pays[:, 1:] -= plan.tree.dead / 2
    return pays.ravel().astype(DTYPE)


def lines_by_shape(tree: PublicTree, lines: Sequence[int]) -> list[list[int]]:
    """Places of lines in groups that fill one vector: at most eight of one shape, the longest streets first."""
    by_shape: dict[bytes, list[int]] = {}
    for place, line in enumerate(lines):
        by_shape.setdefault(shape_of(tree, line), []).append(place)
    groups = [
        members[first : first + WIDTH]
        for members in by_shape.values()
        for first in range(0, len(members), WIDTH)
    ]
    return sorted(groups, key=lambda group: -num_action_rows(tree, lines[group[0]]))


@njit(cache=True, nogil=True)
def _spread_rows(rows: Any, lines: Any, combos: Any, out: Any) -> None:
    """Reach by hand of some lines as reach by combo."""
    for k in range(len(lines)):
        for h in range(len(combos)):
            out[k, combos[h]] = rows[lines[k], h]


@njit(cache=True, nogil=True)
def _collect_rows(values: Any, lines: Any, combos: Any, out: Any) -> None:
    """Values by combo of some lines as values by hand."""
    for k in range(len(lines)):
        for h in range(len(combos)):
            out[lines[k], h] = values[k, combos[h]]
