"""A strategy table by history, ``<hole>|<board>|<street>|<history>``, read for one player, the hero.

A node is a board and a history at which the hero acts. Rows are found by node and combo, and each node knows
the hero's previous decision on the way to it. Keys that cannot be read are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations

from abstractions.cards import NUM_COMBOS, parse_cards, parse_combo
from solver.betting.lines import FLOP, PUBLIC_CARDS, STREET_LETTERS, Letter, format_line, parse_line

Strategy = Mapping[str, Sequence[float]]
Board = str | Sequence[str]

#: Groups of actions: bets and raises of every size count as one.
CHECK, CALL, RAISE, ALL_IN, FOLD = range(5)
#: Group of each token of a history, by its first letter. A fold ends the hand, so no history holds one.
_GROUP_OF_LETTER: dict[str, int] = {
    Letter.CHECK: CHECK,
    Letter.CALL: CALL,
    Letter.BET: RAISE,
    Letter.RAISE: RAISE,
    Letter.ALLIN: ALL_IN,
}
_BETS = (RAISE, ALL_IN)

#: Number of a combo from its cards in either order.
combo_number = lru_cache(maxsize=8 * NUM_COMBOS)(parse_combo)


def board_mask(board: Board) -> int:
    """Cards of a flop, turn or river as bits; any other number of cards is refused."""
    text = board if isinstance(board, str) else "".join(map(str, board))
    cards = parse_cards(text)
    if cards.size not in PUBLIC_CARDS[FLOP:]:
        raise ValueError(f"board {text!r} has {cards.size} cards: expected 3, 4 or 5")
    return _mask(cards.tolist())


def _mask(cards: Iterable[int]) -> int:
    return sum(1 << card for card in cards)


def _street(mask: int) -> int:
    return PUBLIC_CARDS.index(mask.bit_count())


@lru_cache(maxsize=1 << 16)
def _sub_boards(mask: int, size: int) -> tuple[int, ...]:
    """All choices of `size` cards from a board."""
    cards = [card for card in range(52) if mask >> card & 1]
    return tuple(map(_mask, combinations(cards, size)))


@dataclass(frozen=True)
class HistoryFacts:
    """What the text of a history says about the hero.

    Attributes
    ----------
    streets
        Finished streets in the history.
    hero_acts, facing_bet
        Whether the hero acts at its end, and whether there is a bet to answer.
    own_decisions
        Number of the hero's decisions on the way.
    last_history, streets_ago, last_group
        The last of these decisions: its history, how many streets ago it was, and the group of the action
        that the line took there.
    against_check, against_call
        Whether a hand that checks, or calls, at the last decision leaves the line.
    street_ended
        Whether the hero's last action left it nothing more to decide on that street. A line that reaches
        another decision there contradicts it.
    """

    streets: int
    hero_acts: bool
    facing_bet: bool
    own_decisions: int
    last_history: str = ""
    streets_ago: int = 0
    last_group: int = CHECK
    against_check: bool = False
    against_call: bool = False
    street_ended: bool = False


def read_history(history: str, hero_is_oop: bool) -> HistoryFacts | None:
    """What a history says, ``None`` if it cannot be read.

    >>> facts = read_history("xb50c/x", hero_is_oop=True)
    >>> facts.hero_acts, facts.own_decisions, facts.last_history, facts.streets_ago
    (False, 3, 'xb50c/', 0)
    """
    streets = _tokens_by_street(history)
    if streets is None:
        return None
    parity = 0 if hero_is_oop else 1
    own = [(s, i) for s, tokens in enumerate(streets) for i in range(parity, len(tokens), 2)]
    facts = HistoryFacts(
        streets=len(streets) - 1,
        hero_acts=len(streets[-1]) % 2 == parity,
        facing_bet=bool(streets[-1]) and _GROUP_OF_LETTER[streets[-1][-1][0]] in _BETS,
        own_decisions=len(own),
    )
    if not own:
        return facts
    street, position = own[-1]
    tokens = streets[street]
    token, before = tokens[position], tokens[:position]
    # A call ends the street, and so does a check behind a check. If the street goes on all the same, then
    # the line contradicts the hand that took this action.
    goes_on = position < len(tokens) - 1
    behind_check = token == Letter.CHECK and before[-1:] == [Letter.CHECK]
    closed = goes_on and (token == Letter.CALL or behind_check)
    return replace(
        facts,
        last_history=format_line([*streets[:street], before]),
        streets_ago=facts.streets - street,
        last_group=_GROUP_OF_LETTER[token[0]],
        against_check=token != Letter.CHECK or closed,
        against_call=token != Letter.CALL or closed,
        street_ended=closed or token == Letter.ALLIN,
    )


def _tokens_by_street(history: str) -> list[list[str]] | None:
    """Tokens of a history, ``None`` where it is none: another token, a fold, or a prefix."""
    try:
        streets = parse_line(history)
    except ValueError:
        return None
    readable = all(token[0] in _GROUP_OF_LETTER for tokens in streets for token in tokens)
    return streets if readable and format_line(streets) == history else None


@dataclass(frozen=True)
class Node:
    """A decision of the hero: the board's cards as bits, its street (1 flop .. 3 river), and the history."""

    mask: int
    street: int
    history: str
    facts: HistoryFacts


