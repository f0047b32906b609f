"""Strategy, EV and equity of every hand at a node of a solved spot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import COMBO_INDEX, format_cards, format_combo
from abstractions.isomorphism import permute_cards
from solver.exact.card_game import num_runouts
from solver.exact.engine import CfrEngine
from solver.exact.node_values import NodeValues, board_values

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
    return board_reports(engine, [node], dealt)[0]


def board_reports(engine: CfrEngine, nodes: Sequence[int], dealt: Sequence[int]) -> list[NodeReport]:
    """`node_report` of some decision nodes of one street, all on the same board."""
    board, suits = engine.deals.locate(dealt)
    showdowns = _Showdowns(engine, board)
    return [
        _report(engine, node, dealt, suits, values, showdowns)
        for node, values in zip(nodes, board_values(engine, nodes, board))
    ]


def _report(
    engine: CfrEngine,
    node: int,
    dealt: Sequence[int],
    suits: Sequence[int],
    found: NodeValues,
    showdowns: _Showdowns,
) -> NodeReport:
    tree = engine.tree
    acting = int(tree.player[node])
    hands, orders = [], []
    for player in range(2):
        combos = real_combos(engine.game.hands[player][found.hands[player]], suits)
        orders.append(np.argsort(combos))
        hands.append(_hand_report(engine, found, player, node, combos, orders[-1], showdowns))
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
    showdowns: _Showdowns,
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
        equity=showdowns.equity(player, reach, met)[order],
        counterfactual=found.values[player][order],
    )


class _Showdowns:
    """Who wins against whom on one board, computed once for all its nodes."""

    def __init__(self, engine: CfrEngine, board: int) -> None:
        self._engine = engine
        self._board = board
        self._known: dict[int, NDArray] = {}

    def equity(self, player: int, reach: Floats, met: Floats) -> Floats:
        """Equity of each hand of a player against the other's reach; 0 where `met`, what it meets of it, is 0."""
        engine = self._engine
        if player not in self._known:
            self._known[player] = self._won(player)
        street = int(engine.deals.boards[self._board]["street"])
        if street == engine.game.num_deals:
            return per_deal(self._known[player] @ reach, met)
        ahead = reach @ self._known[player]
        return np.where(met > 0.0, 0.5 + 0.5 * per_deal(ahead, met) / num_runouts(engine.game, street), 0.0)

    def _won(self, player: int) -> NDArray:
        """On the last street ``[own hand, opponent's]``: 1 for a win, a half for a tie.

        Before it ``[opponent's hand, own]``: run-outs won less run-outs lost.
        """
        game, deals, board = self._engine.game, self._engine.deals, self._board
        public = deals.cards[board]
        mine, theirs = deals.hands[player][board], deals.hands[1 - player][board]
        if deals.boards[board]["street"] == game.num_deals:
            own, opp = game.hands[player][mine], game.hands[1 - player][theirs]
            # Pair by pair: a board is asked about once, and the terminal kernels would have to be compiled for it.
            order = game.strengths(public, own)[:, None].astype(np.int64) - game.strengths(public, opp)
            return self._engine.pair_weights.matrix(public, own, opp) * (0.5 + 0.5 * np.sign(order))
        side = deals.sides[player]
        start, pad = int(side.boards[board]["allin"]), int(side.boards[board]["pad"])
        if start >= 0:
            return side.allin[start : start + len(theirs) * pad].reshape(len(theirs), pad)[:, : len(mine)]
        return self._engine.pair_weights.wins(public, player, mine, theirs)[:, : len(mine)]
