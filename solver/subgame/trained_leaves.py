"""Later streets in the blueprint's buckets, trained along with the streets that are searched hand by hand.

Where the search ends, both players go on in a game of their own: same chips, but hands are seen by bucket, and every
iteration plays a few fresh run-outs of it. Its regrets and averages grow linearly with the iteration (linear CFR),
by the update kernel of the blueprint's trainer.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import NUM_COMBOS
from solver.betting.public_tree import PublicTree
from solver.blueprint.boards import NUM_LIVE, BoardHands, Bucketing
from solver.blueprint.fleet import balanced
from solver.blueprint.kernels import (
    EXPECTED,
    FROM_TABLES,
    UPDATE,
    Side,
    _sweep_board,
    by_hand_showdown,
    make_work,
)
from solver.blueprint.plan import LanePlan, num_action_rows
from solver.blueprint.river_choices import NO_CHOICES
from solver.blueprint.tables import TableLayout
from solver.cfr.leaves import Leaves, Reach
from solver.exact.deals import CardGame
from solver.subgame.leaf_boards import SampledBoards, combos_of

#: Element type of the tables, as in training.
DTYPE = np.float32


class BucketedLines:
    """Some lines that begin the same street: their betting to the river, and tables by bucket."""

    def __init__(self, tree: PublicTree, lines: Sequence[int], num_buckets: tuple[int, int, int]) -> None:
        self.plan = LanePlan.build(tree, lines)
        self.layout = TableLayout(self.plan, num_buckets)
        self.regret = np.zeros(self.layout.size, dtype=DTYPE)
        self.average = np.zeros(self.layout.size, dtype=DTYPE)
        first, second = (line_payoffs(self.plan, own) for own in range(2))
        self.pays = (first, second)
        self._starts, self._counts = self.layout.starts(), np.array(num_buckets)
        self._work = make_work(self.plan.programs, NUM_LIVE, DTYPE)
        self._by_hand = by_hand_showdown(DTYPE)

    @property
    def nbytes(self) -> int:
        """Bytes of tables and scratch."""
        return self.regret.nbytes + self.average.nbytes + sum(part.nbytes for part in self._work)

    def sweep(
        self,
        own: int,
        deal: BoardHands,
        reach: NDArray[Any],
        weight: float,
        learns: bool,
        out: NDArray[np.float64],
    ) -> None:
        """Add what the lines are worth to `own` on a full board, times `weight`, to ``out[line, combo]``.

        With `learns`, current strategies are played and updated; without, average ones are played.
        """
        side = Side(self.regret if learns else self.average, self._starts, self._counts, deal.runs)
        _sweep_board(
            self.plan.programs[own],
            self.pays[own],
            deal.hands,
            deal.combos,
            side,
            side,
            reach,
            self.average,
            UPDATE if learns else EXPECTED,
            weight,
            FROM_TABLES,
            NO_CHOICES,
            self._by_hand,
            -np.inf,
            self._work,
            self._work,
            out,
        )


def line_payoffs(plan: LanePlan, own: int) -> NDArray[Any]:
    """Payoffs of a plan's terminals over an even split of the dead money, as leaves are valued."""
    pays = plan.payoffs(own)
    pays[:, 1:] -= plan.tree.dead / 2
    return pays.ravel().astype(DTYPE)


@njit(cache=True, nogil=True)
def _spread(rows: Any, lines: Any, combos: Any, out: Any) -> None:
    """Reach by hand of some lines as reach by combo."""
    for k in range(len(lines)):
        for h in range(len(combos)):
            out[k, combos[h]] = rows[lines[k], h]


@njit(cache=True, nogil=True)
def _collect(values: Any, lines: Any, combos: Any, growth: float, out: Any) -> None:
    """Values by combo of some lines as values by hand, divided by `growth`."""
    for k in range(len(lines)):
        for h in range(len(combos)):
            out[lines[k], h] = values[k, combos[h]] / growth


class TrainedLeaves:
    """Values of leaves below which play is trained along, as `solver.cfr.leaves.LeafProvider`.

    Parameters
    ----------
    tree
        The whole betting tree: it goes on where the engine's tree stops.
    nodes
        Node of `tree` for each node of the engine's tree.
    game
        Cards at the engine's root.
    bucketing, texture
        Buckets that later streets are played in.
    run_outs
        Run-outs that an iteration plays below each board.
    """

    def __init__(
        self,
        tree: PublicTree,
        nodes: NDArray[np.integer],
        leaves: NDArray[np.integer],
        game: CardGame,
        bucketing: Bucketing,
        texture: int,
        *,
        run_outs: int,
        seed: int = 0,
        threads: int = 1,
    ) -> None:
        self.sampled = SampledBoards(game, bucketing, texture, run_outs, seed)
        lines = [int(tree.children_of(int(nodes[leaf]))[0]) for leaf in leaves]
        sizes = [num_action_rows(tree, line) for line in lines]
        self.members = [np.array(part) for part in balanced(sizes, threads)]
        self.groups = [
            BucketedLines(tree, [lines[k] for k in part], bucketing.num_buckets) for part in self.members
        ]
        self.num_lines = len(lines)
        self._pool = ThreadPoolExecutor(len(self.groups) - 1) if len(self.groups) > 1 else None
        first, second = (combos_of(hands) for hands in game.hands)
        self.combos = (first, second)

    @property
    def nbytes(self) -> int:
        """Bytes of tables and scratch."""
        return sum(group.nbytes for group in self.groups)

    def begin_iteration(self) -> None:
        """Deal fresh run-outs. Both players then learn from the same ones."""
        self.sampled.begin_iteration()

    def begin_evaluation(self) -> None:
        """From now on, play the average strategies on a fixed set of run-outs, and learn nothing."""
        self.sampled.begin_evaluation()

    def values(self, leaves: Leaves, reach: Reach, player: int) -> NDArray[np.float64]:
        """Counterfactual values as `solver.cfr.leaves.LeafProvider` describes them."""
        arriving = np.ascontiguousarray(reach[1 - player], dtype=DTYPE)
        values = np.zeros((len(leaves), len(self.combos[player])))
        for first in range(0, len(leaves), self.num_lines):
            part = slice(first, first + self.num_lines)
            board = tuple(leaves.boards[first].tolist())
            self._value_board(board, arriving[part], player, values[part])
        return values

    def _value_board(
        self, board: tuple[int, ...], reach: NDArray[Any], player: int, values: NDArray[np.float64]
    ) -> None:
        """Write what all lines are worth to a player on a board into ``values[line, hand]``."""
        deals, learns = self.sampled.deals(board), self.sampled.learns
        # Linear CFR: what iteration t adds counts t times. The answer does not.
        growth = float(self.sampled.iteration) if learns else 1.0
        weight = growth * self.sampled.board(board).dealer.scale / len(deals)

        def sweep(number: int) -> None:
            mine, group = self.members[number], self.groups[number]
            arriving = np.zeros((len(mine), NUM_COMBOS), dtype=DTYPE)
            _spread(reach, mine, self.combos[1 - player], arriving)
            found = np.zeros((len(mine), NUM_COMBOS))
            for deal in deals:
                group.sweep(player, deal, arriving, weight, learns, found)
            _collect(self.sampled.board(board).evened(found), mine, self.combos[player], growth, values)

        # This thread takes the first part, so that one thread less has to be woken.
        others = (
            [] if self._pool is None else [self._pool.submit(sweep, k) for k in range(1, len(self.groups))]
        )
        sweep(0)
        for other in others:
            other.result()
