"""Later streets in the blueprint's buckets, trained along with the streets that are searched hand by hand.

Where the search ends, both players go on in a game of their own: same chips, but hands are seen by bucket, and every
iteration plays a few fresh run-outs of it. Its regrets and averages grow linearly with the iteration (linear CFR),
by the update kernel of the blueprint's trainer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import NUM_COMBOS
from solver.betting.public_tree import PublicTree
from solver.blueprint.boards import NUM_LIVE, BoardHands, Bucketing
from solver.blueprint.kernels import (
    EXPECTED,
    FROM_TABLES,
    UPDATE,
    Side,
    Work,
    _sweep_board,
    by_hand_showdown,
    make_work,
)
from solver.blueprint.plan import LanePlan, num_action_rows, shape_of
from solver.blueprint.river_choices import NO_CHOICES
from solver.blueprint.tables import TableLayout
from solver.cfr.leaves import Leaves, Reach
from solver.cfr.resolved import resolved
from solver.cfr.simd import WIDTH
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
        self._by_hand = by_hand_showdown(DTYPE)
        self._code: Callable[..., None] | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of the tables."""
        return self.regret.nbytes + self.average.nbytes

    def sweep(
        self,
        own: int,
        deal: BoardHands,
        reach: NDArray[Any],
        weight: float,
        learns: bool,
        work: Work,
        out: NDArray[np.float64],
    ) -> None:
        """Add what the lines are worth to `own` on a full board, times `weight`, to ``out[line, combo]``.

        With `learns`, current strategies are played and updated; without, average ones are played.
        """
        side = Side(self.regret if learns else self.average, self._starts, self._counts, deal.runs)
        arguments = (
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
            work,
            work,
            out,
        )
        if self._code is None:
            self._code = resolved(_sweep_board, *arguments)
        self._code(*arguments)


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
        # Threads take group after group, so none of them waits long, and all results stay the same.
        parts = lines_by_shape(tree, lines) if threads > 1 else [list(range(len(lines)))]
        self.members = [np.array(part) for part in parts]
        self.groups = [BucketedLines(tree, [lines[k] for k in part], bucketing.num_buckets) for part in parts]
        self.num_lines = len(lines)
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        programs = [program for group in self.groups for program in group.plan.programs]
        #: Scratch of each thread.
        self._work = [make_work(programs, NUM_LIVE, DTYPE) for _ in range(threads)]
        first, second = (combos_of(hands) for hands in game.hands)
        self.combos = (first, second)
        # Combos outside of a range stay zero, so reach has an array for each player.
        self._arriving = [
            tuple(np.zeros((len(part), NUM_COMBOS), dtype=DTYPE) for _ in range(2)) for part in parts
        ]
        self._found = [np.zeros((len(part), NUM_COMBOS)) for part in parts]

    @property
    def nbytes(self) -> int:
        """Bytes of tables and scratch."""
        scratch = sum(array.nbytes for work in self._work for array in work)
        rows = sum(array.nbytes for pair in self._arriving for array in pair)
        rows += sum(array.nbytes for array in self._found)
        return scratch + rows + sum(group.nbytes for group in self.groups)

    def begin_iteration(self) -> None:
        """Deal fresh run-outs. Both players then learn from the same ones."""
        self.sampled.begin_iteration()

    def begin_evaluation(self) -> None:
        """From now on, play the average strategies on a fixed set of run-outs, and learn nothing."""
        self.sampled.begin_evaluation()

    def values(self, leaves: Leaves, reach: Reach, player: int) -> NDArray[np.float64]:
        """Counterfactual values as `solver.cfr.leaves.LeafProvider` describes them."""
        arriving = np.ascontiguousarray(reach[1 - player], dtype=DTYPE)
        values = np.empty((len(leaves), len(self.combos[player])))
        for first in range(0, len(leaves), self.num_lines):
            part = slice(first, first + self.num_lines)
            board = tuple(leaves.boards[first].tolist())
            self._value_board(board, arriving[part], player, values[part])
        return values

    def values_beside(
        self, leaves: Leaves, arriving: NDArray[Any], player: int, meanwhile: Callable[[], None]
    ) -> NDArray[np.float64]:
        """The same as `solver.cfr.leaves.ThreadedLeafProvider` describes it."""
        values = np.empty((len(leaves), len(self.combos[player])))
        reach = np.ascontiguousarray(arriving, dtype=DTYPE)
        self._value_board(tuple(leaves.boards[0].tolist()), reach, player, values, meanwhile)
        return values

    def _value_board(
        self,
        board: tuple[int, ...],
        reach: NDArray[Any],
        player: int,
        values: NDArray[np.float64],
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        """Write what all lines are worth to a player on a board into ``values[line, hand]``."""
        deals, learns = self.sampled.deals(board), self.sampled.learns
        here = self.sampled.board(board)
        # Linear CFR: what iteration t adds counts t times. The answer does not.
        growth = float(self.sampled.iteration) if learns else 1.0
        weight = growth * here.dealer.scale / len(deals)
        waiting = deque(range(len(self.groups)))

        def sweep_waiting(thread: int) -> None:
            while True:
                try:
                    number = waiting.popleft()
                except IndexError:
                    return
                mine, arriving, found = (
                    self.members[number],
                    self._arriving[number][player],
                    self._found[number],
                )
                _spread(reach, mine, self.combos[1 - player], arriving)
                found[:] = 0.0
                for deal in deals:
                    self.groups[number].sweep(
                        player, deal, arriving, weight, learns, self._work[thread], found
                    )
                _collect(here.evened(found), mine, self.combos[player], growth, values)

        others = []
        if self._pool is not None:
            others = [self._pool.submit(sweep_waiting, thread) for thread in range(1, len(self._work))]
        if meanwhile is not None:
            meanwhile()
        sweep_waiting(0)
        for other in others:
            other.result()
