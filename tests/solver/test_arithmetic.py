"""Kernels of the solver do sums in the order in which they are written.

With `fastmath` the compiler may choose another order. Its choice depends on what else was compiled in the same process,
so one worker could end with other bytes than the next.
"""

from __future__ import annotations

import ast
from pathlib import Path

import solver


def test_no_kernel_of_the_solver_may_reorder_its_sums() -> None:
    files = sorted(Path(solver.__file__).parent.rglob("*.py"))
    assert len(files) > 100
    loose = [
        f"{path.name}:{node.lineno}"
        for path in files
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.keyword) and node.arg == "fastmath"
    ]
    assert loose == []
