"""Pairs and triples of the 169 hand classes: their numbers, and in how many ways they can be dealt."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstractions.cards import (
    CLASS_COMBOS,
    CLASS_OF_COMBO,
    COMBO_CARDS,
    NUM_CARDS,
    NUM_CLASSES,
    live_combos,
)

#: Pairs of classes B <= C, and triples A <= B <= C, each in lexicographic order.
NUM_PAIRS = NUM_CLASSES * (NUM_CLASSES + 1) // 2
NUM_TRIPLES = NUM_PAIRS * (NUM_CLASSES + 2) // 3


@cache
def class_pairs_listed() -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Lower and higher class of every pair."""
    return np.triu_indices(NUM_CLASSES)


def pair_index(first: ArrayLike, second: ArrayLike) -> NDArray[np.intp]:
    """Place of pairs of classes, in either order, among all pairs.

    >>> int(pair_index(1, 0)), int(pair_index(168, 168)) == NUM_PAIRS - 1
    (1, True)
    """
    low, high = np.minimum(first, second), np.maximum(first, second)
    return np.asarray(low * (2 * NUM_CLASSES - 1 - low) // 2 + high, dtype=np.intp)


def triple_index(first: ArrayLike, second: ArrayLike, third: ArrayLike) -> NDArray[np.intp]:
    """Place of triples of classes, in any order, among all triples.

    >>> int(triple_index(0, 0, 0)), int(triple_index(168, 168, 168)) == NUM_TRIPLES - 1
    (0, True)
    """
    low, middle, high = np.sort(np.broadcast_arrays(first, second, third), axis=0)
    left = NUM_CLASSES - low
    # Triples with a lower first class are all, less those of the classes from `low` on.
    before = NUM_TRIPLES - left * (left + 1) * (left + 2) // 6
    return np.asarray(before + pair_index(middle, high) - pair_index(low, low), dtype=np.intp)


@cache
def triples_listed() -> NDArray[np.uint8]:
    """The classes of every triple, ascending, uint8 [818805, 3]."""
    low, high = class_pairs_listed()
    parts = []
    for first in range(NUM_CLASSES):
        from_here = low >= first
        rest = np.stack([low[from_here], high[from_here]], axis=1)
        parts.append(np.column_stack([np.full(len(rest), first), rest]))
    triples = np.concatenate(parts).astype(np.uint8)
    triples.setflags(write=False)
    return triples


@cache
def disjoint_triples() -> NDArray[np.int64]:
    """Number of ways to deal disjoint hands of the classes of every triple, int64 [818805]."""
    table = np.empty((NUM_CLASSES, NUM_PAIRS), dtype=np.int64)
    for own in range(NUM_CLASSES):
        # All hands of a class are alike up to suits, so the first stands for them.
        live = live_combos(COMBO_CARDS[np.argmax(np.equal(CLASS_OF_COMBO, own))])
        with_card = np.zeros((NUM_CARDS, NUM_CLASSES), dtype=np.int64)
        for side in range(2):
            np.add.at(with_card, (COMBO_CARDS[live, side], CLASS_OF_COMBO[live]), 1)
        free = np.bincount(CLASS_OF_COMBO[live], minlength=NUM_CLASSES)
        shared = np.einsum("xb,xc->bc", with_card, with_card)
        pairs = np.outer(free, free) - shared + np.diag(free)
        table[own] = CLASS_COMBOS[own] * pairs[class_pairs_listed()]
    low, middle, high = triples_listed().T.astype(np.intp)
    counts = table[low, pair_index(middle, high)]
    counts.setflags(write=False)
    return counts
