"""The settings in a bundle's `config` that its readers act on, and what they accept.

A manifest of version 1 has no checksum, so a wrong word in it must be caught here.
"""

from __future__ import annotations

from collections.abc import Mapping
from reprlib import repr as shown
from typing import Any

from artifacts.errors import BundleError
from artifacts.offpath.marks import REACH_RULES

#: Accepted words by stage and setting.
WORDS: dict[str, dict[str, tuple[str, ...]]] = {
    "buckets": {"scope": ("global", "texture"), "boards": ("all", "medoids")},
    "evaluate": {"reach_rule": REACH_RULES},
    "export": {"reach_rule": REACH_RULES},
}
#: Settings that count buckets, which are stored in 16 bits.
COUNTS = {"buckets": ("flop", "turn", "river")}
MOST_BUCKETS = 65_535


class Settings(dict[str, Any]):
    """A bundle's `config`: a setting that is missing is a `BundleError` that names the manifest."""

    def __init__(self, values: Mapping[str, Any], source: object) -> None:
        super().__init__(values)
        self._source = source

    def __missing__(self, name: str) -> Any:
        raise BundleError(f"{self._source}: config has no {name!r}")


def check_settings(stage: str, config: Mapping[str, Any]) -> None:
    """Refuse a setting with a value that its readers do not know."""
    for name, words in WORDS.get(stage, {}).items():
        if name in config and config[name] not in words:
            raise ValueError(f"config.{name} {shown(config[name])}: accepted are {', '.join(words)}")
    for name in COUNTS.get(stage, ()):
        if name in config and not (type(config[name]) is int and 1 <= config[name] <= MOST_BUCKETS):
            raise ValueError(
                f"config.{name} {shown(config[name])}: accepted are whole numbers from 1 to {MOST_BUCKETS}"
            )
