"""Which discounts an exact solve uses where nobody chose: those that need the fewest iterations."""

from __future__ import annotations

from dataclasses import replace

from solver.cfr.schedules import schedule

#: What ``schedule="auto"`` stands for. With the usual beta of 0 a bad line is forgotten in two iterations, taken up
#: again as soon as it looks good against an answer that was never trained, and the average pays: exploitability rises
#: for a while, on some spots near iteration 80, on others near 150. A memory that grows cures it. What is learnt while
#: the answers are still poor is worth little, so at first bad regrets are forgotten at once, and good ones (alpha) are
#: forgotten sooner than usual.
AUTOMATIC = replace(schedule("dcfr", alpha=1.25, beta=0.0, gamma=4.0), beta_change=0.5, horizon=100)
