"""What the commands of `poker-solver` share: options, and whose mistake an error is."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.run.errors import UserError
from solver.betting.lines import HEADS_UP_SEATS, is_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from artifacts.blueprint.bundle import BlueprintBundle

Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]
Store = Annotated[
    Path,
    typer.Option(help="store whose newest exported bundle is read where none is named", show_default=True),
]
Board = Annotated[str, typer.Option(help="public cards as dealt, once the line has seen a flop: QsJh2h")]
DEFAULT_STORE = Path("artifacts/store")


class Seat(StrEnum):
    """Seats of a heads-up game."""

    SB, BB = HEADS_UP_SEATS


@contextmanager
def user_input(source: Path | str | None = None) -> Iterator[None]:
    """A value that the library refuses is the user's mistake here; `source` is where it came from."""
    try:
        yield
    except ValueError as error:
        raise UserError(f"{source}: {error}" if source else str(error)) from None


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file, or an error that names the file."""
    try:
        text = path.read_text(encoding="utf-8")
        data = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise UserError(f"{path}: not JSON ({error})") from None
    except RecursionError:
        raise UserError(f"{path}: not JSON that can be read (nested too deeply)") from None
    if not isinstance(data, dict):
        raise UserError(f"{path}: expected a JSON object")
    return data


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object whose keys differ; Python itself would keep the last of equal ones."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {max(keys, key=keys.count)!r} appears twice in one object")
    return found


def _no_constant(name: str) -> None:
    """NaN and infinities, which Python writes and JSON does not have."""
    raise ValueError(f"{name} is no number of JSON")


def read_state(path: Path) -> dict[str, NDArray[Any]]:
    """Arrays that `solve --state` saved, or an error that names the file."""
    import zlib
    from zipfile import BadZipFile

    import numpy as np

    try:
        with np.load(path) as saved:
            arrays = dict(saved)
        if not {"seconds", "trace"} <= set(arrays):
            raise ValueError
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None
    except (ValueError, TypeError, AttributeError, EOFError, KeyError, BadZipFile, zlib.error):
        raise UserError(f"{path}: not a file that --state saved") from None
    return arrays


def finite(value: float) -> float:
    """Callback of a number option: infinities and nan are within any bounds that typer knows."""
    if not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a finite number")
    return value


def board_cards(text: str) -> NDArray[np.uint8]:
    """Cards of `--board`, none where it is left out."""
    from abstractions.cards import parse_board

    return parse_board(text)


def writable(path: Path | None) -> Path | None:
    """A file to write, refused before any work where it cannot be written."""
    if path is None:
        return None
    if os.path.isdir(path):
        raise UserError(f"{path}: a folder; expected a file to write")
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise UserError(f"{path}: its folder does not exist")
    try:
        os.stat(path)
        written = str(path)
    except FileNotFoundError:
        written = folder
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    if not os.access(written, os.W_OK):
        raise UserError(f"{path}: cannot be written (no permission)")
    return path


def open_exported(bundle: Path | None, store: Path) -> BlueprintBundle:
    """An exported bundle by its folder, or the one used last in a store; anything else is a user's mistake."""
    from artifacts.blueprint.bundle import BlueprintBundle
    from artifacts.bundle import open_bundle
    from artifacts.bundle_store import BundleStore
    from artifacts.format.manifest import MANIFEST

    if bundle is None:
        newest = [manifest for manifest in BundleStore(store).bundles() if manifest.stage == "export"][-1:]
        if not newest:
            raise UserError(f"{store}: no exported bundle in this store; name one, or give --store ROOT")
        bundle = BundleStore(store).path(newest[0].stage, newest[0].key)
    elif not (bundle / MANIFEST).is_file():
        raise UserError(
            f"{bundle}: no bundle, it has no {MANIFEST}; expected a folder such as STORE/export-KEY"
        )
    opened = open_bundle(bundle)
    if not isinstance(opened, BlueprintBundle):
        raise UserError(f"{bundle}: a bundle of stage {opened.manifest.stage}; expected one of stage export")
    return opened


def bundle_and_line(words: Sequence[str] | None) -> tuple[Path | None, str]:
    """`[BUNDLE] [LINE]` apart: a single word that is written like a line, and is no folder, is one.

    >>> bundle_and_line(["b250r750"]), bundle_and_line(["run/export-4c0a"])
    ((None, 'b250r750'), (PosixPath('run/export-4c0a'), ''))
    """
    given = list(words or ())
    if len(given) > 2:
        raise UserError(f"{given[2]}: one word too many; expected [BUNDLE] [LINE]")
    if len(given) == 1 and is_line(given[0]) and not Path(given[0]).is_dir():
        return None, given[0]
    return (Path(given[0]) if given else None), (given[1] if len(given) == 2 else "")
