"""Why a hand is not in range on a line: the reasons, their order, and the two rules that find them.

A strategy holds a row for every hand at every decision, also for hands that never get there. Two rules say
which hands are off-path at a decision. The dominance rule: one of the player's own earlier decisions on the
line took the hand elsewhere at least 99 % of the time. The reach rule: the hand gets there less than 0.5 % as
often as the hand that gets there most. A hand that gets there more than 5 % as often as that one is in range
whatever it did before: on a line that everybody avoids every hand is dominated, and yet some are the range.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Codes = NDArray[np.int8]

REASON_FOLDED = "folded"
REASON_ALL_IN = "all_in"
REASON_CHECKED_CLOSED = "checked_closed"
REASON_CALLED_CLOSED = "called_closed"
REASON_LOW_REACH_SAME_STREET = "low_reach_same_street"
REASON_RARELY_REACHED = "rarely_reached"
#: Two older names of the same reason.
REASON_LOW_REACH = low_reach = REASON_LOW_REACH_SAME_STREET

#: Reasons by code: 0 is on-path, then the order in which they outrank each other.
REASONS: tuple[str | None, ...] = (
    None,
    REASON_FOLDED,
    REASON_ALL_IN,
    REASON_CHECKED_CLOSED,
    REASON_CALLED_CLOSED,
    REASON_LOW_REACH_SAME_STREET,
    REASON_RARELY_REACHED,
)
REASON_ALIASES = {"low_reach": REASON_LOW_REACH_SAME_STREET}
ON_PATH, FOLDED, ALL_IN, CHECKED_CLOSED, CALLED_CLOSED, LOW_REACH, RARELY_REACHED = range(7)

DOMINANT = 0.99
REACH_FRACTION = 0.005
#: A hand with more than this part of the node's maximum reach is never off-path under the rule ``max``.
IN_RANGE_FRACTION = 0.05
REACH_RULES = ("max", "total")


def canonical_reason(reason: str) -> str:
    """A reason under its present name.

    >>> canonical_reason("low_reach")
    'low_reach_same_street'
    """
    reason = REASON_ALIASES.get(reason, reason)
    if reason not in REASONS:
        raise ValueError(f"reason {reason!r}: accepted are {', '.join(filter(None, REASONS))}, low_reach")
    return reason


def is_cleaned(reason: str | None) -> bool:
    """Whether a row with this reason is overwritten; `rarely_reached` only annotates.

    >>> is_cleaned("folded"), is_cleaned("rarely_reached"), is_cleaned(None)
    (True, False, False)
    """
    return reason is not None and reason != REASON_RARELY_REACHED


def check_reach_rule(rule: str) -> None:
    """Refuse anything but the two reach rules."""
    if rule not in REACH_RULES:
        raise ValueError(f"reach_rule {rule!r}: accepted are {', '.join(REACH_RULES)}")


def dominant_blocks(
    fold: Floats,
    all_in: Floats,
    check: Floats,
    call: Floats,
    *,
    against_check: bool | Bools,
    against_call: bool | Bools,
) -> Codes:
    """Code of the reason why one decision takes a hand off the line, by hand; 0 where it does not.

    Parameters
    ----------
    fold, all_in, check, call
        Probability of each action at the decision, by hand.
    against_check, against_call
        Whether a hand that checks, or calls, leaves the line. A hand that checks every time is still there
        for the check-raise.
    """
    codes = np.zeros(len(fold), dtype=np.int8)
    codes[(call >= DOMINANT) & against_call] = CALLED_CLOSED
    codes[(check >= DOMINANT) & against_check] = CHECKED_CLOSED
    codes[all_in >= DOMINANT] = ALL_IN
    codes[fold >= DOMINANT] = FOLDED
    return codes


def rule_reasons(block: Codes, reach: Floats, reference: float | Floats, rule: str) -> Codes:
    """Code of the reason by hand from both rules; a dominant action outranks low reach.

    `reference` is the maximum or the total reach at the decision, as the rule says. A hand without reach is
    low even where no hand has any.
    """
    low = (reach < REACH_FRACTION * reference) | (reach <= 0)
    codes = np.where(block != ON_PATH, block, np.where(low, LOW_REACH, ON_PATH)).astype(np.int8)
    if rule == "max":
        codes[reach > IN_RANGE_FRACTION * reference] = ON_PATH
    return codes
