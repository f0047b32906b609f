"""Chained solves: a preflop strategy carries two ranges to a flop, which is solved exactly, and so on.

Each street that the board has reached is solved from its own root, with the ranges that the streets before
it leave; or, lazily, the flop alone is solved and later streets are read from that solve, which holds every
card to come. What is printed is cleaned of off-path hands, what is carried on never is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from abstractions.cards import NUM_COMBOS, format_cards, live_combos
from artifacts import postflop_offpath
from artifacts.blueprint.line_reach import deal_weight
from pipelines.commands.history_rows import by_hole, decisions, per_history_strategy
from pipelines.commands.preflop_play import Floats, PreflopPlay, Ranges
from solver.betting.lines import FLOP, HEADS_UP_SEATS, PLAYERS, PUBLIC_CARDS, STREETS, action_order
from solver.betting.public_tree import NodeKind
from solver.betting.tree import spot_tree
from solver.postflop.holdem import read_board, read_range
from solver.postflop.node_report import NodeReport
from solver.postflop.solver import PostflopSolver, SolveResult

Progress = Callable[[int, float, float], None]

#: Seats of the players out of and in position: heads-up the big blind acts first after the flop.
OOP_SEAT, IP_SEAT = action_order(2, FLOP)
#: A range keeps hands down to this share of its most frequent one: less is what no solve can tell from 0.
SMALLEST_SHARE = 1e-4


@dataclass(frozen=True)
class ChainedSettings:
    """What to solve. Ranges are 1,326 weights by seat; `line` None is the one that is played most.

    Attributes
    ----------
    played
        Betting of each finished street after the flop, one per card past the third.
    bet, raise_
        Menus of every street, as in spot files.
    folded
        Ranges that other players folded before the flop.
    target
        Exploitability at which a street's solve stops, in percent of its pot.
    """

    ranges: Ranges
    board: tuple[int, ...]
    hero: int = 0
    line: str | None = None
    played: tuple[str, ...] = ()
    bet: str = "75%"
    raise_: str = "3x"
    folded: tuple[str, ...] = ()
    target: float = 0.5
    time_limit: float | None = 60.0
    max_iterations: int = 1000
    threads: int = 2
    lazy: bool = False
    clean: bool = True

    @property
    def bet_sizes(self) -> dict[str, dict[str, str]]:
        """Menus as a spot file writes them."""
        return {STREETS[FLOP]: {"bet": self.bet, "raise": self.raise_}}


@dataclass(frozen=True)
class _Start:
    """Where a street begins; ranges of the players out of and in position."""

    board: tuple[int, ...]
    pot: int
    stack: int
    ranges: Ranges


@dataclass(frozen=True)
class _Street:
    """A street and the solver that plays it.

    Attributes
    ----------
    line, dealt
        From the solver's root to the root of the street: the betting and the cards.
    outcome
        How its solve ended; None where an earlier street's solve is read.
    """

    start: _Start
    solver: PostflopSolver
    line: str = ""
    dealt: tuple[int, ...] = ()
    outcome: SolveResult | None = None

    @property
    def node(self) -> int:
        """Root of the street."""
        return self.solver.tree.node_at(self.line)

    def report(self) -> NodeReport:
        """Values at the root of the street."""
        return self.solver.go(self.line, format_cards(self.dealt)).node()

    def next_report(self, played: str, card: int) -> NodeReport:
        """Values at the root of the next street, once `played` and a card have come."""
        return self.solver.go(f"{self.line}{played}/", format_cards((*self.dealt, card))).node()


def read_hands(name: str, text: str, board: Sequence[int]) -> Floats:
    """A range as text without the hands that the board blocks; refused if nothing is left."""
    weights = read_range(name, text)
    if not weights.any():
        raise ValueError(f"{name}: the range is empty")
    left = weights * live_combos(np.array(board))
    if not left.any():
        raise ValueError(f"{name}: every hand is blocked by the board {format_cards(list(board))}")
    return left


def read_played(text: str | None, board: Sequence[int]) -> tuple[str, ...]:
    """Betting of the streets that the board has left behind, check and check where nothing is said."""
    finished = len(board) - PUBLIC_CARDS[FLOP]
    if text is None:
        return ("xx",) * finished
    played = tuple(text.rstrip("/").split("/")) if text.strip("/") else ()
    if len(played) != finished:
        raise ValueError(
            f"postflop-line: {text!r} plays {len(played)} streets, a board of {len(board)} cards has finished"
            f" {finished}; accepted: one line per finished street, such as {'/'.join(['xx'] * finished)!r}"
        )
    return played


def chained_result(
    play: PreflopPlay, settings: ChainedSettings, *, progress: Progress | None = None
) -> dict[str, Any]:
    """Carry the ranges to the flop, solve what the board has reached, and report every street."""
    read_board(settings.board)
    tree = play.tree
    node = play.flop_node(settings.line, settings.ranges)
    ranges = play.carried(node, settings.ranges)
    for seat in range(2):
        if not ranges[seat].any():
            who = "hero-range" if seat == settings.hero else "villain-range"
            raise ValueError(f"{who}: no hand of it plays the line {tree.line(node)!r}")
    pot = int(tree.pot[node])
    stack = min(play.game.stacks[seat] - int(tree.committed[node, seat]) for seat in range(2))
    _check_played(settings, pot, stack)
    by_position = (_scaled(ranges[OOP_SEAT]), _scaled(ranges[IP_SEAT]))
    start = _Start(settings.board[:3], pot, stack, by_position)
    streets = _streets(settings, start, (play.game.rake, play.game.rake_cap), progress)
    return {
        "hero": {"seat": HEADS_UP_SEATS[settings.hero], "position": _position(settings.hero)},
        "villain": {"seat": HEADS_UP_SEATS[1 - settings.hero], "position": _position(1 - settings.hero)},
        "board": format_cards(list(settings.board)),
        "folded_ranges": list(settings.folded),
        "cleaned": settings.clean,
        "lazy": settings.lazy,
        "preflop": {
            **play.source,
            "line": tree.line(node),
            "probability": deal_weight(*ranges) / deal_weight(*settings.ranges),
            "strategy": play.strategy_to(node, settings.ranges, clean=settings.clean),
        },
        "streets": [
            _street_result(street, *rows, settings.hero)
            for street, rows in zip(streets, _cleaned(streets, settings.clean))
        ],
    }


def _position(seat: int) -> str:
    return PLAYERS[(OOP_SEAT, IP_SEAT).index(seat)]


def _scaled(weights: Floats) -> Floats:
    """A range whose most frequent hand weighs 1; strategies only depend on the proportions."""
    scaled = weights / weights.max()
    return np.where(scaled < SMALLEST_SHARE, 0.0, scaled)


def _check_played(settings: ChainedSettings, pot: int, stack: int) -> None:
    """Refuse betting that is not on the menu, or leaves nothing to play, before anything is solved."""
    if not settings.played:
        return
    tree = spot_tree(FLOP, pot, stack, settings.bet_sizes)
    try:
        node = tree.node_at("/".join(settings.played))
    except ValueError as error:
        raise ValueError(f"postflop-line: {error}") from None
    if tree.kind[node] != NodeKind.CHANCE:
        raise ValueError(
            f"postflop-line: {tree.line(node)!r} does not end the {STREETS[tree.street[node]]} with chips behind"
        )


def _streets(
    settings: ChainedSettings, start: _Start, rake: tuple[float, float], progress: Progress | None
) -> list[_Street]:
    """The streets that the board has reached, solved or read from the flop's solve."""
    street = _solved(settings, start, rake, progress)
    streets = [street]
    for played, card in zip(settings.played, settings.board[3:]):
        report = street.next_report(played, card)
        stack = street.start.stack - _put_in(street, played)
        start = _Start((*street.start.board, card), report.pot, stack, _carried(report, played))
        if settings.lazy:
            street = _Street(start, street.solver, f"{street.line}{played}/", (*street.dealt, card))
        else:
            street = _solved(settings, start, rake, progress)
        streets.append(street)
    return streets


