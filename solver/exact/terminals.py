"""Fold and showdown values on one board, many terminals at a time.

All terminals of a board share the hands, their order and their blockers, so they are evaluated together:
reach is held as ``[hand, lane]`` with one terminal per lane, and the lanes fill the vector registers. With r
the opponent's reach, the sums over the opponent hands that share no card with the own hand (a, b) are

    all      C = sum r - r(a) - r(b) [+ r(ab)]         r(c) the reach of the opponent hands that hold card c
    weaker   W = the same, over the hands added so far when hands are added in order of strength
    W + T      = the same, once the equal hands are added too

A showdown that pays w, t, l for win, tie and loss with t = (w + l) / 2 is worth, for one hand,

    w W + t T + l L = (w - l)/2 * (W + (W + T)) + l C + t r(ab)

where the sums on the right leave out the [+ r(ab)]; a fold that pays f is worth f (C + r(ab)).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solver.cfr.simd import WIDTH, fused, kernel, lane_max, load, splat, store
from solver.exact.hand_tables import single_board, strength_groups

BLOCK = 2 * WIDTH
# Cards of hands that hold fewer than two: a dummy per player, so that it blocks nothing.
NO_CARD = (52, 53)
CARD_ROWS = 54
SUMS_SIZE = (CARD_ROWS + 1) * BLOCK


@kernel
def _rank_sums(x: Any, y: Any, sums: Any, mine: Any, own: Any, groups: Any, theirs: Any, opp: Any) -> None:
    """``y = W + (W + T)`` for every own hand, and the card sums of all opponent hands in `sums`."""
    zero = splat(x, 0.0)
    for k in range(0, SUMS_SIZE, WIDTH):
        store(sums, k, zero)
    all0 = zero
    all1 = zero
    i = np.int64(mine.hands)
    j = np.int64(theirs.hands)
    for g in range(mine.groups, mine.groups_end + 1):
        last = g == mine.groups_end
        stop = np.int64(theirs.hands_end) if last else np.int64(theirs.hands) + groups[g].below
        own_stop = i if last else np.int64(mine.hands) + groups[g].own_end
        for phase in range(2):
            while j < stop:
                hand = opp[j]
                row = np.int64(hand.place) * BLOCK
                a = np.int64(hand.card1) * BLOCK
                b = np.int64(hand.card2) * BLOCK
                r0 = load(x, row)
                r1 = load(x, row + WIDTH)
                all0 = all0 + r0
                all1 = all1 + r1
                store(sums, a, load(sums, a) + r0)
                store(sums, a + WIDTH, load(sums, a + WIDTH) + r1)
                store(sums, b, load(sums, b) + r0)
                store(sums, b + WIDTH, load(sums, b + WIDTH) + r1)
                j += 1
            if last:
                break
            for k in range(i, own_stop):
                hand = own[k]
                row = np.int64(hand.place) * BLOCK
                a = np.int64(hand.card1) * BLOCK
                b = np.int64(hand.card2) * BLOCK
                w0 = all0 - load(sums, a) - load(sums, b)
                w1 = all1 - load(sums, a + WIDTH) - load(sums, b + WIDTH)
                if phase == 1:
                    w0 = w0 + load(y, row)
                    w1 = w1 + load(y, row + WIDTH)
                store(y, row, w0)
                store(y, row + WIDTH, w1)
            stop = np.int64(theirs.hands) + groups[g].upto
        i = own_stop
    store(sums, CARD_ROWS * BLOCK, all0)
    store(sums, CARD_ROWS * BLOCK + WIDTH, all1)


@kernel
def _card_sums(x: Any, sums: Any, theirs: Any, opp: Any) -> None:
    """Reach of the opponent hands that hold each card; the last row holds the reach of all."""
    zero = splat(x, 0.0)
    for k in range(0, SUMS_SIZE, WIDTH):
        store(sums, k, zero)
    all0 = zero
    all1 = zero
    for j in range(theirs.hands, theirs.hands_end):
        hand = opp[j]
        row = np.int64(hand.place) * BLOCK
        a = np.int64(hand.card1) * BLOCK
        b = np.int64(hand.card2) * BLOCK
        r0 = load(x, row)
        r1 = load(x, row + WIDTH)
        all0 = all0 + r0
        all1 = all1 + r1
        store(sums, a, load(sums, a) + r0)
        store(sums, a + WIDTH, load(sums, a + WIDTH) + r1)
        store(sums, b, load(sums, b) + r0)
        store(sums, b + WIDTH, load(sums, b + WIDTH) + r1)
    store(sums, CARD_ROWS * BLOCK, all0)
    store(sums, CARD_ROWS * BLOCK + WIDTH, all1)


@kernel
def _showdown_values(x: Any, y: Any, sums: Any, part: int, mine: Any, own: Any, pays: Any, lane: int) -> None:
    """Turn the rank sums in `y` into showdown values of the eight lanes from `part` on."""
    stride = len(pays) // 4
    half = load(pays, lane)
    lose = load(pays, stride + lane)
    tie = load(pays, 2 * stride + lane)
    total = load(sums, CARD_ROWS * BLOCK + part)
    raked = lane_max(tie) != 0.0 or lane_max(splat(pays, 0.0) - tie) != 0.0
    for k in range(mine.hands, mine.hands_end):
        hand = own[k]
        row = np.int64(hand.place) * BLOCK + part
        a = np.int64(hand.card1) * BLOCK + part
        b = np.int64(hand.card2) * BLOCK + part
        met = total - load(sums, a) - load(sums, b)
        worth = fused(half, load(y, row), lose * met)
        if raked:
            worth = fused(tie, load(x, np.int64(hand.same) * BLOCK + part), worth)
        store(y, row, worth)


@kernel
def _fold_values(x: Any, y: Any, sums: Any, part: int, mine: Any, own: Any, pays: Any, lane: int) -> None:
    """Fold values of the eight lanes from `part` on, into `y`."""
    worth = load(pays, 3 * (len(pays) // 4) + lane)
    total = load(sums, CARD_ROWS * BLOCK + part)
    for k in range(mine.hands, mine.hands_end):
        hand = own[k]
        row = np.int64(hand.place) * BLOCK + part
        a = np.int64(hand.card1) * BLOCK + part
        b = np.int64(hand.card2) * BLOCK + part
        met = total - load(sums, a) - load(sums, b) + load(x, np.int64(hand.same) * BLOCK + part)
        store(y, row, worth * met)


@njit(cache=True, nogil=True)
def _evaluate_lanes(
    x: Any, show: Any, fold: Any, sums: Any, sizes: Any, own: Any, groups: Any, opp: Any, pays: Any
) -> None:
    """Showdown and fold values of one block of lanes on one board."""
    mine, theirs = sizes[0], sizes[1]
    _rank_sums(x, show, sums, mine, own, groups, theirs, opp)
    for part in range(0, BLOCK, WIDTH):
        _showdown_values(x, show, sums, part, mine, own, pays, part)
        _fold_values(x, fold, sums, part, mine, own, pays, part)


def terminal_values(
    own: NDArray[np.uint8],
    opp: NDArray[np.uint8],
    own_strength: NDArray[np.integer],
    opp_strength: NDArray[np.integer],
    reach: NDArray[np.floating],
    *,
    win: float = 1.0,
    lose: float = -1.0,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values of showdowns and folds on one board, one terminal per column of `reach`.

    Parameters
    ----------
    own, opp
        Cards of the hands, ``[hand, 2]``.
    own_strength, opp_strength
        Their strength on the board: higher wins, equal splits.
    reach
        The opponent's reach, ``[opponent hand, terminal]``.
    win, lose
        Payoffs of a showdown; a tie pays their mean.

    Returns
    -------
    showdown, fold : float64 arrays [own hand, terminal]
        Sum over the opponent's hands without common cards of reach times payoff, and of reach alone.

    Examples
    --------
    >>> aces, kings = np.array([[51, 50]], np.uint8), np.array([[47, 46], [51, 49]], np.uint8)
    >>> terminal_values(aces, kings, np.array([9]), np.array([8, 9]), np.array([[0.5], [1.0]]))
    (array([[0.5]]), array([[0.5]]))
    """
    zero_row = max(len(own), len(opp))
    sizes, own_table, opp_table = single_board(own, opp, own_strength, opp_strength, zero_row)
    groups = strength_groups(np.sort(own_strength), np.sort(opp_strength))
    sizes["groups_end"][0] = len(groups)
    pays = np.repeat([(win - lose) / 2, lose, (win + lose) / 2, 1.0], BLOCK)
    columns = reach.shape[1]
    showdown, fold = np.empty((2, len(own), columns))
    for start in range(0, columns, BLOCK):
        width = min(BLOCK, columns - start)
        x = np.zeros((zero_row + 1, BLOCK))
        x[: len(opp), :width] = reach[:, start : start + width]
        show, folds = np.zeros((2, len(own), BLOCK))
        _evaluate_lanes(
            x.ravel(),
            show.ravel(),
            folds.ravel(),
            np.zeros(SUMS_SIZE),
            sizes,
            own_table,
            groups,
            opp_table,
            pays,
        )
        showdown[:, start : start + width] = show[:, :width]
        fold[:, start : start + width] = folds[:, :width]
    return showdown, fold
