"""What hands are worth from a line on, when both play a blueprint from there.

A subgame solver asks this at the edge of what it searches. A player's strategy from there on may be biased towards
folding, calling or raising: the continuation strategies of depth-limited solving (Brown, Sandholm & Amos 2018).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_COMBOS, check_board, disjoint_weight, live_combos
from solver.betting.lines import FLOP
from solver.betting.public_tree import NodeKind
from solver.betting.rules import Action
from solver.blueprint.board_play import add_expected
from solver.blueprint.boards import NUM_LIVE, board_hands
from solver.blueprint.kernels import make_work
from solver.blueprint.plan import LanePlan
from solver.blueprint.strategy import Blueprint, BlueprintNode
from solver.blueprint.tables import TableLayout
from solver.blueprint.trunk import Floats

#: Continuation strategies: the blueprint, and the blueprint with one kind of action `BIAS_FACTOR` times as
#: likely.
BIASES: dict[str, tuple[Action, ...]] = {
    "blueprint": (),
    "fold": (Action.FOLD,),
    "call": (Action.CHECK, Action.CALL),
    "raise": (Action.BET, Action.RAISE, Action.ALLIN),
}
BIAS_FACTOR = 10.0


@dataclass(frozen=True, eq=False)
class _Continuation:
    """The betting below a node, its payoffs, and where its actions lie in the blueprint's table."""

    layout: TableLayout
    pays: tuple[NDArray[Any], NDArray[Any]]
    places: NDArray[np.int64]
    sources: NDArray[np.int64]
    nodes: NDArray[np.int64]


