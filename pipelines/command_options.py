"""What the commands of `poker-solver` share: options, and whose mistake an error is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from pipelines.errors import UserError

Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]


@contextmanager
def user_input(source: Path | str | None = None) -> Iterator[None]:
    """A value that the library refuses is the user's mistake here; `source` is where it came from."""
    try:
        yield
    except ValueError as error:
        raise UserError(f"{source}: {error}" if source else str(error)) from None


def writable(path: Path | None) -> Path | None:
    """A file to write, refused before any work where its folder does not exist."""
    if path is not None and not path.resolve().parent.is_dir():
        raise UserError(f"{path}: its folder does not exist")
    return path
