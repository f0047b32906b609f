"""Public tree, discount schedules, CFR kernels, best response, solvers."""
