"""Folders in which commands save what they have solved, as bundles that `artifacts.open_bundle` reads."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from artifacts.bundle import sync, write_bundle
from artifacts.format.arrow_file import Column
from pipelines.commands.options import writable
from pipelines.run.errors import UserError


def new_folder(path: Path | None) -> Path | None:
    """A folder to make, refused before any work where there is something already or none can be made."""
    if path is None:
        return None
    if path.is_dir():
        if any(path.iterdir()):
            raise UserError(f"{path}: has files in it; expected a new folder")
        return path
    if path.exists() or path.is_symlink():
        raise UserError(f"{path}: is a file; expected a new folder")
    return writable(path)


def write_folder(
    path: Path,
    tables: Mapping[str, Mapping[str, Column]],
    *,
    texts: Mapping[str, str],
    stage: str,
    key: str,
    code: str,
    config: Mapping[str, Any],
    metrics: Mapping[str, float],
) -> None:
    """Write a bundle under a temporary name beside its own, and make it appear by one rename."""
    staging = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write_bundle(
            staging,
            tables,
            texts=texts,
            stage=stage,
            key=key,
            code=code,
            config=config,
            inputs={},
            metrics=metrics,
        )
        staging.rename(path)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    sync(path.resolve().parent)
