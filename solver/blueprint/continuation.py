"""What hands are worth from a line on, when both play a blueprint from there.

A subgame solver asks this at the edge of what it searches. A player's strategy from there on may be biased towards
folding, calling or raising: the continuation strategies of depth-limited solving (Brown, Sandholm & Amos 2018).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import COMBO_CARDS, NUM_CARDS, NUM_COMBOS, check_board, live_combos
from solver.betting.lines import FLOP
from solver.betting.public_tree import NodeKind
from solver.betting.rules import Action
from solver.blueprint.board_play import add_expected, add_expected_by_action
from solver.blueprint.boards import (
    NUM_LIVE,
    BatchBuckets,
    BoardHands,
    SourceBuckets,
    board_hands,
    street_buckets,
)
from solver.blueprint.plan import LanePlan
from solver.blueprint.strategy import Blueprint, BlueprintNode
from solver.blueprint.sweep_arrays import make_work
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
#: Boards whose run-outs are remembered, each with its hands and buckets, and the most run-outs that are.
REMEMBERED_BOARDS, REMEMBERED_RUNOUTS = 8, 128
#: The 51 combos that hold each card.
_COMBOS_OF_CARD = np.stack(
    [np.flatnonzero(np.isin(COMBO_CARDS, card).any(axis=1)) for card in range(NUM_CARDS)]
)


@dataclass(frozen=True, eq=False)
class _Continuation:
    """The betting below a node and its payoffs.

    `nodes` are those that its actions lead to, `places` and `sources` where these lie in its own table and in that of
    the blueprint's first texture.
    """

    layout: TableLayout
    pays: tuple[NDArray[Any], NDArray[Any]]
    nodes: NDArray[np.int64]
    places: NDArray[np.int64]
    sources: NDArray[np.int64]


class Continuations:
    """What hands are worth from a line on; the betting below a line is prepared once and kept."""

    def __init__(self, blueprint: Blueprint) -> None:
        self.blueprint = blueprint
        self._known: dict[BlueprintNode, _Continuation] = {}
        self._dealt: OrderedDict[tuple[bytes, int | None, int], list[BoardHands]] = OrderedDict()

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
        for bias in biases:
            if bias not in BIASES:
                raise ValueError(f"bias {bias!r} is unknown; accepted: {', '.join(BIASES)}")
        cards, place = self._decision(line, board)
        below = self._continuation(place)
        table = self._table(below, self.blueprint.texture(cards), biases)
        opponent = np.asarray(ranges[1 - player], dtype=np.float64) * live_combos(cards)
        values = np.zeros((1, NUM_COMBOS))
        work = make_work(below.layout.plan.programs, NUM_LIVE, table.dtype)
        reach = opponent[None].astype(table.dtype)
        deals = self._deals(cards, runouts, seed)
        for hands in deals:
            add_expected(
                below.layout, table, hands, hands.combos, player, reach, below.pays[player], 1.0, work, values
            )
        return _per_meeting(values, deals, opponent)[0]

    def action_values(
        self,
        line: str,
        board: NDArray[np.uint8],
        ranges: tuple[NDArray, NDArray],
        *,
        runouts: int | None = 96,
        seed: int = 0,
    ) -> Floats:
        """Net chips that each combo of the player to act wins on average with each action, ``[action, 1326]``.

        Both play the blueprint after the action. The parameters are those of `value`; the line ends at a decision.
        """
        cards, place = self._decision(line, board)
        tree = self.blueprint.game.tree
        player = int(tree.player[place.node])
        below = self._continuation(place)
        table = self._table(below, self.blueprint.texture(cards))
        opponent = np.asarray(ranges[1 - player], dtype=np.float64) * live_combos(cards)
        values = np.zeros((int(tree.num_children[place.node]), NUM_COMBOS))
        work = make_work(below.layout.plan.programs, NUM_LIVE, table.dtype)
        reach = opponent[None].astype(table.dtype)
        deals = self._deals(cards, runouts, seed)
        for hands in deals:
            add_expected_by_action(
                below.layout, table, hands, player, reach, below.pays[player], work, values
            )
        return _per_meeting(values, deals, opponent)

    def _decision(self, line: str, board: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], BlueprintNode]:
        """The public cards, and the decision at the end of a line or behind the cards that follow it."""
        cards = check_board(board)
        place = self.blueprint.place(line, cards)
        tree = self.blueprint.game.tree
        if tree.kind[place.node] == NodeKind.CHANCE:
            place = self.blueprint.walk(f"{line}/")
        if tree.kind[place.node] != NodeKind.DECISION or place.line < 0:
            raise ValueError(
                f"line {line!r}: not a decision after the flop, nor the end of a street's betting"
            )
        return cards, place

    def _deals(self, cards: NDArray[np.uint8], limit: int | None, seed: int) -> list[BoardHands]:
        """Hands and buckets on the run-outs of a board; those of the boards asked for last are remembered."""
        key = cards.tobytes(), limit, seed
        if key in self._dealt:
            self._dealt.move_to_end(key)
            return self._dealt[key]
        texture, deals = self.blueprint.texture(cards), _runouts(cards, limit, seed)
        bucketing = self.blueprint.bucketing
        if isinstance(bucketing, SourceBuckets):
            # All boards are looked up together.
            batch = BatchBuckets(bucketing.num_buckets)
            batch.load(deals, np.full(len(deals), texture), street_buckets(bucketing.source, deals))
            bucketing = batch
        found = [board_hands(deal, bucketing, texture) for deal in deals]
        if len(found) <= REMEMBERED_RUNOUTS:
            self._dealt[key] = found
            while len(self._dealt) > REMEMBERED_BOARDS:
                self._dealt.popitem(last=False)
        return found

    def _continuation(self, place: BlueprintNode) -> _Continuation:
        blueprint = self.blueprint
        if place not in self._known:
            plan = LanePlan.build(blueprint.game.tree, [place.node])
            _, share = blueprint.pots.of_line(place.line)
            seat_0, seat_1 = (plan.payoffs(seat, [share]).ravel() for seat in range(2))
            layout = TableLayout(plan, blueprint.layout.num_buckets)
            dtype = blueprint.table.dtype
            self._known[place] = _Continuation(
                layout=layout,
                pays=(seat_0.astype(dtype), seat_1.astype(dtype)),
                nodes=layout.actions,
                places=_action_places(layout),
                sources=_action_places(blueprint.layout, layout.actions),
            )
        return self._known[place]

    def _table(
        self, below: _Continuation, texture: int, biases: tuple[str, str] = ("blueprint", "blueprint")
    ) -> NDArray[Any]:
        """The continuation's strategy, rows of a favoured action multiplied; readers normalise."""
        tree, source = self.blueprint.game.tree, self.blueprint.table
        table = np.zeros(below.layout.size, dtype=source.dtype)
        behind = self.blueprint.slot(texture) * sum(self.blueprint.layout.street_sizes)
        _copy_actions(source, behind, below.sources, table, below.places)
        if any(bias != "blueprint" for bias in biases):
            self._fill_empty(below, table)
            factor = np.ones(len(tree), dtype=source.dtype)
            for seat, bias in enumerate(biases):
                acts = tree.player[np.maximum(tree.parent, 0)] == seat
                factor[acts & np.isin(tree.action, BIASES[bias])] = BIAS_FACTOR
            _scale_actions(table, below.places, factor[below.nodes])
        return table

    def _fill_empty(self, below: _Continuation, table: NDArray[Any]) -> None:
        """Write out the uniform strategy where a bucket has none, so that it can be biased."""
        tree, layout = self.blueprint.game.tree, below.layout
        for parent in np.unique(tree.parent[layout.actions]):
            rows = np.stack([layout.action_entries(int(k)) for k in tree.children_of(int(parent))])
            empty = table[rows].sum(axis=0) <= 0
            table[rows[:, empty]] = 1.0


