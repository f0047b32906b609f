"""How often every hand beats every other one over all run-outs of a board."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solver.exact.card_game import CardGame, StrengthCache
from solver.exact.hand_tables import padded

#: Run-outs that are counted together.
_RUNOUT_BLOCK = 32


def allin_matrix(
    game: CardGame,
    board: tuple[int, ...],
    own: int,
    mine: NDArray[np.int16],
    theirs: NDArray[np.int16],
    ranks: Callable[[tuple[int, ...], int], NDArray[np.integer]] | None = None,
) -> NDArray[np.int16]:
    """Wins minus losses of the own hands over all run-outs, ``[opponent hand, own hand]``, own hands padded.

    `mine` and `theirs` are root hands of the player `own` and of the other.
    """
    ranks = StrengthCache(game) if ranks is None else ranks
    matrix = np.zeros((len(theirs), padded(len(mine))), dtype=np.int16)
    missing = len(game.board) + game.num_deals - len(board)
    rest = [card for card in game.deck if card not in board]
    run_outs = list(combinations(rest, missing))
    for start in range(0, len(run_outs), _RUNOUT_BLOCK):
        some = run_outs[start : start + _RUNOUT_BLOCK]
        first, second = (
            np.stack([ranks((*board, *cards), player)[hands] for cards in some]).astype(np.int16)
            for player, hands in ((own, mine), (1 - own, theirs))
        )
        _count_wins(matrix, first, second)
    shared = np.zeros((len(theirs), len(mine)), dtype=np.bool_)
    for a in range(2):
        for b in range(2):
            shared |= game.hands[1 - own][theirs][:, a, None] == game.hands[own][mine][None, :, b]
    matrix[:, : len(mine)][shared] = 0
    return matrix


def seen_by_other(matrix: NDArray[np.int16], own: int) -> NDArray[np.int16]:
    """The all-in matrix of the other player, from that of a player of `own` hands: what one wins the other loses."""
    result = np.zeros((own, padded(len(matrix))), dtype=np.int16)
    result[:, : len(matrix)] = -matrix[:, :own].T
    return result


@njit(cache=True, nogil=True)
def _count_wins(matrix: Any, own: Any, opp: Any) -> None:
    """Add some run-outs: +1 where the own hand wins, -1 where it loses; strength -1 is a blocked hand.

    `own` and `opp` are int16 ``[run-out, hand]``. The run-outs are few enough to stay in the cache while the rows of
    the matrix pass by.
    """
    # A row of its own cannot overlap the strengths, so the compiler may use vectors.
    sums = np.empty(own.shape[1], np.int16)
    for j in range(opp.shape[1]):
        row = matrix[j]
        for i in range(len(sums)):
            sums[i] = row[i]
        for k in range(opp.shape[0]):
            other = opp[k, j]
            if other < 0:
                continue
            strengths = own[k]
            for i in range(len(sums)):
                # Without its sign a blocked hand is stronger than every other one, so it does not lose either.
                wins = np.int16(1) if strengths[i] > other else np.int16(0)
                loses = np.int16(1) if np.uint16(strengths[i]) < np.uint16(other) else np.int16(0)
                sums[i] = np.int16(sums[i] + np.int16(wins - loses))
        for i in range(len(sums)):
            row[i] = sums[i]
