"""Passes over whole tables: discounts, what a stream changed, and the average strategy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solver.cfr.schedules import DiscountWeights
from solver.multiway.deals import WIDTH
from solver.multiway.game import MultiwayGame

#: Entries that are sent or left out together.
BLOCK = 256

Table = NDArray[np.float32]


class Change(NamedTuple):
    """What a stream adds to a table: numbers of the blocks, and their entries."""

    blocks: NDArray[np.int32]
    added: NDArray[np.float32]


@njit(cache=True, nogil=True)
def _discount(table: Any, positive: Any, negative: Any) -> None:
    for k in range(table.shape[0]):
        table[k] *= positive if table[k] > 0 else negative


@njit(cache=True, nogil=True)
def _changed_blocks(before: Any, after: Any, blocks: Any) -> int:
    count = 0
    for block in range((before.shape[0] + BLOCK - 1) // BLOCK):
        start = block * BLOCK
        stop = min(start + BLOCK, before.shape[0])
        differs = False
        for k in range(start, stop):
            differs |= before[k] != after[k]
        if differs:
            blocks[count] = block
            count += 1
    return count


@njit(cache=True, nogil=True)
def _differences(before: Any, after: Any, blocks: Any, added: Any) -> None:
    for row in range(blocks.shape[0]):
        start = np.int64(blocks[row]) * BLOCK
        for k in range(min(BLOCK, before.shape[0] - start)):
            added[row, k] = after[start + k] - before[start + k]


@njit(cache=True, nogil=True)
def _add(table: Any, blocks: Any, added: Any, weight: Any) -> None:
    for row in range(blocks.shape[0]):
        start = np.int64(blocks[row]) * BLOCK
        for k in range(min(BLOCK, table.shape[0] - start)):
            table[start + k] += weight * added[row, k]


def discount(table: Table, weights: DiscountWeights) -> None:
    """Multiply regrets by the factors of an epoch."""
    _discount(table, np.float32(weights.positive), np.float32(weights.negative))


def change(before: Table, after: Table) -> Change:
    """What was added to a table since `before`."""
    blocks = np.empty(-(-len(before) // BLOCK), np.int32)
    found = blocks[: _changed_blocks(before, after, blocks)].copy()
    added = np.zeros((len(found), BLOCK), np.float32)
    _differences(before, after, found, added)
    return Change(found, added)


def add(table: Table, changes: Change, weight: float) -> None:
    """Add a change, times a weight, to a table."""
    _add(table, changes.blocks, changes.added, np.float32(weight))


@njit(cache=True, nogil=True, fastmath=True)
def _add_preflop_average(
    betting: Any, own_rows: Any, regret: Any, factor: Any, average: Any, reach: Any
) -> None:
    """Top down: the reach of every seat's own actions times its strategy, exact for all lines and classes."""
    total = np.zeros(WIDTH, np.float32)
    for node in range(betting.player.shape[0]):
        if betting.player[node] < 0:
            continue
        row, actions = np.int64(betting.row[node]), betting.actions[node]
        before = own_rows[node]
        total[:] = 0
        for k in range(actions):
            for c in range(WIDTH):
                total[c] += max(regret[(row + k) * WIDTH + c], np.float32(0))
        even = np.float32(1) / actions
        for k in range(actions):
            start = (row + k) * WIDTH
            for c in range(WIDTH):
                positive = max(regret[start + c], np.float32(0))
                share = positive / total[c] if total[c] > 0 else even
                arrived = reach[before, c] if before >= 0 else np.float32(1)
                reach[row + k, c] = arrived * share
                average[start + c] = factor * average[start + c] + arrived * share


@njit(cache=True, nogil=True, fastmath=True)
def _add_later_average(
    templates: Any, root: Any, stop: Any, widths: Any, regret: Any, factor: Any, average: Any
) -> None:
    """The strategy of a table after the flop as it is now, every bucket alike."""
    total = np.zeros(widths.max(), np.float32)
    for node in range(root, stop):
        if templates.player[node] < 0:
            continue
        width = widths[templates.street[node]]
        row, actions = templates.row[node], templates.actions[node]
        even = np.float32(1) / actions
        total[:width] = 0
        for k in range(actions):
            own = regret[templates.entry[row + k] : templates.entry[row + k] + width]
            for b in range(width):
                total[b] += max(own[b], np.float32(0))
        for k in range(actions):
            entry = templates.entry[row + k]
            own, mean = regret[entry : entry + width], average[entry : entry + width]
            for b in range(width):
                share = max(own[b], np.float32(0)) / total[b] if total[b] > 0 else even
                mean[b] = factor * mean[b] + share


def add_average(
    game: MultiwayGame, regret: Table, average: Table, factor: float, reach: NDArray[np.float32]
) -> None:
    """Add the strategy of these regrets to the average, after the average was multiplied by a factor.

    Before the flop strategies count by the own reach, which is exact. After the flop reach depends on hands that share
    a bucket with others, so every epoch counts the same there.
    """
    arrays, scale = game.arrays, np.float32(factor)
    _add_preflop_average(arrays.betting, game.own_rows, regret, scale, average, reach)
    if game.postflop is not None:
        widths = np.array(game.postflop.widths, np.int64)
        for start, root, stop in game.postflop.tables:
            part = slice(arrays.preflop_entries + start, None)
            _add_later_average(
                arrays.templates, np.int64(root), np.int64(stop), widths, regret[part], scale, average[part]
            )


@njit(cache=True, nogil=True)
def _normalise_rows(row: Any, actions: Any, width: Any, entry: Any, start: Any, table: Any) -> None:
    """Make the entries of a decision's actions probabilities, even where all of them are zero."""
    for b in range(width):
        total = 0.0
        for k in range(actions):
            total += max(table[start + entry[row + k] + b], np.float32(0))
        for k in range(actions):
            at = start + entry[row + k] + b
            table[at] = max(table[at], np.float32(0)) / total if total > 0 else 1.0 / actions


@njit(cache=True, nogil=True)
def _normalise(
    player: Any, row: Any, actions: Any, width: Any, entry: Any, first: Any, stop: Any, start: Any, table: Any
) -> None:
    for node in range(first, stop):
        if player[node] >= 0:
            _normalise_rows(row[node], actions[node], width[node], entry, start, table)


def normalised(game: MultiwayGame, average: Table) -> Table:
    """Probabilities of a table of weights."""
    table = average.copy()
    arrays = game.arrays
    betting = arrays.betting
    nodes = len(betting.player)
    entry = np.arange(game.rows, dtype=np.int64) * WIDTH
    width = np.full(nodes, WIDTH, np.int64)
    _normalise(betting.player, betting.row, betting.actions, width, entry, 0, nodes, 0, table)
    if game.postflop is not None:
        templates = arrays.templates
        width = np.array(game.postflop.widths, np.int64)[templates.street]
        for start, root, stop in game.postflop.tables:
            _normalise(
                templates.player,
                templates.row,
                templates.actions,
                width,
                templates.entry,
                root,
                stop,
                arrays.preflop_entries + start,
                table,
            )
    return table
