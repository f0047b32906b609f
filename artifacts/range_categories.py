"""A range by what its hands have made and what they draw to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CategoryRow:
    """A part of a range: its share of the range, and how it plays, ``[action]``."""

    name: str
    share: float
    strategy: Floats


def category_rows(
    categories: NDArray[np.integer], names: Sequence[str], weights: Floats, shares: Floats
) -> list[CategoryRow]:
    """The categories that a range has, in the order of their names.

    Parameters
    ----------
    categories
        Position of each hand's category in `names`; negative for none.
    weights
        How often each hand is held.
    shares
        ``[hand, action]``; hands without a strategy (nan) do not count.
    """
    counted = np.where(np.isnan(shares).any(axis=1) | (categories < 0), 0.0, weights)
    total = float(counted.sum())
    rows = []
    for number, name in enumerate(names):
        here = np.where(categories == number, counted, 0.0)
        held = float(here.sum())
        if held > 0.0:
            rows.append(CategoryRow(name, held / total, here @ np.nan_to_num(shares) / held))
    return rows
