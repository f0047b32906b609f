"""What a solve from the page does: a street again on top of a blueprint, or a game before the flop."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import live_combos, parse_board
from artifacts.blueprint.bundle import BlueprintBundle
from artifacts.blueprint.combo_rows import ComboRows
from artifacts.blueprint.multiway_bundle import MultiwayBundle
from artifacts.format.manifest import read_manifest
from artifacts.subgame_bundle import StoredSubgames, SubgameBundle
from pipelines.commands.lock_tables import lock_table
from pipelines.commands.saved_preflop import save_preflop
from pipelines.config.named_games import named_games
from pipelines.explorer.catalogue import Catalogue
from pipelines.explorer.chains import Chain
from pipelines.explorer.models import (
    MAX_ITERATIONS,
    NextStreetRequest,
    PreflopRequest,
    SubgameRequest,
)
from pipelines.explorer.refusals import Refusal
from pipelines.run.code_version import code_version
from solver.betting.lines import without_prefix
from solver.betting.tree_text import action_labels
from solver.blueprint.strategy import Blueprint
from solver.preflop.solver import solve_preflop
from solver.subgame import Progress, SubgameConfig, SubgameSolution
from solver.subgame.config import FULL
from solver.subgame.forecast import forecast_bytes
from solver.subgame.hand_solver import solve_street
from solver.subgame.solve import SubgameSolver
from solver.subgame.solved_street import content_key
from solver.subgame.subgame import Subgame

Floats = NDArray[np.float64]


class Stopped(Exception):
    """The person at the page cancelled the solve."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What a running solve shows: the decision that was asked for, as it is played so far."""

    actions: tuple[str, ...]
    frequencies: Floats
    by_class: Floats


@dataclass(frozen=True)
class Told:
    """Where a solve tells what it does; all are called from its own thread.

    Attributes
    ----------
    prepared
        Bytes of memory, before the first iteration.
    progress
        Iteration, seconds, and exploitability where it was measured.
    snapshot
        Asked whether a snapshot is wanted now; it is then given one.
    """

    prepared: Callable[[int], None]
    progress: Callable[[int, float, float | None], None]
    wants_snapshot: Callable[[], bool]
    snapshot: Callable[[Snapshot], None]
    should_stop: Callable[[], bool]


class SubgameWork:
    """A street to be solved. Whatever is wrong with the request is found when it is made.

    Attributes
    ----------
    memory_bytes
        What the solve will take at least.
    """

    unit = "% of pot"

    def __init__(
        self,
        catalogue: Catalogue,
        request: SubgameRequest | NextStreetRequest,
        *,
        memory_limit: int,
        keep: bool,
    ) -> None:
        source, board = catalogue.open(request.source), parse_board(request.board)
        if isinstance(source, SubgameBundle):
            self.bundle = catalogue.below(source)
            ranges, parent = Chain(catalogue, source).carried(request.line, board)
        elif isinstance(source, BlueprintBundle):
            self.bundle, ranges, parent = source, None, None
        elif isinstance(source, MultiwayBundle):
            raise Refusal(
                f"source {request.source!r} has {len(source.seats)} seats; the explorer solves streets of two, "
                "and poker-solver subgame solves those of more"
            )
        else:
            raise Refusal(
                f"source {request.source!r}: only a blueprint or a subgame of one can be solved further"
            )
        self.request, self._keep = request, keep
        self.config = replace(_config(request, parent), memory_limit=memory_limit, threads=1)
        self.subgame = Subgame.build(self.blueprint, request.line, request.board, self.config, ranges=ranges)
        locks = request.locks if isinstance(request, SubgameRequest) else []
        self.locks = {
            without_prefix(lock.line): lock_table(
                self.subgame, lock, None if lock.source is None else catalogue.open(lock.source)
            )
            for lock in locks
        }
        self.store = StoredSubgames(
            catalogue.store,
            self.bundle.key,
            code_version(solve_street),
            None if parent is None else parent.key,
        )
        self.key = content_key(self.store.blueprint_key, self.subgame, self.config, self.locks)
        self.memory_bytes = forecast_bytes(self.subgame, self.config)

    @property
    def blueprint(self) -> Blueprint:
        """The strategy below, as the solver takes it."""
        return self.bundle.blueprint

    @property
    def title(self) -> str:
        """One line for people."""
        return (
            f"{self.subgame.line} on {self.request.board}, {'deep' if self.config.depth == FULL else 'quick'}"
        )

    @property
    def iterations(self) -> int:
        """Iterations at most."""
        return self.config.iterations or MAX_ITERATIONS

    @property
    def time_limit(self) -> float | None:
        """Seconds at most."""
        return self.config.time_s

    def kept(self) -> str | None:
        """Name of the solve in the store, if it was solved before."""
        name = self.store.name(self.key)
        return name if (self.store.store.root / name / "manifest.json").is_file() else None

    def run(self, told: Told) -> str:
        """Solve, keep the solution, and return its name."""
        if not self._keep:
            raise Refusal("the store cannot be written to, so the solve could not be kept")
        solver: SubgameSolver | None = None

        def prepared(made: SubgameSolver) -> None:
            nonlocal solver
            solver = made
            told.prepared(made.memory_bytes)

        def progress(now: Progress) -> None:
            told.progress(now.iteration, now.seconds, now.exploitability_pct)
            if solver is not None and told.wants_snapshot():
                told.snapshot(_snapshot(SubgameSolution(solver, now.seconds, "running")))

        solved, _ = solve_street(
            self.blueprint,
            self.subgame,
            self.config,
            blueprint_key=self.store.blueprint_key,
            cache=self.store,
            locks=self.locks,
            prepared=prepared,
            progress=progress,
            should_stop=told.should_stop,
            measure=True,
        )
        told.progress(solved.iterations, solved.seconds, None)
        if solved.reason == "stopped":
            raise Stopped
        name = self.kept()
        if name is None:
            raise Refusal(
                f"seconds: too few for this spot, {solved.iterations} iterations were done; give more"
            )
        return name


