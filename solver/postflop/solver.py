"""Exact postflop solver: every hand and every card, no card abstraction.

    solver = PostflopSolver(board="QsJh2h8d3c", oop_range="66+,A8s+", ip_range="all", pot=200, stack=900,
                            bet_sizes={"river": {"bet": "50%,a", "raise": "2.5x"}})
    solver.solve(target_exploitability_pct=0.1)
    report = solver.play("x").play("b100").node()

Player 0 is out of position. Values are in chips; EVs are what a player receives from a node on, its share
of the pot included.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_COMBOS, format_card, format_cards, parse_card, parse_cards
from abstractions.isomorphism import permute_combos
from solver.betting.public_tree import NodeKind, PublicTree
from solver.betting.tree import spot_tree
from solver.cfr.exploitability import Exploitability
from solver.cfr.schedules import Schedule, schedule
from solver.exact.card_game import CardGame
from solver.exact.engine import CfrEngine
from solver.exact.suits import exchange_of, suit_swaps
from solver.postflop.automatic_schedule import AUTOMATIC
from solver.postflop.holdem import holdem_game, read_board, read_folded, read_range
from solver.postflop.node_report import NodeReport, node_report, real_combos

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TracePoint:
    """A measurement of exploitability on the way; with folded players all but a run's last one are estimates."""

    iteration: int
    seconds: float
    exploitability_pct: float


@dataclass(frozen=True)
class SolveResult:
    """How a run ended: `reason` is "target", "iterations", "time" or "stopped"."""

    iterations: int
    seconds: float
    exploitability: float
    exploitability_pct: float
    reason: str
    trace: list[TracePoint] = field(default_factory=list)


