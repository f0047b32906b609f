"""`poker-solver chart | lines | range`: reading a blueprint that a pipeline exported, or a solve that was kept."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.commands.options import (
    DEFAULT_STORE,
    Board,
    Game,
    Json,
    Store,
    board_cards,
    bundle_and_line,
    check_player,
    open_exported,
    say_newest,
    seat_number,
    shown_line,
    user_input,
    with_preflop,
    writable,
)
from pipelines.run.errors import UserError
from pipelines.run.progress import plain_console
from solver.betting.lines import PUBLIC_CARDS, STREETS, without_prefix

if TYPE_CHECKING:
    from artifacts.blueprint.line_reach import LinePlay
    from pipelines.commands.chart_rows import ChartRows
    from pipelines.commands.options import StrategyBundle


class Street(StrEnum):
    """Streets by name."""

    PREFLOP, FLOP, TURN, RIVER = STREETS


BundleAndLine = Annotated[
    list[str] | None,
    typer.Argument(metavar="BUNDLE LINE", help="folder of the bundle, and a line: b250r750"),
]


def chart(
    words: BundleAndLine = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="the strategy as trained, off-path hands and all")
    ] = False,
    ev: Annotated[bool, typer.Option("--ev", help="what each hand wins, in big blinds")] = False,
    seat: Annotated[
        str | None,
        typer.Option(
            help="three or more seats: the first decision of this seat if all before it fold, or check"
        ),
    ] = None,
    board: Board = "",
    png: Annotated[Path | None, typer.Option(help="write the chart as a picture")] = None,
    svg: Annotated[Path | None, typer.Option(help="write the chart as a vector picture")] = None,
    html: Annotated[Path | None, typer.Option(help="write the chart as a page with tooltips")] = None,
    game: Game = None,
    store: Store = DEFAULT_STORE,
    json_: Json = False,
) -> None:
    """Draw a decision: 13 x 13 hands, each cell divided by action. The first decision by default.

    Hands that never get to the line are grey, with a dash, and the reason is below. A frequency is how often the
    action is taken when the line is played as trained, with card removal; `lines` prints the same. After the flop,
    give the board: a cell is then the mean over the combos that it leaves, by their weight in the range, and --json
    has them all.

    \b
    Examples:
      poker-solver chart
      poker-solver chart b200 --raw --game hu25
      poker-solver chart b250c/x --board QsJh2h --ev
      poker-solver chart --seat CO --game six_max100
      poker-solver chart ffb250 --seat BB
      poker-solver chart STORE/export-KEY b250r750 --png chart.png --html chart.html
      poker-solver chart STORE/subgame-KEY --ev
    """
    for file in (png, svg, html):
        writable(file)
    path, line = bundle_and_line(words)
    bundle = open_exported(path, store, game)
    import numpy as np

    from abstractions.cards import format_cards
    from artifacts.blueprint.line_reach import line_play
    from pipelines.commands.chart_rows import chart_rows
    from pipelines.run.bundle_source import source_of

    with user_input(None if path else bundle.path):
        line = line_of_seat(bundle, shown_line(bundle, line), seat)
        decision = bundle.decision(line)
        cards = board_cards(board) if board else bundle.root_board
        rows = chart_rows(bundle, line, cards, raw=raw, ev=ev)
        play = line_play(bundle, line, cards)
    if path is None:
        say_newest(bundle, game)
    source = source_of(bundle)
    title = f"{without_prefix(decision.line) or 'first in'}: {bundle.seats[decision.player]} to act"
    title += f" on {format_cards(cards)}" if len(cards) else ""
    shown: dict[str, Any] = {
        "reach": rows.reach,
        "played": np.nan_to_num(play.frequencies),
        "values": rows.values,
        "caption": source.caption,
    }
    _chart_files(title, rows, shown, png=png, svg=svg, html=html)
    if json_:
        data = _line_data(bundle, line) | _frequency_data(play) | rows.data()
        print(json.dumps({"source": source.data(), "board": format_cards(cards), "raw": raw} | data))
        return
    from pipelines.figures.chart_text import chart_lines

    console = plain_console()
    console.print(title, markup=False)
    drawn = rows.actions, rows.shares, rows.reasons
    for text in chart_lines(*drawn, **shown, colours=console.color_system is not None):
        console.print(text)
    for file in (png, svg, html):
        if file is not None:
            print(f"written: {file}")


def line_of_seat(bundle: StrategyBundle, line: str, seat: str | None) -> str:
    """The line, followed by folds until a seat is to act where one is asked for.

    Raises
    ------
    ValueError
        If the seat has no decision there.
    """
    if seat is None:
        return line
    number = seat_number(bundle, seat)
    decision = bundle.decision(line)
    street = decision.street
    while decision.player != number:
        # Nobody folds where nothing is bet; before the flop a check ends the betting.
        token = "x" if street and "x" in decision.tokens else "f"
        after = without_prefix(decision.line) + token
        ends = token not in decision.tokens or with_preflop(bundle).ends_hand(after)
        if ends or bundle.decision(after).street != street:
            raise ValueError(
                f"--seat {bundle.seats[number]}: it does not act after {line or 'the start'} and folds of the others"
            )
        decision = bundle.decision(after)
    return without_prefix(decision.line)


def listed_lines(bundle: StrategyBundle, street: str | None, prefix: str) -> list[str]:
    """Lines of a bundle; with three or more seats those after the flop are listed below a prefix only."""
    from artifacts.blueprint.multiway_bundle import MultiwayBundle

    if isinstance(bundle, MultiwayBundle):
        return bundle.lines(street, prefix)
    return bundle.lines(street)


def _chart_files(
    title: str, rows: ChartRows, shown: dict[str, Any], *, png: Any, svg: Any, html: Any
) -> None:
    drawn = rows.actions, rows.shares, rows.reasons
    if png is not None or svg is not None:
        from pipelines.figures.charts import chart_figure

        figure = chart_figure(title, *drawn, **shown)
        for file, file_format in ((png, "png"), (svg, "svg")):
            if file is not None:
                figure.savefig(file, format=file_format, dpi=150)
    if html is not None:
        from pipelines.figures.chart_text import chart_html

        html.write_text(chart_html(title, *drawn, **shown), encoding="utf-8")


def _line_data(bundle: StrategyBundle, line: str) -> dict[str, Any]:
    decision = bundle.decision(line)
    return {
        "line": without_prefix(decision.line),
        "street": STREETS[decision.street],
        "player": bundle.seats[decision.player],
        "pot": decision.pot,
        "actions": list(decision.actions),
    }


def _frequency_data(play: LinePlay) -> dict[str, Any]:
    """How often each action is taken when a line is played; None where it never is."""
    played = bool(play.reach.sum() > 0)
    return {"frequencies": dict(zip(play.actions, play.frequencies.tolist())) if played else None}


def lines(
    bundle: Annotated[Path | None, typer.Argument(help="folder of the bundle")] = None,
    street: Annotated[Street | None, typer.Option(help="lines of this street only")] = None,
    prefix: Annotated[str, typer.Option(help="lines that begin with this only: b250c/")] = "",
    board: Board = "",
    game: Game = None,
    store: Store = DEFAULT_STORE,
    json_: Json = False,
) -> None:
    """List lines: who acts, the actions with their frequencies, and how often the line is played.

    After the flop strategies depend on the board: give one to see the frequencies on its street. A line's
    reach is the probability per deal that both players take their part of it. A frequency is how often the action
    is taken when the line is played as trained, with card removal; `chart` prints the same.

    \b
    Examples:
      poker-solver lines --street preflop
      poker-solver lines --prefix b250c/ --board QsJh2h
    """
    opened = open_exported(bundle, store, game)
    with user_input(None if bundle else opened.path):
        cards = board_cards(board) if board else opened.root_board
        reached = tuple(Street)[PUBLIC_CARDS.index(len(cards))]
        shown = street or (reached if len(cards) else None)
        start = without_prefix(prefix)
        chosen = [
            line
            for line in listed_lines(opened, shown.value if shown else None, start)
            if without_prefix(line).startswith(start)
        ]
        if not chosen:
            raise UserError(f"prefix {prefix!r}: no {shown.value + ' ' if shown else ''}line begins with it")
        data = {line: _line_data(opened, line) for line in chosen}
        from artifacts.blueprint.line_reach import line_plays
        from pipelines.run.bundle_source import source_of

        known = [line for line, entry in data.items() if entry["street"] == reached]
        for play in line_plays(opened, known, cards):
            data[play.line] |= {"reach": float(play.reach.sum())} | _frequency_data(play)
    source = source_of(opened)
    if bundle is None:
        say_newest(opened, game)
    if json_:
        print(json.dumps({"source": source.data(), "board": board, "lines": list(data.values())}))
        return
    from rich.table import Table

    table = Table("line", "street", "player", "pot", "reach", "actions", box=None, pad_edge=False)
    for entry in data.values():
        frequencies = entry.get("frequencies")
        actions = [
            action if frequencies is None else f"{action} {frequencies[action]:.1%}"
            for action in entry["actions"]
        ]
        reach = f"{entry['reach']:.4%}" if "reach" in entry else ""
        name = entry["line"] or "(start)"
        table.add_row(name, entry["street"], entry["player"], str(entry["pot"]), reach, ", ".join(actions))
    console = plain_console()
    console.print(source.caption, markup=False)
    console.print(table)


def range_(
    words: BundleAndLine = None,
    player: Annotated[
        str | None, typer.Option(help="whose range: bb, oop, CO; the one to act if left out")
    ] = None,
    board: Board = "",
    game: Game = None,
    store: Store = DEFAULT_STORE,
    json_: Json = False,
) -> None:
    """A player's range at a line: each hand by how likely it plays its part of the line.

    \b
    Examples:
      poker-solver range b250c --player bb
      poker-solver range b250c/xb250 --player sb --board QsJh2h
    """
    import numpy as np

    check_player(player)
    path, line = bundle_and_line(words)
    bundle = open_exported(path, store, game)
    with user_input(None if path else bundle.path):
        line = shown_line(bundle, line)
        cards = board_cards(board) if board else bundle.root_board
        seat = bundle.decision(line).player if player is None else seat_number(bundle, player)
        weights = np.minimum(bundle.range(line, seat, cards), 1.0)  # products may round above it
    name = bundle.seats[seat]
    from abstractions.cards import CLASS_NAMES, CLASS_OF_COMBO, NUM_CLASSES, format_combo, live_combos
    from abstractions.ranges import format_range, from_class_weights
    from pipelines.run.bundle_source import source_of

    by_class = len(weights) == NUM_CLASSES
    combos = from_class_weights(weights) if by_class else weights
    text = format_range(combos.round(3)) or "nothing"
    source, line = source_of(bundle), without_prefix(line)
    if path is None:
        say_newest(bundle, game)
    if json_:
        names = CLASS_NAMES if by_class else [format_combo(combo) for combo in range(len(combos))]
        held = {name: weight for name, weight in zip(names, weights.tolist()) if weight > 0}
        data = {"line": line, "player": name, "board": board, "range": text, "weights": held}
        print(json.dumps({"source": source.data()} | data))
        return
    from pipelines.figures.chart_text import range_lines

    live = live_combos(cards).astype(float)
    held_of, live_of = (np.bincount(CLASS_OF_COMBO, weights=part) for part in (combos, live))
    share = np.divide(held_of, live_of, out=np.zeros(NUM_CLASSES), where=live_of > 0)
    console = plain_console()
    console.print(f"{name} at {line or 'the start'}: {combos.sum() / live.sum():.2%} of hands", markup=False)
    console.print(source.caption, markup=False)
    for row in range_lines(share, colours=console.color_system is not None):
        console.print(row)
    console.print(text, markup=False)
