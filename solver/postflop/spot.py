"""Spot files: a `Spot` or its JSON in, a dictionary of results out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from abstractions.cards import format_cards
from abstractions.ranges import class_weights, from_class_weights
from solver.betting.lines import PLAYERS
from solver.betting.public_tree import NodeKind, PublicTree
from solver.betting.tree import spot_tree
from solver.exact.folded_hands import FoldedHands
from solver.postflop.holdem import holdem_game, read_board, read_folded, read_range
from solver.postflop.node_report import NodeReport
from solver.postflop.solver import PostflopSolver, SolveResult, read_schedule
from solver.validation import otherwise, read, refusal

Text = Annotated[str, otherwise("is not text")]
Whole = Annotated[int, otherwise("is not a whole number")]
_Finite = int | Annotated[float, Field(allow_inf_nan=False)]
Number = Annotated[_Finite, otherwise("is not a number")]
#: Numbers within bounds.
_Count = Annotated[
    int, Field(ge=1, le=10**9), otherwise("is not a positive number, whole and at most 1,000,000,000")
]
_Amount = Annotated[_Finite, Field(ge=0, le=10**12), otherwise("is not a number from 0 to 1e12")]
_Positive = Annotated[_Finite, Field(gt=0, le=10**12), otherwise("is not a positive number up to 1e12")]
_Share = Annotated[_Finite, Field(ge=0, le=1), otherwise("is not a number from 0 to 1")]
Flag = Annotated[bool, otherwise("is not true or false")]
Streets = Annotated[dict[str, Any], otherwise("is no object with streets")]
_TREE_OPTIONS = {"add_allin_threshold", "force_allin_threshold", "merging_threshold", "rake", "rake_cap"}


class Lock(BaseModel):
    """How a player is made to act at one decision.

    Attributes
    ----------
    line
        Where.
    strategy
        Probabilities by action; actions left out get 0.
    cards
        Cards dealt on the way. Left out, the lock holds for every run-out.
    hands
        The range that is locked. Left out, every hand is.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    line: Text
    strategy: Annotated[dict[str, _Share], otherwise("is no object of actions and probabilities")]
    cards: Text | None = None
    hands: Text | None = None

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, lock: Any) -> Any:
        if not isinstance(lock, Mapping) or not {"line", "strategy"} <= set(lock) <= set(cls.model_fields):
            accepted = "line, strategy and, if wanted, cards and hands"
            raise refusal(lock, f"is no lock; accepted keys: {accepted}")
        return lock

    @property
    def spares_suits(self) -> bool:
        """Whether the lock treats all suits alike."""
        weights = read_range("locks.hands", self.hands or "all")
        return not self.cards and np.array_equal(from_class_weights(class_weights(weights)), weights)


