"""Memory of an engine: its tables, and the scratch that each thread sweeps with."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.cfr.simd import WIDTH
from solver.exact.card_game import CardGame
from solver.exact.deals import Deals, zero_row
from solver.exact.sweep_arrays import NODE, Layout, Tables, Work
from solver.exact.terminals import BLOCK, SUMS_SIZE

#: Bytes.
CACHE_LINE = 64


class Precision(NamedTuple):
    """Number types: of reach and values in a sweep, of regrets and of averages in the tables."""

    rows: type[np.floating]
    regrets: type[np.number]
    averages: type[np.number]


PRECISIONS = {
    "float32": Precision(np.float32, np.float32, np.float32),
    "float64": Precision(np.float64, np.float64, np.float64),
    "int16": Precision(np.float32, np.int16, np.uint16),
}


def table_bytes(deals: Deals, precision: Precision, predictive: bool) -> int:
    """Bytes of both players' tables."""
    entry = np.dtype(precision.averages).itemsize + np.dtype(precision.regrets).itemsize * (1 + predictive)
    return sum(deals.table_sizes) * entry + sum(deals.num_clocks) * NODE.itemsize


def new_tables(deals: Deals, player: int, precision: Precision, predictive: bool) -> Tables:
    """Empty tables of a player."""
    size = deals.table_sizes[player]
    nodes = np.zeros(deals.num_clocks[player], dtype=NODE)
    nodes["regret_unit"] = nodes["average_unit"] = 1.0
    nodes["lock"] = -1
    regret = aligned_zeros(size, precision.regrets)
    source = aligned_zeros(size, precision.regrets) if predictive else regret
    return Tables(
        regret, aligned_zeros(size, precision.averages), source, nodes, np.empty(0, dtype=np.float32)
    )


def aligned_zeros(size: int, dtype: Any) -> NDArray[Any]:
    """Zeros that start at a cache line, so that vectors of a row do not lie across two."""
    item = np.dtype(dtype).itemsize
    raw = np.zeros(size + CACHE_LINE // item, dtype=dtype)
    first = -raw.ctypes.data % CACHE_LINE // item
    return raw[first : first + size]


class WorkSizes(NamedTuple):
    """Sizes of a thread's scratch: the longest row, the same for `Work.met` (0 where it is not used), the most lanes
    and actions, and where each street's rows start."""

    pad: int
    met: int
    lanes: int
    actions: int
    starts: NDArray[np.int64]


def work_sizes(game: CardGame, deals: Deals, layouts: tuple[Layout, Layout]) -> WorkSizes:
    """Sizes of the scratch that serves both players' sweeps."""
    streets = len(layouts[0].streets)
    starts = np.zeros((streets + 1, 4), dtype=np.int64)
    lanes = actions = 0
    for k in range(streets):
        here = deals.boards["street"] == k
        copies = 1 + int(deals.boards["num_swaps"][here].max())
        for layout in layouts:
            street = layout.streets[k]
            own_pad = int(layout.own_boards["pad"][here].max())
            reach = int(street["reach_rows"]) * int(layout.opp_boards["pad"][here].max())
            totals = copies * int(street["exits_end"] - street["exits"]) * own_pad
            sizes = (reach, int(street["value_rows"]) * own_pad, int(street["reach_rows"]), totals)
            starts[k + 1] = np.maximum(starts[k + 1], starts[k] + sizes)
            lanes = max(lanes, int(street["lanes_end"] - street["lanes"]))
            actions = max(
                actions,
                int(layout.updates["actions"].max(initial=0)),
                int(layout.splits["actions"].max(initial=0)),
            )
    met = 0 if game.folded is None else zero_row(game)
    return WorkSizes(zero_row(game), met, lanes + 4 * WIDTH, actions, starts)


def work_bytes(sizes: WorkSizes, precision: Precision) -> int:
    """Bytes of one thread's scratch."""
    pad, met, lanes, actions, starts = sizes
    rows = int(starts[-1, 0] + starts[-1, 1] + starts[-1, 3]) + (6 + 2 * BLOCK + actions) * pad + 4 * lanes
    rows += met * BLOCK
    return rows * np.dtype(precision.rows).itemsize + 24 * lanes + 8 * pad


def new_work(sizes: WorkSizes, precision: Precision) -> Work:
    """Scratch of one thread."""
    pad, met, lanes, actions, starts = sizes

    def zeros(size: int) -> NDArray[Any]:
        return aligned_zeros(size, precision.rows)

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
        met=zeros(met * BLOCK),
        sums=zeros(SUMS_SIZE),
        hands1=zeros(pad),
        hands2=zeros(pad),
        fresh=zeros(actions * pad),
        rows=np.zeros(pad, dtype=np.int64),
        lanes=np.zeros(3 * lanes, dtype=np.int64),
        pays=zeros(4 * lanes),
        mask=np.repeat([1.0, 0.0], WIDTH).astype(precision.rows),
        cursor=np.zeros((len(starts), 2), dtype=np.int64),
    )


def totals_size(deals: Deals, layouts: tuple[Layout, Layout], groups: int) -> int:
    """Entries of the totals in which the groups of the root's boards add up their values."""
    swaps = 1 + int(deals.boards[0]["num_swaps"])
    sizes = [
        int(layout.streets[0]["exits_end"] - layout.streets[0]["exits"]) * int(layout.own_boards[0]["pad"])
        for layout in layouts
    ]
    return groups * (swaps * max(sizes) + WIDTH)


def refuse_over(limit: int | None, size: int) -> None:
    """Refuse a game that needs more bytes than a limit."""
    if limit is not None and size > limit:
        raise ValueError(
            f"memory: the tree needs {size / 2**20:,.0f} MiB, over the limit of {limit / 2**20:,.0f} MiB; "
            "use fewer sizes, narrower ranges or 16-bit tables"
        )
