"""Public tree, discount schedules, CFR kernels, best response, solvers."""

from solver.exploitability import Exploitability, exploitability

__all__ = ["Exploitability", "exploitability"]
