"""Counts of the ways to deal folded hands: those that use given cards, and those that avoid them.

A folded player i held the hand e with weight p_i(e). The hands of k folded players together use 2 k different cards.
With M(T) the weight of the ways in which they use all cards of a set T, the weight of the ways that avoid a set Q is

    F(Q) = sum over the subsets T of Q of (-1)^|T| M(T)

The board is taken out of the deck first, so Q holds the four private cards of a deal and no more than four cards are
ever counted at once. Only M of four cards has to be found. The others follow, because every way that uses three given
cards uses 2 k - 3 others: the sum of M(T + c) over the cards c is (2 k - |T|) M(T).

Two players use the four cards T in six ways: G(T) = sum of p_1(e) p_2(T - e). Three and four players are built from
such pairs, by how many of the cards of T each side holds. Sets are numbered by their cards in ascending order:
``C(a, 1) + C(b, 2) + C(c, 3) + C(d, 4)``.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import NUM_CARDS
from solver.cfr.simd import WIDTH, fused, lane_sum, load, splat

Floats = NDArray[np.float64]
#: The six ways to split four cards into two and two, as places among them.
SPLITS = np.array([[0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 1, 2], [1, 2, 0, 3], [1, 3, 0, 2], [2, 3, 0, 1]])


def used_cards(weights: list[Floats]) -> tuple[Floats, Floats, Floats, Floats, float]:
    """Weights of the ways that use four, three, two, one and no given cards, by set."""
    count = len(weights[0])
    if len(weights) == 1:
        twos = weights[0][np.tril_indices(count, -1)]
        none = np.zeros(comb(count, 4)), np.zeros(comb(count, 3))
        return *none, twos, weights[0].sum(axis=1), float(twos.sum())
    fours = _exact_fours(weights, count)
    return fours, *_sums_of_fours(fours, count, 2 * len(weights))


def _exact_fours(weights: list[Floats], count: int) -> Floats:
    """Weight of the ways in which two to four players use four given cards, by set."""
    if len(weights) == 2:
        return _two_players(weights[0], weights[1])
    first = _Pair(weights[0], weights[1])
    if len(weights) == 3:
        meets = first.rows[:, :count] @ weights[2]
        return _three_players(first.fours, first.threes, first.twos, meets, weights[2])
    second = _Pair(weights[2], weights[3])
    rest = _pair_square(first.fours, count) @ _pair_square(second.fours, count)
    total = _two_and_two(
        *(first.fours, first.threes, first.twos, first.rows.ravel(), first.three_rows.ravel()),
        *(second.fours, second.threes, second.twos, second.rows.ravel(), second.three_rows.ravel()),
        *(rest, first.rows.shape[1]),
    )
    for one, other in ((first, second), (second, first)):
        total += one.fours * other.avoid
        meets = one.rows[:, :count] @ _square(other.twos, count)
        total += _three_and_one(
            *(one.fours, one.threes, one.rows.ravel(), meets),
            *(other.fours, other.threes, other.twos, other.ones),
            *(other.rows.ravel(), other.three_rows.ravel(), one.rows.shape[1]),
        )
    return total


class _Pair:
    """Two folded players: weights of the ways that use one to four given cards, and that avoid four.

    `rows` holds those of four cards by three of them and the fourth, `three_rows` those of three cards by two of them
    and the third. Both are padded with zeros to full vectors.
    """

    def __init__(self, first: Floats, second: Floats) -> None:
        count = len(first)
        self.fours = _two_players(first, second)
        self.threes, self.twos, self.ones, total = _sums_of_fours(self.fours, count, 4)
        self.avoid = _avoid(self.fours, self.threes, self.twos, self.ones, total)
        self.rows = _rows_of_fours(self.fours, count)
        self.three_rows = _rows_of_threes(self.threes, count)


def _square(twos: Floats, count: int) -> Floats:
    """Numbers of pairs of cards as a symmetric matrix."""
    matrix = np.zeros((count, count))
    matrix[np.tril_indices(count, -1)] = twos
    return matrix + matrix.T


@njit(cache=True, inline="always")
def _pair(a: Any, b: Any) -> Any:
    """Number of a set of two cards, in any order."""
    low, high = min(a, b), max(a, b)
    return high * (high - 1) // 2 + low


@njit(cache=True, inline="always")
def _three(a: Any, b: Any, c: Any) -> Any:
    """Number of a set of three cards in ascending order."""
    return c * (c - 1) * (c - 2) // 6 + b * (b - 1) // 2 + a


@njit(cache=True, inline="always")
def _four(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Number of a set of four cards in ascending order."""
    return d * (d - 1) * (d - 2) * (d - 3) // 24 + _three(a, b, c)


