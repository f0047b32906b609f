"""Solve a subgame: one loop for every depth, continuation and safety, read it first.

An iteration updates both players in turn, by the engine of `solver.exact`. Before it, the leaves deal fresh run-outs;
around the opponent's half, the gadget of a safe solve says with which hands it enters and learns what that was worth.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_COMBOS
from solver.betting.lines import FLOP
from solver.blueprint.strategy import Blueprint
from solver.cfr.leaves import LeafProvider
from solver.cfr.schedules import Schedule, schedule
from solver.exact.betting_plan import leaf_nodes
from solver.exact.engine import CfrEngine
from solver.postflop.automatic_schedule import AUTOMATIC
from solver.subgame.blueprint_play import blueprint_values, gifts_along
from solver.subgame.config import SubgameConfig
from solver.subgame.fixed_leaves import FixedContinuations
from solver.subgame.leaf_boards import combos_of, suit_renamings
from solver.subgame.locks import lock_decisions
from solver.subgame.range_buckets import RangeBuckets
from solver.subgame.safety import Gadget, gadget
from solver.subgame.solution import SubgameSolution
from solver.subgame.subgame import Ranges, Subgame
from solver.subgame.trained_leaves import TrainedLeaves, range_masses

Floats = NDArray[np.float64]
#: Discounts of a search whose leaves are sampled: a little more memory than for exact values. Averages lean on late
#: strategies by cards of the board: on the flop, where what follows is learnt slowly, more than on the turn.
SAMPLED = {3: schedule("dcfr", beta=0.5, gamma=8.0), 4: schedule("dcfr", beta=0.5, gamma=4.0)}
#: Run-outs of an iteration by cards of the board. More of them are less noise, fewer are more iterations in a second.
RUN_OUTS = {3: 8, 4: 3}


class SearchLeaves(LeafProvider, Protocol):
    """Leaves that learn: they are told when an iteration begins and when play is only evaluated."""

    @property
    def nbytes(self) -> int:
        """Bytes of tables and scratch."""

    def begin_iteration(self) -> None:
        """The next values belong to a new iteration."""

    def begin_evaluation(self) -> None:
        """The next values are those of average strategies."""


@dataclass(frozen=True)
class Progress:
    """Where a solve stands. Exploitability, in percent of the pot, is known where it was just measured."""

    iteration: int
    seconds: float
    exploitability_pct: float | None = None


def solve_subgame(
    blueprint: Blueprint,
    line: str,
    board: str | Sequence[int] | NDArray[np.integer],
    config: SubgameConfig | None = None,
    *,
    ranges: Ranges | None = None,
    opt_outs: Floats | None = None,
    gifts: Floats | None = None,
    progress: Callable[[Progress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> SubgameSolution:
    """Solve the spot that a line has reached on a board.

    Parameters
    ----------
    blueprint
        What both play before the subgame, and what later streets are bucketed by.
    line
        The hand so far, with any legal sizes.
    board
        Public cards of the line's last street.
    config
        How to solve, see `SubgameConfig`.
    ranges
        Both ranges at the start of the street; by default the blueprint's.
    opt_outs, gifts
        Of a safe solve: what each combo of the player who is not to act would get without the subgame, and what it
        gave away on the way, in net chips since the start of the hand, [1326] each; by default estimated with the
        blueprint.
    progress
        Called about four times a second, and after every measurement.
    should_stop
        Asked between iterations; true ends the solve, which then returns the average so far.

    Raises
    ------
    ValueError
        With one line about the input: a line that cannot be played, a board that does not fit it, a budget that is
        over before the first iteration, memory over the limit.
    """
    started = time.perf_counter()
    config = config or SubgameConfig()
    subgame = Subgame.build(blueprint, line, board, config, ranges=ranges)
    solver = SubgameSolver(blueprint, subgame, config, opt_outs=opt_outs, gifts=gifts)
    return solver.run(started=started, progress=progress, should_stop=should_stop)


class SubgameSolver:
    """Tables of a subgame, and the loop that fills them."""

    def __init__(
        self,
        blueprint: Blueprint,
        subgame: Subgame,
        config: SubgameConfig,
        *,
        opt_outs: Floats | None = None,
        gifts: Floats | None = None,
        locks: Mapping[str, Floats] | None = None,
    ) -> None:
        self.subgame, self.config = subgame, config
        self.locked = tuple(sorted(locks or {}))
        self.leaves = search_leaves(blueprint, subgame, config)
        tree, _ = subgame.searched
        self.engine = CfrEngine(
            tree,
            subgame.cards,
            discounts(subgame, self.leaves is not None),
            threads=config.threads,
            memory_limit=config.memory_bytes,
            leaves=self.leaves,
        )
        refuse_over(config.memory_bytes, self.memory_bytes)
        self.opponent = 1 - subgame.streets[-1].state.actor
        self._renamings = suit_renamings(subgame.cards, subgame.board)
        lock_decisions(self.engine, subgame, self._renamings, locks or {})
        self.gadget = self._gadget(blueprint, opt_outs, gifts)

    @property
    def memory_bytes(self) -> int:
        """Bytes of tables and scratch."""
        return self.engine.memory_bytes + (0 if self.leaves is None else self.leaves.nbytes)

    def run(
        self,
        *,
        started: float | None = None,
        progress: Callable[[Progress], None] | None = None,
        should_stop: Callable[[], bool] | None = None,
        measure: bool = False,
    ) -> SubgameSolution:
        """Iterate until the budget is spent, the target is met, or somebody says stop.

        Parameters
        ----------
        measure
            Measure the exploitability now and then and tell it in `progress`, also without a target. Only a solve to
            the river without a gadget can.
        """
        config, engine = self.config, self.engine
        started = time.perf_counter() if started is None else started
        deadline = np.inf if config.time_s is None else started + config.time_s
        if time.perf_counter() >= deadline:
            spent = time.perf_counter() - started
            raise ValueError(
                f"time_s: {config.time_s:g} s are over before the first iteration; preparing took {spent:.2f} s"
            )
        most = np.inf if config.iterations is None else config.iterations
        measures = self._is_exact and (config.target_pct is not None or (measure and progress is not None))
        next_check = 10 if measures else np.inf
        told = time.perf_counter()
        reason = "iterations"
        while engine.iteration < most:
            self._advance(min(most, next_check), deadline)
            now = time.perf_counter()
            found = None
            if measures and engine.iteration >= min(next_check, most):
                found = 100.0 * engine.exploitability() / self.subgame.pot
                next_check = engine.iteration + _until_next_check(engine.iteration, found, config.target_pct)
            if progress is not None and (found is not None or now - told >= 0.25):
                progress(Progress(engine.iteration, now - started, found))
                told = now
            if found is not None and config.target_pct is not None and found <= config.target_pct:
                reason = "target"
                break
            if now >= deadline:
                reason = "time"
                break
            if should_stop is not None and should_stop():
                reason = "stopped"
                break
        return SubgameSolution(self, time.perf_counter() - started, reason)

    @property
    def _is_exact(self) -> bool:
        return self.leaves is None and self.gadget is None

    def _advance(self, most: float, deadline: float) -> None:
        """One iteration, or several where they are short: a block takes about 20 milliseconds."""
        engine, block = self.engine, 1
        begun = time.perf_counter()
        while engine.iteration < most:
            if self._is_exact:
                # A call costs as much as an iteration of a small river, so each call runs twice as many as the last.
                engine.run(int(min(block, most - engine.iteration)))
                block *= 2
            else:
                self._iterate()
            now = time.perf_counter()
            if now - begun >= 0.02 or now >= deadline:
                break

    def _iterate(self) -> None:
        if self.leaves is not None:
            self.leaves.begin_iteration()
        for player in range(2):
            if self.gadget is not None and player != self.opponent:
                self.engine.set_range(self.opponent, self.gadget.weights)
            values = self.engine.update(player)
            if self.gadget is not None and player == self.opponent:
                self.gadget.observe(self._evened(values))

    def _evened(self, values: Floats) -> Floats:
        """Values of the opponent's hands without the rounding that would tell equivalent suits apart."""
        if len(self._renamings) == 1:
            return values
        combos = combos_of(self.subgame.cards.hands[self.opponent])
        dense = np.zeros(NUM_COMBOS)
        dense[combos] = values
        return np.mean([dense[renamed] for renamed in self._renamings], axis=0)[combos]

    def _gadget(self, blueprint: Blueprint, opt_outs: Floats | None, gifts: Floats | None) -> Gadget | None:
        kind, game = self.config.safety, self.subgame.cards
        if kind == "unsafe":
            return None
        combos = combos_of(game.hands[self.opponent])
        met = self.engine.compatible(self.opponent, game.weights[1 - self.opponent])
        if opt_outs is None:
            opt_outs = blueprint_values(blueprint, self.subgame, self.opponent, seed=self.config.seed)
        if gifts is None and kind == "reach":
            gifts = gifts_along(blueprint, self.subgame, self.opponent, seed=self.config.seed)
        return gadget(
            kind,
            # The engine counts chips over an even split of the dead money.
            opt_outs[combos] - self.subgame.tree.dead / 2,
            met,
            gifts=None if gifts is None else gifts[combos],
        )


