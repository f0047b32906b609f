"""Exact equities: every hand against every hand, on any board, over every runout.

Two enumerations, neither sampled. The preflop table counts wins class against class over the 134,459
canonical rivers weighted by the real boards they stand for. Equities of combos sweep each river's hands from
weakest to strongest, keeping the opponent's weight passed so far in total and per card, so that card removal
is two subtractions per hand. Before the flop the sweep, too, runs over canonical rivers: the 24 renamings of
a board are 24 renamings of the opponent's range, carried side by side as lanes (equal ones share a lane).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import (
    CLASS_COMBOS,
    CLASS_OF_COMBO,
    COMBO_CARDS,
    NUM_CARDS,
    NUM_CLASSES,
    NUM_COMBOS,
    check_board,
    format_cards,
    live_combos,
    parse_board,
)
from abstractions.evaluator import _board_strengths, _sort_hands, _sorted_board
from abstractions.isomorphism import COMBO_PERMUTATION, canonical_boards
from abstractions.ranges import check_weights, class_weights, parse_range

_CHUNK = 4096
_FIRST_OF_CLASS = np.unique(CLASS_OF_COMBO, return_index=True)[1]
# Up to this many combos, a sweep over them is quicker than computing the preflop table.
_FEW_COMBOS = 200


def _slot_tables() -> tuple[NDArray[np.uint8], NDArray[np.intp]]:
    """Slot of each combo's class among the classes with its low and its high card's rank, and the inverse.

    The slot is the rank of the other card, plus 13 for an offsuit hand. The inverse, [169, 2, 26], holds the
    class of each slot for the low (0) and high (1) rank of a class.
    """
    ranks, suits = COMBO_CARDS // 4, COMBO_CARDS % 4
    offsuit = (suits[:, 0] != suits[:, 1]) & (ranks[:, 0] != ranks[:, 1])
    slots = (ranks[:, ::-1] + 13 * offsuit[:, None]).astype(np.uint8)
    class_of_slot = np.zeros((13, 26), dtype=np.intp)
    class_of_slot[ranks, slots] = CLASS_OF_COMBO[:, None]
    class_ranks = np.zeros((NUM_CLASSES, 2), dtype=np.intp)
    class_ranks[CLASS_OF_COMBO] = ranks
    return slots, class_of_slot[class_ranks]


_CLASS_SLOTS, _SLOT_CLASSES = _slot_tables()


@njit(cache=True, nogil=True)
def _count_class_wins(
    rivers: Any, weights: Any, class_of: Any, combo_cards: Any, slots: Any, wins: Any, blocked: Any
) -> None:
    """Count, weighted, the combo pairs in which a combo of class A beats one of class B.

    ``wins[A, B]`` takes all pairs and ``blocked[A, 32 * side + slot]`` those that share A's card of the lower
    (side 0) or higher (side 1) rank, once per shared card; their difference counts disjoint pairs. Combos
    that hold a given card belong to only 25 classes, hence the slots.

    `below` counts the weaker combos by class, `below_with[c]` those that hold card c, by slot. A run of
    combos of one class and strength is served at once. No count or sum of counts over a run exceeds
    12 * 12 < 256, so bytes hold them, and eight are added at a time as one integer.
    """
    strengths = np.empty(1326, np.int16)
    order = np.empty(1326, np.int16)
    below = np.empty(wins.shape[1], np.uint8)
    below_with = np.empty((52, 32), np.uint8)
    shared = np.empty(64, np.uint8)
    below_with_words = below_with.view(np.int64)
    shared_words = shared.view(np.int64)
    for river in range(rivers.shape[0]):
        count = _sorted_board(rivers[river], strengths, order)
        below[:] = 0
        below_with_words[:] = 0
        weight = np.int32(weights[river])
        start = 0
        while start < count:
            strength = strengths[order[start]]
            stop = start
            while stop < count and strengths[order[stop]] == strength:
                hand_class = class_of[order[stop]]
                first = stop
                low0 = low1 = low2 = low3 = 0
                high0 = high1 = high2 = high3 = 0
                while (
                    stop < count
                    and class_of[order[stop]] == hand_class
                    and strengths[order[stop]] == strength
                ):
                    low = below_with_words[combo_cards[order[stop], 0]]
                    high = below_with_words[combo_cards[order[stop], 1]]
                    low0 += low[0]
                    low1 += low[1]
                    low2 += low[2]
                    low3 += low[3]
                    high0 += high[0]
                    high1 += high[1]
                    high2 += high[2]
                    high3 += high[3]
                    stop += 1
                shared_words[0], shared_words[1], shared_words[2], shared_words[3] = low0, low1, low2, low3
                shared_words[4], shared_words[5], shared_words[6], shared_words[7] = (
                    high0,
                    high1,
                    high2,
                    high3,
                )
                run_weight = weight * np.int32(stop - first)
                row = wins[hand_class]
                for b in range(row.shape[0]):
                    row[b] += run_weight * np.int32(below[b])
                row = blocked[hand_class]
                for k in range(row.shape[0]):
                    row[k] += weight * np.int32(shared[k])
            for i in range(start, stop):
                combo = order[i]
                below[class_of[combo]] += 1
                below_with[combo_cards[combo, 0], slots[combo, 0]] += 1
                below_with[combo_cards[combo, 1], slots[combo, 1]] += 1
            start = stop


def preflop_table_chunk(start: int, stop: int) -> NDArray[np.int64]:
    """Wins of class against class on the canonical rivers ``start..stop-1``, int64 [169, 169].

    Chunks that cover all 134,459 rivers sum, in any order, to the wins of `preflop_table`.
    """
    rivers = canonical_boards(5)
    if not 0 <= start <= stop <= len(rivers.boards):
        raise ValueError(f"rivers {start} to {stop}: expected a part of 0 to {len(rivers.boards)}")
    # int32 is enough: no pair of classes has more than 12 * 12 * C(50, 5) < 2^29 wins.
    wins = np.zeros((NUM_CLASSES, NUM_CLASSES), dtype=np.int32)
    blocked = np.zeros((NUM_CLASSES, 64), dtype=np.int32)
    _count_class_wins(
        rivers.boards[start:stop],
        rivers.weights[start:stop],
        CLASS_OF_COMBO,
        COMBO_CARDS,
        _CLASS_SLOTS,
        wins,
        blocked,
    )
    table = wins.astype(np.int64)
    by_slot = blocked.reshape(NUM_CLASSES, 2, 32)[:, :, :26]
    np.subtract.at(table, (np.arange(NUM_CLASSES)[:, None, None], _SLOT_CLASSES), by_slot)
    return table


def class_pairs() -> NDArray[np.int64]:
    """Number of ordered pairs of disjoint combos, one of each class, int64 [169, 169]."""
    held = np.zeros((NUM_CLASSES, NUM_CARDS), dtype=np.int64)
    for side in range(2):
        np.add.at(held, (CLASS_OF_COMBO, COMBO_CARDS[:, side]), 1)
    # Pairs that share a card, counted once per shared card: a combo shares two with itself.
    return np.outer(CLASS_COMBOS, CLASS_COMBOS) - held @ held.T + np.diag(CLASS_COMBOS)


def preflop_table_from_wins(
    wins: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Wins, ties and totals from the summed chunks: a deal that neither side wins is a tie."""
    totals = class_pairs() * comb(48, 5)
    return wins, totals - wins - wins.T, totals


