"""Kuhn poker and Leduc hold'em, played by the same engine as hold'em.

Both are fixed-limit games with an ante of one chip and hands of one card. Kuhn: three cards, one round, bets of 1.
Leduc: two suits of three ranks, two rounds with bets of 2 and 4 and one raise each, a public card between them; a
pair with it beats everything, else the higher rank wins.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from solver.betting.public_tree import NodeKind, PublicTree
from solver.betting.rules import Action
from solver.betting.tree_parts import child_links
from solver.cfr.schedules import Schedule
from solver.exact.card_game import CardGame
from solver.exact.engine import CfrEngine
from solver.exact.terminals import NO_CARD

KUHN_VALUE = -1.0 / 18.0


def kuhn(schedule: Schedule, *, precision: str = "float64", isomorphism: bool = True) -> CfrEngine:
    """Kuhn poker, ready to run; seat 0 acts first and its value is -1/18.

    Examples
    --------
    >>> from solver.cfr.schedules import schedule
    >>> engine = kuhn(schedule("cfr+"))
    >>> engine.run(1000)
    >>> round(engine.evaluate().expected[0], 4)
    -0.0556
    """
    return CfrEngine(
        limit_tree((1,), max_bets=1),
        _one_card_game(3, 1, 0),
        schedule,
        precision=precision,
        isomorphism=isomorphism,
    )


def leduc(schedule: Schedule, *, precision: str = "float64", isomorphism: bool = True) -> CfrEngine:
    """Leduc hold'em, ready to run; seat 0 acts first in both rounds."""
    return CfrEngine(
        limit_tree((2, 4), max_bets=2),
        _one_card_game(3, 2, 1),
        schedule,
        precision=precision,
        isomorphism=isomorphism,
    )


def limit_tree(bets: Sequence[int], *, max_bets: int, ante: int = 1) -> PublicTree:
    """Betting tree of a two-seat fixed-limit game: one bet size per round, `max_bets` bets in each.

    Examples
    --------
    >>> limit_tree((1,), max_bets=1).lines
    ['', 'x', 'xx', 'xb1', 'xb1f', 'xb1c', 'b1', 'b1f', 'b1c']
    """
    return _LimitBuilder(tuple(bets), max_bets, ante).tree()


class _LimitBuilder:
    """Grows a fixed-limit tree depth first; a row is (kind, street, player, parent, action, to, chips, folded)."""

    def __init__(self, bets: tuple[int, ...], max_bets: int, ante: int) -> None:
        self.bets, self.max_bets, self.ante = bets, max_bets, ante
        self.rows: list[tuple[int, int, int, int, int, int, tuple[int, int], int]] = []

    def tree(self) -> PublicTree:
        self._decide(0, 0, (-1, Action.NONE, 0), (self.ante, self.ante), 0, False)
        kind, street, player, parent, action, amount, chips, folded = (np.array(c) for c in zip(*self.rows))
        child_start, num_children, children = child_links(parent)
        return PublicTree(
            num_seats=2,
            kind=kind.astype(np.int8),
            player=player.astype(np.int8),
            street=street.astype(np.int8),
            parent=parent.astype(np.int32),
            action=action.astype(np.int8),
            amount=amount.astype(np.int32),
            child_start=child_start,
            num_children=num_children,
            children=children,
            committed=chips.astype(np.int32),
            folded=(folded[:, None] == np.arange(2)).astype(np.uint8),
            pot=chips.sum(axis=1).astype(np.int32),
            dead=0,
            antes=(self.ante, self.ante),
        )

    def _decide(
        self,
        street: int,
        player: int,
        arrival: tuple[int, int, int],
        chips: tuple[int, int],
        placed: int,
        checked: bool,
    ) -> None:
        node = len(self.rows)
        self.rows.append((NodeKind.DECISION, street, player, *arrival, chips, -1))
        bet, level, mine = self.bets[street], max(chips), chips[player]
        if level > mine:
            # The bet that made the other fold goes back.
            self.rows.append((NodeKind.FOLD, street, -1, node, Action.FOLD, 0, (mine, mine), player))
            self._close(street, (node, Action.CALL, placed * bet), level)
        elif checked:
            self._close(street, (node, Action.CHECK, 0), level)
        else:
            self._decide(street, 1 - player, (node, Action.CHECK, 0), chips, placed, True)
        if placed < self.max_bets:
            after = (level + bet, chips[1]) if player == 0 else (chips[0], level + bet)
            action = Action.RAISE if placed else Action.BET
            self._decide(street, 1 - player, (node, action, (placed + 1) * bet), after, placed + 1, False)

    def _close(self, street: int, arrival: tuple[int, int, int], level: int) -> None:
        node = len(self.rows)
        last = street == len(self.bets) - 1
        kind = NodeKind.SHOWDOWN if last else NodeKind.CHANCE
        self.rows.append((kind, street, -1, *arrival, (level, level), -1))
        if not last:
            self._decide(street + 1, 0, (node, Action.DEAL, 0), (level, level), 0, False)


def _one_card_game(ranks: int, suits: int, num_deals: int) -> CardGame:
    deck = tuple(4 * rank + suit for rank in range(ranks) for suit in range(suits))
    hands = [np.array([(card, NO_CARD[player]) for card in deck], dtype=np.uint8) for player in range(2)]
    weights = np.ones(len(deck))
    return CardGame((hands[0], hands[1]), (weights, weights), (), deck, num_deals, 1, _pair_then_rank)


def _pair_then_rank(board: Sequence[int], hands: NDArray[np.uint8]) -> NDArray[np.integer]:
    cards = hands[:, 0].astype(np.int64)
    strength = cards // 4
    for public in board:
        strength = np.where(cards // 4 == public // 4, 100 + strength, strength)
        strength = np.where(cards == public, -1, strength)
    return strength
