"""Off-path combos after the flop with any number of seats: by the acting seat's own decisions on the line.

The rules are those of `artifacts.offpath.seat_marks`, on real hands: a hand is off the line where an own decision, on
any street, took it elsewhere almost always, or where it gets there far less often than others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from artifacts.offpath.marks import ON_PATH, Codes, Floats, dominant_blocks, rule_reasons
from solver.betting.lines import Letter

_STAYING = (Letter.CALL, Letter.CHECK)
_GROUPS = {"fold": Letter.FOLD, "all_in": Letter.ALLIN, "check": Letter.CHECK, "call": Letter.CALL}


def seat_codes(
    steps: Sequence[tuple[Sequence[str], int, NDArray[np.floating]]], reach: Floats, rule: str
) -> Codes:
    """Code of the reason by combo, 0 where the combo is in range.

    Parameters
    ----------
    steps
        The seat's own decisions on the way: tokens of the actions, which one the line takes, and the probability of
        each by combo, ``[action, combo]``.
    reach
        How likely each combo plays the seat's part of the line.
    rule
        ``max`` or ``total``.
    """
    block = np.zeros(len(reach), np.int8)
    for tokens, taken, shares in steps:
        against = tokens[taken] not in _STAYING
        groups = {
            name: np.asarray(shares[tokens.index(letter)], np.float64)
            if letter in tokens
            else np.zeros(len(reach))
            for name, letter in _GROUPS.items()
        }
        took = dominant_blocks(**groups, against_check=against, against_call=against)
        block = np.where(block != ON_PATH, block, took).astype(np.int8)
    reference = float(reach.max() if rule == "max" else reach.sum())
    return rule_reasons(block, reach, reference, rule)
