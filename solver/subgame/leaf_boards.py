"""The boards where a search ends: their run-outs in each iteration, and the suits that are alike on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import COMBO_INDEX, NUM_COMBOS
from abstractions.isomorphism import permute_combos
from solver.blueprint.boards import BoardHands, Bucketing, board_hands
from solver.exact.card_game import CardGame
from solver.exact.suits import equivalent_suits
from solver.subgame.run_outs import FULL_BOARD, Kind, RememberedBuckets, RunOutDealer


def combos_of(hands: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Combo numbers of hands."""
    return COMBO_INDEX[hands[:, 0], hands[:, 1]].astype(np.int64)


def suit_renamings(game: CardGame, board: Sequence[int]) -> list[NDArray[np.integer]]:
    """Combos under every exchange of suits that changes neither a range nor a card of the board."""
    later = [card for card in board if card not in game.board]
    classes: list[tuple[int, ...]] = []
    for members in equivalent_suits(game):
        fixed = [suit for suit in members if any(card % 4 == suit for card in later)]
        classes += [(suit,) for suit in fixed]
        classes.append(tuple(suit for suit in members if suit not in fixed))
    found: list[NDArray[np.integer]] = []
    for orders in product(*(permutations(members) for members in classes)):
        suits = np.arange(4, dtype=np.uint8)
        for members, order in zip(classes, orders):
            suits[list(members)] = order
        found.append(permute_combos(suits))
    return found


@dataclass(frozen=True, eq=False)
class LeafBoard:
    """A board where the search ends."""

    dealer: RunOutDealer
    renamings: list[NDArray[np.integer]]

    @classmethod
    def of(
        cls, game: CardGame, board: Sequence[int], rng: np.random.Generator, kind: Kind | None = None
    ) -> LeafBoard:
        """A board of a game, whose run-outs come from a generator."""
        return cls(RunOutDealer(board, rng, kind), suit_renamings(game, board))

    def evened(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values by combo, last, that treat equivalent suits alike: the mean over all their exchanges.

        A run-out and its images are equally likely, so this is the mean over more run-outs at no cost.
        """
        if len(self.renamings) == 1:
            return values
        return np.mean([values[..., renamed] for renamed in self.renamings], axis=0)


class SampledBoards:
    """Deals run-outs below the boards where a search ends, fresh ones in every iteration.

    Attributes
    ----------
    iteration
        Number of the iteration, from 1 on.
    learns
        Whether the run-outs are those of an iteration, or the fixed ones of an evaluation.
    """

    def __init__(
        self,
        game: CardGame,
        bucketing: Bucketing,
        texture: int,
        run_outs: int,
        seed: int,
        kind: Kind | None = None,
    ) -> None:
        self.game, self.texture, self.run_outs, self.seed, self._kind = game, texture, run_outs, seed, kind
        self.bucketing = RememberedBuckets(bucketing)
        self._played = np.zeros(NUM_COMBOS, dtype=bool)
        for hands in game.hands:
            self._played[combos_of(hands)] = True
        self.iteration = 0
        self.learns = True
        self._boards: dict[tuple[int, ...], LeafBoard] = {}
        self._deals: dict[tuple[int, ...], list[BoardHands]] = {}
        self._ahead: dict[tuple[int, ...], list[BoardHands]] = {}
        self._rivers: dict[bytes, BoardHands] = {}

    def begin_iteration(self) -> None:
        """Deal fresh run-outs from now on; both players then learn from the same ones."""
        self.iteration += 1
        self.learns = True
        self._deals, self._ahead = self._ahead, {}

    def begin_evaluation(self) -> None:
        """Deal the same run-outs from now on; they stay dealt from one evaluation to the next."""
        if self.learns:
            self.learns = False
            self._deals = {}

    def board(self, cards: tuple[int, ...]) -> LeafBoard:
        """A board by its cards."""
        if cards not in self._boards:
            self._boards[cards] = LeafBoard.of(
                self.game, cards, np.random.default_rng([self.seed, 0, *cards]), self._kind
            )
        return self._boards[cards]

    def deals(self, cards: tuple[int, ...]) -> list[BoardHands]:
        """The run-outs of a board."""
        if cards not in self._deals:
            if self.learns:
                boards = self._fresh(cards)
            else:
                # Every next card once: with one card to come these are all run-outs.
                dealer = RunOutDealer(cards, np.random.default_rng([self.seed, 1, *cards]))
                boards = dealer.draw(len(dealer.rest))
            self._deals[cards] = [self._hands(full) for full in boards]
        return self._deals[cards]

    def deal_ahead(self, cards: tuple[int, ...]) -> None:
        """Deal what the next iteration plays below a board, while there is nothing else to do."""
        if self.learns and cards not in self._ahead:
            self._ahead[cards] = [self._hands(full) for full in self._fresh(cards)]

    def _fresh(self, cards: tuple[int, ...]) -> NDArray[np.uint8]:
        return self.board(cards).dealer.draw(self.run_outs)

    def _hands(self, board: NDArray[np.uint8]) -> BoardHands:
        """Hands and buckets of a full board; rivers of a search that begins on the turn come again and are kept."""
        if len(self.game.board) < FULL_BOARD - 1:
            return board_hands(board, self.bucketing, self.texture, played=self._played)
        key = board.tobytes()
        if key not in self._rivers:
            self._rivers[key] = board_hands(board, self.bucketing, self.texture, played=self._played)
        return self._rivers[key]
