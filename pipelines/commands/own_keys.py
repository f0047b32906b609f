"""Keys that belong to one command alone: read beside the overrides of the configuration, and checked in one line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from artifacts.blueprint.bundle import BlueprintBundle
from artifacts.bundle import open_bundle
from artifacts.format.manifest import MANIFEST
from pipelines.run.errors import UserError


def split_keys(arguments: Sequence[str], names: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """The keys of a command, and the other arguments; of a key that is given twice the last value counts.

    >>> split_keys(["hands=10", "seed=3"], ["hands"])
    ({'hands': '10'}, ['seed=3'])
    """
    own: dict[str, str] = {}
    others: list[str] = []
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if name not in names:
            others.append(argument)
        elif not equals:
            raise UserError(f"{name}: give a value, {name}=..")
        else:
            own[name] = value
    return own, others


def one_of(key: str, value: str, accepted: Sequence[str]) -> str:
    """A value that must be among those accepted."""
    if value not in accepted:
        raise UserError(f"{key}: {value!r} is not accepted: one of {', '.join(accepted)}")
    return value


def whole_number(key: str, text: str, *, least: int, most: int) -> int:
    """A whole number within bounds."""
    if not text.isdecimal() or not least <= int(text) <= most:
        raise UserError(f"{key}: {text!r} is not accepted: a whole number from {least} to {most:,}")
    return int(text)


def open_source(path: Path, key: str = "bundle") -> BlueprintBundle:
    """The exported blueprint that a key names."""
    if not (path / MANIFEST).is_file():
        raise UserError(f"{key}: {path} is no bundle, it has no {MANIFEST}")
    bundle = open_bundle(path)
    if not isinstance(bundle, BlueprintBundle):
        raise UserError(
            f"{key}: {path} is of stage {bundle.manifest.stage}; expected one of stage export, of two seats"
        )
    return bundle