def _sum_chunks(work: Callable[[int, int], NDArray], size: int) -> NDArray:
    """Sum of ``work(start, stop)`` over chunks of ``range(size)`` on all cores, always in the same order."""
    bounds = [(start, min(start + _CHUNK, size)) for start in range(0, size, _CHUNK)]
    if len(bounds) == 1:
        return work(*bounds[0])
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        parts = pool.map(lambda bound: work(*bound), bounds)
        return sum(parts, next(parts))


@cache
def preflop_table() -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Wins, ties and totals of class against class before the flop, each int64 [169, 169].

    ``wins[A, B]`` counts the boards, over all pairs of disjoint combos, on which the combo of A wins. Full
    enumeration in a second or two; kept in memory after the first call.
    """
    table = preflop_table_from_wins(_sum_chunks(preflop_table_chunk, len(canonical_boards(5).boards)))
    for array in table:
        array.setflags(write=False)
    return table


@njit(cache=True, nogil=True)
def _sweep_rivers(rivers: Any, weights: Any, combos: Any, combo_cards: Any, lanes: Any, results: Any) -> None:
    """Add to ``results[h, u]`` what hand h wins on the rivers against opponent weights ``lanes[:, u]``.

    A river adds its weight times the opponent weight that h beats plus half of what it ties. Only `combos`
    take part: the hands asked for and those with weight.
    """
    num_lanes = lanes.shape[1]
    strengths = np.empty(1326, np.int16)
    order = np.empty(1326, np.int16)
    scratch = np.empty(1326, np.int16)
    passed = np.empty(num_lanes, np.float64)
    passed_with = np.empty((52, num_lanes), np.float64)
    for river in range(rivers.shape[0]):
        if combos.shape[0] == 1326:
            count = _sorted_board(rivers[river], strengths, order)
        else:
            _board_strengths(rivers[river], strengths)
            count = _sort_hands(strengths, combos, order, scratch)
        half = 0.5 * weights[river]
        passed[:] = 0.0
        passed_with[:] = 0.0
        start = 0
        while start < count:
            stop = start
            while stop < count and strengths[order[stop]] == strengths[order[start]]:
                hand = order[stop]
                first, second = passed_with[combo_cards[hand, 0]], passed_with[combo_cards[hand, 1]]
                for u in range(num_lanes):
                    results[hand, u] += half * (passed[u] - first[u] - second[u])
                stop += 1
            for i in range(start, stop):
                hand = order[i]
                first, second = passed_with[combo_cards[hand, 0]], passed_with[combo_cards[hand, 1]]
                for u in range(num_lanes):
                    passed[u] += lanes[hand, u]
                    first[u] += lanes[hand, u]
                    second[u] += lanes[hand, u]
            for i in range(start, stop):
                hand = order[i]
                first, second = passed_with[combo_cards[hand, 0]], passed_with[combo_cards[hand, 1]]
                # Both card sums hold the hand itself, which was passed once: add it back.
                for u in range(num_lanes):
                    results[hand, u] += half * (passed[u] - first[u] - second[u] + lanes[hand, u])
            start = stop


@njit(cache=True)
def _compatible_weight(weights: Any, combo_cards: Any, totals: Any) -> None:
    """Opponent weight that each combo leaves possible, by direct sums: what is blocked is exactly zero."""
    for b in range(1326):
        if weights[b] > 0.0:
            first, second = combo_cards[b, 0], combo_cards[b, 1]
            for a in range(1326):
                low, high = combo_cards[a, 0], combo_cards[a, 1]
                if low != first and low != second and high != first and high != second:
                    totals[a] += weights[b]


def _sweep(
    rivers: NDArray[np.uint8],
    weights: NDArray[np.int64],
    combos: NDArray[np.bool_],
    lanes: NDArray[np.float64],
) -> NDArray[np.float64]:
    # Most hands asked for: sorting them all is cheaper than picking.
    chosen = np.flatnonzero(combos if combos.sum() < NUM_COMBOS // 2 else np.ones_like(combos)).astype(
        np.int16
    )

    def work(start: int, stop: int) -> NDArray[np.float64]:
        results = np.zeros(lanes.shape)
        _sweep_rivers(rivers[start:stop], weights[start:stop], chosen, COMBO_CARDS, lanes, results)
        return results

    return _sum_chunks(work, len(rivers))


def _preflop_winnings(weights: NDArray[np.float64], asked: NDArray[np.bool_]) -> NDArray[np.float64]:
    renamed = weights[COMBO_PERMUTATION]
    lanes, lane_of = np.unique(renamed, axis=0, return_inverse=True)
    combos = np.any((asked | (weights > 0))[COMBO_PERMUTATION], axis=0)
    rivers = canonical_boards(5)
    results = _sweep(rivers.boards, rivers.weights, combos, np.ascontiguousarray(lanes.T))
    winnings = np.zeros(NUM_COMBOS)
    # Renaming p turns hand h on a canonical river into hand p(h) on a real one. All 24 renamings count each
    # real river of a class 24 / weight times.
    for permutation, lane in zip(COMBO_PERMUTATION, lane_of.ravel()):
        winnings[permutation] += results[:, lane]
    return winnings / 24


def _winnings(
    weights: NDArray[np.float64], asked: NDArray[np.bool_], board: NDArray[np.uint8]
) -> NDArray[np.float64]:
    """Opponent weight that each asked combo wins on average over the runouts, ties halved."""
    if board.size == 0:
        winnings = _preflop_winnings(weights, asked)
    else:
        deck = np.setdiff1d(np.arange(NUM_CARDS), board)
        runouts = list(combinations(deck, 5 - board.size))
        rivers = np.empty((len(runouts), 5), dtype=np.uint8)
        rivers[:, : board.size] = board
        rivers[:, board.size :] = runouts
        ones = np.ones(len(rivers), dtype=np.int64)
        winnings = _sweep(rivers, ones, asked | (weights > 0), weights[:, None].copy())[:, 0]
    return winnings / comb(48 - board.size, 5 - board.size)


def read_board(board: str | NDArray) -> NDArray[np.uint8]:
    """Board from text or from card numbers."""
    return parse_board(board) if isinstance(board, str) else check_board(board)


def read_range(
    hands: str | NDArray, board: NDArray[np.uint8], dead: NDArray[np.uint8] | None = None
) -> NDArray[np.float64]:
    """Weights of a hand or range with the combos that board or dead cards block taken out."""
    weights = parse_range(hands) if isinstance(hands, str) else check_weights(hands)
    gone = board if dead is None else np.concatenate([board, dead])
    live = np.where(live_combos(gone), weights, 0.0)
    if not live.any():
        name = repr(hands) if isinstance(hands, str) else "given"
        where = f" on board {format_cards(board)}" if board.size else ""
        if dead is not None and dead.size:
            where += f" with {format_cards(dead)} dead"
        raise ValueError(f"range {name} has no hand{where}")
    return live


def _class_uniform(weights: NDArray[np.float64]) -> bool:
    return bool((weights == weights[_FIRST_OF_CLASS][CLASS_OF_COMBO]).all())


def equity(first: str | NDArray, second: str | NDArray, board: str | NDArray = "") -> float:
    """Equity of a hand or range against another on a board, exact over all runouts and with card removal.

    Parameters
    ----------
    first, second : hands (``AhKh``) or ranges (``QQ+,AKs:0.5``) as text, or 1,326 weights
    board : none, three, four or five cards, as text or as numbers

    >>> equity("AhKh", "QsQd", "Kc7d2s5h9c")
    1.0
    """
    cards = read_board(board)
    ours, theirs = read_range(first, cards), read_range(second, cards)
    possible = np.zeros(NUM_COMBOS)
    _compatible_weight(theirs, COMBO_CARDS, possible)
    deals = float(ours @ possible)
    if deals == 0.0:
        raise ValueError(
            "no deal is possible: every hand of one side shares a card with every hand of the other"
        )
    if cards.size == 0:
        uniform = _class_uniform(theirs)
        if (uniform or _class_uniform(ours)) and np.count_nonzero(ours) + np.count_nonzero(
            theirs
        ) > _FEW_COMBOS:
            return _class_equity(class_weights(ours), class_weights(theirs))
        if not uniform and _num_renamings(ours) < _num_renamings(theirs):
            return 1.0 - float(theirs @ _winnings(ours, theirs > 0, cards)) / deals
    return float(ours @ _winnings(theirs, ours > 0, cards)) / deals


def combo_equities(
    opponent: str | NDArray, board: str | NDArray | list[int] | tuple[int, ...]
) -> NDArray[np.float64]:
    """Equity of every combo against a range on a board, exact over all runouts and with card removal, [1326].

    nan for combos that the board blocks, and for those that share a card with every hand of the range.

    >>> from abstractions.cards import parse_combo
    >>> float(combo_equities("QsQd", "Kc7d2s5h9c")[parse_combo("AhKh")])
    1.0
    """
    cards = read_board(board if isinstance(board, str) else np.asarray(board))
    theirs, live = read_range(opponent, cards), live_combos(cards)
    possible = np.zeros(NUM_COMBOS)
    _compatible_weight(theirs, COMBO_CARDS, possible)
    met = live & (possible > 0)
    return np.divide(_winnings(theirs, met, cards), possible, out=np.full(NUM_COMBOS, np.nan), where=met)


def _num_renamings(weights: NDArray[np.float64]) -> int:
    """Number of different ranges that renamings of suits make of one."""
    return len(np.unique(weights[COMBO_PERMUTATION], axis=0))


def _class_equity(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    """Equity from the preflop table. Exact if one side weighs all combos of a class alike: then the combos of
    a class of the other side all have the same equity, and their mean weight is enough.
    """
    wins, ties, totals = preflop_table()
    return float(ours @ (wins + 0.5 * ties) @ theirs / (ours @ totals @ theirs))