class PostflopSolver:
    """Solve a heads-up spot from the flop, turn or river on.

    Parameters
    ----------
    board : str or cards
        Three, four or five cards.
    oop_range, ip_range : str or array
        Range text or 1,326 weights.
    pot, stack : int
        Chips in the middle and behind each player.
    folded_ranges : sequence of str or array, optional
        Ranges that up to seven folded players folded; they change which cards are left.
    bet_sizes, donk_sizes, add_allin_threshold, force_allin_threshold, merging_threshold, rake, rake_cap
        As in spot files.
    schedule : str or Schedule
        Discount schedule; "auto" chooses.
    compress : bool
        16-bit tables: about half the memory.
    precision : str, optional
        Precision of the tables instead: "float32", "float64" or "int16".
    threads : int
        Threads that share the work of turn and flop spots; results do not depend on it.
    isomorphism : bool
        Solve equivalent suits once.
    every_hand : bool
        Keep hands that a range does not hold, so that they have values against the other range.
    memory_limit : int, optional
        Bytes over which to refuse, nine tenths of the machine's memory by default.
    """

    def __init__(
        self,
        *,
        board: str | tuple[int, ...],
        oop_range: str | NDArray[np.floating],
        ip_range: str | NDArray[np.floating],
        pot: int,
        stack: int,
        bet_sizes: Mapping[str, Any],
        folded_ranges: Sequence[str | NDArray[np.floating]] | None = None,
        donk_sizes: Mapping[str, Any] | None = None,
        add_allin_threshold: float = 1.5,
        force_allin_threshold: float = 0.15,
        merging_threshold: float = 0.1,
        rake: float = 0.0,
        rake_cap: float = 0.0,
        schedule: str | Schedule = "auto",
        compress: bool = False,
        precision: str | None = None,
        threads: int = 1,
        isomorphism: bool = True,
        every_hand: bool = False,
        memory_limit: int | None = None,
    ) -> None:
        cards = read_board(board)
        ranges = read_range("oop_range", oop_range), read_range("ip_range", ip_range)
        game = holdem_game(cards, *ranges, read_folded(folded_ranges), every_hand=every_hand)
        tree = spot_tree(
            len(cards) - 2,
            pot,
            stack,
            bet_sizes,
            donk_sizes,
            add_allin_threshold=add_allin_threshold,
            force_allin_threshold=force_allin_threshold,
            merging_threshold=merging_threshold,
            rake=rake,
            rake_cap=rake_cap,
        )
        self._prepare(
            tree,
            game,
            schedule=schedule,
            precision=precision or ("int16" if compress else "float32"),
            threads=threads,
            isomorphism=isomorphism,
            memory_limit=memory_limit,
        )

    @classmethod
    def of_tree(
        cls, tree: PublicTree, game: CardGame, *, threads: int = 1, memory_limit: int | None = None
    ) -> PostflopSolver:
        """A solver of any betting tree of two seats from a postflop street on; seat 0 is out of position."""
        solver = cls.__new__(cls)
        solver._prepare(tree, game, threads=threads, memory_limit=memory_limit)
        return solver

    def _prepare(
        self,
        tree: PublicTree,
        game: CardGame,
        *,
        schedule: str | Schedule = "auto",
        precision: str = "float32",
        threads: int = 1,
        isomorphism: bool = True,
        memory_limit: int | None = None,
    ) -> None:
        self.tree = tree
        self.schedule = read_schedule(schedule)
        self.engine = CfrEngine(
            tree,
            game,
            self.schedule,
            precision=precision,
            threads=threads,
            isomorphism=isomorphism,
            memory_limit=_machine_memory() if memory_limit is None else memory_limit,
        )
        self.seconds = 0.0
        self.trace: list[TracePoint] = []
        self._path: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        self._reports: dict[tuple[int, tuple[int, ...]], NodeReport] = {}

    @property
    def pot(self) -> int:
        """Chips in the middle at the root."""
        return int(self.tree.pot[0])

    @property
    def iteration(self) -> int:
        """Iterations run so far."""
        return self.engine.iteration

    @property
    def table_bytes(self) -> int:
        """Bytes of the regret and strategy tables, which grow with the game."""
        return self.engine.table_bytes

    @property
    def memory_bytes(self) -> int:
        """Bytes of tables and scratch together."""
        return self.engine.memory_bytes

    def solve(
        self,
        *,
        max_iterations: int = 1000,
        target_exploitability_pct: float | None = 0.1,
        time_limit_s: float | None = None,
        progress: Callable[[int, float, float], None] | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> SolveResult:
        """Iterate until a target, a number of iterations or a time limit; a later call goes on from there.

        Parameters
        ----------
        max_iterations
            Total number of iterations, those of earlier calls included.
        target_exploitability_pct
            Exploitability to reach, in percent of the pot; None or 0 to run all iterations.
        time_limit_s
            Seconds that this call may take.
        progress
            Called with iteration, seconds and exploitability in percent of the pot after each measurement.
        should_stop
            Asked between blocks of iterations; true ends the call.
        """
        _check_limits(max_iterations, target_exploitability_pct, time_limit_s)
        target = target_exploitability_pct or 0.0
        start = time.perf_counter()
        before = self.seconds
        reason = "iterations"
        self._reports.clear()
        while True:
            if self.iteration < max_iterations:
                self._advance(self._next_check(max_iterations, target), start, time_limit_s, should_stop)
            chips, is_exact = self._measured(target, max_iterations)
            percent = 100.0 * chips / self.pot
            spent = time.perf_counter() - start
            self.seconds = before + spent
            self.trace.append(TracePoint(self.iteration, self.seconds, percent))
            if progress is not None:
                progress(self.iteration, self.seconds, percent)
            if percent <= target:
                reason = "target"
            elif self.iteration >= max_iterations:
                reason = "iterations"
            elif time_limit_s is not None and spent >= time_limit_s:
                reason = "time"
            elif should_stop is not None and should_stop():
                reason = "stopped"
            else:
                continue
            if not is_exact:
                chips = self.engine.exploitability()
                percent = 100.0 * chips / self.pot
                self.trace[-1] = replace(self.trace[-1], exploitability_pct=percent)
            return SolveResult(self.iteration, self.seconds, chips, percent, reason, list(self.trace))

    def _measured(self, target: float, max_iterations: int) -> tuple[float, bool]:
        """Exploitability in chips, and whether it is exact.

        With folded players it is a cheap estimate, unless that meets the target or the last iteration is done.
        """
        if self.engine.game.folded is not None and self.iteration < max_iterations:
            estimate = self.engine.exploitability(estimate=True)
            if 100.0 * estimate / self.pot > target:
                return estimate, False
        return self.engine.exploitability(), True

    def _advance(
        self, until: int, start: float, limit: float | None, should_stop: Callable[[], bool] | None
    ) -> None:
        """Run up to iteration `until`, in blocks short enough to notice a limit."""
        block = 1
        while self.iteration < until:
            block_started = time.perf_counter()
            count = min(block, until - self.iteration)
            self.engine.run(count)
            now = time.perf_counter()
            seconds_each = max((now - block_started) / count, 1e-6)
            left = 0.25 if limit is None else min(0.25, limit - (now - start))
            block = max(1, int(left / seconds_each))
            if (limit is not None and now - start >= limit) or (should_stop is not None and should_stop()):
                return

    def _next_check(self, max_iterations: int, target: float) -> int:
        """Iteration of the next measurement: where the last two suggest the target is met, within bounds."""
        now = self.iteration
        if now == 0:
            return min(10, max_iterations)
        guess = float(now + max(10, now // 4))
        if target > 0.0 and len(self.trace) > 1:
            (t0, e0), (t1, e1) = ((p.iteration, p.exploitability_pct) for p in self.trace[-2:])
            if t1 > t0 and e0 > e1 > 0.0:
                slope = np.log(e0 / e1) / np.log(t1 / t0)
                guess = min(guess, t1 * (e1 / target) ** (1.0 / max(slope, 0.5)))
        return min(max(int(np.ceil(guess)), now + max(5, now // 20)), max_iterations)

    def measure_exploitability(self) -> Exploitability:
        """Exploitability of the average strategies, in chips."""
        evaluation = self.engine.evaluate()
        value = evaluation.exploitability
        return Exploitability(value, "chips", 100.0 * value / self.pot, evaluation.gains)

    @property
    def line(self) -> str:
        """Line to the current node."""
        return self.tree.line(self._path[-1][0])

    @property
    def dealt(self) -> tuple[int, ...]:
        """Cards dealt since the root, on the way to the current node."""
        return self._path[-1][1]

    @property
    def board(self) -> str:
        """Public cards at the current node."""
        return format_cards([*self.engine.game.board, *self.dealt])

    @property
    def actions(self) -> list[str]:
        """Tokens of the actions at the current node; empty where nobody acts."""
        node = self._path[-1][0]
        if self.tree.kind[node] != NodeKind.DECISION:
            return []
        return [self.tree.token(child) for child in self.tree.children_of(node).tolist()]

    def play(self, step: str) -> PostflopSolver:
        """Take an action, or deal a card where one is due; returns the solver.

        Parameters
        ----------
        step
            A token of `actions` (``x``, ``b100``, ``A``), or a card (``2c``).
        """
        node, dealt = self._path[-1]
        if self.tree.kind[node] == NodeKind.CHANCE:
            card = parse_card(step)
            self._locate((*dealt, card))
            self._path.append((int(self.tree.children_of(node)[0]), (*dealt, card)))
            return self
        for child in self.tree.children_of(node).tolist():
            if self.tree.token(child) == step:
                self._path.append((child, dealt))
                return self
        offered = " ".join(self.actions) or "nothing, the line ends there"
        raise ValueError(f"line {self.line!r}: {step!r} is not possible; accepted: {offered}")

    def back(self, steps: int = 1) -> PostflopSolver:
        """Take back the last steps; returns the solver."""
        del self._path[max(1, len(self._path) - steps) :]
        return self

    def go(self, line: str, cards: str = "") -> PostflopSolver:
        """Go to a line from the root, such as ``xb100c/x`` with the cards ``2c`` dealt on the way."""
        node = self.tree.node_at(line)
        waiting = [int(card) for card in parse_cards(cards)] if cards else []
        if line.count("/") != len(waiting):
            raise ValueError(f"line {line!r} deals {line.count('/')} cards, got {len(waiting)} in {cards!r}")
        path: list[tuple[int, tuple[int, ...]]] = []
        while node >= 0:
            deals = self.tree.line(node).count("/")
            path.append((node, tuple(waiting[:deals])))
            node = int(self.tree.parent[node])
        self._locate(tuple(waiting))
        self._path = path[::-1]
        return self

    def _locate(self, dealt: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        for k, card in enumerate(dealt):
            if card in self.engine.game.board or card in dealt[:k]:
                raise ValueError(f"card {format_card(card)} is on the board already")
        return self.engine.deals.locate(dealt)

    def node(self) -> NodeReport:
        """Strategy, EV and equity of every hand at the current node.

        Raises
        ------
        ValueError
            Where nobody acts.
        """
        node, dealt = self._path[-1]
        if self._path[-1] not in self._reports:
            if self.tree.kind[node] != NodeKind.DECISION:
                raise ValueError(f"line {self.line!r}: nobody acts there")
            self._reports[self._path[-1]] = node_report(self.engine, node, dealt)
        return self._reports[self._path[-1]]

    def lock(
        self,
        strategy: Mapping[str, float] | NDArray[np.floating],
        *,
        hands: str | NDArray[np.floating] | None = None,
        every_runout: bool = False,
    ) -> PostflopSolver:
        """Fix how the player to act plays at the current node.

        Parameters
        ----------
        strategy
            Probability of each action by token (the rest get 0), or an array ``[action, 1326]``.
        hands
            Range of hands to fix, all by default; the others stay free.
        every_runout
            Fix the line whatever cards were dealt, not only on this board.

        Raises
        ------
        ValueError
            If it is no distribution, or treats suits that the solver merged differently: build it with
            ``isomorphism=False`` then.
        """
        node, dealt = self._path[-1]
        if self.tree.kind[node] != NodeKind.DECISION:
            raise ValueError(f"line {self.line!r}: nobody acts there")
        fixed = self._fixed(strategy, hands)
        boards, suits = self._boards(node, dealt, every_runout)
        self._require_symmetry(fixed[:, permute_combos(np.array(suits))], boards, every_runout)
        cards = self.engine.game.hands[int(self.tree.player[node])]
        self.engine.lock(node, boards, fixed[:, real_combos(cards, suits)])
        self._reports.clear()
        return self

    def unlock(self, *, every_runout: bool = False) -> PostflopSolver:
        """Free the current node again."""
        node, dealt = self._path[-1]
        self.engine.unlock(node, self._boards(node, dealt, every_runout)[0])
        self._reports.clear()
        return self

    def _boards(
        self, node: int, dealt: tuple[int, ...], every_runout: bool
    ) -> tuple[list[int], tuple[int, ...]]:
        """Boards of the current node, and the real suit of each of their suits."""
        if not every_runout:
            board, suits = self._locate(dealt)
            return [board], suits
        street = self.tree.street[node] - self.tree.street[0]
        return np.flatnonzero(self.engine.deals.boards["street"] == street).tolist(), (0, 1, 2, 3)

    def _fixed(self, strategy: Any, hands: Any) -> Floats:
        """A strategy as ``[action, 1326]``, -1 for hands that stay free."""
        tokens = self.actions
        if isinstance(strategy, Mapping):
            for token in strategy:
                if token not in tokens:
                    raise ValueError(
                        f"lock: {token!r} is no action at {self.line!r}; accepted: {' '.join(tokens)}"
                    )
            row = np.array([float(strategy.get(token, 0.0)) for token in tokens])
            table = np.repeat(row[:, None], NUM_COMBOS, axis=1)
        else:
            table = np.array(strategy, dtype=np.float64)
        if table.shape != (len(tokens), NUM_COMBOS):
            raise ValueError(
                f"lock: shape {table.shape} at {self.line!r}, expected ({len(tokens)}, {NUM_COMBOS})"
            )
        free = (table < 0.0).any(axis=0)
        if hands is not None:
            free |= read_range("lock.hands", hands) <= 0.0
        if not np.allclose(table[:, ~free].sum(axis=0), 1.0, atol=1e-6):
            raise ValueError(f"lock: the probabilities at {self.line!r} do not sum to 1")
        return np.where(free, -1.0, table)

    def _require_symmetry(self, fixed: Floats, boards: list[int], every_runout: bool) -> None:
        """Refuse to fix hands or boards apart from others that the solver merged with them."""
        deals = self.engine.deals
        board = boards[0]
        swaps = suit_swaps(deals.suits[0 if every_runout else board])
        merged = any(
            not np.array_equal(fixed, fixed[:, permute_combos(exchange_of(*swap))]) for swap in swaps
        )
        while not every_runout and board > 0:
            merged |= bool(deals.boards[board]["images"] != 0)
            board = int(deals.boards[board]["parent"])
        if merged:
            raise ValueError(
                f"lock: {self.line!r} would treat equivalent suits differently; solve with isomorphism off"
            )

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays to save; `load_state` of a solver of the same spot goes on from them."""
        trace = np.array([(p.iteration, p.seconds, p.exploitability_pct) for p in self.trace])
        return {**self.engine.state(), "seconds": np.array([self.seconds]), "trace": trace.reshape(-1, 3)}

    def load_state(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what `state` returned."""
        self.engine.load_state(arrays)
        self.seconds = float(arrays["seconds"][0])
        self.trace = [TracePoint(int(t), float(s), float(e)) for t, s, e in arrays["trace"]]
        self._reports.clear()


def read_schedule(value: str | Schedule, *, horizon: int | None = None) -> Schedule:
    """A schedule by name, as data, or "auto"."""
    if isinstance(value, Schedule):
        return value
    return AUTOMATIC if value == "auto" else schedule(value, horizon=horizon)


def _check_limits(max_iterations: int, target: float | None, time_limit: float | None) -> None:
    if max_iterations < 1:
        raise ValueError(f"max_iterations: {max_iterations} is not a positive number")
    if target is not None and not target >= 0.0:
        raise ValueError(f"target_exploitability_pct: {target} is negative")
    if time_limit is not None and not time_limit > 0.0:
        raise ValueError(f"time_limit_s: {time_limit} is not a positive number")


def _machine_memory() -> int:
    return int(0.9 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
