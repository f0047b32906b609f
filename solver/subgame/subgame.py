"""The subgame that starts with the current street of a hand: its tree, its board and both ranges at its root."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import format_cards, live_combos
from solver.betting.game import GameConfig
from solver.betting.lines import (
    FLOP,
    PUBLIC_CARDS,
    RIVER,
    STREETS,
    Letter,
    format_line,
    parse_line,
    split_street,
    without_prefix,
)
from solver.betting.played_lines import PlayedStreet, play_line
from solver.betting.public_tree import NodeKind, PublicTree
from solver.betting.rules import BettingRules, BettingState
from solver.betting.tree import game_start, subgame_tree
from solver.betting.tree_parts import upper_part
from solver.blueprint.strategy import Blueprint
from solver.exact.card_game import CardGame
from solver.postflop.holdem import holdem_game, read_board
from solver.subgame.config import FULL, SubgameConfig
from solver.subgame.translation import TranslatedBlueprint

Floats = NDArray[np.float64]
Ranges = tuple[Floats, Floats]
#: Hands below this share of the heaviest one of their range are left out: they almost never get there.
LEAST_WEIGHT = 1e-5


@dataclass(frozen=True, eq=False)
class Subgame:
    """A spot of a hand, from the start of its street on.

    Attributes
    ----------
    line
        The hand so far, the actions of the current street included.
    board
        Public cards of the current street.
    game, rules, start
        The game that is played, what may be done in it, and the state at the start of the hand.
    streets
        The hand so far, street by street.
    tree
        Betting from the start of the current street to the river. It holds the actions played since.
    ranges
        Weight of each combo of seat 0 and seat 1 at the root, [1326] each.
    last_street
        The last street that is searched hand by hand.
    """

    line: str
    board: tuple[int, ...]
    game: GameConfig
    rules: BettingRules
    start: BettingState
    streets: tuple[PlayedStreet, ...]
    tree: PublicTree
    ranges: Ranges
    last_street: int

    @classmethod
    def build(
        cls,
        blueprint: Blueprint,
        line: str,
        board: str | Sequence[int] | NDArray[np.integer],
        config: SubgameConfig,
        *,
        ranges: Ranges | None = None,
    ) -> Subgame:
        """The subgame of a line on a board.

        Parameters
        ----------
        line
            The hand so far, with any legal sizes, such as ``b250c/xb333``.
        board
            Public cards of the line's last street.
        ranges
            Both ranges at the start of that street; by default what the blueprint's strategy leaves of all hands.

        Raises
        ------
        ValueError
            If the line cannot be played, the board does not fit it, or a range is empty.
        """
        game = blueprint.game.preflop.config
        if config.stacks is not None:
            game = replace(game, stacks=tuple(config.stacks))
        rules, start = game_start(game)
        cards = read_board(board)
        line = entered_line(rules, start, without_prefix(line), len(cards))
        streets = play_line(rules, start, line)
        check_public_cards(line, cards)
        actor = streets[-1].state.actor
        if actor < 0:
            raise ValueError(f"line {line!r}: nobody acts there")
        return cls(
            line=line,
            board=cards,
            game=game,
            rules=rules,
            start=start,
            streets=tuple(streets),
            tree=_tree(game, rules, streets[-1], config),
            ranges=_trimmed(
                ranges or _blueprint_ranges(blueprint, rules, streets[:-1], cards),
                cards,
                None if config.safety == "unsafe" else 1 - actor,
            ),
            last_street=_last_street(streets[-1].start.street, config.depth),
        )

    def earlier(self, blueprint: Blueprint, number: int) -> Subgame:
        """An earlier street of the hand: the game's sizes, the actions played then, and the blueprint's ranges."""
        street = self.streets[number]
        cards = self.board[: PUBLIC_CARDS[street.start.street]]
        ranges = _blueprint_ranges(blueprint, self.rules, self.streets[:number], cards)
        return replace(
            self,
            line=format_line(parse_line(self.line)[: number + 1]),
            board=cards,
            streets=self.streets[: number + 1],
            tree=_tree(self.game, self.rules, street, None),
            ranges=_trimmed(ranges, cards, None),
        )

    @property
    def street(self) -> int:
        """The current street, 1 flop .. 3 river."""
        return self.streets[-1].start.street

    @property
    def root_line(self) -> str:
        """The line up to the start of the current street."""
        return split_street(self.line)[0]

    @property
    def pot(self) -> int:
        """Chips in the middle at the root."""
        return int(self.tree.pot[0])

    @cached_property
    def cards(self) -> CardGame:
        """Both ranges as hands, with the cards to come."""
        return holdem_game(self.board, *self.ranges)

    @cached_property
    def searched(self) -> tuple[PublicTree, NDArray[np.int64]]:
        """The part of the tree that is searched hand by hand, and the node of `tree` for each of its nodes."""
        if self.last_street == RIVER:
            return self.tree, np.arange(len(self.tree))
        return upper_part(self.tree, self.last_street)

    @property
    def node(self) -> int:
        """Where the line ends, in `tree` and in `searched`: both begin with the nodes of the first street."""
        return self.node_at(self.line)

    def node_at(self, line: str, tree: PublicTree | None = None) -> int:
        """Node of a line of the hand that goes through the root, in the whole tree by default.

        Raises
        ------
        ValueError
            If the line does not go through the root, or takes an action that the tree does not have.
        """
        tree = self.tree if tree is None else tree
        text = without_prefix(line)
        if not text.startswith(self.root_line):
            raise ValueError(
                f"line {line!r} does not begin with {self.root_line!r}, where the subgame starts"
            )
        streets = play_line(self.rules, self.start, text)[len(self.streets) - 1 :]
        node = 0
        for number, street in enumerate(streets):
            if number > 0:
                node = self._child(tree, node, None, line)
            for taken in street.actions:
                node = self._child(tree, node, taken, line)
        return node

    @staticmethod
    def _child(tree: PublicTree, node: int, taken: tuple[int, int] | None, line: str) -> int:
        for child in tree.children_of(node).tolist():
            if taken is None or (int(tree.action[child]), int(tree.amount[child])) == taken:
                return int(child)
        offered = " ".join(tree.token(child) for child in tree.children_of(node).tolist())
        raise ValueError(
            f"line {line!r} leaves the subgame at {tree.line(node)!r}; accepted: {offered or 'nothing'}"
        )


def entered_line(rules: BettingRules, start: BettingState, line: str, num_cards: int) -> str:
    """The line with the ``/`` that may be left out once the betting of a street is over."""
    streets = play_line(rules, start, line)
    state = streets[-1].state
    due = state.street < RIVER and num_cards == PUBLIC_CARDS[state.street + 1]
    return line + Letter.DEAL if state.actor < 0 and due else line


def check_public_cards(line: str, cards: tuple[int, ...]) -> None:
    """Refuse a board that does not have the cards of a line's last street."""
    street = line.count(Letter.DEAL)
    if street < FLOP:
        raise ValueError(
            f"line {line!r} has seen no flop: subgames start with the flop, the turn or the river"
        )
    if len(cards) != PUBLIC_CARDS[street]:
        raise ValueError(
            f"board {format_cards(list(cards))!r}: {len(cards)} cards; line {line!r} is on the {STREETS[street]}, "
            f"which has {PUBLIC_CARDS[street]}"
        )


