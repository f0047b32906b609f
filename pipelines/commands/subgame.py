"""`poker-solver subgame`: solve the spot that a hand is in, on top of a blueprint."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.commands.options import (
    DEFAULT_STORE,
    Game,
    Json,
    Store,
    finite,
    open_exported,
    read_json,
    say_newest,
    user_input,
)
from pipelines.run.errors import UserError
from pipelines.run.progress import live_status, plain_console, size

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from artifacts.blueprint.bundle import BlueprintBundle
    from artifacts.blueprint.multiway_bundle import MultiwayBundle
    from pipelines.commands.multiplayer import MultiplayerRows
    from pipelines.commands.subgame_rows import SubgameRows
    from solver.subgame import Progress, SubgameConfig
    from solver.subgame.solve import SubgameSolver
    from solver.subgame.subgame import Subgame

#: Seconds of a solve that is given no other budget.
DEFAULT_SECONDS = 3.0


def subgame(
    bundle: Annotated[Path | None, typer.Argument(help="exported blueprint; left out, the newest")] = None,
    line: Annotated[str, typer.Option(help="the hand so far, any legal sizes: b250c/xb300")] = "",
    board: Annotated[str, typer.Option(help="public cards of the line's last street: QsJh2h")] = "",
    depth: Annotated[
        str, typer.Option(metavar="1|2|full", help="streets to search; full: to the river")
    ] = "1",
    seconds: Annotated[
        float | None, typer.Option("--time", callback=lambda v: v if v is None else finite(v), help="seconds")
    ] = None,
    iterations: Annotated[int | None, typer.Option(help="iterations at most")] = None,
    target: Annotated[
        float | None,
        typer.Option(
            callback=lambda v: v if v is None else finite(v), help="percent of pot, of an exact solve"
        ),
    ] = None,
    safety: Annotated[
        str, typer.Option(metavar="unsafe|resolve|maxmargin|reach", help="may the opponent stay out?")
    ] = "unsafe",
    sizes: Annotated[str | None, typer.Option(help="bets of the current street: 33%,75%,150%,a")] = None,
    raises: Annotated[str | None, typer.Option(help="raises of the current street: 2.5x")] = None,
    continuation: Annotated[
        str | None, typer.Option(metavar="trained|values", help="what follows the searched streets")
    ] = None,
    values: Annotated[
        int | None, typer.Option(metavar="1|4|7", help="fixed continuations to choose from at the leaves")
    ] = None,
    lock: Annotated[
        list[Path] | None,
        typer.Option(help="JSON file with a decision whose strategy is given; may be repeated"),
    ] = None,
    threads: Annotated[int, typer.Option(min=1)] = 2,
    raw_offpath: Annotated[
        bool, typer.Option("--raw-offpath", help="show the strategy of off-path hands as solved")
    ] = False,
    seat: Annotated[
        str | None,
        typer.Option(help="three or more seats: the next decision of this seat if the others check or fold"),
    ] = None,
    game: Game = None,
    store: Store = DEFAULT_STORE,
    json_: Json = False,
) -> None:
    """Solve the current street of a hand: the actual board, hand by hand, with finer sizes.

    Ranges come from the blueprint along the line. Later streets are played in buckets and trained along, or with
    --depth full solved to the river. Ctrl-C stops early with what there is. Solves are kept in the store.

    On a blueprint of three or more seats all players left are solved against drawn hands of each other, folded hands
    included; behind the street each chooses one of --values continuations of the blueprint. With two players left,
    --depth full solves the rest of the hand exactly, around the hands that the others folded. Nothing is kept there.

    A lock is {"line": "b250c/", "strategy": {"x": 0.4, "b300": 0.6}, "hands": "22+"}, as the explorer writes it.
    Without `hands` it is for every hand. With "source": "subgame-KEY" in place of a strategy, the decision is played as
    that bundle of the store plays it.

    \b
    Examples:
      poker-solver subgame --line b250c/xb300 --board QsJh2h
      poker-solver subgame STORE/export-KEY --line b250c/xx/xx/ --board QsJh2h8d3c --target 0.3 --json
      poker-solver subgame --line b250c/ --board QsJh2h --lock check.json
    """
    given: dict[str, Any] = {"sizes": sizes, "raises": raises, "values": values}
    given["continuation"] = continuation or ("values" if values is not None else "trained")
    if seconds is None and iterations is None and target is None:
        seconds = DEFAULT_SECONDS
    from solver.subgame import SubgameConfig
    from solver.subgame.config import read_depth

    with user_input():
        config = SubgameConfig(
            depth=read_depth(depth),
            safety=safety,
            iterations=iterations,
            time_s=seconds,
            target_pct=target,
            threads=threads,
            **{key: value for key, value in given.items() if value is not None},
        )
    opened = open_exported(bundle, store, game)
    from artifacts.blueprint.bundle import BlueprintBundle
    from artifacts.blueprint.multiway_bundle import MultiwayBundle

    if isinstance(opened, MultiwayBundle):
        words = {"sizes": sizes, "raises": raises, "values": values, "continuation": continuation}
        found = _solve_multiplayer(opened, line, board, config, words, seat=seat, raw=raw_offpath)
        if bundle is None:
            say_newest(opened, game)
        print(json.dumps(found.data()) if json_ else "\n".join(found.text()))
        return
    if seat is not None:
        raise UserError("--seat: for blueprints of three or more seats; with two the line says who acts")
    if not isinstance(opened, BlueprintBundle):
        raise UserError(
            f"{opened.path}: a bundle of stage {opened.manifest.stage}; expected one of stage export, of two seats"
        )
    rows = _solve(opened, line, board, config, locks=lock or [], raw=raw_offpath)
    if bundle is None:
        say_newest(opened, game)
    if json_:
        print(json.dumps(rows.data()))
        return
    _print(rows)


def _solve(
    bundle: BlueprintBundle,
    line: str,
    board: str,
    config: SubgameConfig,
    *,
    locks: Sequence[Path],
    raw: bool,
) -> SubgameRows:
    from artifacts.bundle_store import BundleStore
    from artifacts.subgame_bundle import StoredSubgames
    from pipelines.commands.subgame_rows import subgame_rows
    from pipelines.run.code_version import code_version
    from solver.subgame.hand_solver import solve_street
    from solver.subgame.subgame import Subgame

    # Solves are kept beside the blueprint, where that folder may be written to.
    kept = StoredSubgames(BundleStore(bundle.path.parent), bundle.key, code_version(solve_street))
    memory = ""
    stopped, before = _stop_on_signal()
    try:
        blueprint = bundle.blueprint
        with user_input(), live_status() as show:
            spot = Subgame.build(blueprint, line, board, config)
            locked = _locks(locks, spot, bundle.path.parent)

            def tell_memory(solver: SubgameSolver) -> None:
                nonlocal memory
                memory = size(solver.memory_bytes)
                show(f"{memory} of memory")

            def tell(progress: Progress) -> None:
                found = progress.exploitability_pct
                gap = "" if found is None else f", {found:.3g} % of pot"
                show(f"iteration {progress.iteration:,}, {progress.seconds:.1f} s{gap}, {memory}")

            solved, cached = solve_street(
                blueprint,
                spot,
                config,
                blueprint_key=kept.blueprint_key,
                cache=kept if os.access(bundle.path.parent, os.W_OK) else None,
                locks=locked,
                prepared=tell_memory,
                progress=tell,
                should_stop=stopped.is_set,
            )
        return subgame_rows(spot, solved, config, cached=cached, raw=raw)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop_on_signal() -> tuple[threading.Event, dict[signal.Signals, Any]]:
    """An event that Ctrl-C sets, and the handlers that were there before."""
    stopped = threading.Event()
    return stopped, {
        number: signal.signal(number, lambda *_: stopped.set()) for number in (signal.SIGINT, signal.SIGTERM)
    }


def _solve_multiplayer(
    bundle: MultiwayBundle,
    line: str,
    board: str,
    config: SubgameConfig,
    given: dict[str, Any],
    *,
    seat: str | None,
    raw: bool,
) -> MultiplayerRows:
    from pipelines.commands.multiplayer import (
        line_of_player,
        multiplayer_config,
        solve_bundle,
        solve_bundle_exactly,
    )
    from solver.subgame.config import FULL

    stopped, before = _stop_on_signal()
    try:
        with user_input(), live_status() as show:

            def tell(progress: Progress) -> None:
                found = progress.exploitability_pct
                gap = "" if found is None else f", {found:.3g} % of pot"
                show(f"iteration {progress.iteration:,}, {progress.seconds:.1f} s{gap}")

            if config.depth == FULL:
                line = line_of_player(bundle.game, line, board, seat)
                return solve_bundle_exactly(
                    bundle, line, board, config, raw=raw, progress=tell, should_stop=stopped.is_set
                )
            own = multiplayer_config(config, given)
            line = line_of_player(bundle.game, line, board, seat)
            return solve_bundle(bundle, line, board, own, raw=raw, progress=tell, should_stop=stopped.is_set)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _locks(files: Sequence[Path], spot: Subgame, store: Path) -> dict[str, NDArray[np.float64]]:
    """The strategies that some files fix, by line."""
    from pydantic import ValidationError

    from pipelines.commands.lock_tables import Lock, lock_table
    from solver.betting.lines import without_prefix

    found = {}
    for file in files:
        try:
            lock = Lock.model_validate(read_json(file))
        except ValidationError as error:
            first = error.errors()[0]
            raise UserError(f"{file}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
        with user_input(file):
            source = None if lock.source is None else open_exported(_source_folder(lock.source, store))
            found[without_prefix(lock.line)] = lock_table(spot, lock, source)
    return found


def _source_folder(name: str, store: Path) -> Path:
    """The folder of a bundle that is named as in the explorer, or by its path."""
    inside = store / name
    return inside if inside.is_dir() else Path(name)


def _print(rows: SubgameRows) -> None:
    from pipelines.figures.chart_text import chart_lines

    console = plain_console()
    for text in rows.summary():
        console.print(text, markup=False)
    drawn = chart_lines(
        rows.labels(),
        rows.class_shares(),
        rows.class_reasons(),
        reach=rows.class_reach(),
        played=rows.frequencies,
        colours=console.color_system is not None,
    )
    for line in drawn:
        console.print(line)
    for text in rows.table():
        console.print(text, markup=False)
