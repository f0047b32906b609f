"""Leaves where each player chooses, hand by hand, how to go on: the blueprint, or the blueprint with a bias.

The strategies below the leaves are fixed: the blueprint, and the same with folds, calls or raises made likelier
(Brown, Sandholm & Amos 2018). The choice is an ordinary decision of both players with regrets by hand, so a player
whose continuation is exploited changes it. With s_j(k|h) the opponent's choice and r_j(h) its reach,

    v_i(h, k) = sum over h', k' of r_j(h') s_j(k'|h') U_kk'(h, h')

where U is the expected payoff over run-outs when both play these strategies.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_COMBOS
from solver.blueprint.boards import NUM_LIVE
from solver.blueprint.continuation import BIASES
from solver.blueprint.plan import LanePlan
from solver.blueprint.strategy import Blueprint
from solver.blueprint.sweep_arrays import make_work
from solver.blueprint.tables import TableLayout
from solver.cfr.leaves import Leaves, Reach
from solver.cfr.schedules import Schedule, schedule
from solver.subgame.blueprint_play import BlueprintTables
from solver.subgame.bucketed_lines import DTYPE, line_payoffs
from solver.subgame.choice_kernels import _sweep_choices
from solver.subgame.leaf_boards import SampledBoards, combos_of
from solver.subgame.subgame import Subgame
from solver.subgame.translation import TranslatedBlueprint

Floats = NDArray[np.float64]


def continuations(num_values: int, factor: float) -> list[tuple[str, float]]:
    """The biases and factors of so many continuation strategies.

    >>> continuations(4, 10.0)
    [('blueprint', 1.0), ('fold', 10.0), ('call', 10.0), ('raise', 10.0)]
    """
    biases = [bias for bias in BIASES if bias != "blueprint"]
    rounds = (num_values - 1) // len(biases)
    return [("blueprint", 1.0)] + [(bias, factor * 10.0**k) for k in range(rounds) for bias in biases]


class FixedContinuations:
    """Values of leaves below which each player chooses a fixed strategy, as `solver.cfr.leaves.LeafProvider`.

    Parameters
    ----------
    leaves
        Leaves of the searched tree.
    num_values, factor
        How many strategies there are, and how much likelier the favoured actions are.
    run_outs
        Run-outs that an iteration plays below each board.
    """

    def __init__(
        self,
        blueprint: Blueprint,
        subgame: Subgame,
        leaves: NDArray[np.integer],
        *,
        num_values: int,
        factor: float,
        run_outs: int,
        seed: int = 0,
        discounts: Schedule | None = None,
    ) -> None:
        tree, (_, nodes) = subgame.tree, subgame.searched
        board = np.array(subgame.board, dtype=np.uint8)
        texture = blueprint.texture(board)
        self.sampled = SampledBoards(subgame.cards, blueprint.bucketing, texture, run_outs, seed)
        self.plan = LanePlan.build(tree, [int(tree.children_of(int(nodes[leaf]))[0]) for leaf in leaves])
        self.layout = TableLayout(self.plan, blueprint.layout.num_buckets)
        translated = TranslatedBlueprint(blueprint)
        root = translated.deal(translated.readings_at(subgame.rules, subgame.streets[:-1]))
        written = BlueprintTables(translated, tree, root, texture)
        self.strategies = continuations(num_values, factor)
        self.tables = np.stack(
            [written.table(self.layout, bias=bias, factor=times) for bias, times in self.strategies]
        )
        first, second = (line_payoffs(self.plan, own) for own in range(2))
        self.pays = (first, second)
        self._work = make_work(self.plan.programs, NUM_LIVE, DTYPE)
        count = len(self.tables)
        self._rows = (
            np.zeros((count, len(self._work.reach)), dtype=DTYPE),
            np.zeros((count, len(self._work.value)), dtype=DTYPE),
            np.zeros((count, len(self._work.alive)), dtype=np.uint8),
        )
        combos = [combos_of(hands) for hands in subgame.cards.hands]
        self.combos = (combos[0], combos[1])
        self.schedule = discounts or schedule("dcfr", beta=0.5)
        self.regret: list[Floats] = []
        self.average: list[Floats] = []

    @property
    def nbytes(self) -> int:
        """Bytes of tables and scratch."""
        scratch = sum(array.nbytes for array in (*self._rows, *self._work))
        return scratch + self.tables.nbytes + sum(part.nbytes for part in (*self.regret, *self.average))

    def begin_iteration(self) -> None:
        """Deal fresh run-outs. Both players then learn from the same ones."""
        self.sampled.begin_iteration()

    def begin_evaluation(self) -> None:
        """From now on, play the average choices on a fixed set of run-outs, and learn nothing."""
        self.sampled.begin_evaluation()

    def values(self, leaves: Leaves, reach: Reach, player: int) -> Floats:
        """Counterfactual values as `solver.cfr.leaves.LeafProvider` describes them."""
        if not self.regret:
            shapes = [(len(self.tables), len(leaves), len(combos)) for combos in self.combos]
            self.regret = [np.zeros(shape) for shape in shapes]
            self.average = [np.zeros(shape) for shape in shapes]
        choices = [_matched(part) for part in (self.regret if self.sampled.learns else self.average)]
        arriving = choices[1 - player] * reach[1 - player]
        values = np.zeros((len(self.tables), len(leaves), len(self.combos[player])))
        lines = len(self.plan.lines)
        for first in range(0, len(leaves), lines):
            part = slice(first, first + lines)
            dense = np.zeros((len(self.tables), lines, NUM_COMBOS), dtype=DTYPE)
            dense[:, :, self.combos[1 - player]] = arriving[:, part]
            board = tuple(leaves.boards[first].tolist())
            values[:, part] = self._board_values(board, dense, player)[:, :, self.combos[player]]
        mean = (choices[player] * values).sum(axis=0)
        if self.sampled.learns:
            weights = self.schedule.weights(self.sampled.iteration)
            regret = self.regret[player]
            regret *= np.where(regret > 0.0, weights.positive, weights.negative)
            regret += values - mean
            self.average[player] *= weights.strategy
            self.average[player] += choices[player] * reach[player]
        return mean

    def _board_values(self, board: tuple[int, ...], reach: NDArray[np.float32], player: int) -> Floats:
        """What all lines are worth to each strategy of a player on a board, ``[strategy, line, 1326]``."""
        deals, here = self.sampled.deals(board), self.sampled.board(board)
        out = np.zeros(reach.shape)
        for deal in deals:
            _sweep_choices(
                self.plan.programs[player],
                self.pays[player],
                deal.hands,
                deal.combos,
                deal.runs,
                self.layout.starts(),
                np.array(self.layout.num_buckets),
                reach,
                self.tables,
                here.dealer.scale / len(deals),
                self._work,
                *self._rows,
                out,
            )
        return here.evened(out)


def _matched(weights: Floats) -> Floats:
    """Regret matching over the first axis."""
    positive = np.maximum(weights, 0.0)
    total = positive.sum(axis=0)
    even = np.full_like(positive, 1.0 / len(positive))
    return np.divide(positive, total, out=even, where=total > 0.0)
