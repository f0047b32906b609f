"""Spot files: a dictionary of settings in, a dictionary of results out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from abstractions.cards import format_cards
from abstractions.ranges import class_weights, from_class_weights
from solver.betting.lines import PLAYERS
from solver.betting.public_tree import NodeKind, PublicTree
from solver.betting.tree import spot_tree
from solver.postflop.holdem import read_board, read_range
from solver.postflop.node_report import NodeReport
from solver.postflop.solver import PostflopSolver, SolveResult, read_schedule

_REQUIRED = ("board", "oop_range", "ip_range", "pot", "stack", "bet_sizes")
#: Optional keys of a spot and what they are when left out.
DEFAULTS: dict[str, Any] = {
    "donk_sizes": None,
    "add_allin_threshold": 1.5,
    "force_allin_threshold": 0.15,
    "merging_threshold": 0.1,
    "rake": 0.0,
    "rake_cap": 0.0,
    "max_iterations": 1000,
    "target_exploitability_pct": 0.1,
    "time_limit_s": None,
    "schedule": "auto",
    "compress": False,
    "threads": 2,
    "locks": [],
    "memory_limit_mib": None,
}
_TREE_KEYS = (
    "donk_sizes",
    "add_allin_threshold",
    "force_allin_threshold",
    "merging_threshold",
    "rake",
    "rake_cap",
)
_LOCK_KEYS = ("line", "cards", "hands", "strategy")
_NUMBERS = (*_TREE_KEYS[1:], "target_exploitability_pct", "time_limit_s", "memory_limit_mib")
_INTEGERS = ("pot", "stack", "max_iterations", "threads")


def read_spot(spot: Mapping[str, Any]) -> dict[str, Any]:
    """Check a spot's keys and types and fill in what is left out.

    Raises
    ------
    ValueError
        With one line that names the key and what is accepted.
    """
    if not isinstance(spot, Mapping):
        raise ValueError(f"spot: expected an object with keys, got a {type(spot).__name__}")
    for key in spot:
        if key not in _REQUIRED and key not in DEFAULTS:
            raise ValueError(f"spot: {key!r} is no key; accepted: {', '.join((*_REQUIRED, *DEFAULTS))}")
    for key in _REQUIRED:
        if key not in spot:
            raise ValueError(f"spot: {key!r} is missing")
    settings = {**DEFAULTS, **spot}
    for key in _INTEGERS:
        if not isinstance(settings[key], int) or isinstance(settings[key], bool):
            raise ValueError(f"{key}: {settings[key]!r} is not a whole number")
    for key in _NUMBERS:
        value = settings[key]
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise ValueError(f"{key}: {value!r} is not a number")
    for key in ("board", "oop_range", "ip_range", "schedule"):
        if not isinstance(settings[key], str):
            raise ValueError(f"{key}: {settings[key]!r} is not text")
    if not isinstance(settings["compress"], bool):
        raise ValueError(f"compress: {settings['compress']!r} is not true or false")
    if not isinstance(settings["bet_sizes"], Mapping):
        raise ValueError(f"bet_sizes: {settings['bet_sizes']!r} is no object with streets")
    if not isinstance(settings["locks"], list):
        raise ValueError(f"locks: {settings['locks']!r} is no list")
    for lock in settings["locks"]:
        _check_lock(lock)
    return settings


def _check_lock(lock: Any) -> None:
    if not isinstance(lock, Mapping) or not {"line", "strategy"} <= set(lock) <= set(_LOCK_KEYS):
        raise ValueError(
            f"locks: {lock!r} is no lock; accepted keys: line, strategy and, if wanted, cards and hands"
        )
    if not isinstance(lock["strategy"], Mapping):
        raise ValueError(f"locks: the strategy at {lock['line']!r} is no object of actions and probabilities")


def tree_of_spot(spot: Mapping[str, Any]) -> PublicTree:
    """The betting tree of a spot."""
    settings = read_spot(spot)
    street = len(read_board(settings["board"])) - 2
    options = {key: settings[key] for key in _TREE_KEYS[1:]}
    sizes = settings["bet_sizes"], settings["donk_sizes"]
    return spot_tree(street, settings["pot"], settings["stack"], *sizes, **options)


def spot_solver(spot: Mapping[str, Any]) -> PostflopSolver:
    """A solver for a spot, with its locks in place.

    A lock holds the ``line`` it fixes, the ``strategy`` as probabilities by action, and if wanted ``hands``
    (a range, all by default) and ``cards`` (those dealt on the way; left out, it holds for every run-out).
    """
    settings = read_spot(spot)
    limit = settings["memory_limit_mib"]
    solver = PostflopSolver(
        **{key: settings[key] for key in (*_REQUIRED, *_TREE_KEYS)},
        schedule=read_schedule(settings["schedule"], horizon=settings["max_iterations"]),
        compress=settings["compress"],
        threads=settings["threads"],
        isomorphism=all(_spares_suits(lock) for lock in settings["locks"]),
        memory_limit=None if limit is None else int(limit * 2**20),
    )
    for lock in settings["locks"]:
        line, cards = str(lock["line"]), lock.get("cards")
        solver.go(line, _first_cards(solver, line) if cards is None else cards)
        solver.lock(lock["strategy"], hands=lock.get("hands"), every_runout=cards is None)
    return solver.go("")


def _spares_suits(lock: Mapping[str, Any]) -> bool:
    """Whether a lock treats all suits alike."""
    weights = read_range("locks.hands", lock.get("hands") or "all")
    return not lock.get("cards") and np.array_equal(from_class_weights(class_weights(weights)), weights)


def _first_cards(solver: PostflopSolver, line: str) -> str:
    """Some cards that can be dealt along a line."""
    deals = solver.engine.deals
    cards = deals.cards[int(np.flatnonzero(deals.boards["street"] == line.count("/"))[0])]
    return format_cards(list(cards[len(solver.engine.game.board) :]))


def solve_spot(
    spot: Mapping[str, Any],
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
    settings = read_spot(spot)
    solver = spot_solver(settings)
    outcome = solver.solve(
        max_iterations=settings["max_iterations"],
        target_exploitability_pct=settings["target_exploitability_pct"],
        time_limit_s=settings["time_limit_s"],
        progress=progress,
        should_stop=should_stop,
    )
    return spot_result(solver, outcome)


def spot_result(solver: PostflopSolver, outcome: SolveResult) -> dict[str, Any]:
    """The result of a solved spot, seen from its root."""
    report = solver.go("").node()
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
