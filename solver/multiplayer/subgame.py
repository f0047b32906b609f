"""The subgame of the current street of a hand with any number of players left: its tree, its board and all ranges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import format_cards, live_combos
from solver.betting.game import GameConfig
from solver.betting.lines import RIVER, seat_names, split_street, without_prefix
from solver.betting.played_lines import PlayedStreet, play_line
from solver.betting.public_tree import NodeKind, PublicTree
from solver.betting.rules import Action, BettingRules, num_live
from solver.betting.tree import game_start, state_at, subgame_tree
from solver.multiplayer.blueprint import MultiwayBlueprint
from solver.multiplayer.config import MultiplayerConfig
from solver.multiplayer.later_lines import Place
from solver.multiplayer.readings import Reading, ReadLines
from solver.postflop.holdem import read_board
from solver.subgame.subgame import LEAST_WEIGHT, check_public_cards, entered_line
from solver.subgame.translation import state_choice

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PlayedHand:
    """A hand so far, by the rules of the game, with the range of every seat.

    Attributes
    ----------
    line, board
        The hand, the actions of the current street included, and the public cards.
    streets
        The hand street by street.
    ranges
        Weight of each combo of each seat at the start of the current street, [1326] each, the largest 1. A seat that
        has folded has the range that it folded.
    readings
        What the blueprint takes the start of the street for.
    """

    line: str
    board: tuple[int, ...]
    game: GameConfig
    rules: BettingRules
    streets: tuple[PlayedStreet, ...]
    ranges: tuple[Floats, ...]
    readings: tuple[Reading, ...]

    @classmethod
    def play(
        cls,
        blueprint: MultiwayBlueprint,
        line: str,
        board: str | Sequence[int] | NDArray[np.integer],
        ranges: Sequence[Floats] | None = None,
    ) -> PlayedHand:
        """Play a line with any legal sizes; `ranges` by seat replace what the blueprint leaves of all hands.

        Raises
        ------
        ValueError
            If the line cannot be played, the board does not fit it, or a range is empty.
        """
        game = blueprint.game
        rules, start = game_start(game)
        cards = read_board(board)
        line = entered_line(rules, start, without_prefix(line), len(cards))
        streets = tuple(play_line(rules, start, line))
        check_public_cards(line, cards)
        if streets[-1].state.actor < 0:
            raise ValueError(f"line {line!r}: nobody acts there")
        public = np.array(cards, dtype=np.uint8)
        lines = ReadLines(blueprint, rules)
        found, here = lines.ranges(streets[:-1], public)
        weights = _trimmed(found if ranges is None else ranges, public, seat_names(game.num_seats))
        now = streets[-1].start.street
        return cls(line, cards, game, rules, streets, weights, lines.deal(here, now))

    @property
    def players(self) -> tuple[int, ...]:
        """Seats still in at the start of the street, in order of action."""
        start = self.streets[-1].start
        return tuple(seat for seat in self.rules.order[start.street] if not start.folded >> seat & 1)

    @property
    def street(self) -> int:
        """The current street, 1 flop .. 3 river."""
        return self.streets[-1].start.street

    @property
    def root_line(self) -> str:
        """The line up to the start of the current street."""
        return split_street(self.line)[0]


@dataclass(frozen=True, eq=False)
class MultiplayerSubgame:
    """The current street of a hand.

    Attributes
    ----------
    hand
        The hand, with all ranges at the root.
    tree
        Betting of the street with all seats. It holds the actions played since its start.
    places
        Where the blueprint goes on behind each line that ends the street, by node; None: it is checked down.
    """

    hand: PlayedHand
    tree: PublicTree
    places: dict[int, Place | None]

    @classmethod
    def build(
        cls, blueprint: MultiwayBlueprint, hand: PlayedHand, config: MultiplayerConfig
    ) -> MultiplayerSubgame:
        """The subgame of a hand."""
        street, game = hand.streets[-1], hand.game
        tree = subgame_tree(
            hand.rules,
            street.start,
            {hand.street: config.menu},
            hand.street,
            raise_cap=config.raise_cap,
            played=street.actions,
            antes=game.posted_antes,
            rake=game.rake,
            rake_cap=game.rake_cap,
            node_limit=game.node_limit,
        )
        return cls(hand, tree, _places(blueprint, hand, tree))

    @property
    def seats(self) -> int:
        """Seats of the table."""
        return self.tree.num_seats

    @property
    def pot(self) -> int:
        """Chips in the middle at the root."""
        return int(self.tree.pot[0])

    @cached_property
    def leaves(self) -> NDArray[np.int64]:
        """Nodes where the street ends and the hand goes on."""
        return np.flatnonzero(self.tree.kind == NodeKind.CHANCE)

    @cached_property
    def acts(self) -> NDArray[np.bool_]:
        """Whether each seat has a decision on the street or may choose how to go on behind it."""
        stacks = np.array(self.hand.rules.stacks) + np.array(self.tree.antes)
        has_chips = stacks > self.tree.committed[0]
        return has_chips & (self.tree.folded[0] == 0)

    @property
    def node(self) -> int:
        """Where the line ends."""
        return self.node_at(self.hand.line)

    def node_at(self, line: str) -> int:
        """Node of a line of the hand that goes through the root.

        Raises
        ------
        ValueError
            If the line does not go through the root, or takes an action that the tree does not have.
        """
        hand, tree, text = self.hand, self.tree, without_prefix(line)
        if not text.startswith(hand.root_line):
            raise ValueError(
                f"line {line!r} does not begin with {hand.root_line!r}, where the subgame starts"
            )
        streets = play_line(hand.rules, hand.streets[0].start, text)
        if len(streets) > len(hand.streets):
            raise ValueError(f"line {line!r} leaves the street that is solved")
        node = 0
        for taken in streets[-1].actions:
            children = tree.children_of(node).tolist()
            found = [k for k in children if (int(tree.action[k]), int(tree.amount[k])) == taken]
            if not found:
                offered = " ".join(tree.token(child) for child in children)
                raise ValueError(
                    f"line {line!r} leaves the subgame at {tree.line(node)!r}; accepted: {offered}"
                )
            node = found[0]
        return node


def _places(blueprint: MultiwayBlueprint, hand: PlayedHand, tree: PublicTree) -> dict[int, Place | None]:
    """What the blueprint takes each end of the street for: its most likely reading."""
    lines = ReadLines(blueprint, hand.rules)
    start = hand.streets[-1].start
    here: dict[int, tuple[Reading, ...]] = {0: hand.readings}
    places: dict[int, Place | None] = {}
    for node in range(len(tree)):
        children = tree.children_of(node).tolist()
        if tree.kind[node] == NodeKind.CHANCE and hand.street < RIVER:
            live = frozenset(np.flatnonzero(tree.folded[node] == 0).tolist())
            places[node] = _likeliest(lines, here[node], hand.street + 1, live)
        if not children:
            continue
        state = state_at(hand.rules, start, tree, node)
        for child in children:
            choice = state_choice(hand.rules, state, Action(int(tree.action[child])), int(tree.amount[child]))
            here[child] = lines.follow(here[node], state, choice)
    return places


def _likeliest(lines: ReadLines, here: Sequence[Reading], street: int, live: frozenset[int]) -> Place | None:
    """The most likely place on the next street where the same seats are in; None where there is none."""
    later = lines.later
    for reading in sorted(lines.deal(here, street), key=lambda reading: -reading.weight):
        place = reading.place
        if place is None or later.is_end(place) or later.street(place) != street:
            continue
        if later.live(place) == live:
            return place
    return None


def _trimmed(ranges: Sequence[Floats], board: NDArray[np.uint8], names: Sequence[str]) -> tuple[Floats, ...]:
    """Ranges on a board, each with 1 as its largest weight, without hands that almost never get there."""
    live = live_combos(board)
    result = []
    for name, weights in zip(names, ranges):
        here = np.where(live, np.asarray(weights, dtype=np.float64), 0.0)
        if not here.max() > 0.0:
            raise ValueError(f"range of {name}: no hand gets there on {format_cards(board)}")
        here = here / here.max()
        result.append(np.where(here >= LEAST_WEIGHT, here, 0.0))
    return tuple(result)


def players_left(hand: PlayedHand) -> int:
    """How many players are still in at the end of the line."""
    return num_live(hand.streets[-1].state)
