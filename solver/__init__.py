"""Public tree, discount schedules, CFR kernels, best response, solvers."""

from solver.cfr.exploitability import Exploitability, exploitability

__all__ = ["Exploitability", "exploitability"]
