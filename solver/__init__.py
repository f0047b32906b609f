"""Public tree, discount schedules, CFR kernels, best response, solvers."""

import abstractions  # noqa: F401 - it says where compiled kernels are kept
from solver.cfr.exploitability import Exploitability, exploitability

__all__ = ["Exploitability", "exploitability"]
