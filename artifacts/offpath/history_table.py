"""A strategy table by history, ``<hole>|<board>|<street>|<history>``, read for one player.

Rows are found by node (a board and a history) and combo, and each node knows the player's previous decision on
the way to it. What cannot be read is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from abstractions.cards import NUM_COMBOS, parse_cards, parse_combo

Strategy = Mapping[str, Sequence[float]]
Board = str | Sequence[str]

#: Kinds of actions.
CHECK, CALL, RAISE, ALL_IN, FOLD = range(5)

_TOKEN = re.compile(r"x|c|[br]\d+|A")
_STREETS = "ftr"
_FLOP_CARDS = 3
_KIND_OF_TOKEN = {"x": CHECK, "c": CALL, "b": RAISE, "r": RAISE, "A": ALL_IN}

#: Number of a combo from its cards in either order.
combo_number = lru_cache(maxsize=8 * NUM_COMBOS)(parse_combo)


def board_mask(board: Board) -> int:
    """Cards of a flop, turn or river as bits; any other number of cards is refused."""
    text = board if isinstance(board, str) else "".join(map(str, board))
    cards = parse_cards(text)
    if not _FLOP_CARDS <= cards.size < _FLOP_CARDS + len(_STREETS):
        raise ValueError(f"board {text!r} has {cards.size} cards: expected 3, 4 or 5")
    return _mask(cards.tolist())


def _mask(cards: Iterable[int]) -> int:
    return sum(1 << card for card in cards)


@lru_cache(maxsize=1 << 16)
def _sub_boards(mask: int, size: int) -> tuple[int, ...]:
    """Boards of `size` cards within a board."""
    cards = [card for card in range(52) if mask >> card & 1]
    return tuple(map(_mask, combinations(cards, size)))


@dataclass(frozen=True)
class Spot:
    """What a history says by itself.

    Attributes
    ----------
    streets
        Earlier streets in the history.
    depth
        Decisions of the hero on the way.
    origin, back, kind
        The last of them: its history, how many streets ago it was, and the kind of action the line took.
    against_check, against_call
        Whether the line contradicts a check or a call there.
    ends
        Whether the action taken leaves nothing to decide on that street, and yet the street goes on.
    """

    streets: int
    hero_acts: bool
    facing_bet: bool
    depth: int
    origin: str = ""
    back: int = 0
    kind: int = CHECK
    against_check: bool = False
    against_call: bool = False
    ends: bool = False


def read_history(history: str, hero_is_oop: bool) -> Spot | None:
    """The spot of a history, ``None`` if it holds an unknown token."""
    bodies = history.split("/")
    streets = [_TOKEN.findall(body) for body in bodies]
    if ["".join(tokens) for tokens in streets] != bodies:
        return None
    parity = 0 if hero_is_oop else 1
    own = [(s, i) for s, tokens in enumerate(streets) for i in range(parity, len(tokens), 2)]
    spot = Spot(
        streets=len(streets) - 1,
        hero_acts=len(streets[-1]) % 2 == parity,
        facing_bet=_is_facing_bet(streets[-1]),
        depth=len(own),
    )
    if not own:
        return spot
    street, position = own[-1]
    tokens = streets[street]
    token, before = tokens[position], tokens[:position]
    # A call, and a check behind a check, end the street; so does an all-in for the hero. A street that
    # goes on all the same contradicts the hand that took it.
    goes_on = position < len(tokens) - 1
    closed = goes_on and (token == "c" or (token == "x" and before[-1:] == ["x"]))
    return Spot(
        streets=spot.streets,
        hero_acts=spot.hero_acts,
        facing_bet=spot.facing_bet,
        depth=spot.depth,
        origin="/".join([*bodies[:street], "".join(before)]),
        back=spot.streets - street,
        kind=_KIND_OF_TOKEN[token[0]],
        against_check=token != "x" or closed,
        against_call=token != "c" or closed,
        ends=closed or token == "A",
    )


def _is_facing_bet(tokens: Sequence[str]) -> bool:
    return bool(tokens) and tokens[-1][0] in "brA"


@dataclass(frozen=True)
class Node:
    """A decision: the board's cards as bits, its street (0 flop .. 2 river), and the history."""

    mask: int
    street: int
    history: str
    spot: Spot


