"""Manifests as somebody would forge them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from artifacts.format.manifest import CHECKSUM, with_checksum


@pytest.fixture(scope="session")
def signed() -> Callable[[dict[str, Any]], bytes]:
    """`signed(fields)`: the bytes of a manifest with these fields, and with a checksum that fits."""

    def sign(fields: dict[str, Any]) -> bytes:
        rest = {key: value for key, value in fields.items() if key != CHECKSUM}
        return with_checksum(json.dumps(rest, indent=2, sort_keys=True) + "\n").encode()

    return sign
