"""Strategies that look at no cards: the one definition that matches, local best response and the explorer use."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from solver.betting.lines import Letter

#: Their names. `always-fold` checks where checking is free.
SIMPLE = ("always-fold", "always-call", "uniform")
_PASSIVE = (Letter.CHECK, Letter.CALL)
_WANTED = {"always-fold": (Letter.FOLD, *_PASSIVE), "always-call": _PASSIVE}


def check_simple(name: str) -> None:
    """Refuse a name that no simple strategy has."""
    if name not in SIMPLE:
        raise ValueError(f"strategy {name!r} is unknown; accepted: {', '.join(SIMPLE)}")


def simple_shares(name: str, tokens: Sequence[str]) -> NDArray[np.float64]:
    """Probability of each action on offer, with any hand.

    >>> simple_shares("always-fold", ["f", "c", "A"]), simple_shares("always-fold", ["x", "b300"])
    (array([1., 0., 0.]), array([1., 0.]))
    >>> simple_shares("uniform", ["x", "b300"])
    array([0.5, 0.5])
    """
    check_simple(name)
    if name == "uniform":
        return np.full(len(tokens), 1.0 / len(tokens))
    # Where nothing that it wants is on offer, as where limping is not allowed, the first action stands in.
    chosen = next((letter for letter in _WANTED[name] if letter in tokens), tokens[0])
    return np.array([float(token == chosen) for token in tokens])
