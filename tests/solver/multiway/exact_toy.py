"""Three seats without a board, exact: what a strategy wins against all deals, and what the best response to it wins.

Without a board a hand's strength is that of its class, so all deals are the 169 x 169 x 169 triples of classes, each
with the number of ways in which three disjoint hands of them can be dealt.
"""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import CLASS_NAMES, NUM_CLASSES
from abstractions.class_triples import disjoint_triples, triple_index
from solver.multiway.deals import WIDTH
from solver.multiway.game import MultiwayGame

Floats = NDArray[np.float64]
RANKS = "23456789TJQKA"


@cache
def chances() -> Floats:
    """Chance of the classes of three seats, float64 [169, 169, 169]."""
    first, second, third = np.ogrid[:NUM_CLASSES, :NUM_CLASSES, :NUM_CLASSES]
    counts = disjoint_triples()[triple_index(first, second, third)].astype(np.float64)
    return counts / counts.sum()


@cache
def strengths() -> NDArray[np.int64]:
    """Pairs beat high cards, then the higher card decides, then the lower one."""
    high, low = np.array([[RANKS.index(name[0]), RANKS.index(name[1])] for name in CLASS_NAMES]).T
    return np.where(high == low, 1000 + high, 13 * high + low)


@cache
def orders() -> NDArray[np.int64]:
    """Which seat is ahead of which, as a number of three digits to the base of three: first and second seat, .."""
    own = strengths()
    ahead = np.sign(own[:, None] - own[None, :]) + 1
    return 9 * ahead[:, :, None] + 3 * ahead[:, None, :] + ahead[None, :, :]


@cache
def order_examples() -> dict[int, tuple[int, int, int]]:
    """Strengths of three seats that have each order."""
    found = {}
    for ranks in product(range(3), repeat=3):
        a, b, c = ranks
        digits = [int(np.sign(x - y)) + 1 for x, y in ((a, b), (a, c), (b, c))]
        found[9 * digits[0] + 3 * digits[1] + digits[2]] = ranks
    return found


def best_responses(game: MultiwayGame, table: NDArray[np.float32]) -> tuple[Floats, Floats]:
    """What each seat wins with a strategy, and with the best response to it of the other seats; in big blinds."""
    tree, unit = game.tree, float(game.config.big_blind)
    shares = table[: game.rows * WIDTH].reshape(-1, WIDTH)[:, :NUM_CLASSES].astype(np.float64)
    reach = np.ones((len(tree), 3, NUM_CLASSES))
    for node in range(len(tree)):
        for k, child in enumerate(tree.children_of(node).tolist()):
            reach[child] = reach[node]
            reach[child, tree.player[node]] *= shares[tree.child_start[node] + k]
    own, best = np.zeros((2, 3))
    for seat in range(3):
        others = [other for other in range(3) if other != seat]
        chance = np.moveaxis(chances(), seat, 0)
        order = np.moveaxis(orders(), seat, 0)
        played, chosen = np.zeros((2, len(tree), NUM_CLASSES))
        for node in reversed(range(len(tree))):
            children = tree.children_of(node).tolist()
            if not children or tree.street[node] > 0:
                pays = np.zeros(27)
                for number, ranks in order_examples().items():
                    pays[number] = tree.payoffs(node, ranks)[seat] / unit
                weighted = chance * pays[order]
                played[node] = (weighted @ reach[node, others[1]]) @ reach[node, others[0]]
                chosen[node] = played[node]
            elif tree.player[node] == seat:
                rows = shares[tree.child_start[node] :][: len(children)]
                played[node] = (rows * played[children]).sum(axis=0)
                chosen[node] = chosen[children].max(axis=0)
            else:
                played[node], chosen[node] = played[children].sum(axis=0), chosen[children].sum(axis=0)
        own[seat], best[seat] = played[0].sum(), chosen[0].sum()
    return own, best