def _until_next_check(iteration: int, found: float, target: float | None) -> int:
    """Iterations until the exploitability is measured again, which takes sweeps of its own.

    It rarely falls by more than a factor of six when iterations double. So far from a target there is no need to look.
    """
    share = 0.25
    if target is not None:
        share = min(max((found / target) ** 0.4 - 1.0, 0.1), 3.0)
    return max(10, int(share * iteration))


def discounts(subgame: Subgame, is_sampled: bool) -> Schedule:
    """Discount schedule of a solve, whose leaves may be sampled."""
    return SAMPLED[len(subgame.board)] if is_sampled else AUTOMATIC


def refuse_over(limit: int, needed: int) -> None:
    """Refuse a solve that needs more bytes than a limit."""
    if needed > limit:
        raise ValueError(
            f"memory: the subgame needs {needed / 2**20:,.0f} MiB, over the limit of {limit / 2**20:,.0f} MiB; "
            "use fewer sizes or a smaller depth"
        )


def search_leaves(blueprint: Blueprint, subgame: Subgame, config: SubgameConfig) -> SearchLeaves | None:
    """What follows the searched streets; None where they lead to the river."""
    tree, nodes = subgame.searched
    leaves = leaf_nodes(tree)
    if len(leaves) == 0:
        return None
    texture = blueprint.texture(np.array(subgame.board, dtype=np.uint8))
    run_outs = config.run_outs or RUN_OUTS[len(subgame.board)]
    if config.continuation == "trained":
        protected = None if config.safety == "unsafe" else 1 - subgame.streets[-1].state.actor
        buckets = RangeBuckets.of(len(subgame.board), range_masses(subgame.cards, protected))
        ends_on_flop = tree.street[leaves[0]] == FLOP
        return TrainedLeaves(
            subgame.tree,
            nodes,
            leaves,
            subgame.cards,
            buckets,
            texture,
            run_outs=run_outs,
            seed=config.seed,
            threads=config.threads,
            protected=protected,
            chain=buckets.chain if ends_on_flop else None,
        )
    return FixedContinuations(
        blueprint,
        subgame,
        leaves,
        num_values=config.values,
        factor=config.factor,
        run_outs=run_outs,
        seed=config.seed,
    )
