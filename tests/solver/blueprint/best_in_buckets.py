"""The least that a bucketed player can lose to an opponent who sees real cards, by a linear program.

Sequence form (Koller, Megiddo, von Stengel): the bucketed player's plans x, one number per bucket and way to act, and
for each information set of the opponent its value v. Minimise the opponent's value at the root such that no action
of the opponent is worth more than its information set. It shares nothing with the trainer but the betting tree.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array

from abstractions.cards import COMBO_CARDS
from abstractions.evaluator import evaluate_board
from solver.betting.public_tree import NodeKind, PublicTree
from solver.blueprint.boards import Bucketing


def least_loss(
    tree: PublicTree,
    root: int,
    boards: NDArray[np.uint8],
    weights: NDArray[np.float64],
    bucketing: Bucketing,
    combos: Sequence[int],
    trained: int,
) -> float:
    """Sum over all deals of what a best responder wins at least from any bucketed strategy of `trained`, in chips.

    Both players hold each of `combos`, all alike, where cards allow it; boards count by their weights.
    """
    names: dict[tuple[object, ...], int] = {}
    values: dict[tuple[object, ...], int] = {}
    equal: list[tuple[int, int, float]] = []  # rows of the trained player's plan
    right: list[float] = []
    least: list[tuple[int, int, float]] = []  # rows of the opponent's alternatives
    other = 1 - trained

    def plan(key: tuple[object, ...]) -> int:
        return names.setdefault(key, len(names))

    # Variables: plans first, values after them; numbered as they are met.
    alternatives: dict[tuple[object, ...], dict[tuple[str, int], float]] = {}

    def offer(key: tuple[object, ...], variable: tuple[str, int], amount: float) -> None:
        row = alternatives.setdefault(key, {})
        row[variable] = row.get(variable, 0.0) + amount

    def value(key: tuple[object, ...]) -> int:
        return values.setdefault(key, len(values))

    done: set[tuple[object, ...]] = set()

    def public(board: NDArray[np.uint8], node: int) -> bytes:
        return bytes(board[: int(tree.street[node]) + 2])

    def walk(
        node: int,
        board: NDArray[np.uint8],
        strength: NDArray[np.integer],
        weight: float,
        mine: dict[int, tuple[object, ...]],
        theirs: dict[int, tuple[object, ...]],
    ) -> None:
        """`mine`: the trained player's plan by combo; `theirs`: the opponent's last alternative by combo."""
        kind = tree.kind[node]
        if kind == NodeKind.CHANCE:
            walk(int(tree.children_of(node)[0]), board, strength, weight, mine, theirs)
        elif kind != NodeKind.DECISION:
            pays = tree.heads_up_payoffs[node, :, other]
            for a, sequence in mine.items():
                for b, alternative in theirs.items():
                    if set(COMBO_CARDS[a].tolist()) & set(COMBO_CARDS[b].tolist()):
                        continue
                    hands = (a, b) if trained == 0 else (b, a)
                    outcome = (
                        2 if strength[a] == strength[b] else int(strength[hands[0]] < strength[hands[1]])
                    )
                    offer(alternative, ("plan", plan(sequence)), weight * pays[outcome])
        elif tree.player[node] == trained:
            buckets = bucketing.buckets(np.frombuffer(public(board, node), dtype=np.uint8), 0)
            children = tree.children_of(node).tolist()
            for child in children:
                walk(
                    child,
                    board,
                    strength,
                    weight,
                    {a: (mine[a], node, int(buckets[a]), child) for a in mine},
                    theirs,
                )
            for a, before in mine.items():
                here = (before, node, int(buckets[a]))
                if here not in done:
                    done.add(here)
                    row = len(right)
                    right.append(0.0)
                    equal.append((row, plan(before), -1.0))
                    equal.extend((row, plan((*here, child)), 1.0) for child in children)
        else:
            children = tree.children_of(node).tolist()
            seen = public(board, node)
            for child in children:
                walk(
                    child, board, strength, weight, mine, {b: (theirs[b], seen, node, child) for b in theirs}
                )
            for before in theirs.values():
                here = (before, seen, node)
                if here not in done:
                    done.add(here)
                    offer(before, ("value", value(here)), 1.0)
                    for child in children:
                        offer((*here, child), ("value", value(here)), -1.0)

    starts = {("start", b): value(("root", b)) for b in combos}
    for board, weight in zip(boards, weights):
        live = [c for c in combos if not set(COMBO_CARDS[c].tolist()) & set(board.tolist())]
        walk(
            root,
            board,
            evaluate_board(board),
            float(weight),
            dict.fromkeys(live, ("begin",)),
            {c: ("start", c) for c in live},
        )
    for key, number in starts.items():
        offer(key, ("value", number), -1.0)
    row = len(right)
    right.append(1.0)
    equal.append((row, plan(("begin",)), 1.0))
    for number, alternative in enumerate(alternatives.values()):
        for (kind, variable), amount in alternative.items():
            least.append((number, variable + (len(names) if kind == "value" else 0), amount))
    total = len(names) + len(values)
    cost = np.zeros(total)
    cost[[len(names) + number for number in starts.values()]] = 1.0

    def matrix(entries: list[tuple[int, int, float]], rows: int) -> coo_array:
        place_row, place_column, amounts = zip(*entries)
        return coo_array((amounts, (place_row, place_column)), shape=(rows, total))

    bounds = [(0, None)] * len(names) + [(None, None)] * len(values)
    solved = linprog(
        cost,
        A_ub=matrix(least, len(alternatives)),
        b_ub=np.zeros(len(alternatives)),
        A_eq=matrix(equal, len(right)),
        b_eq=np.array(right),
        bounds=bounds,
    )
    assert solved.status == 0, solved.message
    return float(solved.fun)
