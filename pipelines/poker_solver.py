"""`poker-solver`: equities, trees, solves and blueprints from the command line.

Every command has --json, except the explorer, which answers in the browser.
"""

from __future__ import annotations

import json
import signal
import threading
from pathlib import Path
from typing import Annotated, Any

import typer

from pipelines.commands.blueprints import chart, lines, range_
from pipelines.commands.chained_command import chained
from pipelines.commands.comparisons import compare, diff
from pipelines.commands.explore import explore
from pipelines.commands.options import Json, finite, read_json, read_state, user_input, writable
from pipelines.commands.subgame import subgame
from pipelines.run.command import run_app
from pipelines.run.errors import UserError
from pipelines.run.progress import live_status, plain_console, size, solve_status
from solver.betting.lines import PLAYERS, without_prefix

app = typer.Typer(help=__doc__, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)

Overrides = Annotated[
    list[str] | None, typer.Argument(help="game and overrides: game=hu25 game.limp=false ...")
]
for command in (chart, lines, range_, diff, compare, chained, subgame, explore):
    app.command(command.__name__.rstrip("_"))(command)


@app.command()
def equity(
    hands: Annotated[list[str], typer.Argument(help="two to nine hands or ranges: AhKh, QQ+,AKs:0.5")],
    board: Annotated[str, typer.Option(help="none, three, four or five cards: Kc7d2s")] = "",
    dead: Annotated[str, typer.Option(help="cards that nobody holds and that do not come: 3s3c")] = "",
    json_: Json = False,
) -> None:
    """Equity of two to nine hands or ranges, on any board.

    Every deal is counted where that takes seconds, always for two ranges. Otherwise deals are sampled, and the output
    says so, with the standard error. "winners" of --json counts deals by set of winners: bit i of the number stands for
    hand i, the first being hand 0.

    \b
    Examples:
      poker-solver equity AhKh QQ --board 2h7h9c
      poker-solver equity AA KK QQ --dead AsKd
      poker-solver equity "QQ+,AKs:0.5" all --json
    """
    from abstractions.multiway_equity import multiway_equity

    with user_input():
        found = multiway_equity(hands, board, dead)
    if json_:
        pair = {"first": hands[0], "second": hands[1]} if len(hands) == 2 else {}
        figures = {
            "equity": found.equity.tolist(),
            "win": found.win.tolist(),
            "tie": found.tie.tolist(),
            "winners": {str(mask): count for mask, count in enumerate(found.winners.tolist()) if mask},
            "exact": found.exact,
            "standard_error": found.standard_error,
        }
        print(json.dumps(pair | {"hands": hands, "board": board, "dead": dead} | figures))
        return
    for hand, value in zip(hands, found.equity):
        print(f"{hand}: {value:.4%}")
    if not found.exact:
        print(f"sampled: {int(found.winners.sum()):,} deals, standard error {found.standard_error:.4%}")


@app.command()
def tree(
    overrides: Overrides = None,
    spot: Annotated[Path | None, typer.Option(help="the tree of this spot file instead of a game's")] = None,
    counts: Annotated[bool, typer.Option("--counts", help="counts only")] = False,
    last_street: Annotated[int, typer.Option(min=0, max=3, help="0 preflop to 3 river")] = 3,
    json_: Json = False,
) -> None:
    """Print a betting tree, every line with its actions, and its counts.

    The tree is written with a dot before each action: .B250.R750 is the line b250r750. --json lists the decisions by
    line as well.

    \b
    Examples:
      poker-solver tree game=hu25 --last-street 0
      poker-solver tree --spot spot.json --counts
    """
    from pipelines.config.composition import compose_config
    from pipelines.config.named_games import game_data, game_title
    from solver.betting.tree import game_tree
    from solver.betting.tree_text import format_counts, tree_counts, tree_decisions, tree_lines
    from solver.postflop.spot import tree_of_spot

    if spot is not None and overrides:
        raise UserError(f"{overrides[0]}: overrides are for a game; --spot has its own settings")
    with user_input(spot):
        if spot is not None:
            built, title, source = tree_of_spot(read_json(spot)), str(spot), {"spot": str(spot)}
        else:
            game = compose_config(overrides or []).game.game_config()
            built, title, source = game_tree(game, last_street=last_street), game_title(game), game_data(game)
    if json_:
        data = {"counts": tree_counts(built), "lines": [] if counts else list(tree_lines(built))}
        decisions = {} if counts else dict(tree_decisions(built))
        print(json.dumps({"source": source} | data | {"decisions": decisions}))
        return
    if not counts:
        for line in tree_lines(built):
            print(line)
    print(format_counts(built))
    print(title)


