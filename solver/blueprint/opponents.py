"""Opponents that respond on the river: what a player is trained against when it is trained in a game of its own.

In the abstract game both players are blind to what their buckets hide, so a strategy that is safe there can lose much
to someone who sees real cards. An opponent of this kind sees them where it costs least: on the river, where the board
is complete, it plays the exact best response to the trained player's present strategy, hand by hand. On flop and turn
it learns by regrets, in tables of its own by bucket. It has no average and no river table.

Each player is trained in its own game, so there are two opponents: the one in the game of player 0 acts as player 1,
and the other way round. Together they have every decision of flop and turn once, in one table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.blueprint.board_play import table_side
from solver.blueprint.boards import NUM_LIVE, BoardHands, Bucketing
from solver.blueprint.late_discounts import _refresh
from solver.blueprint.rows import RowKey
from solver.blueprint.sweep_arrays import Runs, Side
from solver.blueprint.tables import TableLayout
from solver.cfr.simd import WIDTH

#: Streets on which opponents have tables.
STREETS = (0, 1)


class Opponents:
    """Flop and turn regrets of both opponents, and their choices on the rivers of an iteration.

    Parameters
    ----------
    layout
        Of the trained tables; the opponents' are laid out alike.
    bucketing
        Buckets that they see on flop and turn.
    dtype
        Element type of the table.
    """

    def __init__(self, layout: TableLayout, bucketing: Bucketing, dtype: Any = np.float32) -> None:
        self.bucketing = bucketing
        flop, turn, _ = bucketing.num_buckets
        self.layout = TableLayout(layout.plan, (flop, turn, 0), layout.num_textures)
        self.regret = np.zeros(self.layout.size, dtype=dtype)
        self.clocks = [
            np.zeros((layout.num_textures, buckets), dtype=np.int32)
            for buckets in self.layout.num_buckets[: len(STREETS)]
        ]
        self._river_rows = layout.plan.action_rows()[2]
        self._choices: dict[tuple[int, int, int], NDArray[np.uint8]] = {}
        self._no_average = np.zeros(0, dtype=dtype)

    def side(self, deal: BoardHands, texture: int) -> Side:
        """What a sweep reads about the opponents; the river is not read."""
        return table_side(self.layout, self.regret, (*self._runs(deal), deal.runs[2]), texture)

    @staticmethod
    def _runs(deal: BoardHands) -> tuple[Runs, Runs]:
        if deal.opponent_runs is None:
            raise ValueError("deal: its hands have no buckets of opponents")
        return deal.opponent_runs

    def choices(self, trained: int, board: int, number: int) -> NDArray[np.uint8]:
        """Choices in the game of player `trained` on a board of the iteration, in round `number` of its lines."""
        key = trained, board, number
        if key not in self._choices:
            # Only the first action row of a node is ever touched, and only touched memory is taken.
            self._choices[key] = np.zeros(self._river_rows * NUM_LIVE * WIDTH, dtype=np.uint8)
        return self._choices[key]

    def refresh(self, deal: BoardHands, texture: int, epoch: int, factors: NDArray[np.float64]) -> None:
        """Apply the discounts that the buckets of a board have missed."""
        runs, starts = self._runs(deal), self.layout.starts(texture)
        for street in STREETS:
            _refresh(
                self.layout.plan.programs[0],
                street,
                runs[street],
                starts[street],
                self.layout.num_buckets[street],
                self.regret,
                self._no_average,
                self.clocks[street][texture],
                epoch,
                factors,
            )

    def state(self, types: tuple[int, ...], texture: int, slot: int) -> dict[str, NDArray[Any]]:
        """Everything `restore` needs about the rows of one texture, by `opponent_names`."""
        return {
            name: self.clocks[street][slot].copy()
            if k is None
            else self.layout.rows(self.regret, k, street, slot)
            for name, street, k in _places(types, texture)
        }

    def restore(
        self, state: dict[str, NDArray[Any]], types: tuple[int, ...], texture: int, slot: int
    ) -> None:
        """Continue from a saved `state`."""
        for name, street, k in _places(types, texture):
            if k is None:
                self.clocks[street][slot] = state[name]
            else:
                self.layout.fill(self.regret, k, street, state[name], slot)


def _places(types: Sequence[int], texture: int) -> list[tuple[str, int, int | None]]:
    """Per array of a saved state: its name, its street, and which of the pot types it is of (None: a clock)."""
    places: list[tuple[str, int, int | None]] = []
    for street in STREETS:
        places.append((f"opponent_clock/{texture}/{street}", street, None))
        for k, pot_type in enumerate(types):
            places.append((RowKey(pot_type, texture, street).name("opponent"), street, k))
    return places


def opponent_names(types: Sequence[int], texture: int) -> list[str]:
    """Names of the opponents' arrays of a texture in a trainer's state."""
    return [name for name, _, _ in _places(types, texture)]
