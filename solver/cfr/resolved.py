"""Compiled code of a kernel, found once instead of in every call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import typeof


def resolved(kernel: Any, *arguments: Any) -> Callable[..., Any]:
    """The compiled code of a kernel for arguments of the same types as some.

    Numba looks up the types of named tuples and of tuples of handles in Python, which takes longer than a short sweep.
    Nobody checks the types of what is passed to the code itself: they must be the same in every call.

    >>> import numba
    >>> double = resolved(numba.njit(lambda x: 2 * x), 1)
    >>> double(21)
    42
    """
    types = tuple(typeof(argument) for argument in arguments)
    kernel.compile(types)
    code: Callable[..., Any] = kernel.get_overload(types)
    return code
