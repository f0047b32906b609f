"""A two-player game in tables: memory, threads and state around the sweeps of `solver.exact.sweep`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.betting.public_tree import NodeKind, PublicTree
from solver.cfr.exploitability import Evaluation
from solver.cfr.handles import Handle
from solver.cfr.leaves import LeafProvider, Leaves, ThreadedLeafProvider
from solver.cfr.resolved import resolved
from solver.cfr.schedules import Schedule
from solver.exact.allocation import (
    PRECISIONS,
    new_tables,
    new_work,
    refuse_over,
    table_bytes,
    totals_size,
    work_bytes,
    work_sizes,
)
from solver.exact.betting_plan import allin_streets, betting_plan, check_down, table_rows
from solver.exact.card_game import CardGame, num_runouts
from solver.exact.deals import Deals, deal
from solver.exact.hand_tables import padded
from solver.exact.leaf_rows import LeafRows
from solver.exact.pair_weights import PairWeights
from solver.exact.sweep import (
    BACK,
    BELOW,
    BEST_RESPONSE,
    CURRENT,
    DOWN,
    ENDS,
    ESTIMATE,
    EXPECTED,
    REACH,
    UP,
    UPDATE,
    WHOLE,
    _run,
)
from solver.exact.sweep_arrays import Layout, Tables

Floats = NDArray[np.float64]
#: Most groups that the root's boards are split into, and so most threads that can share a sweep.
MAX_GROUPS = 24
#: Arrays of a saved state whose length may differ from that of the engine which reads it.
GROWING = {"iteration", "since", "locked0", "locked1"}


@dataclass(frozen=True)
class Visit:
    """What a sweep for one player left on a board; valid until the next sweep.

    Attributes
    ----------
    reach, values
        At a node of the board's street: the opponent's reach, and the player's counterfactual values, by hand of the
        board.
    """

    reach: Callable[[int], Floats]
    values: Callable[[int], Floats]


class CfrEngine:
    """Counterfactual regret minimisation on a betting tree and a card game.

    Parameters
    ----------
    tree, game
        Betting and cards; the tree's streets follow the game's deals.
    schedule
        Discount schedule.
    precision : {"float32", "float64", "int16"}
        Of the tables; "int16" holds 16-bit integers with a unit per node.
    threads
        Threads that share a sweep; the result does not depend on it.
    isomorphism
        Deal equivalent suits once.
    memory_limit : int, optional
        Refuse games that need more bytes than this.
    leaves : LeafProvider, optional
        Gives the values of lines that the tree stops before a later street. Without one they are checked down.

    Attributes
    ----------
    leaves : Leaves
        What the provider is asked about: a leaf per board and node where the tree stops, boards in the order of
        `deals`. Of boards that equivalent suits turn into one another, only the one that is dealt appears, so with
        `isomorphism` a provider must treat equivalent suits alike. Empty without a provider.

    See Also
    --------
    solver.exact.leaf_rows : what a provider is told, and in which unit it answers.
    """

    def __init__(
        self,
        tree: PublicTree,
        game: CardGame,
        schedule: Schedule,
        *,
        precision: str = "float32",
        threads: int = 1,
        isomorphism: bool = True,
        memory_limit: int | None = None,
        leaves: LeafProvider | None = None,
    ) -> None:
        if precision not in PRECISIONS:
            raise ValueError(f"precision: {precision!r} is unknown; accepted: {', '.join(PRECISIONS)}")
        if precision == "int16" and schedule.predictive:
            raise ValueError(f"schedule: {schedule.name!r} keeps a third table and cannot be compressed")
        if threads < 1:
            raise ValueError(f"threads: {threads} is not a positive number")
        self.rows = table_rows(tree)
        streets = len(self.rows.num_rows)
        if streets > game.num_deals + 1:
            raise ValueError(f"tree: {streets} streets, but the game deals only {game.num_deals} cards")
        self.tree, self.game, self.schedule, self.precision = tree, game, schedule, precision
        self.iteration = 0
        self._provider = leaves
        betting = tree if leaves is not None else check_down(tree)
        allins = allin_streets(betting, game.num_deals)
        self.deals: Deals = deal(
            game,
            self.rows.num_rows,
            self.rows.num_slots,
            # Folded players give every pair of hands a weight, which is in the all-in matrices of `PairTables`.
            allins if game.folded is None else [False] * streets,
            isomorphism=isomorphism,
        )
        types = PRECISIONS[precision]
        self.table_bytes = table_bytes(self.deals, types, schedule.predictive)
        refuse_over(memory_limit, self.table_bytes)
        plans, node_rows = zip(*(betting_plan(betting, self.rows, own, game.num_deals) for own in range(2)))
        self._node_rows = node_rows
        self._chance = np.ones(streets)
        self._chance[1:] /= len(game.deck) - np.arange(streets - 1) - 2 * game.num_hole
        scales = np.stack([self._chance, [1.0 / num_runouts(game, k) for k in range(streets)]], axis=1)
        sides = self.deals.sides
        self.pair_weights = PairWeights(game)
        value_rows = [plan.streets["value_rows"] for plan in plans]
        room = None if memory_limit is None else memory_limit - self.table_bytes
        pairs = self.pair_weights.tables(self.deals, allins, value_rows, types.rows, room)
        self._leaf_rows = LeafRows(betting, self.deals, self._chance, types.rows)
        #: The provider, where sweeps can go on beside it.
        self._beside = (
            leaves if self._leaf_rows.are_at_root and isinstance(leaves, ThreadedLeafProvider) else None
        )
        first, second = (
            Layout._make(
                (
                    *(*plans[own], self.deals.boards, *sides[own], *sides[1 - own][:3], scales),
                    *(self._leaf_rows.starts[1 - own], self._leaf_rows.reach[1 - own]),
                    *(self._leaf_rows.starts[own], self._leaf_rows.values[own]),
                    *pairs[own],
                )
            )
            for own in range(2)
        )
        self.layouts = (first, second)
        self.threads = min(threads, max(1, int(self.deals.boards[0]["count"])), MAX_GROUPS)
        self.groups = min(MAX_GROUPS, int(self.deals.boards[0]["count"]))
        sizes = work_sizes(game, self.deals, self.layouts)
        self._totals = np.zeros(totals_size(self.deals, self.layouts, self.groups), dtype=types.rows)
        shared = (*sides[0], *sides[1], self._totals)
        self.scratch_bytes = (
            sum(array.nbytes for array in shared)
            + self._leaf_rows.nbytes
            + sum(tables.nbytes for tables in pairs)
            + self.threads * work_bytes(sizes, types)
        )
        refuse_over(memory_limit, self.memory_bytes)
        self._set_tables(*(new_tables(self.deals, player, types, schedule.predictive) for player in range(2)))
        self._since = np.zeros((3, 64))
        #: Iteration at which each player's corrections of pair weights were made.
        self._corrected = np.zeros(2, dtype=np.int64)
        roots = int((tree.parent < 0).sum())
        self._weights = tuple(
            np.tile(np.pad(w, (0, padded(len(w)) - len(w))), roots).astype(types.rows) for w in game.weights
        )
        self._everywhere = np.full(streets + 1, -1, dtype=np.int64)
        self._work = [new_work(sizes, types) for _ in range(self.threads)]
        self._games = tuple(map(Handle, self.layouts))
        self._scratch = tuple(map(Handle, self._work))
        self._pool = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None
        #: The next group of the root's boards that a thread takes.
        self._claims = np.zeros(1, dtype=np.int64)
        #: Compiled code of the sweeps, known from the first one on.
        self._code: Callable[..., None] | None = None

    @property
    def leaves(self) -> Leaves:
        """The leaves, in the order in which the provider sees them."""
        return self._leaf_rows.leaves

    @property
    def memory_bytes(self) -> int:
        """Bytes of tables and scratch."""
        return self.table_bytes + self.scratch_bytes

    def run(self, iterations: int) -> None:
        """Run a number of iterations; each updates both players in turn."""
        first, last = self.iteration + 1, self.iteration + iterations
        if self._since.shape[1] <= last:
            self._since = np.pad(self._since, ((0, 0), (0, last + 1)))
        weights = [self.schedule.weights(t) for t in range(first, last + 1)]
        factors = np.array([(w.positive, w.negative, w.strategy, w.prediction) for w in weights])
        factors = factors.reshape(iterations, 4)
        if self._pool is None and not self._leaf_rows and self.game.folded is None:
            self._call(factors, first, UPDATE, WHOLE, (0, 1), 0)
            self.iteration = last
            return
        for k in range(iterations):
            for own in range(2):
                self._sweep(factors[k : k + 1], first + k, UPDATE, own)
            self.iteration = first + k
            self._correct_pairs()

    def _correct_pairs(self) -> None:
        """Bring the corrections of pair weights up to date, if nobody has in the last three quarters of the iterations.

        Every exact evaluation does so on its way.
        """
        if self.game.folded is not None and self.iteration >= max(4 * int(self._corrected.min()), 4):
            for own in range(2):
                self._sweep(np.ones((1, 4)), self.iteration, EXPECTED, own)

    def update(self, player: int) -> Floats:
        """One player's half of an iteration; player 0 comes first, and player 1 completes the iteration.

        Returns
        -------
        float64 array
            Counterfactual value of each of the player's root hands under the current strategies before the update.
        """
        iteration = self.iteration + 1
        if self._since.shape[1] <= iteration:
            self._since = np.pad(self._since, ((0, 0), (0, iteration + 1)))
        w = self.schedule.weights(iteration)
        factors = np.array([[w.positive, w.negative, w.strategy, w.prediction]])
        self._sweep(factors, iteration, UPDATE, player)
        values = self._work[0].value[: len(self.game.weights[player])].astype(np.float64)
        if player == 1:
            self.iteration = iteration
            self._correct_pairs()
        return values

    def set_range(self, player: int, weights: Floats) -> None:
        """From now on a player arrives with other weights of its root hands; `game` keeps those it began with."""
        roots = int((self.tree.parent < 0).sum())
        self._weights[player].reshape(roots, -1)[:, : len(weights)] = weights

    def root_values(self, player: int, *, best: bool = False) -> Floats:
        """Counterfactual value of each root hand of a player against the opponent's average strategy.

        Parameters
        ----------
        best
            The player responds as well as possible instead of playing its average strategy.
        """
        return self._root_values(player, BEST_RESPONSE if best else EXPECTED)

    def _root_values(self, player: int, mode: int) -> Floats:
        self._sweep(np.ones((1, 4)), self.iteration, mode, player)
        return self._work[0].value[: len(self.game.weights[player])].astype(np.float64)

    def entry_values(self, player: int, reach: Floats) -> Floats:
        """Counterfactual values of a player's hands at every root of the tree, under the average strategies.

        A tree that holds the later streets of several lines has several roots (`solver.betting.tree_parts.lower_part`).

        Parameters
        ----------
        reach
            The opponent's reach at each root, ``[root, root hand]``, in place of its range.

        Returns
        -------
        float64 array [root, root hand of the player]
        """
        weights = self._weights[1 - player].reshape(len(reach), -1)
        saved = weights.copy()
        weights[:, : reach.shape[1]] = reach
        self._sweep(np.ones((1, 4)), self.iteration, EXPECTED, player)
        weights[:] = saved
        pad, count = int(self.deals.sides[player].boards[0]["pad"]), len(self.game.weights[player])
        rows = self._work[0].value[: len(reach) * pad].reshape(len(reach), pad)
        return rows[:, :count].astype(np.float64)

    def evaluate(self) -> Evaluation:
        """Expected values and best responses of the average strategies, exactly."""
        ev = [self._mean(player, self.root_values(player)) for player in range(2)]
        best = [self._mean(player, self.root_values(player, best=True)) for player in range(2)]
        return Evaluation((ev[0], ev[1]), (best[0], best[1]))

    def exploitability(self, *, estimate: bool = False) -> float:
        """Mean gain of a best response, in chips per deal; below zero only by rounding.

        Parameters
        ----------
        estimate
            Where folded players weigh the pairs of hands, do not bring the corrections of training up to date. This is
            near the truth and costs much less.
        """
        if self.tree.rake > 0.0 or self._leaf_rows:
            return self.evaluate().exploitability
        # Without rake and leaves the game is zero-sum and the expected values cancel.
        mode = ESTIMATE if estimate else BEST_RESPONSE
        return sum(self._mean(player, self._root_values(player, mode)) for player in range(2)) / 2

    def _mean(self, player: int, values: Floats) -> float:
        return float(self.game.weights[player] @ values) / self.pair_weight

    @cached_property
    def pair_weight(self) -> float:
        """Total weight of the pairs of hands that can be dealt together."""
        return float(self.game.weights[0] @ self.compatible(0, self.game.weights[1]))

    def compatible(self, player: int, reach: Floats, board: int = 0) -> Floats:
        """For each of a player's hands on a board, the opponent's reach over hands without common cards.

        With folded players each hand counts with the weight that they give to the pair.
        """
        own, opp = self._cards(player, board), self._cards(1 - player, board)
        return self.pair_weights.compatible(self.deals.cards[board], reach, opp, own)

    def _cards(self, player: int, board: int) -> NDArray[np.uint8]:
        return self.game.hands[player][self.deals.hands[player][board]]

    def strategy(self, node: int, board: int = 0) -> Floats:
        """Average strategy at a node, ``[action, hand of the board]``; even where a hand never arrives."""
        player = int(self.tree.player[node])
        weights = self._rows(self.tables[player].average, node, board)
        return self._matched(weights, node, board)

    def current_strategy(self, node: int, board: int = 0) -> Floats:
        """Strategy of the next iteration at a node, ``[action, hand of the board]``."""
        player = int(self.tree.player[node])
        return self._matched(self._rows(self.tables[player].source, node, board), node, board)

    def regrets(self, node: int, board: int = 0) -> Floats:
        """Regrets at a node after the last iteration, ``[action, hand of the board]``."""
        tables = self.tables[int(self.tree.player[node])]
        state = tables.nodes[self._slot(node, board)[0]]
        stored = self._rows(tables.regret, node, board).astype(np.float64) * float(state["regret_unit"])
        clock = int(state["regret_clock"])
        if clock == self.iteration:
            return stored
        return stored * np.where(stored > 0.0, self._since[0, clock], self._since[1, clock])

    def set_average(self, node: int, board: int, probabilities: NDArray[np.floating]) -> None:
        """Put a strategy in place of the average at a node, ``[action, hand of the board]``."""
        player = int(self.tree.player[node])
        self._rows(self.tables[player].average, node, board)[:] = probabilities

    def _slot(self, node: int, board: int) -> tuple[int, int]:
        """A node's number in `Tables.nodes` and its first entry in the tables."""
        player = int(self.tree.player[node])
        if self.tree.kind[node] != NodeKind.DECISION:
            raise ValueError(f"line {self.tree.line(node)!r}: nobody acts there")
        if self.deals.boards[board]["street"] != self.tree.street[node] - self.tree.street[0]:
            raise ValueError(f"line {self.tree.line(node)!r} is not on the street of board {board}")
        side = self.deals.sides[player].boards[board]
        start = int(side["table"]) + int(self.rows.table[node]) * int(side["pad"])
        return int(side["clock"]) + int(self.rows.slot[node]), start

    def _rows(self, table: NDArray[Any], node: int, board: int) -> NDArray[Any]:
        start = self._slot(node, board)[1]
        side = self.deals.sides[int(self.tree.player[node])].boards[board]
        actions, pad = int(self.tree.num_children[node]), int(side["pad"])
        return table[start : start + actions * pad].reshape(actions, pad)[:, : int(side["count"])]

    def _matched(self, weights: NDArray[Any], node: int, board: int) -> Floats:
        positive = np.maximum(weights.astype(np.float64), 0.0)
        total = positive.sum(axis=0)
        even = np.full_like(positive, 1.0 / len(positive))
        strategy = np.divide(positive, total, out=even, where=total > 0.0)
        fixed = self.locked(node, board)
        return strategy if fixed is None else np.where(fixed >= 0.0, fixed, strategy)

    def lock(self, node: int, boards: Iterable[int], probabilities: NDArray[np.floating]) -> None:
        """Fix the strategy of hands at a node.

        Parameters
        ----------
        boards
            Boards on which to fix it.
        probabilities
            ``[action, root hand]``; hands with negative entries stay free.
        """
        player = int(self.tree.player[node])
        tables = self.tables[player]
        parts = [tables.locked]
        end = len(tables.locked)
        for board in boards:
            slot = self._slot(node, board)[0]
            hands = self.deals.hands[player][board]
            fixed = np.full((len(probabilities), padded(len(hands))), -1.0, dtype=np.float32)
            fixed[:, : len(hands)] = probabilities[:, hands]
            before = self.locked(node, board)
            if before is not None:
                fixed[:, : len(hands)] = np.where(
                    probabilities[:, hands] < 0.0, before, probabilities[:, hands]
                )
            tables.nodes["lock"][slot] = end
            parts.append(fixed.ravel())
            end += fixed.size
        replaced = tables._replace(locked=np.concatenate(parts))
        self._set_tables(*((replaced, self.tables[1]) if player == 0 else (self.tables[0], replaced)))

    def unlock(self, node: int, boards: Iterable[int]) -> None:
        """Free the hands at a node again."""
        for board in boards:
            slot = self._slot(node, board)[0]
            self.tables[int(self.tree.player[node])].nodes["lock"][slot] = -1

    def locked(self, node: int, board: int) -> Floats | None:
        """Fixed strategy at a node, ``[action, hand of the board]``, negative for free hands; None for no lock."""
        player = int(self.tree.player[node])
        tables = self.tables[player]
        start = int(tables.nodes["lock"][self._slot(node, board)[0]])
        if start < 0:
            return None
        side = self.deals.sides[player].boards[board]
        actions, pad = int(self.tree.num_children[node]), int(side["pad"])
        rows = tables.locked[start : start + actions * pad].reshape(actions, pad)
        return rows[:, : int(side["count"])].astype(np.float64)

    def visit(self, board: int, own: int, *, best: bool = False) -> Visit:
        """Sweep one board for a player, under the average strategies.

        Parameters
        ----------
        best
            The player responds as well as possible instead of playing its average strategy.
        """
        street, path, chance = self._way_to(board)
        mode = BEST_RESPONSE if best else EXPECTED
        self._value_leaves(mode, own)
        self._call(np.ones((1, 4)), self.iteration, mode, WHOLE, (own, own), 0, path)
        reach_rows, value_rows = self._node_rows[own]
        return Visit(
            lambda node: self._work_row(0, street, board, 1 - own, int(reach_rows[node])) / chance,
            lambda node: self._work_row(1, street, board, own, int(value_rows[node])) / chance,
        )

    def _way_to(self, board: int) -> tuple[int, NDArray[np.int64], float]:
        """Street of a board, the boards on the way to it by street, and the chance that a sweep's reach carries."""
        street = int(self.deals.boards[board]["street"])
        path = self._everywhere.copy()
        on_path = board
        while on_path > 0:
            path[self.deals.boards[on_path]["street"]] = on_path
            on_path = int(self.deals.boards[on_path]["parent"])
        return street, path, float(np.prod(self._chance[: street + 1]))

    def _work_row(self, kind: int, street: int, board: int, player: int, row: int) -> Floats:
        """A reach row (kind 0) or value row (kind 1) that the last sweep left; zero where nobody arrives."""
        work, side = self._work[0], self.deals.sides[player].boards[board]
        if kind == 0 and work.alive[int(work.starts[street, 2]) + row] == 0:
            return np.zeros(int(side["count"]))
        start = int(work.starts[street, kind]) + row * int(side["pad"])
        return (work.reach, work.value)[kind][start : start + int(side["count"])].astype(np.float64)

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays that continue the run elsewhere; views, not copies."""
        arrays: dict[str, NDArray[Any]] = {
            "iteration": np.array([self.iteration]),
            "since": self._since[:, : self.iteration + 1],
        }
        for player, tables in enumerate(self.tables):
            names = [name for name in Tables._fields if name != "source" or self.schedule.predictive]
            arrays |= {f"{name}{player}": getattr(tables, name) for name in names}
            if self.game.folded is not None:
                arrays[f"corrections{player}"] = self.layouts[player].pair_corrections
        if self.game.folded is not None:
            arrays["corrected"] = self._corrected
        return arrays

    def load_state(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what `state` returned, from a run on the same game."""
        for name, own in self.state().items():
            if name not in arrays:
                raise ValueError(f"state: {name!r} is missing")
            fits = name in GROWING or arrays[name].shape == own.shape
            if arrays[name].dtype != own.dtype or not fits:
                raise ValueError(f"state: {name!r} belongs to another game, precision or schedule")
        self.iteration = int(arrays["iteration"][0])
        self._since = np.pad(arrays["since"], ((0, 0), (0, 64)))
        if self.game.folded is not None:
            self._corrected[:] = arrays["corrected"]
        tables = []
        for player, mine in enumerate(self.tables):
            for name in ("regret", "average", "nodes"):
                getattr(mine, name)[:] = arrays[f"{name}{player}"]
            if self.schedule.predictive:
                mine.source[:] = arrays[f"source{player}"]
            if self.game.folded is not None:
                self.layouts[player].pair_corrections[:] = arrays[f"corrections{player}"]
            tables.append(mine._replace(locked=arrays[f"locked{player}"].copy()))
        self._set_tables(tables[0], tables[1])

    def _sweep(self, factors: Floats, iteration: int, mode: int, own: int) -> None:
        """One sweep of a player on all threads, leaves first."""
        if mode in (BEST_RESPONSE, EXPECTED):
            self._corrected[own] = iteration
        players = (own, own)
        if self._beside is not None:
            self._sweep_beside(self._beside, factors, iteration, mode, own)
            return
        self._value_leaves(mode, own)
        if self._pool is None:
            self._call(factors, iteration, mode, WHOLE, players, 0)
        else:
            self._call(factors, iteration, mode, DOWN, players, 0)
            self._on_all_threads(factors, iteration, mode, BELOW, players)
            self._call(factors, iteration, mode, UP, players, 0)

    def _sweep_beside(
        self, provider: ThreadedLeafProvider, factors: Floats, iteration: int, mode: int, own: int
    ) -> None:
        """One sweep of a player that values the lines which end at the root beside the provider's threads."""
        players = (own, own)
        self._call(factors, iteration, mode, DOWN, players, 0)
        self._leaf_rows.ask_beside(
            provider, own, lambda: self._call(factors, iteration, mode, ENDS, players, 0)
        )
        self._call(factors, iteration, mode, BACK, players, 0)

    def _value_leaves(self, mode: int, own: int) -> None:
        """Ask the provider for the values that the next sweep of a player finds at the leaves."""
        if not self._leaf_rows:
            return
        assert self._provider is not None
        plays = CURRENT if mode == UPDATE else EXPECTED

        def save_reach(player: int) -> None:
            # A sweep for one player carries the reach of the other.
            sweeping = 1 - player
            self._on_all_threads(np.ones((1, 4)), self.iteration, plays, REACH, (sweeping, sweeping))

        self._leaf_rows.ask(self._provider, own, save_reach)

    def _on_all_threads(
        self, factors: Floats, iteration: int, mode: int, phase: int, players: tuple[int, int]
    ) -> None:
        """One phase on all threads, the calling one included."""
        self._claims[0] = 0
        jobs = []
        if self._pool is not None:
            jobs = [
                self._pool.submit(self._call, factors, iteration, mode, phase, players, thread)
                for thread in range(1, self.threads)
            ]
        self._call(factors, iteration, mode, phase, players, 0)
        for job in jobs:
            job.result()

    def _call(
        self,
        factors: Floats,
        iteration: int,
        mode: int,
        phase: int,
        players: tuple[int, int],
        thread: int,
        path: NDArray[np.int64] | None = None,
    ) -> None:
        arguments = (
            self._games,
            self._weights,
            self.groups,
            self._totals,
            self._table_handles,
            self._since,
            factors,
            iteration,
            self.schedule.floor_negative,
            self.schedule.predictive,
            mode,
            phase,
            players[0],
            players[1],
            self._claims,
            self._everywhere if path is None else path,
            # Going down for reach, every thread passes the root itself.
            self._scratch[thread if phase == REACH else 0],
            self._scratch[thread],
        )
        if self._code is None:
            self._code = resolved(_run, *arguments)
        self._code(*arguments)

    def _set_tables(self, first: Tables, second: Tables) -> None:
        self.tables = (first, second)
        self._table_handles = (Handle(first), Handle(second))