def _action_places(layout: TableLayout, nodes: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """For each action that leads to a node: its first entry, the step between buckets, and how many these are."""
    nodes = layout.actions if nodes is None else nodes
    tree = layout.plan.tree
    street = tree.street[tree.parent[nodes]].astype(np.int64) - FLOP
    # A first entry and a step say what `action_entries` lists.
    places = np.array([layout._places[node] for node in nodes.tolist()], dtype=np.int64).reshape(-1, 2)
    first = layout.starts()[street] + places[:, 0]
    return np.stack([first, places[:, 1], np.array(layout.num_buckets)[street]], axis=1)


@njit(cache=True)
def _copy_actions(source: Any, behind: int, sources: Any, table: Any, places: Any) -> None:
    """Write the rows of some actions of one table into another, what is negative as 0."""
    for k in range(len(places)):
        first, step, buckets = places[k]
        source_first, source_step = behind + sources[k, 0], sources[k, 1]
        for bucket in range(buckets):
            table[first + step * bucket] = max(source[source_first + source_step * bucket], 0)


@njit(cache=True)
def _scale_actions(table: Any, places: Any, factors: Any) -> None:
    """Multiply the rows of some actions, each by its factor."""
    for k in range(len(places)):
        first, step, buckets = places[k]
        for bucket in range(buckets):
            table[first + step * bucket] *= factors[k]


def _per_meeting(values: Floats, deals: Sequence[BoardHands], opponent: Floats) -> Floats:
    """Sums over run-outs as means over the opponent's hands that are met, nan for combos that meet nobody."""
    met = np.zeros(NUM_COMBOS)
    for first in range(0, len(deals), REMEMBERED_RUNOUTS):
        met += _meetings(
            np.stack([hands.board for hands in deals[first : first + REMEMBERED_RUNOUTS]]), opponent
        )
    return np.divide(values, met, out=np.full(values.shape, np.nan), where=met > 0)


def _meetings(boards: NDArray[np.uint8], opponent: Floats) -> Floats:
    """Weight of the opponent's hands that each combo meets, summed over full boards: `disjoint_weight` of each."""
    dead = np.zeros((len(boards), NUM_CARDS), dtype=np.bool_)
    np.put_along_axis(dead, boards.astype(np.int64), True, axis=1)
    one, two = COMBO_CARDS[:, 0], COMBO_CARDS[:, 1]
    live = ~(dead[:, one] | dead[:, two])
    weights = live * opponent
    by_card = weights[:, _COMBOS_OF_CARD].sum(axis=2)
    met = weights.sum(axis=1)[:, None] - by_card[:, one] - by_card[:, two] + weights
    return (np.maximum(met, 0.0) * live).sum(axis=0)


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
