"""Off-path combos after the flop: by combo, aware of the board and of the street.

Rows are keyed ``<hole>|<board>|<street>|<history>``, such as ``KcAh|2d5s7cKhAs|r|xb50``. A combo's reach at a
decision is its range weight times the probabilities of the hero's own actions on the way, split into those
of this street and those before it. Only what happened on this street makes a combo fold: a new card is a new
decision, so a combo that hardly ever got to this street keeps its strategy and is annotated `rarely_reached`.

Two things that keys do not say are settled here:

- Which entry of a row is the all-in. Where some history of the table goes on with ``A``, it is the last
  entry, and never counts as a bet or raise. Elsewhere every entry behind check or call is a size.
- In which order turn and river fell. A river row is reached over either; its reach up to the river is the
  mean over the turn boards that the table holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import COMBO_CARDS, NUM_COMBOS, parse_cards, parse_combo
from artifacts.offpath import (
    LOW_REACH,
    ON_PATH,
    RARELY_REACHED,
    REACH_FRACTION,
    REASON_ALL_IN,
    REASON_CALLED_CLOSED,
    REASON_CHECKED_CLOSED,
    REASON_FOLDED,
    REASON_LOW_REACH,
    REASON_LOW_REACH_SAME_STREET,
    REASON_RARELY_REACHED,
    REASONS,
    Bools,
    Codes,
    Floats,
    check_reach_rule,
    dominant_blocks,
    is_cleaned,
    low_reach,
    rule_reasons,
)

__all__ = [
    "REASON_ALL_IN",
    "REASON_CALLED_CLOSED",
    "REASON_CHECKED_CLOSED",
    "REASON_FOLDED",
    "REASON_LOW_REACH",
    "REASON_LOW_REACH_SAME_STREET",
    "REASON_RARELY_REACHED",
    "ByCombo",
    "clean_off_path",
    "low_reach",
    "mark_off_path",
    "mark_off_path_with_reason",
    "reasons_by_key",
]

T = TypeVar("T")
Strategy = Mapping[str, Sequence[float]]
Range = Mapping[str, float]
Board = str | Sequence[str]

_TOKEN = re.compile(r"x|c|[br]\d+|A")
_STREETS = "ftr"
_FLOP_CARDS = 3
_COMBO_MASKS = np.bitwise_or.reduce(np.uint64(1) << COMBO_CARDS.astype(np.uint64), axis=1)
_CHECK, _CALL, _RAISE, _ALL_IN, _FOLD = range(5)
_KIND_OF_TOKEN = {"x": _CHECK, "c": _CALL, "b": _RAISE, "r": _RAISE, "A": _ALL_IN}

_combo = lru_cache(maxsize=8 * NUM_COMBOS)(parse_combo)


class ByCombo(dict[str, T]):
    """Answers by combo, looked up by its two cards in either order.

    >>> ByCombo({"KcAh": "folded"})["AhKc"]
    'folded'
    """

    def __missing__(self, hole: str) -> T:
        other = hole[2:] + hole[:2]
        if not super().__contains__(other):
            raise KeyError(hole)
        return super().__getitem__(other)

    def __contains__(self, hole: object) -> bool:
        return super().__contains__(hole) or super().__contains__(str(hole)[2:] + str(hole)[:2])

    def get(self, hole: str, default: Any = None) -> Any:
        """Answer for a combo, `default` where there is none."""
        try:
            return self[hole]
        except KeyError:
            return default


def mark_off_path(
    per_history_strategy: Strategy | None,
    hero_range: Range | None,
    *,
    board: Board,
    history: str,
    hero_is_oop: bool = True,
    combos: Iterable[str] | None = None,
    reach_rule: str = "max",
) -> dict[str, bool]:
    """Whether each combo is off-path on this street, so that its row is cleaned.

    >>> table = {
    ...     "AcAd|2d5s7c|f|": [0.0, 1.0],
    ...     "3c4c|2d5s7c|f|": [1.0, 0.0],
    ...     "AcAd|2d5s7c|f|b50r150": [0.0, 1.0],
    ...     "3c4c|2d5s7c|f|b50r150": [0.6, 0.4],
    ... }
    >>> mark_off_path(table, {"AcAd": 1.0, "3c4c": 1.0}, board="2d5s7c", history="b50r150")
    {'AcAd': False, '3c4c': True}
    """
    reasons = mark_off_path_with_reason(
        per_history_strategy,
        hero_range,
        board=board,
        history=history,
        hero_is_oop=hero_is_oop,
        combos=combos,
        reach_rule=reach_rule,
    )
    return ByCombo({hole: is_cleaned(reason) for hole, reason in reasons.items()})


def mark_off_path_with_reason(
    per_history_strategy: Strategy | None,
    hero_range: Range | None,
    *,
    board: Board,
    history: str,
    hero_is_oop: bool = True,
    combos: Iterable[str] | None = None,
    reach_rule: str = "max",
) -> dict[str, str | None]:
    """Why each combo is off-path at a decision, ``None`` where it is in range.

    Parameters
    ----------
    per_history_strategy
        ``{"<hole>|<board>|<street>|<history>": [probabilities]}``, the cards of hole and board in any order.
    hero_range
        ``{combo: weight}``; combos left out weigh nothing, ``None`` is every combo alike.
    board, history
        The decision. A board that runs out further than the history stands for the part it has reached.
    hero_is_oop
        Whether the hero acts first on every street. Only its own decisions enter.
    combos
        Combos to answer for, by default those with a row at the decision and those of the range. Reach is
        compared with all the combos at the decision, whichever are asked for.
    reach_rule
        ``max``: below 0.5 % of the largest reach at the decision; ``total``: below 0.5 % of the sum.
        Under ``max`` more than 5 % of the largest reach is always in range.

    Returns
    -------
    dict
        A reason of this street (``folded``, ``all_in``, ``checked_closed``, ``called_closed``, or
        ``low_reach_same_street``, also of a combo that holds a board card or has no weight) or
        ``rarely_reached``. Where the history cannot be walked for one of the combos (a row on the way is
        missing, a token is unknown or not on offer) nothing is marked.
    """
    check_reach_rule(reach_rule)
    cards = _board_asked(board)
    weights = _weights(hero_range)
    table = _Table(per_history_strategy or {}, hero_is_oop, history)
    node = table.locate(cards)
    at_node = {} if node is None else table.holes_at(node)
    if combos is None:
        others = {_combo(hole): hole for hole in hero_range or ()}
        answers = {hole: combo for combo, hole in (others | at_node).items()}
    else:
        answers = {hole: _combo(hole) for hole in combos}
    if node is None:
        return ByCombo(dict.fromkeys(answers))
    absent = dict.fromkeys(combo for combo in answers.values() if combo not in at_node)
    table.add_unwritten(node, absent, required=combos is not None, compared=not at_node)
    codes = _reasons(table, weights, reach_rule)
    code_of = {combo: code for at, combo, code in zip(table.node, table.combo, codes) if at == node}
    return ByCombo({hole: REASONS[code_of[combo]] for hole, combo in answers.items()})


def reasons_by_key(
    per_history_strategy: Strategy,
    hero_range: Range | None,
    *,
    hero_is_oop: bool = True,
    reach_rule: str = "max",
) -> dict[str, str | None]:
    """Reason of every row that belongs to the hero, in one pass; rows that cannot be read are left out."""
    check_reach_rule(reach_rule)
    weights = _weights(hero_range)
    table = _Table(per_history_strategy, hero_is_oop)
    codes = _reasons(table, weights, reach_rule)
    return {key: REASONS[code] for key, code in zip(table.keys, codes)}


def clean_off_path(
    per_history_strategy: Strategy | None,
    hero_range: Range | None,
    *,
    board: Board | None = None,
    history: str | None = None,
    hero_is_oop: bool = True,
    combos: Iterable[str] | None = None,
    reach_rule: str = "max",
) -> dict[str, list[float]]:
    """A new table in which combos that are off-path on their street give up: entry 0 is 1, the rest 0.

    Parameters
    ----------
    board, history
        Clean this decision only. Without `history`: all decisions before, on and after the board; without
        both: the whole table.
    combos
        Clean the rows of these combos only.

    Returns
    -------
    dict
        Every row of the table, as a new list. The opponent's rows and `rarely_reached` ones are unchanged.
    """
    check_reach_rule(reach_rule)
    cards = None if board is None else _board_asked(board)
    weights = _weights(hero_range)
    asked = None if combos is None else {_combo(hole) for hole in combos}
    strategy = per_history_strategy or {}
    table = _Table(strategy, hero_is_oop, history)
    codes = _reasons(table, weights, reach_rule)
    chosen = table.chosen(cards)
    cleaned = {key: list(row) for key, row in strategy.items()}
    for key, node, combo, code in zip(table.keys, table.node, table.combo, codes):
        if code not in (ON_PATH, RARELY_REACHED) and node in chosen and (asked is None or combo in asked):
            cleaned[key] = [1.0] + [0.0] * (len(cleaned[key]) - 1)
    return cleaned


def _weights(hero_range: Range | None) -> Floats:
    if hero_range is None:
        return np.ones(NUM_COMBOS)
    weights = np.zeros(NUM_COMBOS)
    for hole, weight in hero_range.items():
        if not 0 <= weight < np.inf:
            raise ValueError(f"weight {weight} of {hole}: expected a number >= 0")
        weights[_combo(hole)] = weight
    return weights


def _board_asked(board: Board) -> int:
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
class _Spot:
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
    kind: int = _CHECK
    against_check: bool = False
    against_call: bool = False
    ends: bool = False


def _read_history(history: str, hero_is_oop: bool) -> _Spot | None:
    """The spot of a history, ``None`` if it holds an unknown token."""
    bodies = history.split("/")
    streets = [_TOKEN.findall(body) for body in bodies]
    if ["".join(tokens) for tokens in streets] != bodies:
        return None
    parity = 0 if hero_is_oop else 1
    own = [(s, i) for s, tokens in enumerate(streets) for i in range(parity, len(tokens), 2)]
    spot = _Spot(
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
    return _Spot(
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
class _Node:
    mask: int
    street: int
    history: str
    spot: _Spot


class _Table:
    """The rows of the hero's decisions, by node (board and history) and combo.

    With a target history only the decisions on the way to it, and those there, are kept.
    """

    def __init__(self, strategy: Strategy, hero_is_oop: bool, target: str | None = None) -> None:
        self.hero_is_oop = hero_is_oop
        self.target_history = target
        self.nodes: list[_Node] = []
        self.node_at: dict[tuple[int, str], int] = {}
        self.all_in_after: set[str] = set()
        self.keys: list[str] = []
        self.node: list[int] = []
        self.combo: list[int] = []
        self.rows: list[Sequence[float]] = []
        self._spots: dict[str, _Spot | None] = {}
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

    def _node(self, mask: int, history: str, spot: _Spot) -> int:
        street = mask.bit_count() - _FLOP_CARDS
        if spot.streets > street:
            return -1
        if (mask, history) not in self.node_at:
            self.node_at[mask, history] = len(self.nodes)
            self.nodes.append(_Node(mask, street, history, spot))
        return self.node_at[mask, history]

    def _spot(self, history: str) -> _Spot | None:
        if history not in self._spots:
            self._spots[history] = _read_history(history, self.hero_is_oop)
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
        return _combo(hole)
    except ValueError:
        return -1


def _readable_board(board: str) -> int:
    try:
        return _board_asked(board)
    except ValueError:
        return 0


@dataclass(frozen=True)
class _Shares:
    """Rows as arrays: probability and availability of each kind of action, ``[kind, row]``."""

    mass: Floats
    offered: Bools


def _shares(rows: Sequence[Sequence[float]], facing: Bools, all_in: Bools) -> _Shares:
    """Split rows ``[check, bets...]`` and ``[fold, call, raises...]``, the all-in last where there is one."""
    sizes = np.fromiter(map(len, rows), dtype=np.intp, count=len(rows))
    starts = np.cumsum(sizes) - sizes
    values = np.fromiter(chain.from_iterable(rows), dtype=np.float64, count=int(sizes.sum()))
    can_call = facing & (sizes > 1)
    all_in = all_in & (sizes > 1 + facing)
    ends = starts + sizes - 1
    mass = np.zeros((5, len(rows)))
    mass[_CHECK] = np.where(facing, 0.0, values[starts])
    mass[_FOLD] = np.where(facing, values[starts], 0.0)
    mass[_CALL, can_call] = values[starts[can_call] + 1]
    mass[_ALL_IN, all_in] = values[ends[all_in]]
    values[starts] = 0.0
    values[starts[can_call] + 1] = 0.0
    values[ends[all_in]] = 0.0
    mass[_RAISE] = np.add.reduceat(values, starts)
    offered = np.stack([~facing, can_call, sizes > 1 + facing + all_in, all_in, facing])
    return _Shares(mass, offered)


@dataclass(frozen=True)
class _Arrival:
    """How each row is got to: reach before its street and on it, the first block, and whether it is known."""

    to_street: Floats
    within: Floats
    block: Codes
    known: Bools


def _walk(table: _Table, node: NDArray[np.intp], combo: NDArray[np.intp], shares: _Shares) -> _Arrival:
    """Walk every line for every combo, from the hero's first decisions on.

    Rows are sorted by node and combo, so that a combo's row at an earlier node is found by bisection.
    """
    spots = [entry.spot for entry in table.nodes]
    depth = np.array([spot.depth for spot in spots])
    kind = np.array([spot.kind for spot in spots])
    against_check = np.array([spot.against_check for spot in spots])
    against_call = np.array([spot.against_call for spot in spots])
    ends = np.array([spot.ends for spot in spots])
    crosses = np.array([spot.back > 0 for spot in spots])
    code = node * NUM_COMBOS + combo
    first_row = np.searchsorted(node, np.arange(len(spots) + 1))
    count = len(node)
    start = depth[node] == 0
    to_street, within, block, known = np.ones(count), np.ones(count), np.zeros(count, np.int8), start
    for level in range(1, int(depth.max(initial=0)) + 1):
        edges = [(n, p) for n in np.flatnonzero(depth == level).tolist() for p in _parents(table, n)]
        if not edges:
            continue
        child_node, parent_node = np.array(edges).T
        lengths = first_row[child_node + 1] - first_row[child_node]
        edge = np.repeat(np.arange(len(edges)), lengths)
        row = np.arange(len(edge)) + np.repeat(first_row[child_node] - np.cumsum(lengths) + lengths, lengths)
        wanted = parent_node[edge] * NUM_COMBOS + combo[row]
        parent = np.minimum(np.searchsorted(code, wanted), count - 1)
        here = node[row]
        found = (code[parent] == wanted) & shares.offered[kind[here], parent] & known[parent]
        row, parent, here = row[found], parent[found], here[found]
        played = shares.mass[kind[here], parent]
        blocked = dominant_blocks(
            shares.mass[_FOLD, parent],
            shares.mass[_ALL_IN, parent],
            shares.mass[_CHECK, parent],
            shares.mass[_CALL, parent],
            against_check=against_check[here],
            against_call=against_call[here],
        )
        played = np.where(ends[here] & (blocked != ON_PATH), 0.0, played)
        known[row] = True
        same = ~crosses[here]
        within[row[same]] = within[parent[same]] * played[same]
        to_street[row[same]] = to_street[parent[same]]
        block[row[same]] = np.where(block[parent] != ON_PATH, block[parent], blocked)[same]
        arrived = to_street[parent] * within[parent] * played
        ways = np.bincount(row[~same], minlength=count)
        total = np.bincount(row[~same], weights=arrived[~same], minlength=count)
        to_street[ways > 0] = total[ways > 0] / ways[ways > 0]
    return _Arrival(to_street, within, block, known)


def _parents(table: _Table, number: int) -> list[int]:
    """Nodes of the hero's previous decision: one on this street, one per possible board on an earlier one."""
    node = table.nodes[number]
    size = _FLOP_CARDS + node.street - node.spot.back
    boards = _sub_boards(node.mask, size) if node.spot.back else (node.mask,)
    places = [(board, node.spot.origin) for board in boards]
    return [table.node_at[place] for place in places if place in table.node_at]


