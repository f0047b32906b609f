"""Folds and showdowns of the blueprint on one full board, in lanes: by hand, and by bucket.

Rows of reach and values are ``[hand, lane]``, hands from weakest to strongest on the board, so that
showdowns add up opponents in one pass. With r the opponent's reach and (a, b) the own hand, the sums over
the opponents that share no card with it are

    met     C = sum r - r(a) - r(b) + r(ab)        r(c) the reach of the opponent hands that hold card c
    weaker  W = the same over weaker hands (which do not include ab itself)
    weaker or equal, W + T, likewise

and a showdown that pays w, t, l with t = (w + l) / 2 is worth

    w W + t T + l (C - W - T) = l C + (w - l) / 2 (W + W + T).

By bucket, rows are the buckets of the board: a showdown multiplies a matrix of bucket against bucket, and
card removal is a constant.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solver.cfr.simd import WIDTH, fused, lane_max, load, splat, store

# Rows evaluated together. Each row's card sums form a chain of dependent additions; four chains keep the CPU busy.
ABREAST = 4
_SUMS = WIDTH * ABREAST
NUM_CARDS = 52
#: Entries of the card sums, those of all hands in the last row.
SUMS_SIZE = (NUM_CARDS + 1) * _SUMS


class Hands(NamedTuple):
    """What a sweep reads about the hands of a board; row order is from weakest to strongest.

    Attributes
    ----------
    card1, card2
        Cards of each hand.
    group_end
        End of each run of equally strong hands.
    mass
        Hands that a row stands for.
    """

    card1: NDArray[np.uint8]
    card2: NDArray[np.uint8]
    group_end: NDArray[np.int32]
    mass: NDArray[np.float64]


@njit(cache=True, nogil=True)
def _fill_zero(row: Any, start: int, size: int) -> None:
    zero = splat(row, 0.0)
    for k in range(start, start + size, WIDTH):
        store(row, k, zero)


@njit(cache=True, nogil=True)
def _any_positive(row: Any, start: int, size: int) -> bool:
    for k in range(start, start + size, WIDTH):  # noqa: SIM110
        if lane_max(load(row, k)) > 0.0:
            return True
    return False


@njit(cache=True, nogil=True)
def _put(value: Any, at: int, now: Any, adds: int) -> None:
    """Set eight values, or add to them."""
    if adds != 0:
        now = now + load(value, at)
    store(value, at, now)


@njit(cache=True, nogil=True)
def _add_hand(x0: Any, x1: Any, x2: Any, x3: Any, sums: Any, at: int) -> None:
    """Add one opponent hand to the sums of one of its cards."""
    store(sums, at, load(sums, at) + x0)
    store(sums, at + WIDTH, load(sums, at + WIDTH) + x1)
    store(sums, at + 2 * WIDTH, load(sums, at + 2 * WIDTH) + x2)
    store(sums, at + 3 * WIDTH, load(sums, at + 3 * WIDTH) + x3)


@njit(cache=True, nogil=True)
def _rank_sums(
    reach: Any, r0: int, r1: int, r2: int, r3: int, hands: Any, n: int, sums: Any, ranked: Any
) -> None:
    """``W + (W + T)``, the own hand not put back, for four reach rows; leaves the card sums in `sums`."""
    _fill_zero(sums, 0, SUMS_SIZE)
    zero = splat(reach, 0.0)
    all0, all1, all2, all3 = zero, zero, zero, zero
    size = np.int64(n * WIDTH)
    begin = np.int64(0)
    for g in range(len(hands.group_end)):
        end = np.int64(hands.group_end[g])
        for h in range(begin, end):
            a = np.int64(hands.card1[h]) * _SUMS
            c = np.int64(hands.card2[h]) * _SUMS
            at = h * WIDTH
            store(ranked, at, all0 - load(sums, a) - load(sums, c))
            store(ranked, size + at, all1 - load(sums, a + WIDTH) - load(sums, c + WIDTH))
            store(ranked, 2 * size + at, all2 - load(sums, a + 2 * WIDTH) - load(sums, c + 2 * WIDTH))
            store(ranked, 3 * size + at, all3 - load(sums, a + 3 * WIDTH) - load(sums, c + 3 * WIDTH))
        for h in range(begin, end):
            at = h * WIDTH
            x0, x1 = load(reach, r0 + at), load(reach, r1 + at)
            x2, x3 = load(reach, r2 + at), load(reach, r3 + at)
            all0, all1, all2, all3 = all0 + x0, all1 + x1, all2 + x2, all3 + x3
            _add_hand(x0, x1, x2, x3, sums, np.int64(hands.card1[h]) * _SUMS)
            _add_hand(x0, x1, x2, x3, sums, np.int64(hands.card2[h]) * _SUMS)
        for h in range(begin, end):
            a = np.int64(hands.card1[h]) * _SUMS
            c = np.int64(hands.card2[h]) * _SUMS
            at = h * WIDTH
            store(ranked, at, load(ranked, at) + (all0 - load(sums, a) - load(sums, c)))
            w = all1 - load(sums, a + WIDTH) - load(sums, c + WIDTH)
            store(ranked, size + at, load(ranked, size + at) + w)
            w = all2 - load(sums, a + 2 * WIDTH) - load(sums, c + 2 * WIDTH)
            store(ranked, 2 * size + at, load(ranked, 2 * size + at) + w)
            w = all3 - load(sums, a + 3 * WIDTH) - load(sums, c + 3 * WIDTH)
            store(ranked, 3 * size + at, load(ranked, 3 * size + at) + w)
        begin = end
    last = NUM_CARDS * _SUMS
    store(sums, last, all0)
    store(sums, last + WIDTH, all1)
    store(sums, last + 2 * WIDTH, all2)
    store(sums, last + 3 * WIDTH, all3)


@njit(cache=True, nogil=True)
def _card_sums(reach: Any, r0: int, r1: int, r2: int, r3: int, hands: Any, n: int, sums: Any) -> None:
    """Reach of the hands that hold each card, for four reach rows; the last row holds the reach of all."""
    _fill_zero(sums, 0, SUMS_SIZE)
    zero = splat(reach, 0.0)
    all0, all1, all2, all3 = zero, zero, zero, zero
    for h in range(n):
        at = h * WIDTH
        x0, x1 = load(reach, r0 + at), load(reach, r1 + at)
        x2, x3 = load(reach, r2 + at), load(reach, r3 + at)
        all0, all1, all2, all3 = all0 + x0, all1 + x1, all2 + x2, all3 + x3
        _add_hand(x0, x1, x2, x3, sums, np.int64(hands.card1[h]) * _SUMS)
        _add_hand(x0, x1, x2, x3, sums, np.int64(hands.card2[h]) * _SUMS)
    last = NUM_CARDS * _SUMS
    store(sums, last, all0)
    store(sums, last + WIDTH, all1)
    store(sums, last + 2 * WIDTH, all2)
    store(sums, last + 3 * WIDTH, all3)


@njit(cache=True, nogil=True)
def _settle(lanes: Any, k: int, part: int, block: Any, hands: Any, n: int, pays: Any, work: Any) -> None:
    """Turn the sums of one reach row (number `part` of those evaluated together) into the values of its terminals."""
    end = lanes.terminals[k]
    size = np.int64(n * WIDTH)
    reach = (block.reach + end.reach) * size
    first_pay = np.int64(block.pays + end.pays) * 3 * WIDTH
    half = load(pays, first_pay)
    lose = load(pays, first_pay + WIDTH)
    folds = load(pays, first_pay + 2 * WIDTH)
    shift = part * WIDTH
    total = load(work.sums, NUM_CARDS * _SUMS + shift)
    show = (block.value + end.show) * size
    fold = (block.value + end.fold) * size
    shows, has_fold = end.show >= 0, end.fold >= 0
    for h in range(n):
        at = h * WIDTH
        mine = load(work.reach, reach + at)
        a = np.int64(hands.card1[h]) * _SUMS + shift
        c = np.int64(hands.card2[h]) * _SUMS + shift
        met = total - load(work.sums, a) - load(work.sums, c) + mine
        if shows:
            worth = fused(half, load(work.ranked, part * size + at) + mine, lose * met)
            _put(work.value, show + at, worth, end.show_adds)
        if has_fold:
            _put(work.value, fold + at, folds * met, end.fold_adds)


@njit(cache=True, nogil=True)
def _queue_terminals(lanes: Any, b: int, size: int, work: Any) -> tuple[int, int]:
    """List the terminals that somebody reaches; returns how many see a showdown, and how many there are."""
    block = lanes.blocks[b]
    shape = lanes.programs[block.program]
    showdowns = 0
    count = 0
    for k in range(shape.terminals, shape.terminals_end):
        end = lanes.terminals[k]
        if work.alive[block.reach + end.reach] != 0:
            work.queue[count] = k
            count += 1
            if end.show >= 0:
                showdowns += 1
            continue
        if end.show >= 0 and end.show_adds == 0:
            _fill_zero(work.value, (block.value + end.show) * size, size)
        if end.fold >= 0 and end.fold_adds == 0:
            _fill_zero(work.value, (block.value + end.fold) * size, size)
    return showdowns, count


@njit(cache=True, nogil=True)
def _terminals(lanes: Any, b: int, n: int, hands: Any, pays: Any, work: Any) -> None:
    """Values of every fold and showdown of a block on the board."""
    block = lanes.blocks[b]
    size = np.int64(n * WIDTH)
    showdowns, count = _queue_terminals(lanes, b, size, work)
    for k in range(0, count, ABREAST):
        last = count - 1
        r0 = (block.reach + lanes.terminals[work.queue[k]].reach) * size
        r1 = (block.reach + lanes.terminals[work.queue[min(k + 1, last)]].reach) * size
        r2 = (block.reach + lanes.terminals[work.queue[min(k + 2, last)]].reach) * size
        r3 = (block.reach + lanes.terminals[work.queue[min(k + 3, last)]].reach) * size
        if k < showdowns:
            _rank_sums(work.reach, r0, r1, r2, r3, hands, n, work.sums, work.ranked)
        else:
            _card_sums(work.reach, r0, r1, r2, r3, hands, n, work.sums)
        for part in range(min(ABREAST, count - k)):
            _settle(lanes, work.queue[k + part], part, block, hands, n, pays, work)


@njit(cache=True, nogil=True)
def _products(matrix: Any, n: int, reach: Any, r0: int, r1: int, r2: int, out: Any) -> None:
    """A square matrix times three reach rows, three of its rows at a time: nine sums fit the registers."""
    size = np.int64(n * WIDTH)
    zero = splat(reach, 0.0)
    for i in range(0, n, 3):
        # Past the last row, the last one is computed again: that keeps the loop free of cases.
        i1, i2 = min(i + 1, n - 1), min(i + 2, n - 1)
        first, second, third = matrix[i], matrix[i1], matrix[i2]
        a0, a1, a2 = zero, zero, zero
        b0, b1, b2 = zero, zero, zero
        c0, c1, c2 = zero, zero, zero
        for j in range(n):
            at = j * WIDTH
            x0, x1, x2 = load(reach, r0 + at), load(reach, r1 + at), load(reach, r2 + at)
            m = splat(reach, first[j])
            a0, a1, a2 = fused(m, x0, a0), fused(m, x1, a1), fused(m, x2, a2)
            m = splat(reach, second[j])
            b0, b1, b2 = fused(m, x0, b0), fused(m, x1, b1), fused(m, x2, b2)
            m = splat(reach, third[j])
            c0, c1, c2 = fused(m, x0, c0), fused(m, x1, c1), fused(m, x2, c2)
        store(out, i * WIDTH, a0)
        store(out, size + i * WIDTH, a1)
        store(out, 2 * size + i * WIDTH, a2)
        store(out, i1 * WIDTH, b0)
        store(out, size + i1 * WIDTH, b1)
        store(out, 2 * size + i1 * WIDTH, b2)
        store(out, i2 * WIDTH, c0)
        store(out, size + i2 * WIDTH, c1)
        store(out, 2 * size + i2 * WIDTH, c2)


@njit(cache=True, nogil=True)
def _settle_buckets(
    lanes: Any, k: int, part: int, block: Any, n: int, met: float, pays: Any, work: Any
) -> None:
    """Values of the terminals of one reach row; every bucket meets the share `met` of the reach."""
    end = lanes.terminals[k]
    size = np.int64(n * WIDTH)
    reach = (block.reach + end.reach) * size
    first_pay = np.int64(block.pays + end.pays) * 3 * WIDTH
    half = load(pays, first_pay)
    total = splat(work.reach, 0.0)
    for h in range(0, size, WIDTH):
        total = total + load(work.reach, reach + h)
    total = total * splat(work.reach, met)
    if end.show >= 0:
        show = (block.value + end.show) * size
        even = (half + load(pays, first_pay + WIDTH)) * total
        for h in range(0, size, WIDTH):
            _put(work.value, show + h, fused(half, load(work.ranked, part * size + h), even), end.show_adds)
    if end.fold >= 0:
        fold = (block.value + end.fold) * size
        worth = load(pays, first_pay + 2 * WIDTH) * total
        for h in range(0, size, WIDTH):
            _put(work.value, fold + h, worth, end.fold_adds)


@njit(cache=True, nogil=True)
def _terminals_by_bucket(lanes: Any, b: int, n: int, matrix: Any, met: float, pays: Any, work: Any) -> None:
    """As `_terminals` with buckets for rows: a showdown multiplies `matrix` (wins less losses) by reach."""
    block = lanes.blocks[b]
    size = np.int64(n * WIDTH)
    showdowns, count = _queue_terminals(lanes, b, size, work)
    last = count - 1
    for k in range(0, count, 3):
        if k < showdowns:
            r0 = (block.reach + lanes.terminals[work.queue[k]].reach) * size
            r1 = (block.reach + lanes.terminals[work.queue[min(k + 1, last)]].reach) * size
            r2 = (block.reach + lanes.terminals[work.queue[min(k + 2, last)]].reach) * size
            _products(matrix, n, work.reach, r0, r1, r2, work.ranked)
        for part in range(min(3, count - k)):
            _settle_buckets(lanes, work.queue[k + part], part, block, n, met, pays, work)