class HistoryTable:
    """The rows of the hero's decisions, by node (board and history) and combo.

    With a target history only the decisions on the way to it, and those there, are kept.
    """

    def __init__(self, strategy: Strategy, hero_is_oop: bool, target: str | None = None) -> None:
        self.hero_is_oop = hero_is_oop
        self.target_history = target
        self.nodes: list[Node] = []
        self.node_at: dict[tuple[int, str], int] = {}
        self.all_in_after: set[str] = set()
        self.keys: list[str] = []
        self.node: list[int] = []
        self.combo: list[int] = []
        self.rows: list[Sequence[float]] = []
        self._spots: dict[str, Spot | None] = {}
        self._boards: dict[str, int] = {}
        self._wanted = None if target is None else self._histories_to(target)
        self._note_all_ins(target or "")
        self._read(strategy)
        #: Rows that must be known for their node to be marked, and rows that count in its reach.
        self.required = [True] * len(self.rows)
        self.compared = [True] * len(self.rows)

    def _read(self, strategy: Strategy) -> None:
        nodes: dict[str, int] = {}
        combos: dict[str, int] = {}
        for key, row in strategy.items():
            hole, _, rest = key.partition("|")
            node = nodes.get(rest)
            if node is None:
                node = nodes[rest] = self._read_node(rest)
            if node < 0:
                continue
            combo = combos.get(hole)
            if combo is None:
                combo = combos[hole] = _readable_combo(hole)
            if combo >= 0 and len(row):
                self.keys.append(key)
                self.node.append(node)
                self.combo.append(combo)
                self.rows.append(row)

    def _read_node(self, text: str) -> int:
        """Node of ``<board>|<street>|<history>``, -1 if it is unreadable, the opponent's or not wanted."""
        fields = text.split("|")
        if len(fields) != 3:
            return -1
        board, street, history = fields
        self._note_all_ins(history)
        if self._wanted is not None and history not in self._wanted:
            return -1
        mask = self._boards.get(board)
        if mask is None:
            mask = self._boards[board] = _readable_board(board)
        if not mask or street not in ("", _STREETS[mask.bit_count() - _FLOP_CARDS]):
            return -1
        spot = self._spot(history)
        return -1 if spot is None or not spot.hero_acts else self._node(mask, history, spot)

    def _node(self, mask: int, history: str, spot: Spot) -> int:
        street = mask.bit_count() - _FLOP_CARDS
        if spot.streets > street:
            return -1
        if (mask, history) not in self.node_at:
            self.node_at[mask, history] = len(self.nodes)
            self.nodes.append(Node(mask, street, history, spot))
        return self.node_at[mask, history]

    def _spot(self, history: str) -> Spot | None:
        if history not in self._spots:
            self._spots[history] = read_history(history, self.hero_is_oop)
        return self._spots[history]

    def _histories_to(self, history: str) -> set[str]:
        histories = {history}
        spot = self._spot(history)
        while spot is not None and spot.depth:
            histories.add(spot.origin)
            spot = self._spot(spot.origin)
        return histories

    def _note_all_ins(self, history: str) -> None:
        if "A" in history:
            self.all_in_after.update(history[: match.start()] for match in re.finditer("A", history))

    def locate(self, mask: int) -> int | None:
        """Node of the target history on a board, ``None`` where there can be none."""
        history = self.target_history or ""
        found = self.chosen(mask)
        if found:
            return next(iter(found))
        spot = self._spot(history)
        node = -1 if spot is None else self._node(mask, history, spot)
        return None if node < 0 else node

    def chosen(self, mask: int | None) -> set[int]:
        """Nodes of the target history, or of all, that a board stands for."""
        history = self.target_history
        there = {
            number: node.mask
            for number, node in enumerate(self.nodes)
            if history is None or node.history == history
        }
        if mask is None:
            return set(there)
        if history is None:
            return {number for number, own in there.items() if own & mask in (own, mask)}
        exact = {number for number, own in there.items() if own == mask}
        within = {number for number, own in there.items() if own & mask == own}
        return exact or (within if len(within) == 1 else set())

    def holes_at(self, node: int) -> dict[int, str]:
        """Combos with a row at a node, and how the table writes them."""
        return {
            combo: key.partition("|")[0]
            for key, at, combo in zip(self.keys, self.node, self.combo)
            if at == node
        }

    def parents(self, number: int) -> list[int]:
        """Nodes of the hero's previous decision: one on this street, one per possible board on an earlier one."""
        node = self.nodes[number]
        size = _FLOP_CARDS + node.street - node.spot.back
        boards = _sub_boards(node.mask, size) if node.spot.back else (node.mask,)
        places = [(board, node.spot.origin) for board in boards]
        return [self.node_at[place] for place in places if place in self.node_at]

    def add_unwritten(self, node: int, combos: Iterable[int], *, required: bool, compared: bool) -> None:
        """Add combos without a row at a node, to learn how they would get there."""
        for combo in combos:
            self.keys.append("")
            self.node.append(node)
            self.combo.append(combo)
            self.rows.append((1.0,))
            self.required.append(required)
            self.compared.append(compared)


def _readable_combo(hole: str) -> int:
    try:
        return combo_number(hole)
    except ValueError:
        return -1


def _readable_board(board: str) -> int:
    try:
        return board_mask(board)
    except ValueError:
        return 0