class Continuations:
    """What hands are worth from a line on; the betting below a line is prepared once and kept."""

    def __init__(self, blueprint: Blueprint) -> None:
        self.blueprint = blueprint
        self._known: dict[tuple[BlueprintNode, int], _Continuation] = {}

    def value(
        self,
        line: str,
        board: NDArray[np.uint8],
        ranges: tuple[NDArray, NDArray],
        player: int,
        *,
        biases: tuple[str, str] = ("blueprint", "blueprint"),
        runouts: int | None = 96,
        seed: int = 0,
    ) -> Floats:
        """Net chips that each combo of a player wins on average from a line on, [1326].

        Net of everything put in since the start of the hand; averaged over the opponent's range where the
        hands share no card, nan for combos that meet nobody.

        Parameters
        ----------
        line
            A line to a decision after the flop, or to the end of a street's betting.
        board
            Public cards of the line's last street.
        ranges
            Weight of each combo in the ranges of seat 0 and seat 1, [1326] each.
        player
            Seat whose values are asked for.
        biases
            Continuation strategy of each seat: ``blueprint``, ``fold``, ``call`` or ``raise``.
        runouts
            Largest number of run-outs that are played; None: all, exact.
        seed
            Seed of the choice of run-outs.
        """
        cards = check_board(board)
        place = self.blueprint.place(line, cards)
        tree = self.blueprint.game.tree
        if tree.kind[place.node] == NodeKind.CHANCE:
            place = self.blueprint.walk(f"{line}/")
        if tree.kind[place.node] != NodeKind.DECISION or place.line < 0:
            raise ValueError(
                f"line {line!r}: not a decision after the flop, nor the end of a street's betting"
            )
        for bias in biases:
            if bias not in BIASES:
                raise ValueError(f"bias {bias!r} is unknown; accepted: {', '.join(BIASES)}")
        texture = self.blueprint.texture(cards)
        below = self._continuation(place, texture)
        table = self._biased_table(below, biases)
        deals = _runouts(cards, runouts, seed)
        opponent = np.asarray(ranges[1 - player], dtype=np.float64) * live_combos(cards)
        values = np.zeros((1, NUM_COMBOS))
        met = np.zeros((1, NUM_COMBOS))
        work = make_work(below.layout.plan.programs, NUM_LIVE, table.dtype)
        for deal in deals:
            hands = board_hands(deal, self.blueprint.bucketing, texture)
            reach = opponent[None].astype(table.dtype)
            add_expected(
                below.layout, table, hands, hands.combos, player, reach, below.pays[player], 1.0, work, values
            )
            met[0, hands.combos] += disjoint_weight(opponent * live_combos(deal))[hands.combos]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(met[0] > 0, values[0] / met[0], np.nan)

    def _continuation(self, place: BlueprintNode, texture: int) -> _Continuation:
        blueprint = self.blueprint
        slot = blueprint.slot(texture)
        if (place, slot) not in self._known:
            tree = blueprint.game.tree
            plan = LanePlan.build(tree, [place.node])
            _, share = blueprint.pots.of_line(place.line)
            seat_0, seat_1 = (plan.payoffs(seat, [share]).ravel() for seat in range(2))
            layout = TableLayout(plan, blueprint.layout.num_buckets)
            nodes = layout.actions
            dtype = blueprint.table.dtype
            self._known[place, slot] = _Continuation(
                layout=layout,
                pays=(seat_0.astype(dtype), seat_1.astype(dtype)),
                places=np.concatenate([layout.action_entries(int(k)) for k in nodes]),
                sources=np.concatenate([blueprint.layout.action_entries(int(k), slot) for k in nodes]),
                nodes=np.repeat(
                    nodes, [layout.num_buckets[int(tree.street[tree.parent[k]]) - FLOP] for k in nodes]
                ),
            )
        return self._known[place, slot]

    def _biased_table(self, below: _Continuation, biases: tuple[str, str]) -> NDArray[Any]:
        """The continuation's strategy, rows of a favoured action multiplied; readers normalise."""
        tree, source = self.blueprint.game.tree, self.blueprint.table
        table = np.zeros(below.layout.size, dtype=source.dtype)
        factor = np.ones(len(tree), dtype=source.dtype)
        for seat, bias in enumerate(biases):
            acts = tree.player[np.maximum(tree.parent, 0)] == seat
            factor[acts & np.isin(tree.action, BIASES[bias])] = BIAS_FACTOR
        table[below.places] = np.maximum(source[below.sources], 0)
        if any(bias != "blueprint" for bias in biases):
            self._fill_empty(below, table)
            table[below.places] *= factor[below.nodes]
        return table

    def _fill_empty(self, below: _Continuation, table: NDArray[Any]) -> None:
        """Write out the uniform strategy where a bucket has none, so that it can be biased."""
        tree, layout = self.blueprint.game.tree, below.layout
        for parent in np.unique(tree.parent[layout.actions]):
            rows = np.stack([layout.action_entries(int(k)) for k in tree.children_of(int(parent))])
            empty = table[rows].sum(axis=0) <= 0
            table[rows[:, empty]] = 1.0


def _runouts(cards: NDArray[np.uint8], limit: int | None, seed: int) -> NDArray[np.uint8]:
    """Full boards from the given public cards: all of them, or `limit` that cover the next card evenly."""
    rest = [card for card in range(52) if card not in cards.tolist()]
    missing = 5 - len(cards)
    if missing == 0:
        return cards[None]
    if limit is not None and limit < 1:
        raise ValueError(f"runouts: {limit} is not a positive number")
    tails = np.array(list(permutations(rest, missing)), dtype=np.uint8)
    if limit is not None and limit < len(tails):
        rng = np.random.default_rng(seed)
        if missing == 1:
            chosen = rng.permutation(len(tails))[:limit]
        else:
            # Shuffle the rivers of every turn, then take the turns in rounds.
            rivers = np.stack([rng.permutation(len(rest) - 1) for _ in rest])
            turns = np.concatenate([rng.permutation(len(rest)) for _ in range(-(-limit // len(rest)))])[
                :limit
            ]
            rounds = np.arange(limit) // len(rest)
            chosen = turns * (len(rest) - 1) + rivers[turns, rounds]
        tails = tails[np.sort(chosen)]
    return np.concatenate([np.repeat(cards[None], len(tails), axis=0), tails], axis=1)
