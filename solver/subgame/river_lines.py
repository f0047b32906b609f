"""Lines that begin the river in buckets, with reach and values laid out as the lanes of their blocks.

Where a search ends on the turn, the same lines are swept on several rivers in every iteration. So reach is put into the
order of the lanes once, ``[block, combo, lane]``, and every river reads whole vectors of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import NUM_COMBOS
from solver.blueprint.boards import BoardHands
from solver.blueprint.node_kernels import _ascend, _descend
from solver.blueprint.sweep_arrays import EXPECTED, UPDATE, Work
from solver.blueprint.terminals import _any_positive, _terminals
from solver.cfr.simd import WIDTH, load, load_as, splat, store
from solver.subgame.bucketed_lines import BucketedLines, RunOuts
from solver.subgame.leaf_boards import LeafBoard

#: Entries of a block: a number per combo and lane.
BLOCK_SIZE = NUM_COMBOS * WIDTH
#: Place of the river among the streets that have buckets.
RIVER = 2


class RiverLines(BucketedLines):
    """Lines that begin the river, as `BucketedLines`."""

    @property
    def _kernel(self) -> Any:
        return _sweep_river

    def _shape(self) -> tuple[int, ...]:
        return (len(self.plan.blocks) * BLOCK_SIZE,)

    def _spread(
        self, reach: NDArray[Any], places: NDArray[np.int64], combos: NDArray[np.int64], out: NDArray[Any]
    ) -> None:
        _spread_lanes(reach, places, combos, self.plan.programs[0].entry, out)

    def _collect(
        self,
        found: NDArray[np.float64],
        board: LeafBoard,
        places: NDArray[np.int64],
        combos: NDArray[np.int64],
        values: NDArray[np.float64],
    ) -> None:
        if len(board.renamings) > 1:
            lanes = found.reshape(-1, NUM_COMBOS, WIDTH)
            lanes[:] = board.evened(lanes.transpose(0, 2, 1)).transpose(0, 2, 1)
        _collect_lanes(found, places, combos, self.plan.programs[0].entry, values)

    def _arguments(
        self, own: int, deal: BoardHands, run_outs: RunOuts, work: Work, found: NDArray[np.float64]
    ) -> tuple[Any, ...]:
        learns = run_outs.learns
        return (
            self.plan.programs[own],
            self.pays[own],
            deal.hands,
            deal.combos,
            self.masses[own],
            deal.runs[RIVER],
            self.regret if learns else self.average,
            self._starts,
            self._counts,
            self._arriving[own],
            self.average,
            UPDATE if learns else EXPECTED,
            run_outs.weight,
            work,
            found,
        )


@njit(cache=True, nogil=True)
def _spread_lanes(rows: Any, lines: Any, combos: Any, entry: Any, out: Any) -> None:
    """Reach by hand of some lines as reach by combo and lane."""
    for k in range(len(lines)):
        start = entry[k, 0] * BLOCK_SIZE + entry[k, 1]
        for h in range(len(combos)):
            out[start + combos[h] * WIDTH] = rows[lines[k], h]


@njit(cache=True, nogil=True)
def _collect_lanes(values: Any, lines: Any, combos: Any, entry: Any, out: Any) -> None:
    """Values by combo and lane of some lines as values by hand."""
    for k in range(len(lines)):
        start = entry[k, 0] * BLOCK_SIZE + entry[k, 1]
        for h in range(len(combos)):
            out[lines[k], h] = values[start + combos[h] * WIDTH]


@njit(cache=True, nogil=True)
def _sweep_river(
    lanes: Any,
    pays: Any,
    hands: Any,
    keys: Any,
    masses: Any,
    runs: Any,
    source: Any,
    tables: Any,
    num_buckets: Any,
    reach: Any,
    average: Any,
    mode: int,
    weight: float,
    work: Any,
    out: Any,
) -> None:
    """Sweep all lines on one river for the lanes' own player, adding root values times `weight` to `out`.

    `masses` holds how much each combo counts in what its bucket learns. The other arguments are those of
    `solver.blueprint.sweep._sweep_board`, with both players in the same tables.
    """
    n = len(keys)
    size = np.int64(n * WIDTH)
    mass = masses[keys]
    gain = weight if mode == UPDATE else 0.0
    table, buckets = tables[RIVER], num_buckets[RIVER]
    for b in range(lanes.street_blocks[RIVER], lanes.street_blocks[RIVER + 1]):
        block = lanes.blocks[b]
        root, first = block.reach * size, b * BLOCK_SIZE
        for h in range(n):
            store(work.reach, root + h * WIDTH, load(reach, first + np.int64(keys[h]) * WIDTH))
        work.alive[block.reach] = _any_positive(work.reach, root, size)
        if work.alive[block.reach] == 0:
            continue
        _descend(lanes, b, n, runs, source, table, buckets, average, gain, work)
        _terminals(lanes, b, n, hands, pays, work)
        _ascend(lanes, b, n, runs, mass, source, table, buckets, mode, weight, work)
        root = block.value * size
        scale = splat(out, weight)
        for h in range(n):
            to = first + np.int64(keys[h]) * WIDTH
            store(out, to, load(out, to) + scale * load_as(work.value, root + h * WIDTH, out))
