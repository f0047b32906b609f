"""Passes over whole tables: what a stream changed, and the average strategy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solver.multiway.deals import WIDTH
from solver.multiway.game import MultiwayGame
from solver.multiway.matching import _match

#: Entries that are sent or left out together.
BLOCK = 256

Table = NDArray[np.float32]


class Change(NamedTuple):
    """What a stream adds to a table: numbers of the blocks, and their entries."""

    blocks: NDArray[np.int32]
    added: NDArray[np.float32]


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


@njit(cache=True, nogil=True)
def _add_preflop_average(
    betting: Any, own_rows: Any, regret: Any, factor: Any, average: Any, reach: Any
) -> None:
    """Top down: the reach of every seat's own actions times its strategy, exact for all lines and classes."""
    total = np.zeros(WIDTH, np.float32)
    share = np.zeros((betting.actions.max(), WIDTH), np.float32)
    for node in range(betting.player.shape[0]):
        if betting.player[node] < 0:
            continue
        row, actions = np.int64(betting.row[node]), betting.actions[node]
        before = own_rows[node]
        _match(regret, row * WIDTH, WIDTH, actions, WIDTH, share, total)
        for k in range(actions):
            mean, onward = average[(row + k) * WIDTH : (row + k + 1) * WIDTH], reach[row + k]
            for c in range(WIDTH):
                arrived = reach[before, c] if before >= 0 else np.float32(1)
                onward[c] = arrived * share[k, c]
                mean[c] = factor * mean[c] + onward[c]


@njit(cache=True, nogil=True)
def _add_later_average(
    templates: Any, root: Any, stop: Any, widths: Any, regret: Any, factor: Any, average: Any
) -> None:
    """The strategy of a table after the flop as it is now, every bucket alike."""
    total = np.zeros(widths.max(), np.float32)
    share = np.zeros((templates.actions[root:stop].max(), widths.max()), np.float32)
    for node in range(root, stop):
        if templates.player[node] < 0:
            continue
        width = widths[templates.street[node]]
        row, actions = templates.row[node], templates.actions[node]
        _match(regret, templates.entry[row], width, actions, width, share, total)
        for k in range(actions):
            entry = templates.entry[row + k]
            mean = average[entry : entry + width]
            for b in range(width):
                mean[b] = factor * mean[b] + share[k, b]


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
def _normalise(
    player: Any, row: Any, actions: Any, width: Any, entry: Any, first: Any, stop: Any, start: Any, table: Any
) -> None:
    """Make the entries of the actions of decisions ``first .. stop - 1`` probabilities."""
    widest = width[first:stop].max()
    total = np.zeros(widest, np.float32)
    share = np.zeros((actions[first:stop].max(), widest), np.float32)
    for node in range(first, stop):
        if player[node] < 0:
            continue
        begin = start + entry[row[node]]
        _match(table, begin, width[node], actions[node], width[node], share, total)
        for k in range(actions[node]):
            at = begin + k * width[node]
            table[at : at + width[node]] = share[k, : width[node]]


@njit(cache=True, nogil=True)
def _take_ahead(
    player: Any,
    row: Any,
    actions: Any,
    width: Any,
    entry: Any,
    first: Any,
    stop: Any,
    start: Any,
    tables: Any,
) -> None:
    """Where an action's total is above its bound, take the action with the largest total and no other."""
    table, total, bound = tables
    for node in range(first, stop):
        if player[node] < 0:
            continue
        begin = start + entry[row[node]]
        for b in range(begin, begin + width[node]):
            best = 0
            for k in range(1, actions[node]):
                if total[b + k * width[node]] > total[b + best * width[node]]:
                    best = k
            if total[b + best * width[node]] > bound[b + best * width[node]]:
                for k in range(actions[node]):
                    table[b + k * width[node]] = 1 if k == best else 0


def _decisions(game: MultiwayGame) -> Iterator[tuple[Any, ...]]:
    """By part of a table: player, row, actions and columns by node, entries by row, nodes from and to, first entry."""
    arrays = game.arrays
    betting = arrays.betting
    nodes = len(betting.player)
    entry = np.arange(game.rows, dtype=np.int64) * WIDTH
    width = np.full(nodes, WIDTH, np.int64)
    yield betting.player, betting.row, betting.actions, width, entry, 0, nodes, 0
    if game.postflop is not None:
        templates = arrays.templates
        width = np.array(game.postflop.widths, np.int64)[templates.street]
        nodes_of = templates.player, templates.row, templates.actions, width, templates.entry
        for start, root, stop in game.postflop.tables:
            yield *nodes_of, root, stop, arrays.preflop_entries + start


def normalised(game: MultiwayGame, average: Table) -> Table:
    """Probabilities of a table of weights."""
    table = average.copy()
    for decisions in _decisions(game):
        _normalise(*decisions, table)
    return table


def improve(
    game: MultiwayGame, table: Table, total: Table, error: Table, confidence: Sequence[float]
) -> None:
    """Take the action with the largest `total` wherever that is above zero by so many standard errors.

    `confidence` is for decisions before and after the flop.
    """
    bound = error * np.float32(confidence[0])
    bound[game.arrays.preflop_entries :] = error[game.arrays.preflop_entries :] * np.float32(confidence[1])
    for decisions in _decisions(game):
        _take_ahead(*decisions, (table, total, bound))
