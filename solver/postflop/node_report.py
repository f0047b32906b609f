"""Strategy, EV and equity of every hand at a node of a solved spot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import COMBO_INDEX, format_cards, format_combo
from abstractions.isomorphism import permute_cards
from solver.exact.deals import allin_matrix, num_runouts
from solver.exact.engine import CfrEngine, NodeValues

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class HandReport:
    """One player's hands at a node, by combo.

    Attributes
    ----------
    combos : int array
        Combo numbers, ascending.
    weights : float array
        Range weight times the player's own strategy on the way here.
    met : float array
        Weight of the opponent's hands that share no card; means over hands use ``weights * met``.
    ev, equity : float array
        Chips received from here on, and share of showdowns won if nobody bet again; 0 where `met` is 0.
    counterfactual : float array
        Sum over the opponent's hands of weight times payoff, over an even split of the starting pot.
    """

    combos: NDArray[np.int64]
    weights: Floats
    met: Floats
    ev: Floats
    equity: Floats
    counterfactual: Floats

    @property
    def names(self) -> list[str]:
        """Hands as text, such as ``AhKh``."""
        return [format_combo(int(combo)) for combo in self.combos]

    def mean(self, values: Floats) -> float:
        """Mean over the deals that reach the node; `values` by hand."""
        weights = self.weights * self.met
        total = float(weights.sum())
        return float(weights @ values) / total if total > 0.0 else 0.0


@dataclass(frozen=True)
class NodeReport:
    """A decision node: who acts, how, and what it is worth.

    Attributes
    ----------
    strategy, action_ev : float arrays [action, hand]
        Of the player to act, hands as in ``hands[player]``.
    frequencies : float array
        Mean strategy over the deals that reach the node.
    """

    line: str
    board: str
    player: int
    actions: list[str]
    pot: int
    hands: tuple[HandReport, HandReport]
    strategy: Floats
    action_ev: Floats
    frequencies: Floats

    @property
    def ev(self) -> tuple[float, float]:
        """Mean EV of both players."""
        return self.hands[0].mean(self.hands[0].ev), self.hands[1].mean(self.hands[1].ev)

    @property
    def equity(self) -> tuple[float, float]:
        """Mean equity of both players."""
        return self.hands[0].mean(self.hands[0].equity), self.hands[1].mean(self.hands[1].equity)


def real_combos(cards: NDArray[np.uint8], suits: Sequence[int]) -> NDArray[np.int64]:
    """Combo numbers of hands whose suits stand for other ones; `suits` gives the real suit of each."""
    real = permute_cards(cards, np.array(suits))
    return COMBO_INDEX[real[:, 0], real[:, 1]].astype(np.int64)


def node_report(engine: CfrEngine, node: int, dealt: Sequence[int]) -> NodeReport:
    """Report on a decision node once the cards `dealt` have come, under the average strategies."""
    tree = engine.tree
    board, suits = engine.deals.locate(dealt)
    found = engine.node_values(node, board)
    acting = int(tree.player[node])
    hands, orders = [], []
    for player in range(2):
        combos = real_combos(engine.game.hands[player][found.hands[player]], suits)
        orders.append(np.argsort(combos))
        hands.append(_hand_report(engine, found, player, node, combos, orders[-1]))
    strategy = found.strategy[:, orders[acting]]
    met = hands[acting].met
    action_ev = per_deal(found.action_values[:, orders[acting]], met) + _share(engine, node, acting)
    return NodeReport(
        line=tree.line(node),
        board=format_cards([*engine.game.board, *dealt]),
        player=acting,
        actions=[tree.token(child) for child in tree.children_of(node).tolist()],
        pot=int(tree.pot[node]),
        hands=(hands[0], hands[1]),
        strategy=strategy,
        action_ev=np.where(met > 0.0, action_ev, 0.0),
        frequencies=np.array([hands[acting].mean(row) for row in strategy]),
    )


def per_deal(values: Floats, met: Floats) -> Floats:
    """Counterfactual values per deal; 0 where no opponent hand can be met."""
    return np.divide(values, met, out=np.zeros_like(values), where=met > 0.0)


def _share(engine: CfrEngine, node: int, player: int) -> float:
    """Turns payoffs over an even split of the starting pot into chips received from a node on."""
    return engine.tree.dead / 2 + float(engine.tree.committed[node, player])


def _hand_report(
    engine: CfrEngine,
    found: NodeValues,
    player: int,
    node: int,
    combos: NDArray[np.int64],
    order: NDArray[np.int64],
) -> HandReport:
    reach = found.reach[1 - player]
    met = engine.compatible(player, reach, found.board)
    # Rounding may leave a trace of reach where every pair of hands collides.
    met = np.where(met > 1e-9 * reach.sum(), met, 0.0)
    worth = per_deal(found.values[player], met) + _share(engine, node, player)
    return HandReport(
        combos=combos[order],
        weights=found.reach[player][order],
        met=met[order],
        ev=np.where(met > 0.0, worth, 0.0)[order],
        equity=_equity(engine, found, player, met)[order],
        counterfactual=found.values[player][order],
    )


def _equity(engine: CfrEngine, found: NodeValues, player: int, met: Floats) -> Floats:
    game, public = engine.game, engine.deals.cards[found.board]
    street = int(engine.deals.boards[found.board]["street"])
    reach = found.reach[1 - player]
    mine, theirs = found.hands[player], found.hands[1 - player]
    if street == game.num_deals:
        own, opp = game.hands[player][mine], game.hands[1 - player][theirs]
        # Pair by pair: a report asks once, and the terminal kernels would have to be compiled for it.
        order = game.strengths(public, own)[:, None].astype(np.int64) - game.strengths(public, opp)
        apart = (own[:, None, :, None] != opp[None, :, None, :]).all(axis=(2, 3))
        return per_deal((apart * (0.5 + 0.5 * np.sign(order))) @ reach, met)
    side = engine.deals.sides[player]
    start, pad = int(side.boards[found.board]["allin"]), int(side.boards[found.board]["pad"])
    if start >= 0:
        matrix = side.allin[start : start + len(theirs) * pad].reshape(len(theirs), pad)
    else:
        matrix = allin_matrix(game, public, player, mine, theirs)
    ahead = reach @ matrix[:, : len(mine)]
    return np.where(met > 0.0, 0.5 + 0.5 * per_deal(ahead, met) / num_runouts(game, street), 0.0)
