"""Discounts by epoch: the clock of the blueprint's discounts, and discounts of whole tables.

Under sampling a row is touched now and then, so discounts run by epoch (the boards of an epoch cover every
texture about once) and are applied to a row when it is next touched: the product of the factors it missed.
Phases follow each other on one clock; a phase continues the regrets of the one before and starts the
average afresh.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solver.cfr.schedules import DiscountWeights, Schedule


@dataclass
class EpochClock:
    """Discount factors by epoch, epochs counted from 1."""

    phases: list[tuple[int, Schedule]] = field(default_factory=list)
    epoch: int = 0
    _factors: NDArray[np.float64] = field(default_factory=lambda: np.ones((3, 1)))

    def begin_phase(self, first_epoch: int, schedule: Schedule) -> None:
        """Use a schedule from an epoch on."""
        if schedule.floor_negative or schedule.predictive:
            raise ValueError(
                f"schedule {schedule.name!r} floors or predicts regrets, which fails on sampled boards; "
                "accepted: vanilla, lcfr, dcfr, dcfr-postflop, hs-dcfr"
            )
        if first_epoch <= self.epoch or (self.phases and first_epoch <= self.phases[-1][0]):
            raise ValueError(
                f"first_epoch: {first_epoch} is not after epoch {self.epoch} of the phase before"
            )
        self.phases.append((first_epoch, schedule))

    def weights(self, epoch: int) -> DiscountWeights:
        """Factors of one epoch."""
        started = [phase for phase in self.phases if phase[0] <= epoch]
        if not started:
            raise ValueError(f"epoch {epoch}: no phase has begun by then")
        first, schedule = started[-1]
        return schedule.weights(epoch, average_start=first)

    def factors(self, epoch: int) -> NDArray[np.float64]:
        """Products of the factors after each earlier epoch (positive, negative, average), [3, epoch + 1]."""
        if epoch < self.epoch:
            self.epoch, self._factors = 0, np.ones((3, 1))
        while self.epoch < epoch:
            self.epoch += 1
            weights = self.weights(self.epoch)
            step = np.array([weights.positive, weights.negative, weights.strategy])
            self._factors = np.concatenate([self._factors * step[:, None], np.ones((3, 1))], axis=1)
        return self._factors


def discount(regret: NDArray[np.float32], weights: DiscountWeights) -> None:
    """Multiply a whole table of regrets by the factors of an epoch."""
    _discount(regret, np.float32(weights.positive), np.float32(weights.negative))


@njit(cache=True, nogil=True)
def _discount(table: Any, positive: Any, negative: Any) -> None:
    for k in range(table.shape[0]):
        table[k] *= positive if table[k] > 0 else negative
