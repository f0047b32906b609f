"""`poker-solver subgame` on a blueprint of three or more seats: the current street of all players left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import format_cards, format_combo, live_combos
from artifacts.offpath.marks import REASONS, is_cleaned
from artifacts.offpath.seat_rows import seat_codes
from solver.betting.game import GameConfig
from solver.betting.lines import Letter, parse_seat, seat_names, without_prefix
from solver.betting.played_lines import play_line
from solver.betting.rules import call_amount
from solver.betting.tree import game_start
from solver.multiplayer.config import MultiplayerConfig
from solver.multiplayer.solution import MultiplayerSolution
from solver.multiplayer.solve import solve_multiplayer
from solver.postflop.holdem import read_board
from solver.subgame.subgame import entered_line

if TYPE_CHECKING:
    from artifacts.blueprint.multiway_bundle import MultiwayBundle
    from solver.subgame import Progress, SubgameConfig

Floats = NDArray[np.float64]
#: Combos that the text lists, the heaviest first.
LISTED = 30


def multiplayer_config(config: SubgameConfig, given: dict[str, Any]) -> MultiplayerConfig:
    """The settings of a solve of several players; one that it does not have is refused.

    Parameters
    ----------
    given
        What the user said, None where nothing: `sizes`, `raises`, `values`, `continuation`.
    """
    if config.depth != 1:
        raise ValueError(f"depth: {config.depth} needs a blueprint of two seats; accepted with more: 1")
    if config.safety != "unsafe":
        raise ValueError(
            f"safety: {config.safety} needs a blueprint of two seats; accepted with more: unsafe"
        )
    if config.target_pct is not None:
        raise ValueError("target: needs a blueprint of two seats; accepted with more: time and iterations")
    if given["continuation"] == "trained":
        raise ValueError("continuation: trained needs a blueprint of two seats; accepted with more: values")
    own = {key: given[key] for key in ("sizes", "raises", "values") if given[key] is not None}
    return MultiplayerConfig(
        iterations=config.iterations, time_s=config.time_s, threads=config.threads, **own
    )


def line_of_player(game: GameConfig, line: str, board: str, seat: str | None) -> str:
    """The line, followed by checks and folds of the others until a seat is to act where one is asked for."""
    if seat is None:
        return line
    number = parse_seat(seat, game.num_seats)
    rules, start = game_start(game)
    found = entered_line(rules, start, without_prefix(line), len(read_board(board)))
    while True:
        state = play_line(rules, start, found)[-1].state
        if state.actor == number:
            return found
        if state.actor < 0:
            name = seat_names(game.num_seats)[number]
            raise ValueError(f"--seat {name}: it does not act on this street after {line!r}")
        mine = state.committed[state.actor] - state.base[state.actor]
        found += Letter.FOLD if call_amount(rules, state) > mine else Letter.CHECK


@dataclass(frozen=True, eq=False)
class MultiplayerRows:
    """The decision at the end of the line: live combos of the player to act, with their strategy and EV."""

    solution: MultiplayerSolution
    names: tuple[str, ...]
    combos: NDArray[np.int64]
    strategy: Floats
    frequencies: Floats
    weights: Floats
    ev: Floats
    error: Floats
    reasons: tuple[str | None, ...]

    def data(self) -> dict[str, Any]:
        """As plain data; EVs are null for combos outside the range."""
        solution, config = self.solution, self.solution.config
        hand = solution.subgame.hand
        columns = zip(self.combos, self.weights, self.strategy, self.ev, self.error, self.reasons)
        hands = {
            format_combo(int(combo)): {
                "weight": float(weight),
                "strategy": row.tolist(),
                "ev": None if np.isnan(ev) else float(ev),
                "ev_se": None if np.isnan(error) else float(error),
                "reason": reason,
            }
            for combo, weight, row, ev, error, reason in columns
        }
        return {
            "line": hand.line,
            "board": format_cards(list(hand.board)),
            "player": self.names[solution.player()],
            "players": [self.names[seat] for seat in hand.players],
            "actions": solution.actions(),
            "frequencies": self.frequencies.tolist(),
            "hands": hands,
            "iterations": solution.iterations,
            "seconds": solution.seconds,
            "depth": 1,
            "safety": "unsafe",
            "values": config.values,
            "leaves": solution.num_leaves,
            "memory_bytes": solution.memory_bytes,
            "cached": False,
        }

    def text(self) -> list[str]:
        """What was solved, how, and the heaviest combos."""
        solution = self.solution
        hand, actions = solution.subgame.hand, solution.actions()
        shares = ", ".join(f"{action} {share:.1%}" for action, share in zip(actions, self.frequencies))
        lines = [
            f"{hand.line}: {self.names[solution.player()]} to act on {format_cards(list(hand.board))}, "
            f"players {', '.join(self.names[seat] for seat in hand.players)}, "
            f"pot {int(solution.subgame.tree.pot[solution.subgame.node])}",
            f"{solution.iterations:,} iterations in {solution.seconds:.2f} s, {solution.num_leaves} leaves, "
            f"{solution.memory_bytes / 2**20:,.0f} MiB, ended by {solution.reason}",
            shares,
            f"{'hand':6}{'weight':>8}{'ev':>9}{'+-':>7}  " + "".join(f"{action:>8}" for action in actions),
        ]
        for k in np.argsort(-self.weights, kind="stable")[:LISTED].tolist():
            row = "".join(f"{100 * share:7.1f}%" for share in self.strategy[k])
            worth = (
                f"{self.ev[k]:9.1f}{self.error[k]:7.1f}" if not np.isnan(self.ev[k]) else f"{'-':>9}{'':7}"
            )
            reason = f"  {self.reasons[k]}" if self.reasons[k] else ""
            lines.append(f"{format_combo(int(self.combos[k])):6}{self.weights[k]:8.4f}{worth}  {row}{reason}")
        return lines


def solve_bundle(
    bundle: MultiwayBundle,
    line: str,
    board: str,
    config: MultiplayerConfig,
    *,
    raw: bool,
    progress: Callable[[Progress], None],
    should_stop: Callable[[], bool],
) -> MultiplayerRows:
    """Solve a spot of a bundle; off-path combos give up unless `raw`."""
    solution = solve_multiplayer(
        bundle.blueprint, line, board, config, progress=progress, should_stop=should_stop
    )
    subgame = solution.subgame
    tree, player = subgame.tree, solution.player()
    live = np.flatnonzero(live_combos(np.array(subgame.hand.board, dtype=np.uint8)))
    values, weights = solution.values(), solution.range(player)
    strategy = solution.strategy()[:, live].T.copy()
    steps, node = [], subgame.node
    while node > 0:
        parent = int(tree.parent[node])
        if tree.player[parent] == player:
            children = tree.children_of(parent).tolist()
            here = subgame.hand.root_line + tree.line(parent)
            tokens = [tree.token(child) for child in children]
            steps.append((tokens, children.index(node), solution.strategy(here)[:, live]))
        node = parent
    codes = seat_codes(steps[::-1], weights[live], str(bundle.config["reach_rule"]))
    reasons = tuple(REASONS[code] for code in codes.tolist())
    if not raw:
        strategy[[is_cleaned(reason) for reason in reasons]] = np.eye(strategy.shape[1])[0]
    return MultiplayerRows(
        solution=solution,
        names=bundle.seats,
        combos=live,
        strategy=strategy,
        frequencies=solution.frequencies(met=values.met),
        weights=weights[live],
        ev=values.ev[live],
        error=values.standard_error[live],
        reasons=reasons,
    )
