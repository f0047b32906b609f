"""Solve the current street of a hand with several players left: read `solve_multiplayer` and `_iterate` first.

The street is solved hand by hand; every player left is trained in turn. Behind it everybody plays the blueprint in its
buckets, with one of a few biases that each player chooses for itself, hand by hand, at every leaf (Brown & Sandholm
2019). An iteration draws some deals for each player (`traversal`) from all ranges, those of players who have folded
included, on the strategies that the iteration began with. Regrets and averages grow linearly (Linear CFR).

With three or more players no equilibrium is promised. The average so far is always valid.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_COMBOS
from solver.betting.lines import PUBLIC_CARDS, RIVER
from solver.cfr.epochs import discount
from solver.cfr.schedules import schedule
from solver.multiplayer.averages import _add_average
from solver.multiplayer.blueprint import MultiwayBlueprint
from solver.multiplayer.config import MultiplayerConfig
from solver.multiplayer.deals import _draw_deals
from solver.multiplayer.solution import MultiplayerSolution
from solver.multiplayer.space import Deals, space_for
from solver.multiplayer.street_game import StreetGame
from solver.multiplayer.subgame import MultiplayerSubgame, PlayedHand
from solver.multiplayer.traversal import _learn_deals
from solver.subgame.solve import Progress

Floats = NDArray[np.float64]
#: Parts of an iteration, which threads may share. Fixed, so that results do not depend on the threads.
PARTS = 2


def solve_multiplayer(
    blueprint: MultiwayBlueprint,
    line: str,
    board: str | Sequence[int] | NDArray[np.integer],
    config: MultiplayerConfig | None = None,
    *,
    ranges: Sequence[Floats] | None = None,
    progress: Callable[[Progress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> MultiplayerSolution:
    """Solve the street that a line has reached on a board.

    Parameters
    ----------
    blueprint
        What everybody plays before the street and behind it.
    line
        The hand so far, with any legal sizes.
    board
        Public cards of the line's last street.
    config
        How to solve, see `MultiplayerConfig`.
    ranges
        Range of every seat at the start of the street, also of those that have folded; by default the blueprint's.
    progress
        Called about four times a second.
    should_stop
        Asked between iterations; true ends the solve, which then returns the average so far.

    Raises
    ------
    ValueError
        With one line about the input: a line that cannot be played, a board that does not fit it, ranges that leave no
        deal, a budget that is over before the first iteration.
    """
    started = time.perf_counter()
    config = config or MultiplayerConfig()
    hand = PlayedHand.play(blueprint, line, board, ranges)
    solver = MultiplayerSolver(blueprint, MultiplayerSubgame.build(blueprint, hand, config), config)
    return solver.run(started=started, progress=progress, should_stop=should_stop)


class MultiplayerSolver:
    """Tables of a street, and the loop that fills them."""

    def __init__(
        self, blueprint: MultiwayBlueprint, subgame: MultiplayerSubgame, config: MultiplayerConfig
    ) -> None:
        self.blueprint, self.subgame, self.config = blueprint, subgame, config
        self.game = StreetGame.build(blueprint, subgame, config)
        self.iteration = 0
        self.regret = np.zeros(self.game.entries, np.float32)
        self.average = np.zeros(self.game.entries, np.float32)
        self._changes = [np.zeros(self.game.entries, np.float32) for _ in range(PARTS)]
        self._reach = np.zeros((self.game.rows, NUM_COMBOS), np.float32)
        self._spaces = [space_for(self.game) for _ in range(PARTS)]
        self._rule = schedule("lcfr")
        self._pool = ThreadPoolExecutor(PARTS) if config.threads > 1 else None

    @property
    def memory_bytes(self) -> int:
        """Bytes of tables and scratch."""
        tables = [self.regret, self.average, self._reach, *self._changes]
        scratch = [part for space in self._spaces for part in (*space.walk, *space.later)]
        return sum(part.nbytes for part in (*tables, *scratch))

    def run(
        self,
        *,
        started: float | None = None,
        progress: Callable[[Progress], None] | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> MultiplayerSolution:
        """Iterate until the budget is spent, or somebody says stop."""
        config = self.config
        started = time.perf_counter() if started is None else started
        deadline = np.inf if config.time_s is None else started + config.time_s
        if time.perf_counter() >= deadline:
            spent = time.perf_counter() - started
            raise ValueError(
                f"time_s: {config.time_s:g} s are over before the first iteration; preparing took {spent:.2f} s"
            )
        told, reason = time.perf_counter(), "iterations"
        most = np.inf if config.iterations is None else config.iterations
        while self.iteration < most:
            self._iterate()
            now = time.perf_counter()
            if progress is not None and now - told >= 0.25:
                progress(Progress(self.iteration, now - started))
                told = now
            if now >= deadline:
                reason = "time"
                break
            if should_stop is not None and should_stop():
                reason = "stopped"
                break
        return MultiplayerSolution(self, time.perf_counter() - started, reason)

    def _iterate(self) -> None:
        self.iteration += 1
        weights = self._rule.weights(self.iteration)
        discount(self.regret, weights)
        if self._pool is None:
            for part in range(PARTS):
                self._learn(part)
        else:
            list(self._pool.map(self._learn, range(PARTS)))
        for change in self._changes:
            self.regret += change
        _add_average(
            self.game.arrays,
            self.subgame.leaves,
            self.regret,
            np.float32(weights.strategy),
            self.average,
            self._reach,
        )

    def _learn(self, part: int) -> None:
        """Play a part of an iteration for every player."""
        change, count = self._changes[part], max(self.config.deals // PARTS, 1)
        change[:] = 0
        first = ((self.iteration - 1) * PARTS + part) * count
        ranges = self.subgame.hand.ranges
        for seat in self.subgame.hand.players:
            if self.subgame.acts[seat]:
                _learn_deals(
                    np.int64(seat),
                    np.uint64(self.config.seed),
                    np.int64(first),
                    ranges[seat] > 0.0,
                    self.regret,
                    change,
                    self.deals(seat, ranges, first, count),
                    self.game.arrays,
                    self._spaces[part],
                )

    def deals(
        self, seat: int, ranges: Sequence[Floats], first: int, count: int, *, seed: int | None = None
    ) -> Deals:
        """Deals `first`, `first` + 1, .. for a player who holds all its hands; the others' hands are drawn."""
        known = self.subgame.hand.board
        hand = np.empty((count, len(ranges)), np.int64)
        boards = np.empty((count, PUBLIC_CARDS[-1]), np.uint8)
        boards[:, : len(known)] = known
        failed = _draw_deals(
            np.uint64(self.config.seed if seed is None else seed),
            np.int64(first),
            np.int64(seat),
            np.cumsum(np.stack(ranges), axis=1),
            np.int64(len(known)),
            hand,
            boards,
        )
        if failed:
            raise ValueError("ranges: hands of all players can hardly be dealt together")
        streets = RIVER if len(self.subgame.leaves) else 0
        column = np.zeros((count, streets, NUM_COMBOS), np.int64)
        for street in range(self.subgame.hand.street, streets):
            column[:, street] = self.blueprint.buckets.columns(boards[:, : PUBLIC_CARDS[street + 1]])
        return Deals(hand, boards, column)
