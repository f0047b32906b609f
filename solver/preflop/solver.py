"""CFR before the flop over the 169 hand classes, with leaves that a provider values.

One iteration, seat by seat (the recurrence of `solver.cfr.schedules`):

1. the provider says what the lines that see a flop are worth to the seat, given the reach of both;
2. folds and all-ins at their exact value and these leaves are backed up to every node;
3. the seat's regrets and average are discounted, then those of the iteration are added;
4. regret matching gives the seat's next strategy.

`PreflopTables` is that, for any provider. The blueprint's trunk uses it with its shards as provider. `PreflopSolver`
adds a discount schedule and counts iterations; by default it checks flops down, as `CheckDown` does. Raw equity at
the flop favours limping; the blueprint avoids that by solving the later streets jointly.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_CLASSES
from solver.betting.game import GameConfig
from solver.cfr.leaves import LeafProvider
from solver.cfr.schedules import DiscountWeights, Schedule, schedule
from solver.preflop.game import NUM_DEALS, EquityTable, PreflopGame
from solver.preflop.kernels import (
    Factors,
    TableArrays,
    _iterate_checked_down,
    _update,
)
from solver.preflop.probabilities import Floats, normalised, uniform
from solver.preflop.strategy import PreflopStrategy

__all__ = [
    "NUM_DEALS",
    "PreflopGame",
    "PreflopResult",
    "PreflopSolver",
    "PreflopStrategy",
    "PreflopTables",
    "solve_preflop",
]

TABLES = ("regret", "last_regret", "strategy_sum", "strategy")


def _factors(weights: DiscountWeights) -> Factors:
    return Factors(weights.positive, weights.negative, weights.strategy, weights.prediction)


class PreflopTables:
    """Regrets and strategies of both seats, ``[node, class]`` each.

    Attributes
    ----------
    regret, last_regret
        Sums of regrets, and the regrets of the last iteration (for schedules that predict the next ones).
    strategy_sum
        Numerator of the average strategy.
    strategy
        The strategy of the next iteration.
    """

    def __init__(self, game: PreflopGame) -> None:
        shape = (len(game.tree), NUM_CLASSES)
        self.game = game
        self.regret = np.zeros(shape)
        self.last_regret = np.zeros(shape)
        self.strategy_sum = np.zeros(shape)
        self.strategy = uniform(game.tree)

    @property
    def arrays(self) -> TableArrays:
        """What the kernels update."""
        return TableArrays(self.regret, self.last_regret, self.strategy_sum, self.strategy)

    def iterate(self, provider: LeafProvider, weights: DiscountWeights) -> None:
        """Run one iteration: for each seat in turn, ask what the leaves are worth, then update."""
        for seat in range(2):
            reach = self.game.leaf_reach(self.strategy)
            self.update(seat, provider.values(self.game.leaves, reach, seat), weights)

    def update(self, seat: int, leaf_values: Floats, weights: DiscountWeights) -> None:
        """Update one seat, given the value of each leaf to it, ``[leaf, class]``."""
        _update(
            self.game.arrays,
            self.game.leaf_table(leaf_values),
            seat,
            _factors(weights),
            weights.floor_negative,
            weights.predictive,
            self.arrays,
            np.empty(self.regret.shape),
            np.empty(self.regret.shape),
        )

    def iterate_checked_down(self, weights: Sequence[DiscountWeights]) -> None:
        """Run `iterate` with `CheckDown` once for each of some weights of one schedule, in one compiled loop."""
        if weights:
            _iterate_checked_down(
                self.game.arrays,
                np.array([_factors(now) for now in weights]),
                weights[0].floor_negative,
                weights[0].predictive,
                self.arrays,
            )

    def average(self) -> Floats:
        """The average strategy (uniform where a class was never played to a node)."""
        return normalised(self.game.tree, self.strategy_sum)

    def state(self, names: Sequence[str] = TABLES) -> dict[str, NDArray[Any]]:
        """Copies of the named tables."""
        return {name: getattr(self, name).copy() for name in names}

    def restore(self, state: Mapping[str, NDArray[Any]], names: Sequence[str] = TABLES) -> None:
        """Continue from the named tables of a saved `state` of the same game."""
        for name in names:
            if state[name].shape != self.regret.shape:
                raise ValueError(f"state {name}: shape {state[name].shape}, not {self.regret.shape}")
            getattr(self, name)[:] = state[name]


class PreflopSolver:
    """CFR on a preflop game by a schedule; the state is a few arrays, so that a run can stop and resume.

    Parameters
    ----------
    variant
        Discount schedule, by name or as data.
    provider
        Says what the lines that see a flop are worth; None: they are checked down.
    """

    def __init__(
        self, game: PreflopGame, variant: Schedule | str = "dcfr", provider: LeafProvider | None = None
    ) -> None:
        self.game = game
        self.schedule = schedule(variant) if isinstance(variant, str) else variant
        self.provider = provider
        self.tables = PreflopTables(game)
        self.iteration = 0

    def run(self, iterations: int) -> None:
        """Run more iterations."""
        first = self.iteration + 1
        weights = [self.schedule.weights(t) for t in range(first, first + iterations)]
        # An iteration takes less time than the calls that ask a provider, so checking down is compiled in.
        if self.provider is None:
            self.tables.iterate_checked_down(weights)
        else:
            for now in weights:
                self.tables.iterate(self.provider, now)
        self.iteration += iterations

    def average(self) -> PreflopStrategy:
        """The average strategy (uniform where a class was never played to a node)."""
        return PreflopStrategy(self.game, self.tables.average(), self.provider)

    def current(self) -> PreflopStrategy:
        """The strategy of the next iteration."""
        return PreflopStrategy(self.game, self.tables.strategy.copy(), self.provider)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything `restore` needs to continue the run."""
        return {"iteration": np.array(self.iteration), **self.tables.state()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from a saved `state` of the same game."""
        self.tables.restore(state)
        self.iteration = int(state["iteration"])


@dataclass(frozen=True)
class PreflopResult:
    """Outcome of `solve_preflop`: exploitability in mbb/hand, values in big blinds per hand."""

    strategy: PreflopStrategy
    exploitability: float
    values: tuple[float, float]
    iterations: int
    seconds: float
    schedule: str
    trace: list[tuple[int, float, float]] = field(default_factory=list)


def solve_preflop(
    config: GameConfig,
    *,
    iterations: int = 25_000,
    variant: Schedule | str = "dcfr",
    target: float = 0.0,
    time_limit: float | None = None,
    check_every: int = 1000,
    table: EquityTable | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> PreflopResult:
    """Solve a heads-up preflop game.

    Parameters
    ----------
    iterations
        Largest number of iterations.
    variant
        Discount schedule, by name or as data.
    target
        Stop at this exploitability in mbb/hand (0: run all iterations).
    time_limit
        Stop after this many seconds.
    check_every
        Iterations between measurements of exploitability.
    table
        ``wins, ties, totals`` of class against class, `preflop_table()` by default.
    progress
        Called with iteration and exploitability after each measurement.
    """
    for key, value in (("iterations", iterations), ("check_every", check_every)):
        if value < 1:
            raise ValueError(f"{key}: {value} is not a positive number")
    if isinstance(variant, str):
        variant = schedule(variant, horizon=iterations)
    solver = PreflopSolver(PreflopGame.build(config, table), variant)
    start = time.perf_counter()
    trace = []
    while solver.iteration < iterations:
        solver.run(min(check_every, iterations - solver.iteration))
        average = solver.average()
        seconds = time.perf_counter() - start
        trace.append((solver.iteration, seconds, average.exploitability))
        if progress is not None:
            progress(solver.iteration, average.exploitability)
        if 0 < target >= average.exploitability or (time_limit is not None and seconds >= time_limit):
            break
    values = average.expected_values() / config.big_blind
    return PreflopResult(
        strategy=average,
        exploitability=average.exploitability,
        values=(float(values[0]), float(values[1])),
        iterations=solver.iteration,
        seconds=trace[-1][1],
        schedule=solver.schedule.name,
        trace=trace,
    )
