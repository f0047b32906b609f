"""What the commands of `poker-solver` share: options, and whose mistake an error is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.run.errors import UserError
from solver.betting.lines import HEADS_UP_SEATS, PLAYERS, is_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from artifacts.blueprint.preflop_bundle import PreflopBundle
    from artifacts.spot_bundle import SpotBundle

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


class Player(StrEnum):
    """Two players, by seat or by position after the flop."""

    SB, BB = HEADS_UP_SEATS
    OOP, IP = PLAYERS


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
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise UserError(f"{path}: not JSON ({error})") from None
    if not isinstance(data, dict):
        raise UserError(f"{path}: expected a JSON object")
    return data


def board_cards(text: str) -> NDArray[np.uint8]:
    """Cards of `--board`, none where it is left out."""
    from abstractions.cards import parse_board

    return parse_board(text)


def writable(path: Path | None) -> Path | None:
    """A file to write, refused before any work where its folder does not exist."""
    if path is not None and not path.resolve().parent.is_dir():
        raise UserError(f"{path}: its folder does not exist")
    return path


def open_exported(bundle: Path | None, store: Path) -> PreflopBundle | SpotBundle:
    """A bundle with a strategy by its folder, or the blueprint used last in a store; else a user's mistake."""
    from artifacts.blueprint.preflop_bundle import PreflopBundle
    from artifacts.bundle import open_bundle
    from artifacts.bundle_store import BundleStore
    from artifacts.format.manifest import MANIFEST
    from artifacts.spot_bundle import SpotBundle

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
    if not isinstance(opened, PreflopBundle | SpotBundle):
        raise UserError(
            f"{bundle}: a bundle of stage {opened.manifest.stage}; expected one of stage export, preflop_solve"
            " or postflop_solve"
        )
    return opened


def with_preflop(bundle: PreflopBundle | SpotBundle) -> PreflopBundle:
    """A bundle that plays before the flop; a saved postflop solve is a user's mistake here."""
    from artifacts.blueprint.preflop_bundle import PreflopBundle

    if not isinstance(bundle, PreflopBundle):
        raise UserError(
            f"{bundle.path}: a saved postflop solve; expected a blueprint or a saved preflop solve"
        )
    return bundle


def seat_number(bundle: PreflopBundle | SpotBundle, player: Player) -> int:
    """Number of a player in a bundle; heads-up, the big blind is out of position after the flop."""
    other = {Player.SB: Player.IP, Player.BB: Player.OOP, Player.IP: Player.SB, Player.OOP: Player.BB}
    return bundle.seats.index(player if player in bundle.seats else other[player])


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
