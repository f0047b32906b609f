"""Card arithmetic inside kernels. `abstractions.cards` itself does without numba, so that importing it is quick."""

from __future__ import annotations

from numba import njit


@njit(cache=True, inline="always")
def _combo_index(low: int, high: int) -> int:
    """Index of the combo of two cards, ``low < high``: the C(52,2) pairs in lexicographic order."""
    return low * (101 - low) // 2 + high - 1
