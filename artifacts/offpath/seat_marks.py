"""Off-path hands before the flop with any number of seats: by the acting seat's own decisions on the line.

The rules are those of `artifacts.offpath.marks`. With three or more seats a call does not end the betting, so a hand
that calls is on the line when the line has the call, however it goes on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from artifacts.offpath.marks import ON_PATH, check_reach_rule, dominant_blocks, rule_reasons
from solver.betting.public_tree import NodeKind, PublicTree
from solver.betting.rules import Action

_STAYING = (Action.CALL, Action.CHECK)


@dataclass(frozen=True, eq=False)
class SeatMarks:
    """By decision, in the order of the tree, and by hand class.

    Attributes
    ----------
    nodes
        The decisions.
    reach
        Probability that the acting seat plays its part of the line.
    codes
        Reasons as codes of `artifacts.offpath.marks`, 0 where the hand is in range.
    others
        Probability that the other seats play their parts, without regard to the cards that they share.
    """

    nodes: NDArray[np.int64]
    reach: NDArray[np.float64]
    codes: NDArray[np.int8]
    others: NDArray[np.float64]


def seat_marks(
    tree: PublicTree, shares: NDArray[np.floating], weights: NDArray[Any], *, reach_rule: str = "max"
) -> SeatMarks:
    """Reach and marks of every decision of a tree.

    Parameters
    ----------
    shares
        Probability by row, in the order of ``tree.children``, and hand class.
    weights
        Combos of each class.
    """
    check_reach_rule(reach_rule)
    classes, seats = shares.shape[1], tree.num_seats
    nodes = np.flatnonzero(tree.kind == NodeKind.DECISION)
    place = np.full(len(tree), -1, np.int64)
    place[nodes] = np.arange(len(nodes))
    reach, codes = np.ones((len(nodes), classes)), np.zeros((len(nodes), classes), np.int8)
    others = np.ones(len(nodes))
    # What each seat has done so far, by node: its reach, the reason that took each hand off, and its share of hands.
    arrived: dict[int, list[tuple[NDArray, NDArray, float]]] = {
        0: [(np.ones(classes), np.zeros(classes, np.int8), 1.0)] * seats
    }
    for node in nodes.tolist():
        state = arrived.pop(node)
        seat, start = int(tree.player[node]), int(tree.child_start[node])
        own, block, _ = state[seat]
        at = place[node]
        reach[at] = own
        reference = float(own.max() if reach_rule == "max" else own.sum())
        codes[at] = rule_reasons(block, own, reference, reach_rule)
        others[at] = np.prod([share for other, (_, _, share) in enumerate(state) if other != seat])
        children = tree.children_of(node).tolist()
        groups = _groups(tree, children, shares[start : start + len(children)])
        for k, child in enumerate(children):
            if tree.kind[child] != NodeKind.DECISION:
                continue
            action = Action(int(tree.action[child]))
            against = action not in _STAYING
            took = dominant_blocks(**groups, against_check=against, against_call=against)
            now = own * shares[start + k]
            after = list(state)
            played = float(weights @ now) / float(weights.sum())
            after[seat] = (now, np.where(block != ON_PATH, block, took).astype(np.int8), played)
            arrived[child] = after
    return SeatMarks(nodes, reach, codes, others)


def _groups(
    tree: PublicTree, children: list[int], shares: NDArray[np.floating]
) -> dict[str, NDArray[np.float64]]:
    """Probability to fold, go all-in, check and call, by hand class."""
    names = {Action.FOLD: "fold", Action.ALLIN: "all_in", Action.CHECK: "check", Action.CALL: "call"}
    groups = {name: np.zeros(shares.shape[1]) for name in names.values()}
    for child, row in zip(children, shares):
        name = names.get(Action(int(tree.action[child])))
        if name is not None:
            groups[name] = groups[name] + row
    return groups