def _reasons(table: _Table, weights: Floats, rule: str) -> list[int]:
    """Code of the reason of every row of the table, in its order."""
    if not table.rows:
        return []
    order = np.lexsort((table.combo, table.node))
    node = np.array(table.node)[order]
    combo = np.array(table.combo)[order]
    facing = np.array([entry.spot.facing_bet for entry in table.nodes])[node]
    all_in = np.array([entry.history in table.all_in_after for entry in table.nodes])[node]
    shares = _shares([table.rows[i] for i in order], facing, all_in)
    arrival = _walk(table, node, combo, shares)

    masks = np.array([entry.mask for entry in table.nodes], dtype=np.uint64)
    live = (_COMBO_MASKS[combo] & masks[node]) == 0
    weight = weights[combo]
    before = np.where(live & arrival.known, weight * arrival.to_street, 0.0)
    reach = before * arrival.within
    compared = np.array(table.compared)[order]
    reference = _by_node(reach * compared, node, "sum" if rule == "total" else "max")
    block = np.where(live, arrival.block, ON_PATH)
    codes = rule_reasons(block, reach, reference, rule)

    # Low reach is this street's doing if play on it alone is low, or is the smaller of the two factors.
    in_range = live & (weight > 0)
    within_share = arrival.within / _by_node(arrival.within * (compared & in_range), node, "max")
    before_share = before / _by_node(before * compared, node, "max")
    earlier = in_range & (within_share >= REACH_FRACTION) & (within_share >= before_share)
    codes[(codes == LOW_REACH) & earlier] = RARELY_REACHED

    unknown = live & ~arrival.known
    incomplete = np.bincount(node, weights=unknown & np.array(table.required)[order]) > 0
    codes[unknown | incomplete[node]] = ON_PATH
    result = np.empty_like(codes)
    result[order] = codes
    return result.tolist()


def _by_node(values: Floats, node: NDArray[np.intp], how: str) -> Floats:
    """Largest or summed value of each row's node, at least the smallest positive number."""
    per_node = np.zeros(int(node[-1]) + 1)
    (np.add if how == "sum" else np.maximum).at(per_node, node, values)
    return np.maximum(per_node, np.finfo(np.float64).tiny)[node]