def _put_in(street: _Street, played: str) -> int:
    """Chips that each player puts in on a street."""
    tree = street.solver.tree
    chips = tree.committed[tree.node_at(street.line + played)] - tree.committed[street.node]
    return int(chips.max())


def _carried(report: NodeReport, played: str) -> Ranges:
    """The ranges that a street leaves, on the next board."""
    carried = []
    for player, hands in zip(PLAYERS, report.hands):
        weights = np.zeros(NUM_COMBOS)
        weights[hands.combos] = hands.weights
        if not weights.any():
            raise ValueError(
                f"postflop-line: no hand of {player} plays {played!r} to the board {report.board}"
            )
        carried.append(_scaled(weights))
    return carried[0], carried[1]


def _solved(
    settings: ChainedSettings, start: _Start, rake: tuple[float, float], progress: Progress | None
) -> _Street:
    solver = PostflopSolver(
        board=start.board,
        oop_range=start.ranges[0],
        ip_range=start.ranges[1],
        pot=start.pot,
        stack=start.stack,
        bet_sizes=settings.bet_sizes,
        folded_ranges=settings.folded,
        rake=rake[0],
        rake_cap=rake[1],
        threads=settings.threads,
    )
    outcome = solver.solve(
        max_iterations=settings.max_iterations,
        target_exploitability_pct=settings.target,
        time_limit_s=settings.time_limit,
        progress=progress,
    )
    return _Street(start, solver, outcome=outcome)


