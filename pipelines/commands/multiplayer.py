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
from solver.betting.public_tree import PublicTree
from solver.betting.rules import call_amount
from solver.betting.tree import game_start
from solver.multiplayer.config import MultiplayerConfig
from solver.multiplayer.solve import solve_multiplayer
from solver.multiplayer.subgame import PlayedHand
from solver.multiplayer.two_left import folded_seats, solve_two_left, weights_of
from solver.postflop.holdem import read_board
from solver.postflop.spot import folded_result
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
        raise ValueError(
            f"depth: {config.depth} needs a blueprint of two seats; accepted with more: 1, or full with two players"
        )
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
    """The decision at the end of the line: live combos of the player to act, with their strategy and EV.

    Attributes
    ----------
    hand, names
        The hand, and the names of all seats.
    player, pot, actions
        Seat to act, chips in the pot, and tokens of the actions.
    how
        What the solve took and how it ended, as the JSON says it. `prize_pool` is the worth of all prizes in the unit
        of the EVs, None where chips are money.
    reason
        Why it ended.
    combos, strategy, weights, ev, error, reasons
        By live combo: probabilities ``[combo, action]``, weight in the range, EV (see `HandValues`) and the standard
        error of that, and why the combo is off-path (None: it is not).
    """

    hand: PlayedHand
    names: tuple[str, ...]
    player: int
    pot: int
    actions: list[str]
    how: dict[str, Any]
    reason: str
    combos: NDArray[np.int64]
    strategy: Floats
    frequencies: Floats
    weights: Floats
    ev: Floats
    error: Floats
    reasons: tuple[str | None, ...]

    def data(self) -> dict[str, Any]:
        """As plain data; EVs are null for combos outside the range."""
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
            "line": self.hand.line,
            "board": format_cards(list(self.hand.board)),
            "player": self.names[self.player],
            "players": [self.names[seat] for seat in self.hand.players],
            "folded": [self.names[seat] for seat in folded_seats(self.hand)],
            "actions": self.actions,
            "frequencies": self.frequencies.tolist(),
            "hands": hands,
            **self.how,
            "safety": "unsafe",
            "cached": False,
        }

    def text(self) -> list[str]:
        """What was solved, how, and the heaviest combos."""
        hand, how = self.hand, self.how
        shares = ", ".join(f"{action} {share:.1%}" for action, share in zip(self.actions, self.frequencies))
        found, pool = how["exploitability_pct"], how["prize_pool"]
        quality = "" if found is None else f"{found:.3f} % of pot exploitable, "
        lines = [
            f"{hand.line}: {self.names[self.player]} to act on {format_cards(list(hand.board))}, "
            f"players {', '.join(self.names[seat] for seat in hand.players)}, pot {self.pot}",
            f"{how['iterations']:,} iterations in {how['seconds']:.2f} s, {quality}{how['leaves']} leaves, "
            f"{how['memory_bytes'] / 2**20:,.0f} MiB, ended by {self.reason}",
            shares,
            *([] if pool is None else [f"evs are what the tournament is worth, {pool:,} for all prizes"]),
            f"{'hand':6}{'weight':>8}{'ev':>9}{'+-':>7}  "
            + "".join(f"{action:>8}" for action in self.actions),
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
    """Solve the street of a spot of a bundle, all players left; off-path combos give up unless `raw`."""
    solution = solve_multiplayer(
        bundle.blueprint, line, board, config, progress=progress, should_stop=should_stop
    )
    subgame, player = solution.subgame, solution.player()
    tree = subgame.tree
    values, weights = solution.values(), solution.range(player)

    def strategy(node: int) -> Floats:
        return solution.strategy(subgame.hand.root_line + tree.line(node))

    live, shown, reasons = _cleaned_rows(bundle, subgame.hand, tree, subgame.node, strategy, weights, raw=raw)
    how = {
        "iterations": solution.iterations,
        "seconds": solution.seconds,
        "depth": 1,
        "values": config.values,
        "leaves": solution.num_leaves,
        "memory_bytes": solution.memory_bytes,
        "exploitability_pct": None,
        "prize_pool": sum(bundle.blueprint.game.stacks) if bundle.blueprint.game.payouts else None,
    }
    return MultiplayerRows(
        hand=subgame.hand,
        names=bundle.seats,
        player=player,
        pot=int(tree.pot[subgame.node]),
        actions=solution.actions(),
        how=how,
        reason=solution.reason,
        combos=live,
        strategy=shown,
        frequencies=solution.frequencies(met=values.met),
        weights=weights[live],
        ev=values.ev[live],
        error=values.standard_error[live],
        reasons=reasons,
    )


def solve_bundle_exactly(
    bundle: MultiwayBundle,
    line: str,
    board: str,
    config: SubgameConfig,
    *,
    raw: bool,
    progress: Callable[[Progress], None],
    should_stop: Callable[[], bool],
) -> MultiplayerRows:
    """Solve a spot of a bundle with two players left to the river, around the hands that the others folded."""
    if config.safety != "unsafe":
        raise ValueError(
            f"safety: {config.safety} needs a blueprint of two seats; accepted with more: unsafe"
        )
    solved = solve_two_left(bundle.blueprint, line, board, config, progress=progress, should_stop=should_stop)
    report, tree = solved.report(), solved.solver.tree
    folded = solved.solver.engine.game.folded
    weights, ev = weights_of(report, report.player)
    live, shown, reasons = _cleaned_rows(
        bundle, solved.hand, tree, solved.node, solved.strategy, weights, raw=raw
    )
    how = {
        "iterations": solved.iterations,
        "seconds": solved.seconds,
        "depth": config.depth,
        "values": None,
        "leaves": 0,
        "memory_bytes": solved.solver.memory_bytes,
        "exploitability_pct": solved.exploitability_pct,
        "folded_hands": None if folded is None else folded_result(folded, solved.hand.board),
        "prize_pool": None,
    }
    return MultiplayerRows(
        hand=solved.hand,
        names=bundle.seats,
        player=solved.seats[report.player],
        pot=report.pot,
        actions=report.actions,
        how=how,
        reason=solved.reason,
        combos=live,
        strategy=shown,
        frequencies=report.frequencies,
        weights=weights[live],
        ev=ev[live],
        error=np.where(np.isnan(ev[live]), np.nan, 0.0),
        reasons=reasons,
    )


def _cleaned_rows(
    bundle: MultiwayBundle,
    hand: PlayedHand,
    tree: PublicTree,
    node: int,
    strategy: Callable[[int], Floats],
    weights: Floats,
    *,
    raw: bool,
) -> tuple[NDArray[np.int64], Floats, tuple[str | None, ...]]:
    """Live combos, their strategy ``[combo, action]`` and reasons at a decision; off-path ones fold unless `raw`."""
    live = np.flatnonzero(live_combos(np.array(hand.board, dtype=np.uint8)))
    shown = strategy(node)[:, live].T.copy()
    player, steps = tree.player[node], []
    while node > 0:
        parent = int(tree.parent[node])
        if tree.player[parent] == player:
            children = tree.children_of(parent).tolist()
            tokens = [tree.token(child) for child in children]
            steps.append((tokens, children.index(node), strategy(parent)[:, live]))
        node = parent
    codes = seat_codes(steps[::-1], weights[live], str(bundle.config["reach_rule"]))
    reasons = tuple(REASONS[code] for code in codes.tolist())
    if not raw:
        shown[[is_cleaned(reason) for reason in reasons]] = np.eye(shown.shape[1])[0]
    return live, shown, reasons
