"""Values of a command's own keys, ``key=value``: each is checked, and a mistake says what is accepted."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pipelines.run.errors import UserError


def one_of(key: str, value: str, accepted: Sequence[str]) -> str:
    """A value out of a list."""
    if value not in accepted:
        raise UserError(f"{key}: {value!r} is not accepted: one of {', '.join(accepted)}")
    return value


def whole_number(key: str, text: str, *, least: int, most: int) -> int:
    """A whole number within bounds."""
    if not text.isdecimal() or not least <= int(text) <= most:
        raise UserError(f"{key}: {text!r} is not accepted: a whole number from {least} to {most:,}")
    return int(text)


def real_number(key: str, text: str, *, least: float, most: float) -> float:
    """A number within bounds."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not least <= value <= most:
        raise UserError(f"{key}: {text!r} is not accepted: a number from {least:g} to {most:g}")
    return value
