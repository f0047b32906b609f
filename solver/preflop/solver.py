"""Heads-up preflop solver over the 169 hand classes, exact equities and card removal.

Every betting line is played out: folds and all-ins at their exact value, and a line that sees a flop
as if it were checked down. (Raw equity at the flop favours limping; the blueprint trainer solves the
later streets jointly instead.)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import CLASS_COMBOS, CLASS_NAMES, NUM_CLASSES
from abstractions.equity import preflop_table
from solver.betting.game import GameConfig
from solver.betting.tree import NodeKind, PublicTree, game_tree
from solver.betting.tree_text import action_labels, preflop_key
from solver.cfr.schedules import Schedule, schedule
from solver.preflop.kernels import _iterate, _node_values, _pairs

Floats = NDArray[np.float64]
EquityTable = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]

BOARDS_PER_PAIR = 1_712_304  # C(48, 5)
NUM_DEALS = 1_624_350  # ordered pairs of disjoint combos, 1326 * 1225


@dataclass(frozen=True, eq=False)
class PreflopGame:
    """A heads-up preflop tree with everything the kernels need.

    Attributes
    ----------
    reach_node
        ``[seat, node]``: the node at or above whose arriving action last changed the seat's reach.
    constant, slope
        ``[seat, node]``: a leaf is worth ``constant * pairs + slope * pots won`` to the seat.
    equity
        ``[opponent class, own class]``: disjoint combo pairs times own equity.
    """

    config: GameConfig
    tree: PublicTree
    reach_node: NDArray[np.int32]
    constant: Floats
    slope: Floats
    equity: Floats
    combos: Floats
    ranks: NDArray[np.int64]

    @classmethod
    def build(cls, config: GameConfig, table: EquityTable | None = None) -> PreflopGame:
        """Build the game of a two-seat config; `table` defaults to `preflop_table()`."""
        if config.num_seats != 2:
            raise ValueError(f"stacks: the preflop solver plays 2 seats, not {config.num_seats}")
        tree = game_tree(config, last_street=0)
        wins, ties, _ = preflop_table() if table is None else table
        reach_node = np.zeros((2, len(tree)), dtype=np.int32)
        for node in range(1, len(tree)):
            parent = tree.parent[node]
            reach_node[:, node] = reach_node[:, parent]
            reach_node[tree.player[parent], node] = node
        payoffs = tree.heads_up_payoffs
        won = np.stack([payoffs[:, 0, 0], payoffs[:, 1, 1]])
        lost = np.stack([payoffs[:, 1, 0], payoffs[:, 0, 1]])
        rows, columns = np.divmod(np.arange(NUM_CLASSES), 13)
        return cls(
            config=config,
            tree=tree,
            reach_node=reach_node,
            constant=lost,
            slope=won - lost,
            equity=np.ascontiguousarray(((wins + 0.5 * ties) / BOARDS_PER_PAIR).T),
            combos=CLASS_COMBOS.astype(np.float64),
            ranks=np.stack([rows, columns], axis=1).astype(np.int64),
        )

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What the kernels read, in their order."""
        tree = self.tree
        return (
            tree.player,
            tree.parent,
            tree.child_start,
            tree.num_children,
            tree.children,
            self.reach_node,
            self.constant,
            self.slope,
            self.equity,
            self.combos,
            self.ranks,
        )


