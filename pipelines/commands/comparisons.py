"""`poker-solver diff | compare`: two blueprints side by side, and all recorded runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.commands.options import (
    DEFAULT_STORE_TEXT,
    Board,
    Json,
    board_cards,
    open_exported,
    user_input,
    with_preflop,
)
from pipelines.run.errors import UserError
from pipelines.run.progress import plain_console

if TYPE_CHECKING:
    from artifacts.blueprint.difference import HandDifference
    from artifacts.blueprint.preflop_bundle import PreflopBundle


def diff(
    first: Annotated[Path, typer.Argument(help="folder of a bundle")],
    second: Annotated[Path, typer.Argument(help="folder of a bundle of the same game")],
    top: Annotated[int, typer.Option(min=1, help="hands and lines to show")] = 20,
    prefix: Annotated[str, typer.Option(help="lines that begin with this only")] = "",
    board: Board = "",
    json_: Json = False,
) -> None:
    """Where two blueprints disagree, largest first: lines, then hands.

    The distance of two strategies is their total variation; its weight is how often the line is played and
    the hand is held. Before the flop by hand class; with --board the decisions of that street, by combo.

    \b
    Examples:
      poker-solver diff STORE/export-KEY STORE/export-OTHER --top 10
      poker-solver diff export-KEY export-OTHER --board QsJh2h --prefix b250c/
    """
    bundles = [with_preflop(open_exported(path)) for path in (first, second)]
    _require_one_game(*bundles)
    from artifacts.blueprint.difference import bundle_difference
    from pipelines.run.bundle_source import source_of

    with user_input():
        cards = board_cards(board)
        found = bundle_difference(*bundles, board=cards if len(cards) else None, prefix=prefix)
    hands = sorted((hand for line in found for hand in line.hands), key=lambda hand: -hand.weighted)[:top]
    total = sum(line.weighted for line in found)
    sources = {name: source_of(bundle) for name, bundle in zip(("first", "second"), bundles)}
    if json_:
        by_line = [
            {
                "line": line.line,
                "player": line.player,
                "reach": line.reach,
                "distance": line.distance,
                "weighted": line.weighted,
            }
            for line in found
        ]
        by_hand = [vars(hand) | {"weighted": hand.weighted} for hand in hands]
        data = {"board": board, "weighted": total, "lines": by_line, "hands": by_hand}
        print(json.dumps({"source": {name: source.data() for name, source in sources.items()}} | data))
        return
    from rich.table import Table

    console = plain_console()
    for name, source in sources.items():
        console.print(f"{name}: {source.caption}", markup=False)
    console.print(f"{total:.4%} of the probability moves per deal, over {len(found)} lines")
    table = Table("line", "player", "reach", "distance", "weighted", box=None, pad_edge=False)
    for line in found[:top]:
        name = line.line or "(start)"
        table.add_row(name, line.player, f"{line.reach:.3%}", f"{line.distance:.2%}", f"{line.weighted:.4%}")
    console.print(table)
    table = Table(
        "line", "hand", "reach", "distance", "weighted", "first", "second", box=None, pad_edge=False
    )
    for hand in hands:
        name = hand.line or "(start)"
        figures = f"{hand.reach:.3%}", f"{hand.distance:.2%}", f"{hand.weighted:.4%}"
        table.add_row(name, hand.hand, *figures, *_played(hand))
    console.print()
    console.print(table)


def _played(hand: HandDifference) -> tuple[str, str]:
    """What both blueprints do with a hand, as far as it matters."""
    first, second = (
        ", ".join(f"{action} {share:.1%}" for action, share in shares.items() if share >= 0.001)
        for shares in (hand.first, hand.second)
    )
    return first, second


def _require_one_game(first: PreflopBundle, second: PreflopBundle) -> None:
    from dataclasses import asdict

    games = [asdict(bundle.game) for bundle in (first, second)]
    for key, value in games[0].items():
        if value != games[1][key]:
            raise UserError(
                f"{second.path}: another game than {first.path}: {key} is {games[1][key]}, not {value}"
            )


def compare(
    overrides: Annotated[
        list[str] | None, typer.Argument(help="store.root=DIR tracking.uri=URI, as for the pipeline")
    ] = None,
    store: Annotated[
        Path | None, typer.Option(help="store whose runs are compared", show_default=DEFAULT_STORE_TEXT)
    ] = None,
    json_: Json = False,
) -> None:
    """The recorded runs by exploitability, as python -m pipelines.compare prints them.

    \b
    Examples:
      poker-solver compare
      poker-solver compare --store runs/store --json
    """
    from pipelines.config.composition import compose_config, quoted_override
    from pipelines.run.recorded_runs import as_data, compared_runs, print_table

    words = list(overrides or [])
    if store is not None:
        if any(word.startswith("store.root=") for word in words):
            raise UserError("--store: store.root is given too; give one of the two")
        words.append(quoted_override("store.root", str(store)))
    config = compose_config(words)
    groups = compared_runs(config)
    if json_:
        print(json.dumps(as_data(groups)))
        return
    if not groups:
        print(f"no runs recorded in {config.tracking.uri}")
    print_table(groups, plain_console())
