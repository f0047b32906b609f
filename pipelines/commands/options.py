"""What the commands of `poker-solver` share: options, and whose mistake an error is."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.config.default_store import CHECKOUT_STORE, FOLDER_STORE, default_store
from pipelines.run.errors import UserError
from solver.betting.lines import HEADS_UP_SEATS, PLAYERS, POSITIONS, is_line, parse_seat

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from artifacts.blueprint.preflop_bundle import PreflopBundle
    from artifacts.spot_bundle import SpotBundle
    from artifacts.subgame_bundle import SubgameBundle

    #: A bundle with a strategy.
    StrategyBundle = PreflopBundle | SpotBundle | SubgameBundle

Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]
DEFAULT_STORE_TEXT = f"{CHECKOUT_STORE} in a checkout, {FOLDER_STORE} in any other folder"
Store = Annotated[
    Path | None,
    typer.Option(
        help="store whose newest exported bundle is read where none is named", show_default=DEFAULT_STORE_TEXT
    ),
]
Game = Annotated[
    str | None, typer.Option(help="read the newest bundle of this game: hu25; left out, the newest of all")
]
Board = Annotated[str, typer.Option(help="public cards as dealt, once the line has seen a flop: QsJh2h")]
#: No store is named: `default_store` says which one it is.
DEFAULT_STORE: Path | None = None


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


def open_exported(bundle: Path | None, store: Path | None = None, game: str | None = None) -> StrategyBundle:
    """A bundle with a strategy by its folder, or the blueprint used last in a store; else a user's mistake.

    Parameters
    ----------
    store
        Looked through where no folder is named; the default store of the current folder if left out.
    game
        Name of the game that the bundle must be of.
    """
    from artifacts.blueprint.preflop_bundle import PreflopBundle
    from artifacts.bundle import open_bundle
    from artifacts.format.manifest import MANIFEST
    from artifacts.spot_bundle import SpotBundle

    if bundle is not None and game is not None:
        raise UserError(f"--game: the game is that of the bundle {bundle}; give one of the two")
    if bundle is None:
        return _newest_exported(Path(default_store()) if store is None else store, game)
    if not (bundle / MANIFEST).is_file():
        raise UserError(
            f"{bundle}: no bundle, it has no {MANIFEST}; expected a folder such as STORE/export-KEY"
        )
    opened = open_bundle(bundle)
    from pipelines.run.bundle_source import as_subgame

    subgame = as_subgame(opened)
    if subgame is not None:
        return subgame
    if not isinstance(opened, PreflopBundle | SpotBundle):
        raise UserError(
            f"{bundle}: a bundle of stage {opened.manifest.stage}; expected one of stage export, preflop_solve,"
            " postflop_solve or subgame"
        )
    return opened


def say_newest(bundle: StrategyBundle, game: str | None) -> None:
    """Name the bundle that was taken for being the newest. A mistake is one line, so call it after all checks."""
    of_game = "" if game is None else f" of {game}"
    print(f"the newest blueprint{of_game}: {os.path.relpath(bundle.path)}", file=sys.stderr)


def _newest_exported(root: Path, game: str | None) -> PreflopBundle:
    """The exported bundle of a store that was used last, of a game where one is asked for."""
    from artifacts.blueprint.preflop_bundle import PreflopBundle
    from artifacts.bundle import open_bundle
    from artifacts.bundle_store import BundleStore
    from pipelines.config.named_games import game_name, named_games

    if game is not None and game not in named_games():
        raise UserError(f"--game: {game!r} is not accepted: one of {', '.join(named_games())}")
    store = BundleStore(root)
    exported = [manifest for manifest in store.bundles() if manifest.stage == "export"]
    if not exported:
        raise UserError(f"{root}: no exported bundle in this store; name one, or give --store ROOT")
    others = []
    for manifest in reversed(exported):
        bundle = open_bundle(store.path(manifest.stage, manifest.key))
        assert isinstance(bundle, PreflopBundle)
        if game is None or game_name(bundle.game) == game:
            return bundle
        others.append(f"{game_name(bundle.game)} ({manifest.name})")
    raise UserError(f"--game: no blueprint of {game} in {root}; it has {', '.join(others)}")


def with_preflop(bundle: StrategyBundle) -> PreflopBundle:
    """A bundle that plays before the flop; a saved postflop solve is a user's mistake here."""
    from artifacts.blueprint.preflop_bundle import PreflopBundle

    if not isinstance(bundle, PreflopBundle):
        raise UserError(
            f"{bundle.path}: a saved postflop solve; expected a blueprint or a saved preflop solve"
        )
    return bundle


def check_player(player: str | None) -> None:
    """Refuse a name that no seat of any table has, before a bundle is opened."""
    names = (*Player, *POSITIONS)
    if player is not None and player.upper().replace("+", "") not in {name.upper() for name in names}:
        raise UserError(f"--player: {player!r} is not accepted: one of {', '.join(names)}")


def seat_number(bundle: StrategyBundle, player: str) -> int:
    """Number of a player in a bundle; heads-up, the big blind is out of position after the flop."""
    if len(bundle.seats) > 2:
        with user_input():
            return parse_seat(player, len(bundle.seats))
    if player not in tuple(Player):
        raise UserError(f"player {player!r}: accepted are {', '.join(Player)}")
    other = {Player.SB: Player.IP, Player.BB: Player.OOP, Player.IP: Player.SB, Player.OOP: Player.BB}
    return bundle.seats.index(player if player in bundle.seats else other[Player(player)])


def shown_line(bundle: StrategyBundle, line: str) -> str:
    """The line that is asked for; of a kept subgame, by default the one that was solved."""
    from pipelines.run.bundle_source import as_subgame

    subgame = None if line else as_subgame(bundle)
    return line if subgame is None else subgame.solved.line


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
