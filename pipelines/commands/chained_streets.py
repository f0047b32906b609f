"""The streets of a chained solve: solved exactly to the river, or searched on top of a blueprint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from abstractions.cards import NUM_COMBOS, format_cards, live_combos
from pipelines.commands.history_rows import per_history_strategy
from pipelines.commands.preflop_play import Floats, Ranges
from solver.betting.lines import FLOP, PLAYERS, STREETS, action_order, tokens
from solver.blueprint.strategy import Blueprint
from solver.exact.engine import CfrEngine
from solver.postflop.node_report import NodeReport, node_report
from solver.postflop.solver import PostflopSolver
from solver.postflop.spot import folded_result
from solver.subgame.config import FULL, SubgameConfig
from solver.subgame.solution import SubgameSolution
from solver.subgame.solve import Progress as SubgameProgress
from solver.subgame.solve import solve_subgame

#: Told about a solve: iteration, seconds, and exploitability in percent of the pot where it is known.
Progress = Callable[[int, float, float | None], None]

#: Seats of the players out of and in position: heads-up the big blind acts first after the flop.
OOP_SEAT, IP_SEAT = action_order(2, FLOP)
#: A range keeps hands down to this share of its most frequent one: less is what no solve can tell from 0.
SMALLEST_SHARE = 1e-4


@dataclass(frozen=True, kw_only=True)
class StreetSettings:
    """How each street is solved.

    Attributes
    ----------
    bet, raise_
        Menus of every street, as in spot files.
    folded
        Ranges that other players folded before the flop; they count in exact solves only.
    target
        Exploitability at which an exact solve stops, in percent of its pot.
    depth
        Streets that are searched hand by hand on top of a blueprint, or ``full``: exactly to the river.
    """

    bet: str = "75%"
    raise_: str = "3x"
    folded: tuple[str | Floats, ...] = ()
    target: float = 0.5
    time_limit: float | None = 60.0
    max_iterations: int = 1000
    threads: int = 2
    depth: int | str = FULL

    @property
    def bet_sizes(self) -> dict[str, dict[str, str]]:
        """Menus as a spot file writes them."""
        return {STREETS[FLOP]: {"bet": self.bet, "raise": self.raise_}}

    @property
    def subgame(self) -> SubgameConfig:
        """The same for a search that stands on a blueprint."""
        return SubgameConfig(
            depth=self.depth,
            sizes=self.bet,
            raises=self.raise_,
            later_sizes=self.bet,
            later_raises=self.raise_,
            raise_cap=None,
            iterations=self.max_iterations,
            time_s=self.time_limit,
            threads=self.threads,
        )


@dataclass(frozen=True)
class Start:
    """Where a street begins; ranges of the players out of and in position."""

    board: tuple[int, ...]
    pot: int
    stack: int
    ranges: Ranges


class Street(Protocol):
    """A street and the engine that plays it; players in order of position, out of position first."""

    @property
    def start(self) -> Start:
        """Where it begins."""

    @property
    def engine(self) -> CfrEngine:
        """Tables of the solve; streets may share one."""

    @property
    def line(self) -> str:
        """Betting from the engine's root to the root of the street."""

    @property
    def node(self) -> int:
        """Root of the street in the engine's tree."""

    @property
    def outcome(self) -> dict[str, Any] | None:
        """How its solve ended; None where an earlier street's solve is read."""

    def report(self) -> NodeReport:
        """Values at the root of the street."""

    def rows(self) -> dict[str, list[float]]:
        """Strategy by hand and history, as off-path cleaning reads it."""


