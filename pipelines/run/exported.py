"""The exported blueprint that a command's key `bundle` names."""

from __future__ import annotations

from pathlib import Path

from artifacts.blueprint.bundle import BlueprintBundle
from artifacts.bundle import open_bundle
from artifacts.format.manifest import MANIFEST
from pipelines.run.errors import UserError


def open_export(path: Path) -> BlueprintBundle:
    """Open the blueprint in a folder; a folder of something else is refused."""
    if not (path / MANIFEST).is_file():
        raise UserError(f"bundle: {path} is no bundle, it has no {MANIFEST}")
    bundle = open_bundle(path)
    if not isinstance(bundle, BlueprintBundle):
        raise UserError(f"bundle: {path} is of stage {bundle.manifest.stage}; expected one of stage export")
    return bundle