@dataclass(frozen=True, eq=False)
class PreflopStrategy:
    """A strategy for both seats.

    Attributes
    ----------
    game
        The game it is for.
    probabilities
        ``[node, class]``: probability of the action that leads to the node.
    """

    game: PreflopGame
    probabilities: Floats

    def node_values(self, seat: int, *, best: bool = False) -> Floats:
        """Counterfactual value of a seat by node and class, in chips times deals."""
        shape = self.probabilities.shape
        values = np.empty(shape)
        _node_values(*self.game.arrays, self.probabilities, seat, best, np.empty(shape), values)
        return values

    def expected_values(self) -> Floats:
        """Chips per hand of both seats when both play the strategy."""
        return np.array([self.node_values(seat)[0].sum() / NUM_DEALS for seat in range(2)])

    def best_response_values(self) -> Floats:
        """Chips per hand of each seat when it alone responds as well as possible."""
        return np.array([self.node_values(seat, best=True)[0].sum() / NUM_DEALS for seat in range(2)])

    @cached_property
    def exploitability(self) -> float:
        """What a best response gains, averaged over the seats, in mbb/hand."""
        gain = self.best_response_values() - self.expected_values()
        return max(float(gain.sum()) / 2 * 1000 / self.game.config.big_blind, 0.0)

    def reach(self, line: str, seat: int) -> Floats:
        """Probability by class that a seat plays its part of a line."""
        tree = self.game.tree
        reach = np.ones(NUM_CLASSES)
        node = tree.node_at(line)
        while node > 0:
            if tree.player[tree.parent[node]] == seat:
                reach = reach * self.probabilities[node]
            node = int(tree.parent[node])
        return reach

    def action_values(self, line: str, values: Floats | None = None) -> dict[str, Floats]:
        """Chips won on average by each action of a line, by class of the seat to act.

        Undefined (nan) where the opponent never plays its part of the line.

        Parameters
        ----------
        values
            Counterfactual values of the seat to act by node and class; `node_values` by default, which
            checks a line down from the flop on.
        """
        tree = self.game.tree
        node = self._decision(line)
        seat = int(tree.player[node])
        values = self.node_values(seat) if values is None else values
        pairs = np.empty(NUM_CLASSES)
        _pairs(self.reach(line, 1 - seat), self.game.combos, self.game.ranks, pairs)
        with np.errstate(invalid="ignore", divide="ignore"):
            return {
                label: values[child] / pairs
                for label, child in zip(action_labels(tree, node), tree.children_of(node))
            }

    def frequencies(self, line: str = "") -> dict[str, float]:
        """How often the range that reaches a line takes each action."""
        tree = self.game.tree
        node = self._decision(line)
        weight = self.game.combos * self.reach(line, int(tree.player[node]))
        total = max(float(weight.sum()), 1e-300)
        return {
            label: float(weight @ self.probabilities[child]) / total
            for label, child in zip(action_labels(tree, node), tree.children_of(node))
        }

    def by_line(self) -> dict[str, dict[str, dict[str, float]]]:
        """``{line: {hand: {label: probability}}}`` over all decisions, lines as ``||p|b300r900``."""
        tree = self.game.tree
        table = {}
        for node in np.flatnonzero(tree.kind == NodeKind.DECISION):
            labels = action_labels(tree, int(node))
            rows = self.probabilities[tree.children_of(int(node))].T.tolist()
            table[preflop_key(tree, int(node))] = {
                hand: dict(zip(labels, row)) for hand, row in zip(CLASS_NAMES, rows)
            }
        return table

    def average_strategy(self) -> dict[str, dict[str, float]]:
        """The same keyed by infoset, ``{"<hand>||p|<tokens>": {label: probability}}``."""
        return {f"{hand}{line}": row for line, hands in self.by_line().items() for hand, row in hands.items()}

    def _decision(self, line: str) -> int:
        node = self.game.tree.node_at(line)
        if self.game.tree.kind[node] != NodeKind.DECISION:
            raise ValueError(f"line {line!r} is not a decision")
        return node


class PreflopSolver:
    """CFR on a preflop game; the state is a few arrays, so that a run can stop and resume."""

    def __init__(self, game: PreflopGame, variant: Schedule | str = "dcfr") -> None:
        self.game = game
        self.schedule = schedule(variant) if isinstance(variant, str) else variant
        self.iteration = 0
        shape = (len(game.tree), NUM_CLASSES)
        self.regret = np.zeros(shape)
        self.last_regret = np.zeros(shape)
        self.strategy_sum = np.zeros(shape)
        self.strategy = _uniform(game.tree)

    def run(self, iterations: int) -> None:
        """Run more iterations."""
        first = self.iteration + 1
        factors = [self.schedule.weights(t) for t in range(first, first + iterations)]
        weights = np.array([(f.positive, f.negative, f.strategy, f.prediction) for f in factors])
        _iterate(
            self.game.arrays,
            weights.reshape(-1, 4),
            self.schedule.floor_negative,
            self.schedule.predictive,
            self.regret,
            self.last_regret,
            self.strategy,
            self.strategy_sum,
        )
        self.iteration += iterations

    def average(self) -> PreflopStrategy:
        """The average strategy (uniform where a class was never played to a node)."""
        tree = self.game.tree
        probabilities = _uniform(tree)
        for node in np.flatnonzero(tree.kind == NodeKind.DECISION):
            children = tree.children_of(int(node))
            sums = self.strategy_sum[children]
            total = sums.sum(axis=0)
            played = total > 0
            probabilities[np.ix_(children, played)] = sums[:, played] / total[played]
        return PreflopStrategy(self.game, probabilities)

    def current(self) -> PreflopStrategy:
        """The strategy of the next iteration."""
        return PreflopStrategy(self.game, self.strategy.copy())

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything `restore` needs to continue the run."""
        return {
            "iteration": np.array(self.iteration),
            "regret": self.regret.copy(),
            "last_regret": self.last_regret.copy(),
            "strategy_sum": self.strategy_sum.copy(),
            "strategy": self.strategy.copy(),
        }

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Continue from a saved `state` of the same game."""
        for name in ("regret", "last_regret", "strategy_sum", "strategy"):
            if state[name].shape != self.regret.shape:
                raise ValueError(f"state {name}: shape {state[name].shape}, not {self.regret.shape}")
            getattr(self, name)[:] = state[name]
        self.iteration = int(state["iteration"])


def _uniform(tree: PublicTree) -> Floats:
    probabilities = np.ones((len(tree), NUM_CLASSES))
    probabilities[1:] /= tree.num_children[tree.parent[1:]][:, None]
    return probabilities


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