@dataclass(frozen=True)
class ExactStreet:
    """A street of an exact solve.

    Attributes
    ----------
    line, dealt
        From the solver's root to the root of the street: the betting and the cards.
    """

    start: Start
    solver: PostflopSolver
    line: str = ""
    dealt: tuple[int, ...] = ()
    outcome: dict[str, Any] | None = None

    @classmethod
    def solve(
        cls, settings: StreetSettings, start: Start, rake: tuple[float, float], progress: Progress | None
    ) -> ExactStreet:
        """Solve a street and all that follows."""
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
        told = _outcome(outcome.iterations, outcome.seconds, outcome.reason, outcome.exploitability_pct, FULL)
        folded = solver.engine.game.folded
        if folded is not None:
            told["folded"] = folded_result(folded, start.board)
        return cls(start, solver, outcome=told)

    @property
    def engine(self) -> CfrEngine:
        """Tables of the solve."""
        return self.solver.engine

    @property
    def node(self) -> int:
        """Root of the street."""
        return self.solver.tree.node_at(self.line)

    def report(self) -> NodeReport:
        """Values at the root of the street."""
        return self.solver.go(self.line, format_cards(self.dealt)).node()

    def rows(self) -> dict[str, list[float]]:
        """Strategy by hand and history."""
        return per_history_strategy(self.engine, self.node, self.dealt)

    def after(self, played: str, card: int) -> Start:
        """Where the next street begins, once `played` and a card have come."""
        report = self.solver.go(f"{self.line}{played}/", format_cards((*self.dealt, card))).node()
        tree = self.solver.tree
        chips = tree.committed[tree.node_at(self.line + played)] - tree.committed[self.node]
        weights = [np.zeros(NUM_COMBOS), np.zeros(NUM_COMBOS)]
        for here, hands in zip(weights, report.hands):
            here[hands.combos] = hands.weights
        board = (*self.start.board, card)
        ranges = _arriving((weights[0], weights[1]), played, board)
        return Start(board, report.pot, self.start.stack - int(chips.max()), ranges)

    def read(self, start: Start, played: str, card: int) -> ExactStreet:
        """The next street as this solve plays it."""
        return ExactStreet(start, self.solver, f"{self.line}{played}/", (*self.dealt, card))


@dataclass(frozen=True)
class SubgameStreet:
    """A street that is searched on top of a blueprint."""

    start: Start
    solution: SubgameSolution
    depth: int | str
    line: str = ""
    node: int = 0

    @classmethod
    def solve(
        cls,
        blueprint: Blueprint,
        settings: StreetSettings,
        line: str,
        played: str,
        start: Start,
        progress: Progress | None,
    ) -> SubgameStreet:
        """Solve a street that begins after `line`, with the sizes that are `played` on it in its tree."""

        def tell(state: SubgameProgress) -> None:
            if progress is not None:
                progress(state.iteration, state.seconds, state.exploitability_pct)

        # The last action ends the street; the decision before it is the last one to be solved.
        decided = "".join(tokens(played)[:-1]) if played else ""
        by_seat = {OOP_SEAT: start.ranges[0], IP_SEAT: start.ranges[1]}
        solution = solve_subgame(
            blueprint,
            f"{line}/{decided}",
            start.board,
            settings.subgame,
            ranges=(by_seat[0], by_seat[1]),
            progress=tell,
        )
        return cls(start, solution, settings.depth)

    @property
    def engine(self) -> CfrEngine:
        """Tables of the search."""
        return self.solution.engine

    @property
    def outcome(self) -> dict[str, Any]:
        """How the solve ended."""
        solution = self.solution
        return _outcome(solution.iterations, solution.seconds, solution.reason, None, self.depth)

    def report(self) -> NodeReport:
        """Values at the root of the street."""
        self.solution.begin_evaluation()
        found = node_report(self.engine, self.node, ())
        # The subgame counts players by seat, a report by position.
        return replace(found, player=1 - found.player, hands=found.hands[::-1])

    def rows(self) -> dict[str, list[float]]:
        """Strategy by hand and history."""
        return per_history_strategy(self.engine, self.node, ())

    def after(self, played: str, card: int) -> Start:
        """Where the next street begins, once `played` and a card have come."""
        subgame = self.solution.subgame
        line = subgame.root_line + played
        node = subgame.node_at(line)
        first, second = (self.solution.range(seat, line) for seat in (OOP_SEAT, IP_SEAT))
        board = (*self.start.board, card)
        return Start(
            board,
            int(subgame.tree.pot[node]),
            self.start.stack - int(subgame.tree.committed[node].max() - subgame.tree.committed[0].max()),
            _arriving((first, second), played, board),
        )


def _outcome(
    iterations: int, seconds: float, reason: str, exploitability_pct: float | None, depth: int | str
) -> dict[str, Any]:
    return {
        "exploitability_pct": exploitability_pct,
        "iterations": iterations,
        "seconds": seconds,
        "reason": reason,
        "depth": depth,
    }


def scaled(weights: Floats) -> Floats:
    """A range whose most frequent hand weighs 1; strategies only depend on the proportions."""
    result = weights / weights.max()
    return np.where(result < SMALLEST_SHARE, 0.0, result)


def _arriving(ranges: Ranges, played: str, board: tuple[int, ...]) -> Ranges:
    """The ranges that a street leaves, on the next board."""
    live = live_combos(np.array(board, dtype=np.uint8))
    arriving = []
    for player, weights in zip(PLAYERS, ranges):
        here = np.where(live, weights, 0.0)
        if not here.any():
            raise ValueError(
                f"postflop-line: no hand of {player} plays {played!r} to the board {format_cards(list(board))}"
            )
        arriving.append(scaled(here))
    return arriving[0], arriving[1]
