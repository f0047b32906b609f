"""The arrays that a sweep reads and writes, in groups that kernels take as one handle each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Layout(NamedTuple):
    """Everything a sweep reads about a game, for one updating player.

    First its `BettingPlan`, then the boards of `Deals`, its `Side` and the start of the opponent's. `scales` holds per
    street the factors of reach and of all-in values. `leaf_reach` is where a sweep saves the opponent's reach at the
    leaves, `leaf_values` where it finds the player's values; the starts say where a board's part begins
    (`solver.exact.leaf_rows`). The last ones are the player's `solver.exact.pair_weights.PairTables`.
    """

    streets: NDArray[np.void]
    splits: NDArray[np.void]
    updates: NDArray[np.void]
    children: NDArray[np.int32]
    lanes: NDArray[np.void]
    allins: NDArray[np.void]
    exits: NDArray[np.void]
    leaves: NDArray[np.void]
    clear: NDArray[np.int32]
    boards: NDArray[np.void]
    own_boards: NDArray[np.void]
    own_hands: NDArray[np.void]
    own_runs: NDArray[np.void]
    own_groups: NDArray[np.void]
    own_swap: NDArray[np.int16]
    own_allin: NDArray[np.int16]
    own_mirrors: NDArray[np.void]
    opp_boards: NDArray[np.void]
    opp_hands: NDArray[np.void]
    opp_runs: NDArray[np.void]
    scales: NDArray[np.float64]
    opp_leaf_starts: NDArray[np.int64]
    leaf_reach: NDArray[Any]
    own_leaf_starts: NDArray[np.int64]
    leaf_values: NDArray[Any]
    pair_starts: NDArray[np.int64]
    pair_weights: NDArray[Any]
    pair_own_factors: NDArray[Any]
    pair_opp_factors: NDArray[Any]
    pair_bounds: NDArray[np.void]
    pair_correction_starts: NDArray[np.int64]
    pair_corrections: NDArray[Any]
    pair_allin_starts: NDArray[np.int64]
    pair_allin: NDArray[Any]


#: State of a node on a board: the units of 16-bit entries, the last iteration whose discounts are applied, and
#: the start of its fixed strategy in `Tables.locked` (-1 for none).
NODE = np.dtype(
    [
        ("regret_unit", np.float32),
        ("average_unit", np.float32),
        ("regret_clock", np.int32),
        ("average_clock", np.int32),
        ("lock", np.int64),
    ],
    align=True,
)


class Tables(NamedTuple):
    """One player's tables.

    Attributes
    ----------
    regret, average
        Cumulative regrets, and the numerator of the average strategy.
    source
        Regrets that the current strategy is matched to: `regret` itself, or the predicted ones.
    nodes
        State of each node on each board, as `NODE`.
    locked
        Fixed probabilities ``[action, hand]``, negative for hands that are free.
    """

    regret: NDArray[Any]
    average: NDArray[Any]
    source: NDArray[Any]
    nodes: NDArray[np.void]
    locked: NDArray[np.float32]


class Discounts(NamedTuple):
    """Factors of one iteration: `since` has rows positive, negative, average, columns the node's clock."""

    iteration: int
    since: NDArray[np.float64]
    prediction: float
    floor_negative: bool
    predictive: bool


class Work(NamedTuple):
    """Scratch of one thread.

    `reach`, `value`, `alive` and `totals` hold the rows of every street, from the columns of `starts` on; the
    last hands of `reach` stay zero and those of `value` are never read. `x`, `y` and `sums` belong to
    `solver.exact.terminals`, `met` with them to `solver.exact.paired_terminals`; `lanes` holds the offsets of the
    reach, showdown and fold rows of each lane, `rows` those of an all-in matrix. `cursor` holds, per street, the next
    board and the end of its siblings.
    """

    reach: NDArray[Any]
    value: NDArray[Any]
    alive: NDArray[np.uint8]
    totals: NDArray[Any]
    starts: NDArray[np.int64]
    x: NDArray[Any]
    y: NDArray[Any]
    met: NDArray[Any]
    sums: NDArray[Any]
    hands1: NDArray[Any]
    hands2: NDArray[Any]
    fresh: NDArray[Any]
    rows: NDArray[np.int64]
    lanes: NDArray[np.int64]
    pays: NDArray[Any]
    mask: NDArray[Any]
    cursor: NDArray[np.int64]
