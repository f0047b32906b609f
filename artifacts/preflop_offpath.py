"""Off-path hands before the flop: which rows of a strategy table belong to hands that never get there.

A hand's reach at a line such as ``||p|b200r400r1000`` is the product of the probabilities that the player to
act there gives to its own actions on the way. Bets and raises of all sizes count as one action. Marks always
come from the table as solved, and the table is never changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from artifacts.offpath.marks import (
    ON_PATH,
    REASON_ALL_IN,
    REASON_CALLED_CLOSED,
    REASON_CHECKED_CLOSED,
    REASON_FOLDED,
    REASON_LOW_REACH,
    REASON_LOW_REACH_SAME_STREET,
    REASONS,
    Bools,
    Codes,
    Floats,
    check_reach_rule,
    dominant_blocks,
    low_reach,
    rule_reasons,
)
from solver.betting.lines import PREFLOP_PREFIX, Letter, format_line, tokens, with_prefix

__all__ = [
    "REASON_ALL_IN",
    "REASON_CALLED_CLOSED",
    "REASON_CHECKED_CLOSED",
    "REASON_FOLDED",
    "REASON_LOW_REACH",
    "REASON_LOW_REACH_SAME_STREET",
    "clean_off_path",
    "low_reach",
    "mark_off_path",
    "mark_off_path_with_reason",
    "reasons_by_line",
    "strategy_table",
]

Row = Mapping[str, float]
ByLine = Mapping[str, Mapping[str, Row]]
Table = dict[str, dict[str, dict[str, float]]]

#: Tokens behind which nobody acts before the flop, with two seats.
_ENDING = {Letter.FOLD, Letter.CHECK, Letter.DEAL}
_RAISES = ("open_", "raise_")
_GROUPS = ("fold", "check", "call", "all_in", "raises")


def mark_off_path(
    by_line: ByLine | None,
    line: str,
    hand_classes: Iterable[str] | None = None,
    *,
    reach_rule: str = "max",
) -> dict[str, bool]:
    """Whether each hand is off-path at a line.

    >>> table = {
    ...     "||p|": {"AA": {"fold": 0.0, "open_200": 1.0}, "72o": {"fold": 1.0, "open_200": 0.0}},
    ...     "||p|b200r600": {"AA": {"fold": 0.0, "call": 1.0}, "72o": {"fold": 0.5, "call": 0.5}},
    ... }
    >>> mark_off_path(table, "||p|b200r600")
    {'AA': False, '72o': True}
    """
    reasons = mark_off_path_with_reason(by_line, line, hand_classes, reach_rule=reach_rule)
    return {hand: reason is not None for hand, reason in reasons.items()}


def mark_off_path_with_reason(
    by_line: ByLine | None,
    line: str,
    hand_classes: Iterable[str] | None = None,
    *,
    reach_rule: str = "max",
) -> dict[str, str | None]:
    """Why each hand is off-path at a line, ``None`` where it is in range.

    Parameters
    ----------
    by_line
        ``{line: {hand: {label: probability}}}``.
    hand_classes
        Hands to answer for, those with a row at the line by default. Reach is compared with all the hands at
        the line, whichever are asked for.
    reach_rule
        ``max``: below 0.5 % of the largest reach at the line; ``total``: below 0.5 % of the sum.
        Under ``max`` more than 5 % of the largest reach is always in range.

    Returns
    -------
    dict
        ``folded``, ``all_in``, ``checked_closed``, ``called_closed`` (the reason of the earliest such
        decision) or ``low_reach_same_street``. Where the line cannot be walked for one of the hands (a
        decision or a row on the way is missing, a token is unknown or not on offer) nothing is marked.
    """
    check_reach_rule(reach_rule)
    table = by_line or {}
    node = table.get(line, {})
    asked = list(node) if hand_classes is None else list(hand_classes)
    walk = _Walk(table, chain(node, asked))
    codes = walk.reasons(line, reach_rule, compared=node or asked, required=walk.hands)
    reasons = dict(zip(walk.hands, codes))
    return {hand: REASONS[reasons[hand]] for hand in asked}


def reasons_by_line(by_line: ByLine, *, reach_rule: str = "max") -> dict[str, dict[str, str | None]]:
    """`mark_off_path_with_reason` of every line, in one pass."""
    check_reach_rule(reach_rule)
    walk = _Walk(by_line)
    return {
        line: {hand: REASONS[code] for hand, code in zip(node, walk.node_reasons(line, reach_rule))}
        for line, node in by_line.items()
    }


def clean_off_path(by_line: ByLine | None, line: str | None = None, *, reach_rule: str = "max") -> Table:
    """A new table in which off-path hands fold.

    Parameters
    ----------
    line
        Clean this line only; every line by default.

    Returns
    -------
    dict
        Rows keep their labels: ``fold`` becomes 1 and the others 0 (``check`` where a row has no ``fold``).
        All other rows are copies.
    """
    check_reach_rule(reach_rule)
    table: Table = {}
    if not by_line:
        return table
    walk = _Walk(by_line)
    for name, node in by_line.items():
        if line is None or name == line:
            codes = walk.node_reasons(name, reach_rule)
            table[name] = {
                hand: _folded(row) if code else dict(row) for (hand, row), code in zip(node.items(), codes)
            }
        else:
            table[name] = {hand: dict(row) for hand, row in node.items()}
    return table


def strategy_table(
    average_strategy: Mapping[str, Row], *, clean: bool = True, reach_rule: str = "max"
) -> Table:
    """Strategy by line and hand from one by infoset, with off-path hands folded unless ``clean=False``.

    >>> strategy_table({"AA||p|": {"fold": 0.0, "open_200": 1.0}})
    {'||p|': {'AA': {'fold': 0.0, 'open_200': 1.0}}}
    """
    check_reach_rule(reach_rule)
    table: Table = {}
    for key, row in average_strategy.items():
        hand, prefix, line = key.partition(PREFLOP_PREFIX)
        if not hand or not prefix:
            example = with_prefix("b300")
            raise ValueError(
                f"infoset {key!r}: expected <hand>{PREFLOP_PREFIX}<tokens>, such as 'AKs{example}'"
            )
        table.setdefault(prefix + line, {})[hand] = dict(row)
    return clean_off_path(table, reach_rule=reach_rule) if clean else table


def _folded(row: Row) -> dict[str, float]:
    folded = dict.fromkeys(row, 0.0)
    folded["check" if "check" in row and "fold" not in row else "fold"] = 1.0
    return folded


@dataclass(frozen=True)
class _Decision:
    """A decision as arrays by hand.

    Attributes
    ----------
    fold, check, call, all_in, raises
        Probability of each group of actions.
    offered
        Groups that any hand is offered.
    known
        Whether the hand has a row.
    """

    fold: Floats
    check: Floats
    call: Floats
    all_in: Floats
    raises: Floats
    offered: frozenset[str]
    known: Bools

    def played(self, token: str) -> Floats | None:
        """Probability that a hand takes the action of a token, ``None`` if nobody is offered it."""
        if token == Letter.ALLIN:
            group = "all_in"
        elif token == Letter.CALL:
            group = "call" if "call" in self.offered else "check"
        else:
            group = "raises"
        return getattr(self, group) if group in self.offered else None


@dataclass(frozen=True)
class _Arrival:
    """How hands get to a line.

    Attributes
    ----------
    reach
        Probability of the player's own actions on the way.
    block
        Reason of the first decision that takes the hand off the line.
    known
        Whether the table holds every row on the way.
    """

    reach: Floats
    block: Codes
    known: Bools


class _Walk:
    """Walks lines for all hands at once, each line from where its player acted last."""

    def __init__(self, table: ByLine, hands: Iterable[str] | None = None) -> None:
        self.table = table
        self.hands = list(dict.fromkeys(chain.from_iterable(table.values()) if hands is None else hands))
        self.index = {hand: i for i, hand in enumerate(self.hands)}
        self._arrivals: dict[str, _Arrival] = {}
        self._decisions: dict[str, _Decision | None] = {}

    def node_reasons(self, line: str, rule: str) -> list[int]:
        """Code of the reason of each hand with a row at the line, in the order of its rows."""
        node = list(self.table[line])
        codes = self.reasons(line, rule, compared=node, required=node)
        return codes if node == self.hands else [codes[self.index[hand]] for hand in node]

    def reasons(self, line: str, rule: str, *, compared: Iterable[str], required: Iterable[str]) -> list[int]:
        """Code of the reason of every hand.

        Reach is compared with that of the `compared` hands. Nothing is marked if the way of a `required`
        hand is not known.
        """
        arrival = self._arrival(line)
        if not arrival.known[self._positions(required)].all():
            return [ON_PATH] * len(self.hands)
        shared = arrival.reach[self._positions(compared)]
        reference = float(shared.max(initial=0.0) if rule == "max" else shared.sum())
        return rule_reasons(arrival.block, arrival.reach, reference, rule).tolist()

    def _positions(self, hands: Iterable[str]) -> NDArray[np.intp] | slice:
        hands = list(hands)
        return slice(None) if hands == self.hands else np.array([self.index[hand] for hand in hands], np.intp)

    def _arrival(self, line: str) -> _Arrival:
        if line not in self._arrivals:
            self._arrivals[line] = self._walk(line)
        return self._arrivals[line]

    def _walk(self, line: str) -> _Arrival:
        """Arrival at a line, from the player's previous decision: two tokens up, as the seats take turns."""
        count = len(self.hands)
        taken = _preflop_tokens(line)
        if taken is None:
            return self._unknown()
        if len(taken) < 2:
            return _Arrival(np.ones(count), np.zeros(count, np.int8), np.ones(count, np.bool_))
        before, token = with_prefix(format_line([taken[:-2]])), taken[-2]
        decision = self._decision(before)
        played = None if decision is None else decision.played(token)
        if decision is None or played is None:
            return self._unknown()
        arrival = self._arrival(before)
        # Every call but the limp ends the betting. If the line goes on all the same, it contradicts the call.
        closing = token == Letter.CALL and len(taken) > 2
        against = token != Letter.CALL or closing
        block = dominant_blocks(
            decision.fold,
            decision.all_in,
            decision.check,
            decision.call,
            against_check=against,
            against_call=against,
        )
        if closing or token == Letter.ALLIN:
            played = np.where(block != ON_PATH, 0.0, played)
        return _Arrival(
            arrival.reach * played,
            np.where(arrival.block != ON_PATH, arrival.block, block),
            arrival.known & decision.known,
        )

    def _unknown(self) -> _Arrival:
        count = len(self.hands)
        return _Arrival(np.zeros(count), np.zeros(count, np.int8), np.zeros(count, np.bool_))

    def _decision(self, line: str) -> _Decision | None:
        if line not in self._decisions:
            self._decisions[line] = self._read(line)
        return self._decisions[line]

    def _read(self, line: str) -> _Decision | None:
        node = self.table.get(line, {})
        hands = [hand for hand in node if hand in self.index]
        if not hands:
            return None
        rows = [node[hand] for hand in hands]
        labels = list(dict.fromkeys(chain.from_iterable(node.values())))
        if len(labels) > 1 and set(map(len, rows)) == {len(labels)}:
            values: Iterable[float] = chain.from_iterable(map(itemgetter(*labels), rows))
        else:
            values = (row.get(label, 0.0) for row in rows for label in labels)
        flat = np.fromiter(values, dtype=np.float64, count=len(rows) * len(labels))
        at = self._positions(hands)
        known = np.zeros(len(self.hands), dtype=np.bool_)
        known[at] = True
        shares = np.zeros((len(self.hands), len(labels)))
        shares[at] = flat.reshape(len(rows), len(labels))
        groups = np.array(["raises" if label.startswith(_RAISES) else label for label in labels])
        probabilities = {group: shares[:, groups == group].sum(axis=1) for group in _GROUPS}
        return _Decision(**probabilities, offered=frozenset(groups.tolist()), known=known)


def _preflop_tokens(line: str) -> list[str] | None:
    """Tokens of a preflop key, ``None`` if it is none or holds a token that ends the betting."""
    if not line.startswith(PREFLOP_PREFIX):
        return None
    try:
        found = tokens(line)
    except ValueError:
        return None
    return None if _ENDING.intersection(found) else found