def _last_street(street: int, depth: int | str) -> int:
    return RIVER if depth == FULL else min(RIVER, street + int(depth) - 1)


def _blueprint_ranges(
    blueprint: Blueprint, rules: BettingRules, streets: Sequence[PlayedStreet], cards: tuple[int, ...]
) -> Ranges:
    """What the blueprint's strategy leaves of all hands after some streets."""
    translated, public = TranslatedBlueprint(blueprint), np.array(cards, dtype=np.uint8)
    first, second = (translated.reach(rules, streets, public, seat) for seat in range(2))
    return first, second


def _tree(
    game: GameConfig, rules: BettingRules, street: PlayedStreet, config: SubgameConfig | None
) -> PublicTree:
    """Betting from the start of a street on, with the actions played since; without a config, the game's sizes."""
    return subgame_tree(
        rules,
        street.start,
        {} if config is None else config.menus(street.start.street),
        raise_cap=None if config is None else config.raise_cap,
        played=street.actions,
        antes=game.posted_antes,
        rake=game.rake,
        rake_cap=game.rake_cap,
        node_limit=game.node_limit,
    )


def _trimmed(ranges: Ranges, cards: tuple[int, ...], complete: int | None) -> Ranges:
    """Ranges on a board, each with 1 as its largest weight, without hands that almost never get there.

    The seat `complete` keeps all hands: a safe solve protects against every one of them.
    """
    live = live_combos(np.array(cards, dtype=np.uint8))
    result = []
    for seat, weights in enumerate(ranges):
        here = np.where(live, np.asarray(weights, dtype=np.float64), 0.0)
        if not here.max() > 0.0:
            raise ValueError(f"range of seat {seat}: no hand gets there on {format_cards(list(cards))}")
        here = here / here.max()
        if seat == complete:
            result.append(np.where(live, np.maximum(here, LEAST_WEIGHT), 0.0))
        else:
            result.append(np.where(here >= LEAST_WEIGHT, here, 0.0))
    return result[0], result[1]


def decisions(tree: PublicTree, street: int) -> NDArray[np.int64]:
    """The decisions of a street."""
    return np.flatnonzero((tree.kind == NodeKind.DECISION) & (tree.street == street))