class HistoryTable:
    """The rows of the hero's decisions.

    With a target history only the decisions at it and on the way to it are kept.

    Attributes
    ----------
    nodes, node_at
        The hero's decisions, and the number of each by board and history.
    all_in_after
        Histories that some history of the table continues with an all-in.
    keys, node, combo, rows
        Key, node number, combo number and probabilities of each row.
    required, compared
        Whether a row must be known before its node is marked, and whether it counts in the node's reach.
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
        self._facts: dict[str, HistoryFacts | None] = {}
        self._boards: dict[str, int] = {}
        self._wanted = None if target is None else self._histories_to(target)
        self._note_all_ins(target or "")
        self._read(strategy)
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
        if not mask or street not in ("", STREET_LETTERS[_street(mask)]):
            return -1
        facts = self._read_history(history)
        return -1 if facts is None or not facts.hero_acts else self._node(mask, history, facts)

    def _node(self, mask: int, history: str, facts: HistoryFacts) -> int:
        """Number of a node, -1 if the history has more streets than the board."""
        street = _street(mask)
        if facts.streets > street - FLOP:
            return -1
        if (mask, history) not in self.node_at:
            self.node_at[mask, history] = len(self.nodes)
            self.nodes.append(Node(mask, street, history, facts))
        return self.node_at[mask, history]

    def _read_history(self, history: str) -> HistoryFacts | None:
        if history not in self._facts:
            self._facts[history] = read_history(history, self.hero_is_oop)
        return self._facts[history]

    def _histories_to(self, history: str) -> set[str]:
        """A history and those of the hero's decisions on the way to it."""
        histories = {history}
        facts = self._read_history(history)
        while facts is not None and facts.own_decisions:
            histories.add(facts.last_history)
            facts = self._read_history(facts.last_history)
        return histories

    def _note_all_ins(self, history: str) -> None:
        for position, letter in enumerate(history):
            if letter == Letter.ALLIN:
                self.all_in_after.add(history[:position])

    def locate(self, mask: int) -> int | None:
        """Node of the target history on a board, ``None`` where there can be none."""
        history = self.target_history or ""
        found = self.chosen(mask)
        if found:
            return next(iter(found))
        facts = self._read_history(history)
        node = -1 if facts is None else self._node(mask, history, facts)
        return None if node < 0 else node

    def chosen(self, mask: int | None) -> set[int]:
        """Nodes that a board stands for: of the target history, or of every history where there is none.

        Without a target the boards of earlier and later streets belong to it too. With one, a board that has
        run out further than the history stands for its first cards, if only one node fits.
        """
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
        """Nodes of the hero's previous decision.

        There is at most one on the same street. On an earlier street there may be one for each board that
        the node's board can have come from.
        """
        node = self.nodes[number]
        facts = node.facts
        size = PUBLIC_CARDS[node.street - facts.streets_ago]
        boards = _sub_boards(node.mask, size) if facts.streets_ago else (node.mask,)
        places = [(board, facts.last_history) for board in boards]
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