def _config(request: SubgameRequest | NextStreetRequest, parent: SubgameBundle | None) -> SubgameConfig:
    """How a request is solved."""
    if isinstance(request, NextStreetRequest):
        if parent is None or parent.solved.config.depth != FULL:
            raise Refusal(
                f"line {request.line!r}: {request.source!r} was not solved to the river there; "
                "send a request of kind subgame"
            )
        return parent.solved.config.on_next_street()
    return SubgameConfig(
        depth=FULL if request.depth == "deep" else 1,
        safety=request.safety,
        sizes=request.sizes,
        raises=request.raises,
        iterations=request.iterations,
        time_s=request.seconds,
        target_pct=request.target_pct,
    )


def _snapshot(solution: SubgameSolution) -> Snapshot:
    subgame = solution.subgame
    live = np.flatnonzero(live_combos(np.array(subgame.board, dtype=np.uint8)))
    labels = tuple(action_labels(subgame.tree, subgame.node))
    weights = solution.range(solution.player())[live]
    rows = ComboRows(live, labels, solution.strategy()[:, live].T, (None,) * len(live), weights)
    return Snapshot(labels, solution.frequencies(), rows.class_probability(raw=True))


class PreflopWork:
    """A game to be solved before the flop."""

    unit = "mbb/hand"
    time_limit = None
    memory_bytes = 0

    def __init__(self, catalogue: Catalogue, request: PreflopRequest, *, keep: bool) -> None:
        games: Mapping[str, object] = named_games()
        if request.game not in games:
            raise Refusal(f"game: {request.game!r} is not accepted: one of {', '.join(games)}")
        self.game = named_games()[request.game]
        if self.game.num_seats != 2:
            raise Refusal(f"game: {request.game!r} has {self.game.num_seats} seats; accepted: games of two")
        self.request, self.store, self._keep = request, catalogue.store, keep

    @property
    def title(self) -> str:
        """One line for people."""
        return f"{self.request.game} before the flop"

    @property
    def iterations(self) -> int:
        """Iterations at most."""
        return self.request.iterations

    def kept(self) -> str | None:
        """None: it is solved again, which takes a second."""
        return None

    def run(self, told: Told) -> str:
        """Solve, keep the solution, and return its name."""
        if not self._keep:
            raise Refusal("the store cannot be written to, so the solve could not be kept")
        started = time.perf_counter()

        def progress(iteration: int, exploitability: float) -> None:
            told.progress(iteration, time.perf_counter() - started, exploitability)
            if told.should_stop():
                raise Stopped

        request = self.request
        result = solve_preflop(
            self.game,
            iterations=request.iterations,
            target=request.target_mbb,
            check_every=min(500, request.iterations),
            progress=progress,
        )
        staging = self.store.root / ".tmp" / f"preflop_solve.{uuid.uuid4().hex[:12]}"
        staging.parent.mkdir(parents=True, exist_ok=True)
        save_preflop(staging, result, iterations=request.iterations, target=request.target_mbb)
        name = read_manifest(staging).name
        self.store.appear(staging, self.store.root / name)
        return name
