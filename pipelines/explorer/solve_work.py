"""What a solve from the page does: a street again on top of a blueprint, or a game before the flop."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import live_combos
from abstractions.ranges import parse_range
from artifacts.blueprint.bundle import BlueprintBundle
from artifacts.blueprint.combo_rows import ComboRows
from artifacts.format.manifest import read_manifest
from artifacts.subgame_bundle import StoredSubgames, SubgameBundle
from pipelines.commands.saved_preflop import save_preflop
from pipelines.config.named_games import named_games
from pipelines.explorer.catalogue import Catalogue
from pipelines.explorer.models import LockRequest, PreflopRequest, SubgameRequest
from pipelines.explorer.refusals import Refusal
from pipelines.run.code_version import code_version
from solver.betting.lines import split_street, without_prefix
from solver.betting.public_tree import NodeKind
from solver.betting.tree_text import action_labels
from solver.blueprint.strategy import Blueprint
from solver.preflop.solver import solve_preflop
from solver.subgame import Progress, SubgameConfig, SubgameSolution
from solver.subgame.config import FULL
from solver.subgame.hand_solver import solve_street
from solver.subgame.locks import FREE, action_lock
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
    """A street to be solved. Whatever is wrong with the request is found when it is made."""

    unit = "% of pot"

    def __init__(
        self, catalogue: Catalogue, request: SubgameRequest, *, memory_limit: int, keep: bool
    ) -> None:
        source = catalogue.open(request.source)
        if isinstance(source, SubgameBundle):
            self.bundle = catalogue.below(source)
        elif isinstance(source, BlueprintBundle):
            self.bundle = source
        else:
            raise Refusal(
                f"source {request.source!r}: only a blueprint or a subgame of one can be solved further"
            )
        self.request, self._keep = request, keep
        self.config = SubgameConfig(
            depth=FULL if request.depth == "deep" else 1,
            safety=request.safety,
            sizes=request.sizes,
            raises=request.raises,
            iterations=request.iterations,
            time_s=request.seconds,
            target_pct=request.target_pct,
            memory_limit=memory_limit,
        )
        self.subgame = Subgame.build(
            self.blueprint, request.line, request.board, self.config, ranges=_carried(source, request.line)
        )
        self.locks = {
            without_prefix(lock.line): _lock_table(catalogue, self.subgame, lock) for lock in request.locks
        }
        self.store = StoredSubgames(catalogue.store, self.bundle.key, code_version(solve_street))
        self.key = content_key(self.store.blueprint_key, self.subgame, self.config, self.locks)

    @property
    def blueprint(self) -> Blueprint:
        """The strategy below, as the solver takes it."""
        return self.bundle.blueprint

    @property
    def title(self) -> str:
        """One line for people."""
        return f"{self.subgame.line} on {self.request.board}, {self.request.depth}"

    @property
    def iterations(self) -> int:
        """Iterations at most."""
        return self.request.iterations

    @property
    def time_limit(self) -> float | None:
        """Seconds at most."""
        return self.request.seconds

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


def _carried(source: BlueprintBundle | SubgameBundle, line: str) -> tuple[Floats, Floats] | None:
    """Both ranges at the start of a line's street, where an earlier or the same street was solved; else None."""
    if not isinstance(source, SubgameBundle):
        return None
    before, solved = split_street(without_prefix(line))[0], source.solved
    if before == solved.root_line:
        return solved.ranges
    played = before.removesuffix("/")
    if not solved.reaches(played):
        raise Refusal(
            f"line {line!r} does not follow the street that {source.path.name!r} solved, {solved.root_line!r}"
        )
    return solved.range(0, played), solved.range(1, played)


def _lock_table(catalogue: Catalogue, subgame: Subgame, lock: LockRequest) -> Floats:
    """The strategy that a request fixes, ``[action, 1326]``."""
    line = without_prefix(lock.line)
    node = subgame.node_at(line)
    if subgame.tree.kind[node] != NodeKind.DECISION:
        raise Refusal(f"locks: nobody acts at line {line!r}")
    tokens = [subgame.tree.token(child) for child in subgame.tree.children_of(node).tolist()]
    if lock.strategy is not None:
        return action_lock(tokens, lock.strategy, lock.hands)
    if lock.source is None:
        raise Refusal("locks: give a strategy, or the source whose strategy is taken")
    source = catalogue.open(lock.source)
    decision = source.decision(line)
    unknown = [token for token in decision.tokens if token not in tokens]
    if unknown:
        raise Refusal(
            f"locks: {lock.source!r} plays {' '.join(unknown)} at {line!r}, which the sizes of this solve do not have"
        )
    board = np.array(subgame.board, dtype=np.uint8)
    shares = source.probabilities(decision, board)
    table = np.zeros((len(tokens), shares.shape[1]))
    for token, row in zip(decision.tokens, shares):
        table[tokens.index(token)] = row
    held = np.ones(shares.shape[1]) if lock.hands is None else np.asarray(parse_range(lock.hands))
    # A source has nothing to say about hands that it does not hold.
    known = np.isclose(table.sum(axis=0), 1.0, atol=1e-3) & (held > 0.0)
    table[:, known] /= table[:, known].sum(axis=0)
    return np.where(known, table, FREE)


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
        told.prepared(0)

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
