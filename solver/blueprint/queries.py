"""Questions to a blueprint: how likely a hand came here, and what it is worth from here on.

A subgame solver asks both at the edge of what it searches. Values are also given when a player's strategy
from here on is biased towards folding, calling or raising, the continuation strategies of depth-limited
solving (Brown, Sandholm & Amos 2018).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import CLASS_OF_COMBO, COMBO_CARDS, NUM_COMBOS, check_board, format_cards, live_combos
from abstractions.isomorphism import board_index
from solver.betting.lines import FLOP, PREFLOP, without_prefix
from solver.betting.public_tree import NodeKind
from solver.betting.rules import Action
from solver.blueprint.boards import NUM_LIVE, board_hands
from solver.blueprint.evaluation import Blueprint
from solver.blueprint.kernels import EXPECTED, _sweep_board, by_hand_showdown, make_work
from solver.blueprint.plan import LanePlan
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


@dataclass(frozen=True)
class _Place:
    """Where a line ends: a node of the tree, after the flop in the template of its flop line's pot type.

    `line` is the number of the flop line, -1 before the flop.
    """

    node: int
    line: int = -1


@dataclass(frozen=True, eq=False)
class _Continuation:
    """The betting below a node, its payoffs, and where its actions lie in the blueprint's table."""

    layout: TableLayout
    pays: tuple[NDArray[Any], NDArray[Any]]
    places: NDArray[np.int64]
    sources: NDArray[np.int64]
    nodes: NDArray[np.int64]


