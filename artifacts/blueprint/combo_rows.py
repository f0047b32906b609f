"""A decision after the flop by combo, and what it comes to by hand class."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import CLASS_COMBOS, CLASS_OF_COMBO, NUM_CLASSES
from artifacts.offpath.marks import REASONS, is_cleaned

Floats = NDArray[np.float64]

#: Why no combo of a class is there: the board holds a card of each of them.
BLOCKED = "blocked"
#: Why a combo is not there: it was not in the range that was solved, so it has no strategy.
NOT_HELD = "not_held"


@dataclass(frozen=True, eq=False)
class ComboRows:
    """A decision after the flop, one row for each combo that the board leaves.

    Attributes
    ----------
    combos
        Numbers of the combos, ascending.
    actions
        Labels of the actions.
    raw_probability
        ``[combo, action]`` as trained or solved; nan where the reason is `NOT_HELD`.
    reasons
        Why a combo is off-path, None where it is in range. `rarely_reached` only annotates.
    reach
        Weight of each combo in the range of the player to act.
    """

    combos: NDArray[np.int64]
    actions: tuple[str, ...]
    raw_probability: Floats
    reasons: tuple[str | None, ...]
    reach: Floats

    @cached_property
    def off_path(self) -> NDArray[np.bool_]:
        """Combos whose row is cleaned."""
        return np.array([is_cleaned(reason) for reason in self.reasons], dtype=np.bool_)

    @cached_property
    def probability(self) -> Floats:
        """``[combo, action]`` with off-path combos giving up: they fold, or check where nobody has bet."""
        return np.where(self.off_path[:, None], self._gives_up, self.raw_probability)

    @property
    def _gives_up(self) -> Floats:
        return np.eye(len(self.actions))[0]

    @cached_property
    def class_reach(self) -> Floats:
        """Part of each class that is in the range, [169]; a combo that the board blocks is not."""
        return self._class_sums(self.reach) / CLASS_COMBOS

    @cached_property
    def class_reasons(self) -> tuple[str | None, ...]:
        """Why a class is off-path, None where one of its combos is in range.

        The reason is that of most of its combos, and `BLOCKED` where the board leaves none.
        """
        found: list[Counter[str]] = [Counter() for _ in range(NUM_CLASSES)]
        for number, reason, off_path in zip(CLASS_OF_COMBO[self.combos], self.reasons, self.off_path):
            found[number][reason or "" if off_path else ""] += 1
        return tuple(
            BLOCKED if not count else None if count[""] else max(count, key=lambda r: (count[r], -_rank(r)))
            for count in found
        )

    def class_mean(self, values: Floats, *, raw: bool = False) -> Floats:
        """Mean of ``[combo, ...]`` over the combos of each class by their weight in the range, ``[169, ...]``.

        Off-path combos do not count unless `raw`. Combos without a value (nan) never do. Where no combo of a class
        has weight they count alike; nan where there is none.
        """
        flat = values.reshape(len(values), -1)
        counted = ~np.isnan(flat) & (raw | ~self.off_path)[:, None]
        means = []
        for weights in (np.where(counted, self.reach[:, None], 0.0), counted.astype(np.float64)):
            sums = self._class_sums(np.where(counted, flat, 0.0) * weights)
            total = self._class_sums(weights)
            with np.errstate(invalid="ignore", divide="ignore"):
                means.append(sums / total)
        by_weight, alike = means
        return np.where(np.isnan(by_weight), alike, by_weight).reshape(NUM_CLASSES, *values.shape[1:])

    def class_probability(self, *, raw: bool = False) -> Floats:
        """The strategy by class, ``[169, action]``; classes that are off-path give up unless `raw`."""
        shares = self.class_mean(self.raw_probability, raw=raw)
        return np.where(np.isnan(shares), self._gives_up, shares)

    def _class_sums(self, values: Floats) -> Floats:
        sums = np.zeros((NUM_CLASSES, *values.shape[1:]))
        np.add.at(sums, CLASS_OF_COMBO[self.combos], values)
        return sums


def _rank(reason: str) -> int:
    return REASONS.index(reason) if reason in REASONS else len(REASONS)