def _cleaned(
    streets: Sequence[_Street], clean: bool
) -> list[tuple[dict[str, list[float]], dict[str, dict[str, int]]]]:
    """Rows of each street and how many are off-path by reason, per player.

    Streets that share a solver share their histories: the walk along them needs all of their rows, and the
    ranges at the root of the solver.
    """
    results = []
    for street in streets:
        shared = [other for other in streets if other.solver is street.solver]
        table: dict[str, list[float]] = {}
        for other in shared:
            table |= per_history_strategy(other.solver, other.node, other.dealt)
        own = per_history_strategy(street.solver, street.node, street.dealt)
        counts = {}
        for player, weights in enumerate(shared[0].start.ranges):
            hands = by_hole(weights)
            options: dict[str, Any] = {"hero_is_oop": player == 0}
            reasons = postflop_offpath.reasons_by_key(table, hands, **options)
            found = [reason for key, reason in reasons.items() if key in own and reason is not None]
            counts[PLAYERS[player]] = {reason: found.count(reason) for reason in sorted(set(found))}
            if clean:
                # Marks come from the player's own rows, which the other player's cleaning leaves alone.
                table = postflop_offpath.clean_off_path(table, hands, **options)
        results.append(({key: table[key] for key in own}, counts))
    return results


def _street_result(
    street: _Street, rows: dict[str, list[float]], off_path: dict[str, dict[str, int]], hero: int
) -> dict[str, Any]:
    tree, root = street.solver.tree, street.node
    report = street.report()
    names = ["hero" if position == _position(hero) else "villain" for position in PLAYERS]
    outcome = street.outcome
    solve = None
    if outcome is not None:
        solve = {
            "exploitability_pct": outcome.exploitability_pct,
            "iterations": outcome.iterations,
            "seconds": outcome.seconds,
            "reason": outcome.reason,
        }
    return {
        "street": STREETS[tree.street[root]],
        "board": report.board,
        "line": street.line,
        "pot": street.start.pot,
        "stack": street.start.stack,
        "solve": solve,
        "ranges": dict(zip(names, map(by_hole, street.start.ranges))),
        "ev": dict(zip(names, report.ev)),
        "equity": dict(zip(names, report.equity)),
        "root": {
            "player": names[report.player],
            "actions": report.actions,
            "frequencies": report.frequencies.tolist(),
        },
        "actions": {
            tree.line(node): [tree.token(int(child)) for child in tree.children_of(node)]
            for node in decisions(tree, root)
        },
        "off_path": dict(zip(names, (off_path[position] for position in PLAYERS))),
        "per_history_strategy": rows,
    }
