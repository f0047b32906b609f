"""Where results are kept when nobody says where."""

from __future__ import annotations

import tomllib
from pathlib import Path

PROJECT = "holdem-blueprint"
#: The store of a checkout, which git ignores.
CHECKOUT_STORE = "artifacts/store"
#: The store of any other folder. A folder `artifacts` there would hide the package from `import artifacts`.
FOLDER_STORE = "blueprint-store"


def default_store(folder: Path | str = ".") -> str:
    """The store of a command that runs in a folder, relative to that folder.

    >>> default_store("/")
    'blueprint-store'
    """
    return CHECKOUT_STORE if is_checkout(Path(folder)) else FOLDER_STORE


def is_checkout(folder: Path) -> bool:
    """Whether a folder is the root of a checkout: its `pyproject.toml` names this project, the package is there."""
    try:
        settings = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    project = settings.get("project")
    return (
        isinstance(project, dict)
        and project.get("name") == PROJECT
        and (folder / "artifacts" / "__init__.py").is_file()
    )


def store_note(root: str) -> str:
    """A line that says where results are, and how to choose another place where nobody has chosen this one.

    >>> store_note("runs/store")
    'store: runs/store'
    """
    chosen = root != default_store()
    return f"store: {root}" + ("" if chosen else " (the default in this folder; store.root=DIR sets another)")
