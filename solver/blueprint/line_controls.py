"""Control variates of the flop lines: what a board gives the hands by luck, with means that are known exactly.

On one board most of what a line is worth to a hand class is luck. These figures are measured on the same board, and
their means over all boards are known:

- the deals that the class meets on the line, and the pots that it would win there if nobody bet after the flop; their
  means follow from the table of equities before the flop;
- moments of the ranks of its hands on flop, turn and river (`abstractions.rank_moments`).

So their error can be taken off the values in proportion. The proportions are slopes of least squares.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import CLASS_OF_COMBO, COMBO_CARDS, NUM_CLASSES, NUM_COMBOS, live_combos
from abstractions.equity import _sweep_rivers
from abstractions.rank_moments import NUM_MOMENTS, mean_rank_moments
from solver.blueprint.boards import LIVE_FRACTION
from solver.blueprint.trunk import Floats, TrunkGame

#: Deals met, pots won when checked down, and moments of ranks.
NUM_CONTROLS = 2 + NUM_MOMENTS
# Combinations of controls that vary less than this share of the most varying one are left out.
_SINGULAR = 1e-6
_ALL_COMBOS = np.arange(NUM_COMBOS, dtype=np.int16)


@njit(cache=True, nogil=True)
def _add_by_class(combos: Any, classes: Any, combo_cards: Any, lanes: Any, wins: Any, out: Any) -> None:
    """Add the opponent weight that the live hands meet, and what they win, to ``out[lane, 0 and 1, class]``."""
    num_lanes = lanes.shape[1]
    total = np.zeros(num_lanes)
    with_card = np.zeros((52, num_lanes))
    for i in range(combos.shape[0]):
        hand = combos[i]
        first, second = with_card[combo_cards[hand, 0]], with_card[combo_cards[hand, 1]]
        for u in range(num_lanes):
            total[u] += lanes[hand, u]
            first[u] += lanes[hand, u]
            second[u] += lanes[hand, u]
    for i in range(combos.shape[0]):
        hand = combos[i]
        first, second = with_card[combo_cards[hand, 0]], with_card[combo_cards[hand, 1]]
        for u in range(num_lanes):
            # Both card sums hold the hand itself, which the total holds once: add it back.
            out[u, 0, classes[i]] += total[u] - first[u] - second[u] + lanes[hand, u]
            out[u, 1, classes[i]] += wins[hand, u]


def combo_lanes(reach: Floats) -> Floats:
    """The opponent's reach of some lines by combo, ``[1326, line]``, as `board_controls` reads it."""
    return np.ascontiguousarray(reach[:, CLASS_OF_COMBO].T, dtype=np.float64)


def board_controls(board: NDArray[np.uint8], lanes: Floats, moments: Floats) -> Floats:
    """The control variates of some lines on a full board, ``[line, control, class]``.

    Parameters
    ----------
    lanes
        The opponent's reach, as `combo_lanes` lays it out.
    moments
        `rank_moments` of the board.
    """
    combos = np.flatnonzero(live_combos(board)).astype(np.int16)
    controls = np.zeros((lanes.shape[1], NUM_CONTROLS, NUM_CLASSES))
    wins = np.zeros(lanes.shape)
    once = np.full(1, 1.0 / LIVE_FRACTION)
    _sweep_rivers(board[None], once, _ALL_COMBOS, COMBO_CARDS, lanes, wins)
    _add_by_class(combos, CLASS_OF_COMBO[combos], COMBO_CARDS, lanes, wins, controls)
    controls[:, 0] /= LIVE_FRACTION
    controls[:, 2:] = moments
    return controls


def control_means(game: TrunkGame, reach: Floats) -> Floats:
    """The exact means of `board_controls` over all boards, ``[line, control, class]``.

    Parameters
    ----------
    reach
        The opponent's, by flop line and class.
    """
    means = np.empty((len(reach), NUM_CONTROLS, NUM_CLASSES))
    means[:, 0] = [game.preflop.pairs(line) for line in reach]
    means[:, 1] = reach @ game.preflop.equity
    means[:, 2:] = mean_rank_moments()
    return means


def slopes(covariance: Floats, cross: Floats) -> Floats:
    """Least squares of values on controls, ``[..., control]``.

    Parameters
    ----------
    covariance
        Of the controls, ``[..., control, control]``.
    cross
        Covariance of controls and value, ``[..., control]``.
    """
    spread = np.sqrt(np.maximum(np.einsum("...kk->...k", covariance), 0.0))
    scale = np.where(spread > 0, spread, 1.0)
    inverse = np.linalg.pinv(
        covariance / (scale[..., :, None] * scale[..., None, :]), rcond=_SINGULAR, hermitian=True
    )
    return (inverse @ (cross / scale)[..., None])[..., 0] / scale
