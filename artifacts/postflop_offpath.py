"""Off-path combos after the flop: by combo, aware of the board and of the street.

Rows are keyed ``<hole>|<board>|<street>|<history>``, such as ``KcAh|2d5s7cKhAs|r|xb50``. A combo's reach at a
decision is its range weight times the probabilities of the hero's own actions on the way. The actions of this
street and those before it are kept apart, because only this street's can make a combo fold: a new card is a new
decision. A combo that hardly ever got to this street keeps its strategy and is annotated `rarely_reached`.

Two things that keys do not say are settled here:

- Which entry of a row is the all-in. Where some history of the table goes on with ``A``, it is the last
  entry, and never counts as a bet or raise. Elsewhere every entry after check or call is a bet or raise.
- In which order turn and river were dealt. A river row can come from either turn; its reach up to the river
  is the mean over the turn boards that the table holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import COMBO_CARDS, NUM_COMBOS
from artifacts.offpath.history_table import (
    ALL_IN,
    CALL,
    CHECK,
    FOLD,
    RAISE,
    Board,
    HistoryTable,
    Strategy,
    board_mask,
    combo_number,
)
from artifacts.offpath.marks import (
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
Range = Mapping[str, float]

_COMBO_MASKS = np.bitwise_or.reduce(np.uint64(1) << COMBO_CARDS.astype(np.uint64), axis=1)


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
    cards = board_mask(board)
    weights = _weights(hero_range)
    table = HistoryTable(per_history_strategy or {}, hero_is_oop, history)
    node = table.locate(cards)
    at_node = {} if node is None else table.holes_at(node)
    if combos is None:
        others = {combo_number(hole): hole for hole in hero_range or ()}
        answers = {hole: combo for combo, hole in (others | at_node).items()}
    else:
        answers = {hole: combo_number(hole) for hole in combos}
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
    table = HistoryTable(per_history_strategy, hero_is_oop)
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
    cards = None if board is None else board_mask(board)
    weights = _weights(hero_range)
    asked = None if combos is None else {combo_number(hole) for hole in combos}
    strategy = per_history_strategy or {}
    table = HistoryTable(strategy, hero_is_oop, history)
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
        weights[combo_number(hole)] = weight
    return weights


@dataclass(frozen=True)
class _Shares:
    """Rows as arrays ``[group, row]``: probability of each group of actions, and whether it is on offer."""

    probability: Floats
    offered: Bools


def _shares(rows: Sequence[Sequence[float]], facing: Bools, all_in: Bools) -> _Shares:
    """Split rows ``[check, bets...]`` and ``[fold, call, raises...]``, the all-in last where there is one."""
    sizes = np.fromiter(map(len, rows), dtype=np.intp, count=len(rows))
    starts = np.cumsum(sizes) - sizes
    values = np.fromiter(chain.from_iterable(rows), dtype=np.float64, count=int(sizes.sum()))
    can_call = facing & (sizes > 1)
    all_in = all_in & (sizes > 1 + facing)
    ends = starts + sizes - 1
    probability = np.zeros((5, len(rows)))
    probability[CHECK] = np.where(facing, 0.0, values[starts])
    probability[FOLD] = np.where(facing, values[starts], 0.0)
    probability[CALL, can_call] = values[starts[can_call] + 1]
    probability[ALL_IN, all_in] = values[ends[all_in]]
    values[starts] = 0.0
    values[starts[can_call] + 1] = 0.0
    values[ends[all_in]] = 0.0
    probability[RAISE] = np.add.reduceat(values, starts)
    offered = np.stack([~facing, can_call, sizes > 1 + facing + all_in, all_in, facing])
    return _Shares(probability, offered)


@dataclass(frozen=True)
class _Arrival:
    """How each row is reached.

    Attributes
    ----------
    to_street, within
        Probability of the hero's own actions before the row's street, and on it.
    block
        Reason of the first decision on the street that takes the combo off the line.
    known
        Whether the table holds every row on the way.
    """

    to_street: Floats
    within: Floats
    block: Codes
    known: Bools


def _walk(table: HistoryTable, node: NDArray[np.intp], combo: NDArray[np.intp], shares: _Shares) -> _Arrival:
    """Walk every line for every combo, from the hero's first decisions on.

    Rows are sorted by node and combo, so that a combo's row at an earlier node is found by bisection.
    """
    facts = [entry.facts for entry in table.nodes]
    own_decisions = np.array([fact.own_decisions for fact in facts])
    last_group = np.array([fact.last_group for fact in facts])
    against_check = np.array([fact.against_check for fact in facts])
    against_call = np.array([fact.against_call for fact in facts])
    street_ended = np.array([fact.street_ended for fact in facts])
    from_earlier_street = np.array([fact.streets_ago > 0 for fact in facts])
    code = node * NUM_COMBOS + combo
    first_row = np.searchsorted(node, np.arange(len(facts) + 1))
    count = len(node)
    start = own_decisions[node] == 0
    to_street, within, block, known = np.ones(count), np.ones(count), np.zeros(count, np.int8), start
    for level in range(1, int(own_decisions.max(initial=0)) + 1):
        edges = [(n, p) for n in np.flatnonzero(own_decisions == level).tolist() for p in table.parents(n)]
        if not edges:
            continue
        child_node, parent_node = np.array(edges).T
        lengths = first_row[child_node + 1] - first_row[child_node]
        edge = np.repeat(np.arange(len(edges)), lengths)
        row = np.arange(len(edge)) + np.repeat(first_row[child_node] - np.cumsum(lengths) + lengths, lengths)
        wanted = parent_node[edge] * NUM_COMBOS + combo[row]
        parent = np.minimum(np.searchsorted(code, wanted), count - 1)
        here = node[row]
        found = (code[parent] == wanted) & shares.offered[last_group[here], parent] & known[parent]
        row, parent, here = row[found], parent[found], here[found]
        played = shares.probability[last_group[here], parent]
        blocked = dominant_blocks(
            shares.probability[FOLD, parent],
            shares.probability[ALL_IN, parent],
            shares.probability[CHECK, parent],
            shares.probability[CALL, parent],
            against_check=against_check[here],
            against_call=against_call[here],
        )
        played = np.where(street_ended[here] & (blocked != ON_PATH), 0.0, played)
        known[row] = True
        same = ~from_earlier_street[here]
        within[row[same]] = within[parent[same]] * played[same]
        to_street[row[same]] = to_street[parent[same]]
        block[row[same]] = np.where(block[parent] != ON_PATH, block[parent], blocked)[same]
        arrived = to_street[parent] * within[parent] * played
        ways = np.bincount(row[~same], minlength=count)
        total = np.bincount(row[~same], weights=arrived[~same], minlength=count)
        to_street[ways > 0] = total[ways > 0] / ways[ways > 0]
    return _Arrival(to_street, within, block, known)


def _reasons(table: HistoryTable, weights: Floats, rule: str) -> list[int]:
    """Code of the reason of every row of the table, in its order."""
    if not table.rows:
        return []
    order = np.lexsort((table.combo, table.node))
    node = np.array(table.node)[order]
    combo = np.array(table.combo)[order]
    facing = np.array([entry.facts.facing_bet for entry in table.nodes])[node]
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
