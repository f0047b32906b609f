# ruff: noqa: ARG001
"""Parts of a job that threads take one after another, so that none of them waits while there is work left."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def claim(typingctx: Any, counter: Any) -> Any:
    """The number in ``counter[0]``, which grows by one. No two threads get the same number."""
    if not (isinstance(counter, types.Array) and counter.dtype == types.int64):
        return None

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.atomic_rmw("add", data, ir.Constant(ir.IntType(64), 1), "monotonic")

    return types.int64(counter), codegen
