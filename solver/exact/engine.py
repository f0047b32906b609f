"""A two-player game in tables: memory, threads and state around the sweeps of `solver.exact.sweep`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.betting.public_tree import NodeKind, PublicTree
from solver.cfr.exploitability import Evaluation
from solver.cfr.handles import Handle
from solver.cfr.schedules import Schedule
from solver.cfr.simd import WIDTH
from solver.exact.betting_plan import allin_streets, betting_plan, table_rows
from solver.exact.deals import CardGame, Deals, deal, num_runouts, padded, zero_row
from solver.exact.sweep import (
    BELOW,
    BEST_RESPONSE,
    DOWN,
    EXPECTED,
    NODE,
    UP,
    UPDATE,
    WHOLE,
    Layout,
    Tables,
    Work,
    _run,
)
from solver.exact.terminals import BLOCK, SUMS_SIZE

Floats = NDArray[np.float64]
#: Most groups that the root's boards are split into, and so most threads that can share a sweep.
MAX_GROUPS = 24
PRECISIONS = {
    "float32": (np.float32, np.float32, np.float32),
    "float64": (np.float64, np.float64, np.float64),
    "int16": (np.float32, np.int16, np.uint16),
}


@dataclass(frozen=True)
class NodeValues:
    """A decision node on one board, by hand of the board (`hands` are root hands, per player).

    Attributes
    ----------
    reach
        Per player, weight of each hand at the node: its range times its own strategy on the way.
    values
        Per player, counterfactual value of each hand: sum over the opponent's hands of reach times payoff,
        since the start of the hand and over an even split of the dead money.
    action_values
        The same for each action of the player to act, ``[action, hand]``.
    strategy
        Average strategy of the player to act, ``[action, hand]``.
    """

    board: int
    hands: tuple[NDArray[np.int16], NDArray[np.int16]]
    reach: tuple[Floats, Floats]
    values: tuple[Floats, Floats]
    action_values: Floats
    strategy: Floats


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
    ) -> None:
        if precision not in PRECISIONS:
            raise ValueError(f"precision: {precision!r} is unknown; accepted: {', '.join(PRECISIONS)}")
        if precision == "int16" and schedule.predictive:
            raise ValueError(f"schedule: {schedule.name!r} keeps a third table and cannot be compressed")
        if threads < 1:
            raise ValueError(f"threads: {threads} is not a positive number")
        self.tree, self.game, self.schedule, self.precision = tree, game, schedule, precision
        self.iteration = 0
        self.rows = table_rows(tree)
        streets = game.num_deals + 1
        self.deals: Deals = deal(
            game,
            self.rows.num_rows,
            self.rows.num_slots,
            allin_streets(tree, streets),
            isomorphism=isomorphism,
        )
        self.table_bytes = self._table_bytes()
        _refuse_over(memory_limit, self.table_bytes)
        plans, node_rows = zip(*(betting_plan(tree, self.rows, own, streets) for own in range(2)))
        self._node_rows = node_rows
        self._chance = np.ones(streets)
        self._chance[1:] /= len(game.deck) - np.arange(streets - 1) - 2 * game.num_hole
        scales = np.stack([self._chance, [1.0 / num_runouts(game, k) for k in range(streets)]], axis=1)
        sides = self.deals.sides
        self.layouts = tuple(
            Layout._make([*plans[own], self.deals.boards, *sides[own], *sides[1 - own][:3], scales])
            for own in range(2)
        )
        self.threads = min(threads, max(1, int(self.deals.boards[0]["count"])), MAX_GROUPS)
        self.groups = min(MAX_GROUPS, int(self.deals.boards[0]["count"]))
        self.scratch_bytes = self._scratch_bytes()
        _refuse_over(memory_limit, self.memory_bytes)
        self._set_tables(self._new_tables(0), self._new_tables(1))
        self._since = np.zeros((3, 64))
        kind = PRECISIONS[precision][0]
        self._weights = tuple(np.pad(w, (0, padded(len(w)) - len(w))).astype(kind) for w in game.weights)
        self._totals = np.zeros(self._totals_size(), dtype=kind)
        self._work = [self._new_work() for _ in range(self.threads)]
        self._games = tuple(map(Handle, self.layouts))
        self._scratch = tuple(map(Handle, self._work))
        self._pool = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None

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
        if self._pool is None:
            self._call(factors, first, UPDATE, WHOLE, (0, 1), 0)
        else:
            for k in range(iterations):
                for own in range(2):
                    self._share(factors[k : k + 1], first + k, UPDATE, own)
        self.iteration = last

    def root_values(self, player: int, *, best: bool = False) -> Floats:
        """Counterfactual value of each root hand of a player against the opponent's average strategy.

        Parameters
        ----------
        best
            The player responds as well as possible instead of playing its average strategy.
        """
        mode = BEST_RESPONSE if best else EXPECTED
        if self._pool is None:
            self._call(np.ones((1, 4)), self.iteration, mode, WHOLE, (player, player), 0)
        else:
            self._share(np.ones((1, 4)), self.iteration, mode, player)
        return self._work[0].value[: len(self.game.weights[player])].astype(np.float64)

    def evaluate(self) -> Evaluation:
        """Expected values and best responses of the average strategies, exactly."""
        ev = [self._mean(player, self.root_values(player)) for player in range(2)]
        best = [self._mean(player, self.root_values(player, best=True)) for player in range(2)]
        return Evaluation((ev[0], ev[1]), (best[0], best[1]))

    def exploitability(self) -> float:
        """Mean gain of a best response, in chips per deal; below zero only by rounding."""
        if self.tree.rake > 0.0:
            return self.evaluate().exploitability
        # Without rake the game is zero-sum and the expected values cancel.
        return sum(self._mean(player, self.root_values(player, best=True)) for player in range(2)) / 2

    def _mean(self, player: int, values: Floats) -> float:
        return float(self.game.weights[player] @ values) / self.pair_weight

    @cached_property
    def pair_weight(self) -> float:
        """Total weight of the pairs of hands that can be dealt together."""
        return float(self.game.weights[0] @ self.compatible(0, self.game.weights[1]))

    def compatible(self, player: int, reach: Floats, board: int = 0) -> Floats:
        """For each of a player's hands on a board, the opponent's reach over hands without common cards."""
        mine, theirs = self._cards(player, board), self._cards(1 - player, board)
        by_card = np.zeros(64)
        for column in range(2):
            np.add.at(by_card, theirs[:, column], reach)
        # Cards of one-card hands that stand for "none" are not shared by anybody.
        by_card[52:] = 0.0
        result = reach.sum() - by_card[mine[:, 0]] - by_card[mine[:, 1]]
        twins = dict(zip(map(bytes, np.sort(theirs, axis=1)), reach.tolist()))
        return result + np.array([twins.get(bytes(hand), 0.0) for hand in np.sort(mine, axis=1)])

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

    def node_values(self, node: int, board: int = 0) -> NodeValues:
        """Reach, values and strategy at a decision node on a board, under the average strategies."""
        self._slot(node, board)
        acting = int(self.tree.player[node])
        street = int(self.deals.boards[board]["street"])
        path = np.full(self.game.num_deals + 2, -1, dtype=np.int64)
        on_path = board
        while on_path > 0:
            path[self.deals.boards[on_path]["street"]] = on_path
            on_path = int(self.deals.boards[on_path]["parent"])
        # The sweep's reach carries the probability of the public cards.
        chance = float(np.prod(self._chance[: street + 1]))
        strategy = self.strategy(node, board)
        action_values = np.empty(0)
        reach, values = [], []
        for own in range(2):
            self._call(np.ones((1, 4)), self.iteration, EXPECTED, WHOLE, (own, own), 0, path)
            there = self._work_row(0, street, board, 1 - own, int(self._node_rows[own][0, node])) / chance
            reach.append(there)
            if own == acting:
                rows = self._node_rows[own][1, self.tree.children_of(node)].tolist()
                action_values = (
                    np.array([self._work_row(1, street, board, own, row) for row in rows]) / chance
                )
                if not there.any():
                    action_values[:] = 0.0
                values.append((strategy * action_values).sum(axis=0))
            else:
                row = int(self._node_rows[own][1, node])
                values.append(self._work_row(1, street, board, own, row) / chance)
        return NodeValues(
            board=board,
            hands=(self.deals.hands[0][board], self.deals.hands[1][board]),
            reach=(reach[1], reach[0]),
            values=(values[0], values[1]),
            action_values=action_values,
            strategy=strategy,
        )

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
        return arrays

    def load_state(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what `state` returned, from a run on the same game."""
        for name, own in self.state().items():
            if name not in arrays:
                raise ValueError(f"state: {name!r} is missing")
            grows = name[:-1] in ("iteratio", "sinc", "locked")
            if arrays[name].dtype != own.dtype or (not grows and arrays[name].shape != own.shape):
                raise ValueError(f"state: {name!r} belongs to another game, precision or schedule")
        self.iteration = int(arrays["iteration"][0])
        self._since = np.pad(arrays["since"], ((0, 0), (0, 64)))
        tables = []
        for player, mine in enumerate(self.tables):
            for name in ("regret", "average", "nodes"):
                getattr(mine, name)[:] = arrays[f"{name}{player}"]
            if self.schedule.predictive:
                mine.source[:] = arrays[f"source{player}"]
            tables.append(mine._replace(locked=arrays[f"locked{player}"].copy()))
        self._set_tables(tables[0], tables[1])

    def _share(self, factors: Floats, iteration: int, mode: int, own: int) -> None:
        """One sweep on all threads."""
        assert self._pool is not None
        both = (own, own)
        self._call(factors, iteration, mode, DOWN, both, 0)
        jobs = [
            self._pool.submit(self._call, factors, iteration, mode, BELOW, both, thread)
            for thread in range(1, self.threads)
        ]
        self._call(factors, iteration, mode, BELOW, both, 0)
        for job in jobs:
            job.result()
        self._call(factors, iteration, mode, UP, both, 0)

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
        _run(
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
            thread,
            1 if phase == WHOLE else self.threads,
            np.full(self.game.num_deals + 2, -1, dtype=np.int64) if path is None else path,
            self._scratch[0],
            self._scratch[thread],
        )

    def _set_tables(self, first: Tables, second: Tables) -> None:
        self.tables = (first, second)
        self._table_handles = (Handle(first), Handle(second))

    def _new_tables(self, player: int) -> Tables:
        _, regrets, averages = PRECISIONS[self.precision]
        size = self.deals.table_sizes[player]
        nodes = np.zeros(self.deals.num_clocks[player], dtype=NODE)
        nodes["regret_unit"] = nodes["average_unit"] = 1.0
        nodes["lock"] = -1
        regret = np.zeros(size, dtype=regrets)
        source = np.zeros_like(regret) if self.schedule.predictive else regret
        return Tables(regret, np.zeros(size, dtype=averages), source, nodes, np.empty(0, dtype=np.float32))

    def _table_bytes(self) -> int:
        _, regrets, averages = PRECISIONS[self.precision]
        entry = np.dtype(averages).itemsize + np.dtype(regrets).itemsize * (1 + self.schedule.predictive)
        return sum(self.deals.table_sizes) * entry + sum(self.deals.num_clocks) * NODE.itemsize

    def _scratch_bytes(self) -> int:
        size = np.dtype(PRECISIONS[self.precision][0]).itemsize
        shared = [array.nbytes for side in self.deals.sides for array in side]
        pad, lanes, actions, starts = self._work_sizes()
        rows = (
            int(starts[-1, 0] + starts[-1, 1] + starts[-1, 3]) + (6 + 2 * BLOCK + actions) * pad + 4 * lanes
        )
        return sum(shared) + self._totals_size() * size + self.threads * (rows * size + 24 * lanes)

    def _totals_size(self) -> int:
        swaps = 1 + int(self.deals.boards[0]["num_swaps"])
        sizes = [
            int(layout.streets[0]["exits_end"] - layout.streets[0]["exits"])
            * int(layout.own_boards[0]["pad"])
            for layout in self.layouts
        ]
        return self.groups * swaps * max(sizes) + WIDTH

    def _work_sizes(self) -> tuple[int, int, int, NDArray[np.int64]]:
        """Longest row, most lanes, most actions, and where the rows of each street start."""
        streets = self.game.num_deals + 1
        starts = np.zeros((streets + 1, 4), dtype=np.int64)
        lanes = actions = 0
        for k in range(streets):
            here = self.deals.boards["street"] == k
            copies = 1 + int(self.deals.boards["num_swaps"][here].max())
            for layout in self.layouts:
                street = layout.streets[k]
                own_pad = int(layout.own_boards["pad"][here].max())
                reach = int(street["reach_rows"]) * int(layout.opp_boards["pad"][here].max())
                totals = copies * int(street["exits_end"] - street["exits"]) * own_pad
                sizes = (reach, int(street["value_rows"]) * own_pad, int(street["reach_rows"]), totals)
                starts[k + 1] = np.maximum(starts[k + 1], starts[k] + sizes)
                lanes = max(lanes, int(street["lanes_end"] - street["lanes"]))
                actions = max(
                    actions, int(layout.updates["actions"].max()), int(layout.splits["actions"].max())
                )
        return zero_row(self.game), lanes + 4 * WIDTH, actions, starts

    def _new_work(self) -> Work:
        pad, lanes, actions, starts = self._work_sizes()

        def zeros(size: int) -> NDArray[Any]:
            return np.zeros(size, dtype=PRECISIONS[self.precision][0])

        reach, value, alive, totals = (int(size) for size in starts[-1])
        return Work(
            # Runs of hands are copied in full vectors and may touch what follows a row.
            reach=zeros(reach + 2 * pad),
            value=zeros(value + 2 * pad),
            alive=np.zeros(alive, dtype=np.uint8),
            totals=zeros(totals + WIDTH),
            starts=starts,
            x=zeros((pad + 1) * BLOCK),
            y=zeros(pad * BLOCK),
            sums=zeros(SUMS_SIZE),
            hands1=zeros(pad),
            hands2=zeros(pad),
            fresh=zeros(actions * pad),
            lanes=np.zeros(3 * lanes, dtype=np.int64),
            pays=zeros(4 * lanes),
            mask=np.repeat([1.0, 0.0], WIDTH).astype(PRECISIONS[self.precision][0]),
            cursor=np.zeros((self.game.num_deals + 2, 2), dtype=np.int64),
        )


def _refuse_over(limit: int | None, size: int) -> None:
    if limit is not None and size > limit:
        raise ValueError(
            f"memory: the tree needs {size / 2**20:,.0f} MiB, over the limit of {limit / 2**20:,.0f} MiB; "
            "use fewer sizes, narrower ranges or 16-bit tables"
        )
