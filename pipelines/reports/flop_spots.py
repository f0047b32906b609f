"""One flop of a preflop line: solved exactly, and as the blueprint plays it; plain rows out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import disjoint_weight, format_card, format_cards
from artifacts.blueprint.bundle import BlueprintBundle
from artifacts.blueprint.line_reach import deal_weight
from solver.betting.lines import FLOP, HEADS_UP_SEATS, PLAYERS, STREETS, Letter
from solver.betting.public_tree import NodeKind
from solver.betting.tree import spot_tree
from solver.postflop.node_report import NodeReport
from solver.postflop.solver import PostflopSolver

Floats = NDArray[np.float64]
Row = dict[str, Any]
#: Seats out of and in position after the flop.
OOP_SEAT, IP_SEAT = HEADS_UP_SEATS.index("bb"), HEADS_UP_SEATS.index("sb")
RANKS = "23456789TJQKA"
SUIT_WORDS = {1: "monotone", 2: "two-tone", 3: "rainbow"}
PAIR_WORDS = {1: "trips", 2: "paired", 3: "unpaired"}
#: Hands below this share of the heaviest one of their range are left out, as in chained solves.
SMALLEST_SHARE = 1e-5


@dataclass(frozen=True)
class FlopSettings:
    """How the flops of a line are solved.

    Attributes
    ----------
    pot, stack
        At the flop.
    bet_sizes, rake
        As in spot files; rate and cap of the rake.
    history
        Betting after the flop, street by street, behind which the next cards get rows of their own.
    target, max_iterations
        When to stop, the target in percent of the pot.
    """

    pot: int
    stack: int
    bet_sizes: Mapping[str, Any]
    rake: tuple[float, float]
    history: tuple[str, ...] = ()
    target: float = 0.5
    max_iterations: int = 1000


@dataclass(frozen=True, eq=False)
class FlopTask:
    """A flop, the ranges out of and in position, and what the blueprint says about it.

    `later` is what it says about turns and rivers, by the cards behind the flop.
    """

    flop: NDArray[np.uint8]
    ranges: tuple[Floats, Floats]
    blueprint: Row
    later: Mapping[tuple[int, ...], Row] = field(default_factory=dict)


def solve_flop(task: FlopTask, settings: FlopSettings) -> dict[str, list[Row]] | str:
    """Rows of the flop and, by option, of its turns and rivers; or why the solver refuses the spot."""
    try:
        solver = PostflopSolver(
            board=tuple(task.flop.tolist()),
            oop_range=task.ranges[0],
            ip_range=task.ranges[1],
            pot=settings.pot,
            stack=settings.stack,
            bet_sizes=settings.bet_sizes,
            rake=settings.rake[0],
            rake_cap=settings.rake[1],
        )
    except ValueError as error:
        return str(error)
    outcome = solver.solve(max_iterations=settings.max_iterations, target_exploitability_pct=settings.target)
    about = flop_words(task.flop)
    row = about | {
        "exploitability_pct": outcome.exploitability_pct,
        "iterations": outcome.iterations,
    }
    exact = _figures(solver, "", "")
    rows = {"flop": [row | exact | task.blueprint | differences(exact, task.blueprint)]}
    for street, before in enumerate(lines_after(settings.history)):
        rows[STREETS[FLOP + 1 + street]] = [
            _later_row(solver, task, about, before, cards) for cards in deals(task.flop, street + 1)
        ]
    return rows


def _later_row(
    solver: PostflopSolver, task: FlopTask, about: Row, before: str, cards: tuple[int, ...]
) -> Row:
    """The row of a turn or a river."""
    exact = _figures(solver, before, format_cards(list(cards)))
    told = task.later.get(cards, {})
    place = {"card": format_card(cards[-1]), "board": format_cards([*task.flop, *cards])}
    return about | place | exact | told | differences(exact, told)


def lines_after(history: Sequence[str]) -> list[str]:
    """The lines at which the streets behind a history begin.

    >>> lines_after(("xx", "xb100c"))
    ['xx/', 'xx/xb100c/']
    """
    lines, line = [], ""
    for played in history:
        line += played + Letter.DEAL
        lines.append(line)
    return lines


def deals(flop: NDArray[np.uint8], count: int) -> list[tuple[int, ...]]:
    """So many cards behind a flop, in every order."""
    found: list[tuple[int, ...]] = [()]
    for _ in range(count):
        found = [
            (*dealt, card) for dealt in found for card in range(52) if card not in {*flop.tolist(), *dealt}
        ]
    return found


def check_history(settings: FlopSettings) -> None:
    """Refuse a history that the betting does not have, or that leaves nothing to play."""
    tree = spot_tree(FLOP, settings.pot, settings.stack, settings.bet_sizes)
    if len(settings.history) > 2:
        raise ValueError(f"history: {'/'.join(settings.history)!r} has more streets than flop and turn")
    for line in lines_after(settings.history):
        try:
            node = tree.node_at(line)
        except ValueError as error:
            raise ValueError(f"history: {error}") from None
        if tree.kind[node] != NodeKind.DECISION:
            raise ValueError(f"history: nobody acts after {line!r}")


def flop_words(flop: NDArray[np.uint8]) -> Row:
    """A flop in the words by which a page filters.

    >>> from abstractions.cards import parse_board
    >>> words = flop_words(parse_board("QsJh2h"))
    >>> words["suits"], words["pairing"], words["high"], words["straights"]
    ('two-tone', 'unpaired', 'Q', 'no')
    """
    ranks = np.sort(flop // 4).astype(int)
    different = np.unique(ranks)
    # An ace also plays below the deuce.
    low = np.sort(np.where(different == 12, -1, different))
    straight = len(different) == 3 and min(different[-1] - different[0], low[-1] - low[0]) <= 4
    order = np.argsort(flop)[::-1]
    return {
        "flop": format_cards(flop[order]),
        "suits": SUIT_WORDS[len(np.unique(flop % 4))],
        "pairing": PAIR_WORDS[len(different)],
        "high": RANKS[ranks[-1]],
        "straights": "yes" if straight else "no",
    }


def _figures(solver: PostflopSolver, line: str, cards: str) -> Row:
    """EV, equity and its realisation of both players at the start of a street, and how both begin."""
    report = solver.go(line, cards).node()
    row: Row = {}
    for player, ev, equity in zip(PLAYERS, report.ev, report.equity):
        realised = ev / (equity * report.pot) if equity > 0 else None
        row |= {f"ev_{player}": ev, f"equity_{player}": equity, f"eqr_{player}": realised}
    row |= _frequencies("oop", report)
    after = solver.tree.node_at(f"{line}{Letter.CHECK}")
    if solver.tree.kind[after] == NodeKind.DECISION:
        row |= _frequencies("ip", solver.go(f"{line}{Letter.CHECK}", cards).node())
    return row


def _frequencies(player: str, report: NodeReport) -> Row:
    return {f"{player}_{token}": float(share) for token, share in zip(report.actions, report.frequencies)}


def differences(exact: Row, blueprint: Row) -> Row:
    """Where a blueprint departs from the exact solution: its EV less the exact one, and how much more it bets.

    >>> differences({"ev_oop": 90.0, "oop_x": 0.75}, {"blueprint_ev_oop": 70.0, "blueprint_oop_x": 0.5})
    {'difference_ev_oop': -20.0, 'difference_bets_oop': 0.25}
    """
    found: Row = {}
    for player in PLAYERS:
        ev, check = f"ev_{player}", f"{player}_{Letter.CHECK}"
        if f"blueprint_{ev}" in blueprint and ev in exact:
            found[f"difference_{ev}"] = blueprint[f"blueprint_{ev}"] - exact[ev]
        if f"blueprint_{check}" in blueprint and check in exact:
            found[f"difference_bets_{player}"] = exact[check] - blueprint[f"blueprint_{check}"]
    return found


def scaled(weights: Floats) -> Floats:
    """A range whose heaviest hand weighs 1, without hands that almost never get there."""
    shares = weights / weights.max()
    return np.where(shares < SMALLEST_SHARE, 0.0, shares)


def blueprint_row(bundle: BlueprintBundle, line: str, board: NDArray[np.uint8], runouts: int = 48) -> Row:
    """What the blueprint does on a street behind a line, with the names of `solve_flop` behind ``blueprint_``.

    Ranges are those that its own strategy takes there. EVs are means over sampled run-outs; frequencies are exact.

    Parameters
    ----------
    line
        Betting before the street.
    board
        Public cards of the street.
    """
    start = f"{line}{Letter.DEAL}"
    ranges = bundle.range(line, 0, board), bundle.range(line, 1, board)
    if deal_weight(*ranges) <= 0.0:
        return {}
    row: Row = {}
    first = bundle.decision(start)
    for player, seat in zip(PLAYERS, (OOP_SEAT, IP_SEAT)):
        won = bundle.continuation_value(start, board, ranges, seat, runouts=runouts)
        met = ranges[seat] * disjoint_weight(ranges[1 - seat])
        mean = float(np.nansum(met * won) / met.sum())
        row[f"blueprint_ev_{player}"] = mean + float(first.committed[seat])
    if bundle.game.rake == 0:
        # Both share the pot. Sampled run-outs block other hands of each, so their means miss that by a little.
        missing = float(first.pot) - sum(row.values())
        row = {name: ev + missing / 2 for name, ev in row.items()}
    for player, decision in (("oop", first), ("ip", bundle.decision(f"{start}{Letter.CHECK}"))):
        seat = decision.player
        own = ranges[seat] if player == "oop" else bundle.range(decision.line, seat, board)
        other = bundle.range(decision.line, 1 - seat, board)
        met = own * disjoint_weight(other)
        if met.sum() > 0.0:
            shares = bundle.probabilities(decision, board) @ met / met.sum()
            row |= {f"blueprint_{player}_{token}": float(s) for token, s in zip(decision.tokens, shares)}
    return row


def later_rows(
    bundle: BlueprintBundle, line: str, flop: NDArray[np.uint8], history: Sequence[str]
) -> dict[tuple[int, ...], Row]:
    """`blueprint_row` of every turn and river behind a history, by the cards behind the flop.

    Empty where the blueprint's betting does not have the history.
    """
    found: dict[tuple[int, ...], Row] = {}
    for street, before in enumerate(lines_after(history)):
        played = f"{line}{Letter.DEAL}{before}".removesuffix(Letter.DEAL)
        try:
            bundle.decision(f"{played}{Letter.DEAL}")
        except ValueError:
            return found
        for cards in deals(flop, street + 1):
            board = np.array([*flop, *cards], dtype=np.uint8)
            found[cards] = blueprint_row(bundle, played, board)
    return found
