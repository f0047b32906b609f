"""Later streets in buckets, trained along with the streets that are searched hand by hand.

Where the search ends, both players go on in a game of their own: same chips, but hands are seen by bucket, and every
iteration plays a few fresh run-outs of it, by the update kernels of the blueprint's trainer. Its regrets and averages
are discounted every few iterations, because a row meets a board only now and then.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_COMBOS
from solver.betting.lines import RIVER
from solver.betting.public_tree import PublicTree
from solver.blueprint.boards import NUM_LIVE, BoardHands, Bucketing
from solver.blueprint.sweep_arrays import Work, make_work
from solver.cfr.leaves import Leaves, Reach
from solver.cfr.schedules import schedule
from solver.exact.card_game import CardGame
from solver.subgame.bucketed_lines import DTYPE, BucketedLines, RunOuts, lines_by_shape
from solver.subgame.leaf_boards import SampledBoards, combos_of
from solver.subgame.river_lines import RiverLines
from solver.subgame.run_outs import Kind

#: Iterations of an epoch of the discounts, by cards of the board.
EPOCHS = {3: 16, 4: 4}
#: Discounts by epoch: good actions are remembered, bad ones forgiven after a while.
DISCOUNTS = schedule("dcfr", alpha=2.5, beta=0.5)


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
    protected
        A player whose hands all count the same, because a safe solve protects against every one of them.
    chain
        Number of a board whose first card after the search is known; run-outs of different numbers share no bucket.
        Threads then divide the run-outs by their numbers. None: they divide the lines.
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
        protected: int | None = None,
        chain: Kind | None = None,
    ) -> None:
        self.sampled = SampledBoards(game, bucketing, texture, run_outs, seed, chain)
        self._chain = chain
        self._epoch_length = EPOCHS[len(game.board)]
        lines = [int(tree.children_of(int(nodes[leaf]))[0]) for leaf in leaves]
        # Lines of one shape fill a vector, whose results do not depend on the other lines.
        divided = threads > 1 and chain is None
        parts = lines_by_shape(tree, lines) if divided else [list(range(len(lines)))]
        self.members = [np.array(part) for part in parts]
        first, second = (combos_of(hands) for hands in game.hands)
        self.combos = (first, second)
        masses = range_masses(game, protected)
        kind = RiverLines if tree.street[lines[0]] == RIVER else BucketedLines
        self.groups = [
            kind(tree, [lines[k] for k in part], bucketing.num_buckets, self.combos, masses) for part in parts
        ]
        self.num_lines = len(lines)
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        programs = [program for group in self.groups for program in group.plan.programs]
        #: Scratch of each thread.
        self._work = [make_work(programs, NUM_LIVE, DTYPE) for _ in range(threads)]

    @property
    def nbytes(self) -> int:
        """Bytes of tables and scratch."""
        scratch = sum(array.nbytes for work in self._work for array in work)
        return scratch + sum(group.nbytes for group in self.groups)

    def begin_iteration(self) -> None:
        """Deal fresh run-outs. Both players then learn from the same ones."""
        self.sampled.begin_iteration()
        epoch, place = divmod(self.sampled.iteration - 1, self._epoch_length)
        if place == 0:
            for group in self.groups:
                group.discount(DISCOUNTS.weights(epoch + 1))

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
        run_outs = RunOuts(self.sampled.board(board), self.sampled.deals(board), self.sampled.learns)
        if self._chain is None:
            self._share(
                [
                    partial(group.value, player, places, run_outs, reach, values)
                    for group, places in zip(self.groups, self.members)
                ],
                meanwhile,
            )
            return
        (lines,), (places,) = self.groups, self.members
        lines.spread(player, places, reach)
        chains = self._chains(run_outs.deals, self._chain)
        found = [lines.no_values() for _ in chains]
        # The longest first, so that no thread waits for the last one.
        order = sorted(range(len(chains)), key=lambda k: -len(chains[k]))
        jobs = [partial(lines.sweep, player, run_outs, chains[k], found[k]) for k in order]
        self._share([*jobs, lambda _: self.sampled.deal_ahead(board)], meanwhile)
        lines.collect(player, places, run_outs, np.sum(found, axis=0), values)

    @staticmethod
    def _chains(deals: Sequence[BoardHands], chain: Kind) -> list[list[BoardHands]]:
        """Run-outs that share buckets, which must be played one after the other."""
        parts: dict[int, list[BoardHands]] = {}
        for deal in deals:
            parts.setdefault(chain(deal.board), []).append(deal)
        return [parts[number] for number in sorted(parts)]

    def _share(self, jobs: Sequence[Callable[[Work], None]], meanwhile: Callable[[], None] | None) -> None:
        """Do all jobs, each with the scratch of the thread that takes it; the calling one does `meanwhile` first."""
        waiting = deque(jobs)

        def take(thread: int) -> None:
            while True:
                try:
                    job = waiting.popleft()
                except IndexError:
                    return
                job(self._work[thread])

        others = []
        if self._pool is not None:
            others = [self._pool.submit(take, thread) for thread in range(1, len(self._work))]
        if meanwhile is not None:
            meanwhile()
        take(0)
        for other in others:
            other.result()


def range_masses(
    game: CardGame, protected: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How much each hand counts in what its bucket learns, by player and combo: as much as in its range.

    In the game that is solved, chance deals a hand as often as its range says. So the regret of a bucket is the sum of
    what its hands regret, each times its weight in the range. All hands of a `protected` player count the same.
    """
    first, second = np.zeros((2, NUM_COMBOS))
    for player, masses in enumerate((first, second)):
        masses[combos_of(game.hands[player])] = 1.0 if player == protected else game.weights[player]
    return first, second
