"""Which discounts an exact solve uses where nobody chose: those that need the fewest iterations."""

from __future__ import annotations

from dataclasses import replace

from solver.betting.lines import RIVER
from solver.cfr.schedules import Schedule, schedule

#: On the river. With the usual beta of 0 a bad line is forgotten in two iterations, taken up again as soon as it looks
#: good against an answer that was never trained, and the average pays: on the flop spot of `scripts/bench_postflop.py`
#: exploitability rises from .15 to .4 % of pot near iteration 150 (in 64 bits near 100). A little memory cures it.
RIVER_ALONE = schedule("dcfr", beta=0.25, gamma=4.0)
#: With cards to come. Early regrets are worth little while later streets are still learnt, so they are forgotten sooner
#: at first. Turns and flops need a tenth to a sixth fewer iterations to 0.5 % of pot, rivers alone need more.
CARDS_TO_COME = replace(RIVER_ALONE, alpha=1.25, alpha_change=0.25, horizon=100)


def automatic_schedule(first_street: int) -> Schedule:
    """What ``schedule="auto"`` stands for in a spot that begins on a street."""
    return RIVER_ALONE if first_street == RIVER else CARDS_TO_COME