class BlueprintQueries:
    """Answers questions to a blueprint; the betting below a line is prepared once and kept.

    Parameters
    ----------
    blueprint
        Strategy. Where flop lines share a subtree, sizes in a line are the line's own chips.
    textures
        Texture of each canonical flop, needed when buckets belong to textures.
    """

    def __init__(self, blueprint: Blueprint, textures: NDArray[np.integer] | None = None) -> None:
        if blueprint.layout.num_textures > 1 and textures is None:
            raise ValueError("textures: a blueprint with buckets by texture needs the texture of each flop")
        self.blueprint = blueprint
        self.textures = textures
        self._known: dict[tuple[_Place, int], _Continuation] = {}

    def reach(self, line: str, board: NDArray[np.uint8], player: int) -> Floats:
        """Probability by combo that a player holding it plays its part of a line on a board, [1326].

        Zero for combos that the board blocks. The board has the cards of the line's last street.
        """
        tree, cards = self.blueprint.game.tree, check_board(board)
        result = live_combos(cards).astype(np.float64)
        for child in self._path(self._place(line, cards)):
            parent = int(tree.parent[child])
            if tree.player[parent] == player:
                result *= self._probabilities(parent, child, cards)
        return result

    def opponent_reach(self, line: str, board: NDArray[np.uint8]) -> Floats:
        """Reach by combo of the player who is not to act at the end of a line."""
        tree = self.blueprint.game.tree
        node = self._place(line, check_board(board)).node
        if tree.kind[node] != NodeKind.DECISION:
            raise ValueError(f"line {line!r}: nobody acts there; ask for the reach of a player")
        return self.reach(line, board, 1 - int(tree.player[node]))

    def continuation_value(
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
        place = self._place(line, cards)
        tree = self.blueprint.game.tree
        if tree.kind[place.node] == NodeKind.CHANCE:
            place = self._walk(f"{line}/")
        if tree.kind[place.node] != NodeKind.DECISION or place.line < 0:
            raise ValueError(
                f"line {line!r}: not a decision after the flop, nor the end of a street's betting"
            )
        for bias in biases:
            if bias not in BIASES:
                raise ValueError(f"bias {bias!r} is unknown; accepted: {', '.join(BIASES)}")
        texture = self._texture(cards)
        below = self._continuation(place, texture)
        table = self._biased_table(below, biases)
        deals = _runouts(cards, runouts, seed)
        opponent = np.asarray(ranges[1 - player], dtype=np.float64) * live_combos(cards)
        values = np.zeros((1, NUM_COMBOS))
        met = np.zeros((1, NUM_COMBOS))
        work = make_work(below.layout.plan.programs, NUM_LIVE, table.dtype)
        by_hand = by_hand_showdown(table.dtype)
        for deal in deals:
            hands = board_hands(deal, self.blueprint.bucketing, texture)
            _sweep_board(
                below.layout.plan.programs[player],
                below.pays[player],
                hands.hands,
                hands.combos,
                hands.runs,
                below.layout.starts(),
                np.array(below.layout.num_buckets),
                opponent[None].astype(table.dtype),
                table,
                table,
                EXPECTED,
                1.0,
                by_hand,
                -np.inf,
                work,
                work,
                values,
            )
            met[0, hands.combos] += _compatible(opponent, deal)[hands.combos]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(met[0] > 0, values[0] / met[0], np.nan)

    def continuation_values(
        self,
        line: str,
        board: NDArray[np.uint8],
        ranges: tuple[NDArray, NDArray],
        player: int,
        *,
        runouts: int | None = 96,
        seed: int = 0,
    ) -> dict[str, Floats]:
        """`continuation_value` against each continuation strategy of the opponent, by its name."""
        values = {}
        for bias in BIASES:
            pair = ("blueprint", bias) if player == 0 else (bias, "blueprint")
            values[bias] = self.continuation_value(
                line, board, ranges, player, biases=pair, runouts=runouts, seed=seed
            )
        return values

    def _place(self, line: str, cards: NDArray[np.uint8]) -> _Place:
        """Place of a line, whose last street must be the board's."""
        tree, place = self.blueprint.game.tree, self._walk(line)
        street = int(tree.street[place.node])
        public = 0 if street == PREFLOP else street + 2
        # The betting of a street may be over and the next card not yet named in the line.
        over = tree.kind[place.node] == NodeKind.CHANCE
        if len(cards) != public and not (over and len(cards) == street + 3):
            raise ValueError(f"board {format_cards(cards)!r}: {len(cards)} cards; line {line!r} has {public}")
        return place

    def _walk(self, line: str) -> _Place:
        game = self.blueprint.game
        preflop, slash, _ = without_prefix(line).partition("/")
        first = game.tree.node_at(preflop + slash)
        if not slash:
            return _Place(first)
        number = game.lines.index(first)
        template, share = self.blueprint.pots.of_line(number)
        return _Place(
            game.tree.node_at(line, root=template, start=preflop + slash, scale=share.scale), number
        )

    def _path(self, place: _Place) -> list[int]:
        """Nodes on the way to a place, first to last."""
        game, node = self.blueprint.game, place.node
        parent = game.tree.parent
        path: list[int] = []
        if place.line >= 0:
            template, _ = self.blueprint.pots.of_line(place.line)
            while node != template:
                path.append(node)
                node = int(parent[node])
            node = game.lines[place.line]
        while node > 0:
            path.append(node)
            node = int(parent[node])
        return path[::-1]

    def _texture(self, cards: NDArray[np.uint8]) -> int:
        if self.textures is None:
            return 0
        return int(self.textures[board_index(cards[None, :3])[0][0]])

    def _probabilities(self, parent: int, child: int, cards: NDArray[np.uint8]) -> Floats:
        """Probability by combo of the action that leads from one node to another."""
        blueprint, tree = self.blueprint, self.blueprint.game.tree
        street = int(tree.street[parent])
        if street == PREFLOP:
            preflop = blueprint.game.preflop.tree
            return blueprint.preflop[preflop.node_at(tree.line(child)), CLASS_OF_COMBO]
        texture = self._texture(cards)
        slot = texture if blueprint.layout.num_textures > 1 else 0
        sums = {
            int(node): np.maximum(
                blueprint.table[blueprint.layout.action_entries(int(node), slot)], 0
            ).astype(float)
            for node in tree.children_of(parent)
        }
        total = sum(sums.values())
        strategy = np.where(total > 0, sums[child] / np.where(total > 0, total, 1), 1 / len(sums))
        live = np.flatnonzero(live_combos(cards[: street + 2]))
        result = np.zeros(NUM_COMBOS)
        result[live] = strategy[blueprint.bucketing.buckets(cards[: street + 2], texture)[live]]
        return result

    def _continuation(self, place: _Place, texture: int) -> _Continuation:
        blueprint = self.blueprint
        slot = texture if blueprint.layout.num_textures > 1 else 0
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


def _compatible(weights: Floats, board: NDArray[np.uint8]) -> Floats:
    """Opponent weight that each combo can meet on a board."""
    alive = weights * live_combos(board)
    by_card = np.zeros(52)
    for side in range(2):
        by_card += np.bincount(COMBO_CARDS[:, side], alive, minlength=52)
    return alive.sum() - by_card[COMBO_CARDS[:, 0]] - by_card[COMBO_CARDS[:, 1]] + alive


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
