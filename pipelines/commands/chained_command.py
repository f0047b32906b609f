"""`poker-solver chained`: preflop, flop, turn and river in one go."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.commands.options import (
    DEFAULT_STORE,
    Json,
    finite,
    open_exported,
    user_input,
    with_preflop,
    writable,
)
from pipelines.run.errors import UserError
from pipelines.run.progress import live_status, solve_status
from solver.betting.lines import FLOP, action_order, parse_seat

if TYPE_CHECKING:
    from pipelines.commands.preflop_play import Preflop
    from solver.blueprint.strategy import Blueprint


def chained(
    hero_range: Annotated[str, typer.Option(help='hands that hero may hold: "AA,KK,AKs"')],
    villain_range: Annotated[str, typer.Option(help="hands that villain may hold")],
    board: Annotated[str, typer.Option(help='three, four or five cards: "Ad 8h 9d"')],
    hero: Annotated[
        str | None,
        typer.Option(help="hero's seat, such as bb or CO; left out, the one in position after the flop"),
    ] = None,
    bundle: Annotated[
        Path | None, typer.Option(help="preflop strategy of this exported or saved bundle, not a live solve")
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--game", help="game of the live solve, repeatable: game=hu25 or game.limp=false"),
    ] = None,
    line: Annotated[
        str | None, typer.Option(help="preflop line to the flop: b250c; left out, the one played most")
    ] = None,
    postflop_line: Annotated[
        str | None,
        typer.Option(help="what was played on finished streets: xb375c/xx; left out, check and check"),
    ] = None,
    bet: Annotated[str, typer.Option(help="bet sizes of every street: 50%,100%,a")] = "75%",
    raise_: Annotated[str, typer.Option("--raise", help="raise sizes of every street")] = "3x",
    folded: Annotated[
        list[str] | None,
        typer.Option(help="range that another player folded before the flop, repeatable up to 7 times"),
    ] = None,
    target: Annotated[
        float, typer.Option(min=0, callback=finite, help="percent of pot at which a solve stops")
    ] = 0.5,
    time_limit: Annotated[
        float, typer.Option(min=0.1, callback=finite, help="seconds per street at most")
    ] = 60.0,
    max_iterations: Annotated[int, typer.Option(min=1, help="iterations per street at most")] = 1000,
    preflop_iterations: Annotated[int, typer.Option(min=1, help="of the live preflop solve")] = 2000,
    threads: Annotated[int, typer.Option(min=1)] = 2,
    depth: Annotated[
        str | None,
        typer.Option(
            metavar="1|2|full",
            help="streets to search on top of --bundle; full: exactly to the river. Left out: 1 with a whole "
            "blueprint, else full",
        ),
    ] = None,
    lazy_postflop: Annotated[
        bool,
        typer.Option("--lazy-postflop", help="solve the flop only; read turn and river from that solve"),
    ] = False,
    raw_offpath: Annotated[
        bool, typer.Option("--raw-offpath", help="leave the rows of off-path hands as solved")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="write the JSON here instead of printing it")] = None,
    json_: Json = False,
) -> None:
    """Solve preflop, carry both ranges to the flop and solve on, street by street.

    Ranges go along one preflop line, each hand by how often it plays it. The flop is solved, then turn and river as
    the board has them: exactly, or on top of the blueprint in --bundle as `subgame` does. Prints a summary; --json and
    --out give the strategy of every hand, in which hands that are off-path at a decision are folded.

    With a bundle of three or more seats the line is one that two players take to the flop. What the others fold on it
    is taken out of the deck.

    \b
    Examples:
      poker-solver chained --hero-range "AA,KK,AKs" --villain-range "QQ,JJ,AKs" --board "Ad 8h 9d"
      poker-solver chained --hero-range 22+,A2s+ --villain-range 22+,AT+ --board Ad8h9d2c \\
        --line b250c --postflop-line xb375c --hero bb --raw-offpath --out result.json
      poker-solver chained --bundle STORE/export-KEY --line fffb250fc --hero BTN --hero-range all --villain-range all \\
        --board Ad8h9d2c
    """
    writable(out)
    if bundle is not None and overrides:
        raise UserError("--game: the game is that of --bundle; give one of the two")
    with user_input():
        from pipelines.commands.chained import ChainedSettings, chained_result, read_hands, read_played
        from solver.betting.game import street_sizes
        from solver.postflop.holdem import read_board, read_folded
        from solver.subgame.config import FULL, read_depth

        cards = read_board(board)
        own, other = (
            read_hands(name, text, cards)
            for name, text in (("hero-range", hero_range), ("villain-range", villain_range))
        )
        play, blueprint = (
            (_live(overrides or [], preflop_iterations, line), None) if bundle is None else _exported(bundle)
        )
        players, num_seats = play.players(line), play.game.num_seats
        # The last of the two to act after the flop is in position; heads-up that is the small blind.
        in_position = next(seat for seat in reversed(action_order(num_seats, FLOP)) if seat in players)
        seat = in_position if hero is None else parse_seat(hero, num_seats)
        searches = blueprint is not None and not lazy_postflop
        settings = ChainedSettings(
            ranges=(own, other) if seat == players[0] else (other, own),
            board=cards,
            hero=seat,
            line=line,
            played=read_played(postflop_line, cards),
            bet=bet,
            raise_=raise_,
            folded=tuple(folded or ()),
            target=target,
            time_limit=time_limit,
            max_iterations=max_iterations,
            threads=threads,
            depth=read_depth(depth) if depth is not None else (1 if searches else FULL),
            lazy=lazy_postflop,
            clean=not raw_offpath,
        )
        street_sizes(settings.bet_sizes)
        read_folded(settings.folded)
        if settings.folded and searches and settings.depth != FULL:
            raise UserError("--folded: folded ranges count in exact solves only; accepted with --depth full")
        with live_status() as show:
            result = chained_result(
                play, settings, blueprint=blueprint, progress=lambda *state: show(solve_status(*state))
            )
    if not json_:
        from pipelines.commands.chained_text import chained_lines

        for text in chained_lines(result):
            print(text)
    elif out is None:
        print(json.dumps(result))
    if out is not None:
        out.write_text(json.dumps(result) + "\n", encoding="utf-8")
        print(f"written: {out}")


def _live(overrides: list[str], iterations: int, line: str | None) -> Preflop:
    from pipelines.commands.preflop_play import PreflopPlay
    from pipelines.config.composition import compose_config
    from pipelines.config.trainable import heads_up_game
    from solver.betting.tree import game_tree
    from solver.preflop.solver import solve_preflop

    config = compose_config(overrides)
    game = heads_up_game(config)
    game_tree(game, last_street=0).node_at(line or "")  # a line that is not on the menu is refused first
    result = solve_preflop(game, iterations=iterations)
    source = {
        "source": "live",
        "game": config.game.name,
        "exploitability_mbb": result.exploitability,
        "iterations": result.iterations,
    }
    return PreflopPlay(result.strategy.game.config, result.strategy.by_line(), source)


def _exported(path: Path) -> tuple[Preflop, Blueprint | None]:
    """The preflop strategy of a bundle, and the whole blueprint where it has one of two seats for every board."""
    from artifacts.blueprint.bundle import BlueprintBundle
    from artifacts.blueprint.multiway_bundle import MultiwayBundle
    from pipelines.commands.multiway_play import MultiwayPlay
    from pipelines.commands.preflop_play import PreflopPlay

    bundle = with_preflop(open_exported(path, DEFAULT_STORE))
    if isinstance(bundle, MultiwayBundle):
        return MultiwayPlay(bundle), None
    source = {"source": str(path), "exploitability_mbb": bundle.metrics["exploitability_raw"]}
    play = PreflopPlay(bundle.game, bundle.strategy_table(clean=False), source)
    if isinstance(bundle, BlueprintBundle) and bundle.has_every_board:
        return play, bundle.blueprint
    return play, None
