"""What can be wrong with a bundle, said in one line that names the file."""

from __future__ import annotations

from pathlib import Path


class BundleError(Exception):
    """A bundle that cannot be trusted or read: the message names the file and what is wrong with it."""


class MissingFile(BundleError):
    """A file that is not there."""


class ArchiveError(BundleError):
    """An archive that is no packed bundle, or a damaged one. Nothing of it has been installed."""


def unreadable(path: Path | str, error: OSError | ValueError) -> BundleError:
    """What the operating system says about a file that cannot be read; a ValueError is a path that it cannot hold."""
    return BundleError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})")