@njit(cache=True, inline="always")
def _any_three(a: Any, b: Any, c: Any) -> Any:
    """Number of a set of three cards, in any order."""
    low, high = min(a, b, c), max(a, b, c)
    return _three(low, a + b + c - low - high, high)


@njit(cache=True, inline="always")
def _first_four() -> Any:
    """The first set of four cards."""
    return np.arange(4)


@njit(cache=True, inline="always")
def _advance(cards: Any) -> None:
    """Go to the set of four cards with the next number."""
    place = 0
    while place < 3 and cards[place] + 1 == cards[place + 1]:
        cards[place] = place
        place += 1
    cards[place] += 1


@njit(cache=True)
def _two_players(p: Any, q: Any) -> Any:
    """Weights of the ways in which two players use four cards."""
    count = len(p)
    fours = np.zeros(count * (count - 1) * (count - 2) * (count - 3) // 24)
    cards = _first_four()
    for at in range(len(fours)):
        a, b, c, d = cards
        fours[at] = (
            (p[a, b] * q[c, d] + p[c, d] * q[a, b])
            + (p[a, c] * q[b, d] + p[b, d] * q[a, c])
            + (p[a, d] * q[b, c] + p[b, c] * q[a, d])
        )
        _advance(cards)
    return fours


@njit(cache=True)
def _sums_of_fours(fours: Any, count: int, used: int) -> Any:
    """From the weights by four cards those by three, two, one and none; the folded hands have `used` cards."""
    threes = np.zeros(count * (count - 1) * (count - 2) // 6)
    twos = np.zeros(count * (count - 1) // 2)
    ones = np.zeros(count)
    cards = _first_four()
    for at in range(len(fours)):
        a, b, c, d = cards
        w = fours[at]
        threes[_three(a, b, c)] += w
        threes[_three(a, b, d)] += w
        threes[_three(a, c, d)] += w
        threes[_three(b, c, d)] += w
        _advance(cards)
    threes /= used - 3
    at = 0
    for c in range(2, count):
        for b in range(1, c):
            for a in range(b):
                w = threes[at]
                twos[_pair(a, b)] += w
                twos[_pair(a, c)] += w
                twos[_pair(b, c)] += w
                at += 1
    twos /= used - 2
    at = 0
    for b in range(1, count):
        for a in range(b):
            ones[a] += twos[at]
            ones[b] += twos[at]
            at += 1
    ones /= used - 1
    return threes, twos, ones, ones.sum() / used


@njit(cache=True)
def _avoid(fours: Any, threes: Any, twos: Any, ones: Any, total: float) -> Any:
    """Weights of the ways that avoid four cards, by inclusion and exclusion."""
    table = np.empty(len(fours))
    cards = _first_four()
    for at in range(len(fours)):
        a, b, c, d = cards
        one = ones[a] + ones[b] + ones[c] + ones[d]
        two = (
            (twos[_pair(a, b)] + twos[_pair(a, c)] + twos[_pair(a, d)])
            + (twos[_pair(b, c)] + twos[_pair(b, d)])
            + twos[_pair(c, d)]
        )
        three = (threes[_three(a, b, c)] + threes[_three(a, b, d)]) + (
            threes[_three(a, c, d)] + threes[_three(b, c, d)]
        )
        weight = total - one + two - three + fours[at]
        # What is left of weights that cancel is rounding.
        table[at] = weight if weight > 1e-12 * total else 0.0
        _advance(cards)
    return table


@njit(cache=True)
def _rows_of_fours(fours: Any, count: int) -> Any:
    """Weights by three cards and a fourth, padded; zero where it is one of the three."""
    rows = np.zeros((count * (count - 1) * (count - 2) // 6, -(-count // WIDTH) * WIDTH))
    cards = _first_four()
    for at in range(len(fours)):
        a, b, c, d = cards
        rows[_three(a, b, c), d] = fours[at]
        rows[_three(a, b, d), c] = fours[at]
        rows[_three(a, c, d), b] = fours[at]
        rows[_three(b, c, d), a] = fours[at]
        _advance(cards)
    return rows


@njit(cache=True)
def _rows_of_threes(threes: Any, count: int) -> Any:
    """Weights by two cards and a third, padded; zero where it is one of the two."""
    rows = np.zeros((count * (count - 1) // 2, -(-count // WIDTH) * WIDTH))
    at = 0
    for c in range(2, count):
        for b in range(1, c):
            for a in range(b):
                rows[_pair(a, b), c] = threes[at]
                rows[_pair(a, c), b] = threes[at]
                rows[_pair(b, c), a] = threes[at]
                at += 1
    return rows


@njit(cache=True)
def _pair_square(fours: Any, count: int) -> Any:
    """Weights by two cards and two others; zero where they share one."""
    pairs = count * (count - 1) // 2
    square = np.zeros((pairs, pairs))
    cards = _first_four()
    for at in range(len(fours)):
        a, b, c, d = cards
        w = fours[at]
        square[_pair(a, b), _pair(c, d)] = square[_pair(c, d), _pair(a, b)] = w
        square[_pair(a, c), _pair(b, d)] = square[_pair(b, d), _pair(a, c)] = w
        square[_pair(a, d), _pair(b, c)] = square[_pair(b, c), _pair(a, d)] = w
        _advance(cards)
    return square


@njit(cache=True)
def _three_players(fours: Any, threes: Any, twos: Any, meets: Any, p: Any) -> Any:
    """Weights by four cards of two players (`fours`, `threes`, `twos`) and a third with weights `p`.

    ``meets[abc, d]`` is the sum over x of G(abcx) p(dx). The third player holds two, one or none of the four cards.
    """
    held = p.sum(axis=1)
    every = held.sum() / 2.0
    result = np.empty(len(fours))
    cards = _first_four()
    for at in range(len(fours)):
        a, b, c, d = cards
        g = fours[at]
        inside = p[a, b] + p[a, c] + p[a, d] + p[b, c] + p[b, d] + p[c, d]
        total = (every - held[a] - held[b] - held[c] - held[d] + inside) * g
        for i in range(4):
            x = cards[i]
            others = p[x, a] + p[x, b] + p[x, c] + p[x, d]
            u, v, w = cards[(i + 1) % 4], cards[(i + 2) % 4], cards[(i + 3) % 4]
            three = _any_three(u, v, w)
            # The sum over x in `meets` includes the fourth card of the set only with p(xx) = 0.
            total += (held[x] - others) * (threes[three] - g) - meets[three, x]
        for split in range(len(SPLITS)):
            x, y = cards[SPLITS[split, 0]], cards[SPLITS[split, 1]]
            u, v = cards[SPLITS[split, 2]], cards[SPLITS[split, 3]]
            without = twos[_pair(u, v)] - threes[_any_three(u, v, x)] - threes[_any_three(u, v, y)]
            total += p[x, y] * (without + g)
        result[at] = total
        _advance(cards)
    return result


@njit(cache=True)
def _three_and_one(
    fours: Any,
    threes: Any,
    rows: Any,
    meets: Any,
    other_fours: Any,
    other_threes: Any,
    other_twos: Any,
    other_ones: Any,
    other_rows: Any,
    other_three_rows: Any,
    pad: int,
) -> Any:
    """Weights by four cards of which one pair of players holds three and the other pair one.

    The first pair holds three of the cards and some x, the second holds the fourth and none of the three or x.
    ``meets[abc, d]`` is the sum over x of G(abcx) M'(dx), with M' of the second pair.
    """
    result = np.zeros(len(fours))
    cards = _first_four()
    for at in range(len(fours)):
        g = fours[at]
        for i in range(4):
            s = cards[i]
            u, v, w = cards[(i + 1) % 4], cards[(i + 2) % 4], cards[(i + 3) % 4]
            three = _any_three(u, v, w)
            # Ways of the second pair with s that avoid u, v and w ...
            alone = (
                other_ones[s]
                - (other_twos[_pair(s, u)] + other_twos[_pair(s, v)] + other_twos[_pair(s, w)])
                + other_threes[_any_three(s, u, v)]
                + other_threes[_any_three(s, u, w)]
                + other_threes[_any_three(s, v, w)]
                - other_fours[at]
            )
            total = alone * (threes[three] - g)
            # ... less those that use the first pair's fourth card x.
            row = three * pad
            su, sv, sw = _pair(s, u) * pad, _pair(s, v) * pad, _pair(s, w) * pad
            uv = _any_three(s, u, v) * pad
            uw, vw = _any_three(s, u, w) * pad, _any_three(s, v, w) * pad
            used = splat(rows, 0.0)
            for x in range(0, pad, WIDTH):
                four = load(other_rows, uv + x) + load(other_rows, uw + x) + load(other_rows, vw + x)
                two = (
                    load(other_three_rows, su + x)
                    + load(other_three_rows, sv + x)
                    + load(other_three_rows, sw + x)
                )
                used = fused(load(rows, row + x), four - two, used)
            result[at] += total - meets[three, s] - lane_sum(used)
        _advance(cards)
    return result


@njit(cache=True)
def _two_and_two(
    fours: Any,
    threes: Any,
    twos: Any,
    rows: Any,
    three_rows: Any,
    other_fours: Any,
    other_threes: Any,
    other_twos: Any,
    other_rows: Any,
    other_three_rows: Any,
    rest: Any,
    pad: int,
) -> Any:
    """Weights by four cards of which each pair of players holds two.

    The first pair holds a, b and x, y, the second c, d and z, w. ``rest[ab, cd]`` is the sum over x, y of
    G(abxy) G'(cdxy).
    """
    result = np.zeros(len(fours))
    cards = _first_four()
    for at in range(len(fours)):
        g, h = fours[at], other_fours[at]
        for split in range(len(SPLITS)):
            u, v = cards[SPLITS[split, 0]], cards[SPLITS[split, 1]]
            s, t = cards[SPLITS[split, 2]], cards[SPLITS[split, 3]]
            uv, st = _pair(u, v), _pair(s, t)
            uvs, uvt = _any_three(u, v, s), _any_three(u, v, t)
            stu, stv = _any_three(s, t, u), _any_three(s, t, v)
            own = twos[uv] - threes[uvs] - threes[uvt] + g
            opp = other_twos[st] - other_threes[stu] - other_threes[stv] + h
            # The terms of the four cards themselves are zero: of u and v in the first factor, of s and t in the second.
            common = splat(rows, 0.0)
            for x in range(0, pad, WIDTH):
                mine = load(three_rows, uv * pad + x) - load(rows, uvs * pad + x) - load(rows, uvt * pad + x)
                theirs = (
                    load(other_three_rows, st * pad + x)
                    - load(other_rows, stu * pad + x)
                    - load(other_rows, stv * pad + x)
                )
                common = fused(mine, theirs, common)
            result[at] += own * opp - lane_sum(common) + rest[uv, st]
        _advance(cards)
    return result


@njit(cache=True)
def _of_pairs(place: Any, table: Any, first: Any, second: Any) -> Any:
    """Weights of pairs of hands; zero where they share a card or hold one of the board's."""
    weights = np.zeros((len(first), len(second)))
    for i in range(len(first)):
        a, b = place[first[i, 0]], place[first[i, 1]]
        if a < 0 or b < 0:
            continue
        a, b = min(a, b), max(a, b)
        for j in range(len(second)):
            c, d = place[second[j, 0]], place[second[j, 1]]
            if c < 0 or d < 0 or a in (c, d) or b in (c, d):
                continue
            c, d = min(c, d), max(c, d)
            low, high = min(a, c), max(b, d)
            inner, outer = max(a, c), min(b, d)
            weights[i, j] = table[_four(low, min(inner, outer), max(inner, outer), high)]
    return weights


@njit(cache=True)
def _draw_deals(weights: Any, draws: Any) -> Any:
    """Draw hands of all folded players in turn, each from those that the ones before leave.

    `draws` are uniform numbers, ``[sample, player]``. Returns the cards, ``[sample, card]``, and the weight of each
    draw: what the hands left had of their range.
    """
    samples, players = draws.shape
    pairs = NUM_CARDS * (NUM_CARDS - 1) // 2
    cards = np.zeros((samples, 2 * players), dtype=np.uint8)
    drawn = np.ones(samples)
    high, low, mass = np.empty(pairs, np.int64), np.empty(pairs, np.int64), np.empty(pairs)
    for sample in range(samples):
        taken = np.zeros(NUM_CARDS, dtype=np.bool_)
        for player in range(players):
            total = 0.0
            at = 0
            for b in range(1, NUM_CARDS):
                for a in range(b):
                    if not taken[a] and not taken[b] and weights[player, a, b] > 0.0:
                        total += weights[player, a, b]
                        high[at], low[at], mass[at] = b, a, total
                        at += 1
            drawn[sample] *= total
            if at == 0:
                break
            found = np.searchsorted(mass[:at], draws[sample, player] * total, side="right")
            k = found if found < at else at - 1
            cards[sample, 2 * player], cards[sample, 2 * player + 1] = low[k], high[k]
            taken[low[k]] = taken[high[k]] = True
    return cards, drawn


@njit(cache=True)
def _sampled_fours(cards: Any, weights: Any, place: Any, count: int) -> Any:
    """Sum of the weights of the draws that use four given cards, of those that avoid the board."""
    fours = np.zeros(count * (count - 1) * (count - 2) * (count - 3) // 24)
    used = np.empty(cards.shape[1], dtype=np.int64)
    for sample in range(len(cards)):
        free = weights[sample] > 0.0
        for k in range(len(used)):
            used[k] = place[cards[sample, k]]
            free = free and used[k] >= 0
        if not free:
            continue
        order = np.sort(used)
        for d in range(3, len(order)):
            for c in range(2, d):
                for b in range(1, c):
                    for a in range(b):
                        fours[_four(order[a], order[b], order[c], order[d])] += weights[sample]
    return fours
