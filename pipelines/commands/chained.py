"""Chained solves: a preflop strategy carries two ranges to a flop, which is solved exactly, and so on.

Each street that the board has reached is solved from its own root, with the ranges that the streets before
it leave; or, lazily, the flop alone is solved and later streets are read from that solve, which holds every
card to come. What is printed is cleaned of off-path hands, what is carried on never is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from abstractions.cards import format_cards, live_combos
from abstractions.ranges import format_range
from artifacts import postflop_offpath
from pipelines.commands.chained_streets import (
    ExactStreet,
    Progress,
    Start,
    Street,
    StreetSettings,
    SubgameStreet,
    scaled,
)
from pipelines.commands.history_rows import by_hole, decisions
from pipelines.commands.preflop_play import Floats, Preflop, Ranges
from solver.betting.lines import FLOP, HEADS_UP_SEATS, PLAYERS, PUBLIC_CARDS, STREETS, seat_names
from solver.betting.public_tree import NodeKind
from solver.betting.tree import spot_tree
from solver.blueprint.strategy import Blueprint
from solver.postflop.holdem import read_board, read_range
from solver.subgame.config import FULL


@dataclass(frozen=True)
class ChainedSettings(StreetSettings):
    """What to solve. `line` None is the one that is played most.

    Attributes
    ----------
    ranges
        1,326 weights of each player who sees the flop, the lower seat first.
    hero
        Seat of one of them.
    played
        Betting of each finished street after the flop, one per card past the third.
    lazy
        Solve the flop alone, and read later streets from that solve.
    """

    ranges: Ranges
    board: tuple[int, ...]
    hero: int = 0
    line: str | None = None
    played: tuple[str, ...] = ()
    lazy: bool = False
    clean: bool = True


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
    play: Preflop,
    settings: ChainedSettings,
    *,
    blueprint: Blueprint | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Carry the ranges to the flop, solve what the board has reached, and report every street.

    Parameters
    ----------
    blueprint
        What a solve stands on whose depth is limited.
    """
    read_board(settings.board)
    if settings.depth != FULL and (blueprint is None or settings.lazy):
        wanted = (
            "a whole blueprint as bundle" if blueprint is None else "streets that are solved, not read lazily"
        )
        raise ValueError(f"depth: {settings.depth} needs {wanted}; accepted without: {FULL}")
    arrival = play.arrival(settings.line, settings.ranges, clean=settings.clean)
    names = HEADS_UP_SEATS if play.game.num_seats == 2 else seat_names(play.game.num_seats)
    if settings.hero not in arrival.seats:
        left = ", ".join(names[seat] for seat in arrival.seats)
        raise ValueError(f"hero: {names[settings.hero]} does not see the flop; accepted: {left}")
    for seat, weights in zip(arrival.seats, arrival.ranges):
        if not weights.any():
            who = "hero-range" if seat == settings.hero else "villain-range"
            raise ValueError(f"{who}: no hand of it plays the line {arrival.line!r}")
    hero = arrival.seats.index(settings.hero)
    by_position = scaled(arrival.ranges[0]), scaled(arrival.ranges[1])
    start = Start(settings.board[:3], arrival.pot, arrival.stack, by_position)
    if settings.depth == FULL:
        _check_played(settings, arrival.pot, arrival.stack)
    folded = (*settings.folded, *arrival.folded.values())
    streets = _streets(play, arrival.line, replace(settings, folded=folded), start, blueprint, progress)
    players = [
        {"seat": names[arrival.seats[position]], "position": PLAYERS[position]} for position in range(2)
    ]
    return {
        "hero": players[hero],
        "villain": players[1 - hero],
        "board": format_cards(list(settings.board)),
        "folded_ranges": [text if isinstance(text, str) else format_range(text) for text in folded],
        "folded_seats": [names[seat] for seat in arrival.folded],
        "cleaned": settings.clean,
        "lazy": settings.lazy,
        "preflop": {
            **play.source,
            "line": arrival.line,
            "probability": arrival.probability,
            "strategy": arrival.strategy,
        },
        "streets": [
            _street_result(street, rows, off_path, hero)
            for street, (rows, off_path) in zip(streets, _cleaned(streets, settings.clean))
        ],
    }


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
    play: Preflop,
    line: str,
    settings: ChainedSettings,
    start: Start,
    blueprint: Blueprint | None,
    progress: Progress | None,
) -> Sequence[Street]:
    """The streets that the board has reached."""
    if settings.depth != FULL and blueprint is not None:
        return _subgame_streets(blueprint, line, settings, start, progress)
    return _exact_streets(settings, start, (play.game.rake, play.game.rake_cap), progress)


def _exact_streets(
    settings: ChainedSettings, start: Start, rake: tuple[float, float], progress: Progress | None
) -> list[ExactStreet]:
    """The streets that the board has reached, solved or read from the flop's solve."""
    streets = [ExactStreet.solve(settings, start, rake, progress)]
    for played, card in zip(settings.played, settings.board[3:]):
        start = streets[-1].after(played, card)
        if settings.lazy:
            streets.append(streets[-1].read(start, played, card))
        else:
            streets.append(ExactStreet.solve(settings, start, rake, progress))
    return streets


def _subgame_streets(
    blueprint: Blueprint,
    line: str,
    settings: ChainedSettings,
    start: Start,
    progress: Progress | None,
) -> list[SubgameStreet]:
    """The streets that the board has reached, each searched on top of the blueprint."""
    streets: list[SubgameStreet] = []
    for number in range(len(settings.board) - PUBLIC_CARDS[FLOP] + 1):
        played = settings.played[number] if number < len(settings.played) else ""
        streets.append(SubgameStreet.solve(blueprint, settings, line, played, start, progress))
        if played:
            start = streets[-1].after(played, settings.board[PUBLIC_CARDS[FLOP] + number])
            line = f"{line}/{played}"
    return streets


def _cleaned(
    streets: Sequence[Street], clean: bool
) -> list[tuple[dict[str, list[float]], dict[str, dict[str, int]]]]:
    """Rows of each street and how many are off-path by reason, per player.

    Streets that share a solver share their histories: the walk along them needs all of their rows, and the
    ranges at the root of the solver.
    """
    results = []
    for street in streets:
        shared = [other for other in streets if other.engine is street.engine]
        table: dict[str, list[float]] = {}
        for other in shared:
            table |= other.rows()
        own = street.rows()
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
    street: Street, rows: dict[str, list[float]], off_path: dict[str, dict[str, int]], hero: int
) -> dict[str, Any]:
    tree, root = street.engine.tree, street.node
    report = street.report()
    names = ["hero" if position == hero else "villain" for position in range(2)]
    return {
        "street": STREETS[tree.street[root]],
        "board": report.board,
        "line": street.line,
        "pot": street.start.pot,
        "stack": street.start.stack,
        "solve": street.outcome,
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
