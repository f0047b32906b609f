"""Known luck: taken off what the flop lines are worth on the boards of an iteration, before the trunk learns from it.

Before the flop a class has three or four actions that differ by a tenth of a big blind, but on one board its value
scatters by several. Most of that is luck whose size is measured on the same board and whose mean is known
(`solver.blueprint.line_controls`). How much of it reaches the values is learned on the way: by least squares over the
boards before. These know nothing of the present boards, so the values keep their mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import NUM_CLASSES
from solver.blueprint.line_controls import NUM_CONTROLS, board_controls, combo_lanes, control_means, slopes
from solver.blueprint.trunk import Floats, TrunkGame

#: Boards until slopes are taken for the first time.
FIRST_FIT = 8 * NUM_CONTROLS
#: Boards that are remembered. Ranges change while they are trained, and slopes with them.
MEMORY = 8192
# Slopes are taken again when the boards have grown by this share.
_REFIT_SHARE = 1 / 8
#: Arrays of a saved state.
LUCK_SAVED = ("count", "fitted", "control_sum", "value_sum", "squares", "products", "slopes")


@njit(cache=True, nogil=True)
def _add_board(
    controls: Any, values: Any, control_sum: Any, value_sum: Any, squares: Any, products: Any
) -> None:
    """Add ``controls[line, control, class]`` and ``values[line, class]`` to the sums of least squares."""
    num_lines, num_controls, num_classes = controls.shape
    for line in range(num_lines):
        value_sum[line] += values[line]
        for k in range(num_controls):
            control_sum[line, k] += controls[line, k]
            for hand in range(num_classes):
                products[line, k, hand] += controls[line, k, hand] * values[line, hand]
            for j in range(num_controls):
                for hand in range(num_classes):
                    squares[line, k, j, hand] += controls[line, k, hand] * controls[line, j, hand]


class KnownLuck:
    """What luck does to the flop lines of one seat.

    Values and controls are counted per deal that the opponent brings to the line, so that slopes outlast changes of its
    reach.

    Parameters
    ----------
    game
        The trunk's game. Its boards must be dealt from the whole deck.
    """

    def __init__(self, game: TrunkGame) -> None:
        self.game = game
        lines = len(game.lines)
        self.count = np.zeros(1)
        self.fitted = np.zeros(1)
        self.control_sum = np.zeros((lines, NUM_CONTROLS, NUM_CLASSES))
        self.value_sum = np.zeros((lines, NUM_CLASSES))
        self.squares = np.zeros((lines, NUM_CONTROLS, NUM_CONTROLS, NUM_CLASSES))
        self.products = np.zeros((lines, NUM_CONTROLS, NUM_CLASSES))
        self.slopes = np.zeros((lines, NUM_CONTROLS, NUM_CLASSES))

    def luck(
        self,
        boards: NDArray[np.uint8],
        moments: Floats,
        weights: Floats,
        reach: Floats,
        values: Floats,
    ) -> Floats:
        """The luck in the sum of some values, ``[line, class]``; what they say about luck is learned after it.

        Parameters
        ----------
        boards, moments
            Full boards and the `rank_moments` of each.
        weights
            Of the boards, none of them 0.
        reach
            The opponent's, by flop line and class.
        values
            Of the lines on each board, times its weight: ``[board, line, class]``, in chips times deals.
        """
        lanes, means = combo_lanes(reach), control_means(self.game, reach)
        met = means[:, 0]
        deals = np.where(met > 0, met, 1.0)
        luck = np.zeros_like(met)
        measured = []
        for board, moment, weight, value in zip(boards, moments, weights, values):
            controls = board_controls(board, lanes, moment) - means
            controls[:, :2] /= deals[:, None]
            luck += weight * deals * np.einsum("lkc,lkc->lc", controls, self.slopes)
            measured.append((controls, value / (weight * deals)))
        for controls, value in measured:
            _add_board(controls, value, self.control_sum, self.value_sum, self.squares, self.products)
        self.count += len(measured)
        self._fit()
        return np.where(met > 0, luck, 0.0)

    def _fit(self) -> None:
        count = float(self.count[0])
        if count < max(FIRST_FIT, (1 + _REFIT_SHARE) * float(self.fitted[0])):
            return
        means, value = self.control_sum / count, self.value_sum / count
        covariance = self.squares / count - means[:, :, None] * means[:, None]
        cross = self.products / count - means * value[:, None]
        found = slopes(np.moveaxis(covariance, 3, 1), np.moveaxis(cross, 2, 1))
        self.slopes[:] = np.moveaxis(found, 1, 2)
        if count >= MEMORY:
            for name in ("count", "control_sum", "value_sum", "squares", "products"):
                getattr(self, name)[:] *= 0.5
        self.fitted[:] = self.count

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything `restore` needs to continue."""
        return {name: getattr(self, name).copy() for name in LUCK_SAVED}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from a saved `state` of the same game."""
        for name in LUCK_SAVED:
            getattr(self, name)[:] = state[name]
