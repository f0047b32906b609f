"""Terminals of a game in which folded players give every pair of hands a weight of its own.

With d the weight of a pair, zero for hands that share a card, the sums of `solver.exact.terminals` become

    all      C = sum of d r over the opponent's hands
    weaker   W = the same over the hands that the own hand beats,     W + T with those that it ties

and a showdown is worth (w - l)/2 * (W + (W + T)) + l C, a fold f C.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solver.cfr.simd import WIDTH, fused, kernel, load, splat, store
from solver.exact.pair_weights import ABREAST
from solver.exact.terminals import BLOCK


@kernel
def _paired_sums(
    x: Any,
    y: Any,
    met: Any,
    mine: Any,
    own: Any,
    theirs: Any,
    opp: Any,
    weights: Any,
    start: int,
    bounds: Any,
    held: Any,
) -> None:
    """``y = W + (W + T)`` and ``met = C`` for every own hand; `held` is scratch for `ABREAST` rows."""
    count, others = np.int64(mine.count), np.int64(theirs.count)
    zero = splat(x, 0.0)
    for i in range(0, count, ABREAST):
        a0, a1, b0, b1, c0, c1, d0, d1 = zero, zero, zero, zero, zero, zero, zero, zero
        at = start + i * others
        here = ABREAST if i + ABREAST <= count else count - i
        first = np.int64(mine.hands) + i
        j = np.int64(0)
        beaten = 0
        tied = 0
        while True:
            # On to the next bound of one of the hands: they ascend with strength.
            below = np.int64(bounds[first + beaten].below) if beaten < here else others
            upto = np.int64(bounds[first + tied].upto) if tied < here else others
            stop = min(below, upto)
            while j < stop:
                row = np.int64(opp[theirs.hands + j].place) * BLOCK
                r0 = load(x, row)
                r1 = load(x, row + WIDTH)
                w = splat(x, weights[at + j * ABREAST])
                a0 = fused(w, r0, a0)
                a1 = fused(w, r1, a1)
                w = splat(x, weights[at + j * ABREAST + 1])
                b0 = fused(w, r0, b0)
                b1 = fused(w, r1, b1)
                w = splat(x, weights[at + j * ABREAST + 2])
                c0 = fused(w, r0, c0)
                c1 = fused(w, r1, c1)
                w = splat(x, weights[at + j * ABREAST + 3])
                d0 = fused(w, r0, d0)
                d1 = fused(w, r1, d1)
                j += 1
            store(held, 0 * BLOCK, a0)
            store(held, 0 * BLOCK + WIDTH, a1)
            store(held, 1 * BLOCK, b0)
            store(held, 1 * BLOCK + WIDTH, b1)
            store(held, 2 * BLOCK, c0)
            store(held, 2 * BLOCK + WIDTH, c1)
            store(held, 3 * BLOCK, d0)
            store(held, 3 * BLOCK + WIDTH, d1)
            if beaten == here and tied == here:
                break
            while beaten < here and np.int64(bounds[first + beaten].below) == j:
                row = np.int64(own[first + beaten].place) * BLOCK
                store(y, row, load(held, beaten * BLOCK))
                store(y, row + WIDTH, load(held, beaten * BLOCK + WIDTH))
                beaten += 1
            # A hand's upper bound is never passed before its lower one.
            while tied < beaten and np.int64(bounds[first + tied].upto) == j:
                row = np.int64(own[first + tied].place) * BLOCK
                store(y, row, load(y, row) + load(held, tied * BLOCK))
                store(y, row + WIDTH, load(y, row + WIDTH) + load(held, tied * BLOCK + WIDTH))
                tied += 1
        for k in range(here):
            row = np.int64(own[first + k].place) * BLOCK
            store(met, row, load(held, k * BLOCK))
            store(met, row + WIDTH, load(held, k * BLOCK + WIDTH))


@kernel
def _paired_showdowns(y: Any, met: Any, part: int, count: int, pays: Any, lane: int) -> None:
    """Turn the sums in `y` into showdown values of the eight lanes from `part` on."""
    stride = len(pays) // 4
    half = load(pays, lane)
    lose = load(pays, stride + lane)
    for h in range(count):
        row = h * BLOCK + part
        store(y, row, fused(half, load(y, row), lose * load(met, row)))


@kernel
def _paired_folds(y: Any, met: Any, part: int, count: int, pays: Any, lane: int) -> None:
    """Fold values of the eight lanes from `part` on, into `y`."""
    worth = load(pays, 3 * (len(pays) // 4) + lane)
    for h in range(count):
        row = h * BLOCK + part
        store(y, row, worth * load(met, row))
