"""Deals drawn at random, for ranges with too many to enumerate."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.evaluator import _CARD_WORD, _word_strength
from abstractions.multiway_equity.deal import Deal

#: Deals tried at a time. Each block has a random stream of its own, so that results do not depend on how they run.
BLOCK = 1 << 18
#: Blocks between two looks at the error.
WAVE = 4
#: Deals that it takes to judge the error.
LEAST = 10_000


@njit(cache=True, nogil=True)
def _draw(rng: Any, cumulative: Any, start: int, stop: int) -> int:
    """Position in ``cumulative[start:stop]`` by weight; the sums begin anew at `start`."""
    point = rng.random() * cumulative[stop - 1]
    while start < stop - 1:
        middle = (start + stop - 1) // 2
        if cumulative[middle] > point:
            stop = middle + 1
        else:
            start = middle + 1
    return start


@njit(cache=True, nogil=True)
def _sample(
    rng: Any,
    tries: int,
    known: Any,
    gone: int,
    masks: Any,
    words: Any,
    members: Any,
    starts: Any,
    cumulative: Any,
    listed: Any,
    listed_cumulative: Any,
    counts: Any,
) -> None:
    """Count the winners of random deals. A try in which hands collide is not counted.

    Hands come from `listed` by weight, where there is a list of disjoint ones. Otherwise each player draws a hand
    from its own range, and deals with a collision are dropped: what remains has the right odds.
    """
    players = starts.shape[0] - 1
    hands = np.empty(players, np.int64)
    known_word = 0
    for i in range(known.shape[0]):
        known_word += _CARD_WORD[known[i]]
    for _ in range(tries):
        used = gone
        collision = False
        if listed.shape[0] > 0:
            row = _draw(rng, listed_cumulative, 0, listed.shape[0])
            for player in range(players):
                hands[player] = listed[row, player]
                used |= masks[hands[player]]
        else:
            for player in range(players):
                hand = members[_draw(rng, cumulative, starts[player], starts[player + 1])]
                if used & masks[hand]:
                    collision = True
                    break
                hands[player] = hand
                used |= masks[hand]
        if collision:
            continue
        word = known_word
        for _ in range(5 - known.shape[0]):
            card = int(rng.random() * 52.0)
            while used >> card & 1:
                card = int(rng.random() * 52.0)
            used |= 1 << card
            word += _CARD_WORD[card]
        best = -1
        winners = 0
        for player in range(players):
            strength = _word_strength(word + words[hands[player]])
            if strength > best:
                best = strength
                winners = 0
            if strength == best:
                winners |= 1 << player
        counts[winners] += 1


def shares_by_winners(num_players: int) -> NDArray[np.float64]:
    """Part of the pot of each player for each set of winners, [N, 2^N]."""
    winners = np.arange(1 << num_players)
    among = winners >> np.arange(num_players)[:, None] & 1
    return among / np.maximum(among.sum(axis=0), 1)


def standard_errors(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Standard error of each player's equity from counts of independent deals by set of winners.

    It is at least that of one deal in all of them: what was never seen may still happen.
    """
    shares = shares_by_winners(counts.size.bit_length() - 1)
    mean, square = shares @ counts / counts.sum(), shares**2 @ counts / counts.sum()
    return np.maximum(np.sqrt(np.maximum(square - mean**2, 0.0) / counts.sum()), 1.0 / counts.sum())


def sampled_winners(
    deal: Deal,
    listed: tuple[NDArray[np.int16], NDArray[np.float64]] | None,
    *,
    seed: int,
    error: float,
    max_tries: int,
) -> NDArray[np.int64]:
    """Counts by set of winners of random deals, until no player's standard error is above `error`.

    Parameters
    ----------
    listed
        All disjoint hands with their weights, where they can be listed.
    max_tries
        Stop after so many tries, whatever the error is.
    """
    hands, products = listed or (np.empty((0, deal.num_players), np.int16), np.empty(0))
    ends = zip(deal.starts[:-1], deal.starts[1:])
    cumulative = np.concatenate([np.cumsum(deal.member_weights[start:stop]) for start, stop in ends])
    cards = np.concatenate([deal.board, deal.dead]).astype(np.int64)
    gone = int(np.bitwise_or.reduce(np.int64(1) << cards)) if cards.size else 0
    known = deal.board.astype(np.int64)
    listed_sums = np.cumsum(products)

    def work(stream: np.random.SeedSequence) -> NDArray[np.int64]:
        found = np.zeros(1 << deal.num_players, dtype=np.int64)
        rng = np.random.Generator(np.random.PCG64(stream))
        hand_tables = (deal.masks, deal.words, deal.members, deal.starts, cumulative)
        _sample(rng, BLOCK, known, gone, *hand_tables, hands, listed_sums, found)
        return found

    counts = np.zeros(1 << deal.num_players, dtype=np.int64)
    streams = np.random.SeedSequence(seed).spawn(max(1, max_tries // BLOCK))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for start in range(0, len(streams), WAVE):
            counts += sum(pool.map(work, streams[start : start + WAVE]))
            if counts.sum() >= LEAST and standard_errors(counts).max() <= error:
                break
    if not counts.any():
        raise ValueError(f"no deal found in {max_tries:,} tries: the ranges hardly fit together")
    return counts