@app.command()
def preflop(
    overrides: Overrides = None,
    iterations: Annotated[int, typer.Option(min=1)] = 25_000,
    schedule: Annotated[str, typer.Option(help="vanilla, cfr+, lcfr, dcfr, pcfr+, pdcfr+, hs-dcfr")] = "dcfr",
    target: Annotated[float, typer.Option(min=0, callback=finite, help="stop at this many mbb/hand")] = 0.0,
    out: Annotated[Path | None, typer.Option(help="save the solve to this new folder, as a bundle")] = None,
    json_: Json = False,
) -> None:
    """Solve heads-up preflop with exact equities (a flop is checked down; a blueprint plays it).

    A folder that --out has written is a bundle: chart, lines, range, diff and chained read it like a blueprint.

    \b
    Examples:
      poker-solver preflop game=hu25 --target 0.1 --out hu25-preflop
      poker-solver preflop "game.stacks=[1000,1000]" "game.raise_sizes=[a]" game.limp=false
    """
    from pipelines.commands.preflop_play import played_frequencies
    from pipelines.commands.saved_folder import new_folder
    from pipelines.config.composition import compose_config
    from pipelines.config.named_games import game_data, game_title
    from pipelines.config.trainable import heads_up_game
    from solver.preflop.solver import solve_preflop

    config = heads_up_game(compose_config(overrides or []))
    new_folder(out)

    with user_input(), live_status() as show:

        def report(iteration: int, exploitability: float) -> None:
            show(f"iteration {iteration:,}: {exploitability:.4f} mbb/hand")

        result = solve_preflop(
            config, iterations=iterations, variant=schedule, target=target, progress=report
        )
    if out is not None:
        from pipelines.commands.saved_preflop import save_preflop

        save_preflop(out, result, iterations=iterations, target=target)
    by_line = result.strategy.by_line()
    if json_:
        summary = {
            "source": game_data(config),
            "exploitability_mbb": result.exploitability,
            "values_bb": result.values,
            "iterations": result.iterations,
            "seconds": result.seconds,
            "schedule": result.schedule,
            "strategy": by_line,
        }
        print(json.dumps(summary))
        return
    console = plain_console()
    console.print(game_title(config), markup=False)
    console.print(
        f"small blind {result.values[0]:+.5f} bb/hand, {result.exploitability:.4f} mbb/hand exploitable"
    )
    console.print(f"{result.iterations:,} iterations of {result.schedule} in {result.seconds:.1f} s")
    for line in by_line:
        words = ", ".join(
            f"{label} {share:.2%}" for label, share in played_frequencies(result.strategy, line).items()
        )
        console.print(f"{without_prefix(line) or '(start)':20} {words}")
    if out is not None:
        print(f"written: {out}")


@app.command()
def solve(
    spot: Annotated[Path, typer.Argument(help="spot file (JSON)")],
    out: Annotated[
        Path | None, typer.Option(help="write the result here: a JSON file, or with --nodes a new folder")
    ] = None,
    nodes: Annotated[
        str | None,
        typer.Option(metavar="all|DEPTH", help="save every decision, or those so many actions from the root"),
    ] = None,
    state: Annotated[
        Path | None, typer.Option(help="go on from this file if it exists, and save to it")
    ] = None,
    json_: Json = False,
) -> None:
    """Solve a postflop spot exactly: every hand, every card, no abstraction.

    Ctrl-C stops early with what there is; with --state the next call goes on from there. A folder that --nodes has
    written is a bundle: chart, lines and range read its decisions, on any board that it deals.

    \b
    Examples:
      poker-solver solve spot.json --out result.json
      poker-solver solve spot.json --out solved --nodes 3
      poker-solver solve spot.json --state spot.npz --json
    """
    data = read_json(spot)
    writable(state)
    if nodes is None:
        writable(out)
    else:
        from pipelines.commands.saved_folder import new_folder
        from pipelines.commands.saved_spot import kept_nodes, read_depth, save_spot

        if new_folder(out) is None:
            raise UserError("--nodes: needs --out FOLDER, the folder to write")
        depth = read_depth(nodes)
    import numpy as np

    from solver.postflop.spot import read_spot, spot_result, spot_solver

    stopped = threading.Event()
    before = {
        number: signal.signal(number, lambda *_: stopped.set()) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        with user_input(spot):
            settings = read_spot(data)
            solver = spot_solver(settings)
            kept = [] if nodes is None else kept_nodes(solver, depth)
            if state is not None and state.exists():
                solver.load_state(read_state(state))
        with live_status() as show:
            outcome = solver.solve(
                max_iterations=settings.max_iterations,
                target_exploitability_pct=settings.target_exploitability_pct,
                time_limit_s=settings.time_limit_s,
                progress=lambda *state: show(solve_status(*state)),
                should_stop=stopped.is_set,
            )
        if state is not None:
            temporary = state.with_name(f".{state.name}.npz")
            np.savez(temporary, **solver.state())  # type: ignore[arg-type]
            temporary.replace(state)
        result = spot_result(solver, outcome)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if out is not None and nodes is not None:
        with live_status() as show:
            save_spot(
                out,
                solver,
                settings,
                result,
                kept,
                progress=lambda done, total: show(f"saving: {done:,} of {total:,} decisions"),
            )
    elif out is not None:
        out.write_text(json.dumps(result) + "\n", encoding="utf-8")
    if json_:
        print(json.dumps(result))
    else:
        _print_result(result)
        if out is not None:
            print(f"written: {out}")
    if outcome.reason == "stopped":
        raise KeyboardInterrupt


def _print_result(result: dict[str, Any]) -> None:
    root = result["root"]
    print(
        f"exploitability {result['exploitability_pct']:.4f} % of pot ({result['exploitability']:.4f} chips)"
    )
    memory = size(result["memory_bytes"])
    print(f"{result['iterations']} iterations, {result['seconds']:.2f} s, {memory} of tables")
    for player in PLAYERS:
        print(f"{player:4} EV {result['ev'][player]:.3f}, equity {result['equity'][player]:.2%}")
    actions = ", ".join(
        f"{action} {share:.1%}" for action, share in zip(root["actions"], root["frequencies"])
    )
    print(f"{root['player']} acts: {actions}")


def main() -> None:
    """Entry point of the console script."""
    run_app(app)


if __name__ == "__main__":
    main()