class Spot(BaseModel):
    """A spot file: every key, its type, and what it is when left out.

    Whether cards, ranges, sizes and the schedule make sense is checked by those who read them.

    Attributes
    ----------
    board
        Three, four or five cards.
    oop_range, ip_range
        Ranges as text; ``all`` is every combo.
    pot, stack
        Chips in the middle and behind each player.
    bet_sizes, donk_sizes
        Menus by street, see `solver.betting.game.street_sizes`.
    add_allin_threshold, force_allin_threshold, merging_threshold
        See `solver.betting.sizes`.
    folded_ranges
        Ranges that up to seven other players folded: what they held is not among the cards to come.
    rake, rake_cap
        Rake is ``min(rake * pot, rake_cap)``.
    max_iterations, target_exploitability_pct, time_limit_s
        When to stop, the target in percent of the pot.
    schedule
        Name of a discount schedule; ``auto`` chooses.
    compress
        16-bit tables: about half the memory.
    threads
        Threads that share the work; results do not depend on it.
    locks
        Decisions that are not solved.
    memory_limit_mib
        MiB over which to refuse; left out, nine tenths of the machine's memory.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    board: Text
    oop_range: Text
    ip_range: Text
    pot: Whole
    stack: Whole
    bet_sizes: Streets
    folded_ranges: Annotated[list[Text], otherwise("is no list of ranges")] | None = None
    donk_sizes: Streets | None = None
    add_allin_threshold: Number = 1.5
    force_allin_threshold: Number = 0.15
    merging_threshold: Number = 0.1
    rake: Number = 0.0
    rake_cap: Number = 0.0
    max_iterations: _Count = 1000
    target_exploitability_pct: _Amount | None = 0.1
    time_limit_s: _Positive | None = None
    schedule: Text = "auto"
    compress: Flag = False
    threads: _Count = 2
    locks: Annotated[list[Lock], otherwise("is no list")] = []
    memory_limit_mib: _Positive | None = None

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, spot: Any) -> Any:
        if not isinstance(spot, Mapping):
            raise ValueError(f"spot: expected an object with keys, got a {type(spot).__name__}")
        for key in spot:
            if key not in cls.model_fields:
                raise ValueError(f"spot: {key!r} is no key; accepted: {', '.join(cls.model_fields)}")
        for key, field in cls.model_fields.items():
            if field.is_required() and key not in spot:
                raise ValueError(f"spot: {key!r} is missing")
        return dict(spot)


_SPOT = TypeAdapter(Spot)


def read_spot(spot: Mapping[str, Any] | Spot) -> Spot:
    """Check a spot's keys and types and fill in what is left out.

    Raises
    ------
    ValueError
        With one line that names the key and what is accepted.
    """
    return spot if isinstance(spot, Spot) else read(_SPOT, spot)


def tree_of_spot(spot: Mapping[str, Any] | Spot) -> PublicTree:
    """The betting tree of a spot."""
    spot = read_spot(spot)
    street = len(read_board(spot.board)) - 2
    options = spot.model_dump(include=_TREE_OPTIONS)
    return spot_tree(street, spot.pot, spot.stack, spot.bet_sizes, spot.donk_sizes, **options)


def spot_solver(spot: Mapping[str, Any] | Spot) -> PostflopSolver:
    """A solver for a spot, with its locks in place."""
    spot = read_spot(spot)
    limit = spot.memory_limit_mib
    solver = PostflopSolver(
        board=spot.board,
        oop_range=spot.oop_range,
        ip_range=spot.ip_range,
        pot=spot.pot,
        stack=spot.stack,
        bet_sizes=spot.bet_sizes,
        folded_ranges=spot.folded_ranges,
        donk_sizes=spot.donk_sizes,
        **spot.model_dump(include=_TREE_OPTIONS),
        schedule=read_schedule(spot.schedule, horizon=spot.max_iterations),
        compress=spot.compress,
        threads=spot.threads,
        isomorphism=all(lock.spares_suits for lock in spot.locks),
        memory_limit=None if limit is None else int(limit * 2**20),
    )
    for lock in spot.locks:
        solver.go(lock.line, _first_cards(solver, lock.line) if lock.cards is None else lock.cards)
        solver.lock(lock.strategy, hands=lock.hands, every_runout=lock.cards is None)
    return solver.go("")


def check_spot(spot: Spot) -> None:
    """Refuse what `spot_solver` would refuse, without the tables that it makes.

    Raises
    ------
    ValueError
        With one line that names the key and what is accepted.
    """
    ranges = read_range("oop_range", spot.oop_range), read_range("ip_range", spot.ip_range)
    board = read_board(spot.board)
    folded = read_folded(spot.folded_ranges)
    holdem_game(board, *ranges, folded)
    tree_of_spot(spot)
    read_schedule(spot.schedule, horizon=spot.max_iterations)
    if (
        spot.locks
    ):  # whether a lock fits the tree, the cards and the merged suits is known to the solver alone
        spot_solver(spot)


def _first_cards(solver: PostflopSolver, line: str) -> str:
    """Some cards that can be dealt along a line; a line that the tree does not have is refused."""
    solver.tree.node_at(line)
    deals = solver.engine.deals
    cards = deals.cards[int(np.flatnonzero(deals.boards["street"] == line.count("/"))[0])]
    return format_cards(list(cards[len(solver.engine.game.board) :]))


def solve_spot(
    spot: Mapping[str, Any] | Spot,
    *,
    progress: Callable[[int, float, float], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> dict[str, Any]:
    """Solve a spot; returns plain numbers, text, lists and dictionaries.

    Parameters
    ----------
    progress
        Called with iteration, seconds and exploitability in percent of the pot after each measurement.
    should_stop
        Asked between blocks of iterations; true ends the run early.
    """
    spot = read_spot(spot)
    solver = spot_solver(spot)
    outcome = solver.solve(
        max_iterations=spot.max_iterations,
        target_exploitability_pct=spot.target_exploitability_pct,
        time_limit_s=spot.time_limit_s,
        progress=progress,
        should_stop=should_stop,
    )
    return spot_result(solver, outcome)


def spot_result(solver: PostflopSolver, outcome: SolveResult) -> dict[str, Any]:
    """The result of a solved spot, seen from its root."""
    report = solver.go("").node()
    folded = solver.engine.game.folded
    return {
        "exploitability": outcome.exploitability,
        "exploitability_pct": outcome.exploitability_pct,
        "iterations": outcome.iterations,
        "seconds": outcome.seconds,
        "reason": outcome.reason,
        "memory_bytes": solver.table_bytes,
        "scratch_bytes": solver.memory_bytes - solver.table_bytes,
        "nodes": int((solver.tree.kind == NodeKind.DECISION).sum()),
        "ev": dict(zip(PLAYERS, report.ev)),
        "equity": dict(zip(PLAYERS, report.equity)),
        "root": _node_result(report),
        **({} if folded is None else {"folded": folded_result(folded, solver.engine.game.board)}),
        "schedule": str(solver.schedule),
        "trace": [
            {
                "iteration": point.iteration,
                "seconds": point.seconds,
                "exploitability_pct": point.exploitability_pct,
            }
            for point in outcome.trace
        ],
    }


def folded_result(folded: FoldedHands, board: Sequence[int]) -> dict[str, Any]:
    """How many folded players there are, and the standard error of a deal's weight where they are sampled."""
    return {
        "players": len(folded),
        "exact": folded.is_exact,
        "relative_error": folded.relative_error(board),
    }


def _node_result(report: NodeReport) -> dict[str, Any]:
    hands = report.hands[report.player]
    columns = zip(
        hands.names,
        hands.weights.tolist(),
        hands.ev.tolist(),
        hands.equity.tolist(),
        report.strategy.T.tolist(),
        report.action_ev.T.tolist(),
    )
    keys = ("weight", "ev", "equity", "strategy", "action_ev")
    return {
        "player": PLAYERS[report.player],
        "actions": report.actions,
        "frequencies": report.frequencies.tolist(),
        "hands": {name: dict(zip(keys, values)) for name, *values in columns},
    }
