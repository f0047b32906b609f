"""The git revision of the code that runs, for the record."""

from __future__ import annotations

import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def git_revision() -> dict[str, str]:
    """Tags `version` and, in a checkout, `git.revision` and `git.dirty`."""
    try:
        tags = {"version": version("holdem-blueprint")}
    except PackageNotFoundError:
        tags = {}
    folder = Path(__file__).parent
    try:
        tags["git.revision"] = _git(folder, "rev-parse", "HEAD")
        tags["git.dirty"] = str(bool(_git(folder, "status", "--porcelain", "--untracked-files=no"))).lower()
    except (OSError, subprocess.SubprocessError):
        pass  # installed without its repository
    return tags


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True, timeout=10
    )
    return done.stdout.strip()
