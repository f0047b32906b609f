"""Equity of river hands against clusters of opponent hands (Johanson et al. 2013): what ``emd`` compares there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import CLASS_COMBOS, CLASS_OF_COMBO, COMBO_CARDS, NUM_CLASSES
from abstractions.clustering.kmeans import kmeans
from abstractions.evaluator import _board_strengths
from abstractions.features.hand_classes import check_board_range
from abstractions.features.rivers import _order_hands
from abstractions.isomorphism import ORBIT_COMBO, _number_classes, canonical_boards, hand_class_offsets


def opponent_clusters(
    histograms: NDArray[np.int64], k: int = 8, rng: np.random.Generator | None = None
) -> NDArray[np.int8]:
    """Cluster of each hand class, weakest first, by the earth mover's distance of preflop equity histograms.

    This is how opponent cluster hand strength groups the opponent's hands (Johanson et al. 2013).

    Parameters
    ----------
    histograms : [169, bins], the sum of `preflop_histograms` over all rivers
    """
    if histograms.shape[0] != NUM_CLASSES:
        raise ValueError(f"histograms of shape {histograms.shape}: expected one row per hand class")
    cdf = np.cumsum(histograms / histograms.sum(axis=1, keepdims=True), axis=1)[:, :-1]
    rng = np.random.default_rng(0) if rng is None else rng
    result = kmeans(cdf, k, rng, weights=CLASS_COMBOS, metric="l1", tolerance=0)
    # A larger sum of the distribution function is a smaller mean.
    mass = np.bincount(result.labels, CLASS_COMBOS * cdf.sum(axis=1), minlength=k)
    order = np.argsort(-mass / np.bincount(result.labels, CLASS_COMBOS, minlength=k), kind="stable")
    rank = np.empty(k, dtype=np.int8)
    rank[order] = np.arange(k)
    return rank[result.labels]


@njit(cache=True, nogil=True)
def _ochs(
    boards: Any,
    stabilisers: Any,
    orbit_combo: Any,
    combo_cards: Any,
    cluster_of_combo: Any,
    clusters: int,
    features: Any,
    equities: Any,
) -> None:
    """Equity of each class against each cluster of hands, and against all hands.

    Counts of hands by cluster are packed into words, four lanes of 16 bits: no count exceeds 1,081, and every
    difference taken is itself a count, so lanes never borrow from each other.
    """
    words = (clusters + 3) // 4
    strengths = np.empty(1326, np.int16)
    order = np.empty(1326, np.uint16)
    starts = np.empty(1327, np.uint16)
    numbers = np.empty(1326, np.int16)
    # Row 52 counts all hands, the others those that hold a card.
    total = np.empty((53, words), np.int64)
    weaker = np.empty((53, words), np.int64)
    score = np.empty((1326, words), np.int64)
    reciprocal = np.zeros(1082)
    for count in range(1, 1082):
        reciprocal[count] = 0.5 / count
    offset = 0
    for row in range(boards.shape[0]):
        lowest = orbit_combo[stabilisers[row]]
        classes = _number_classes(boards[row], lowest, numbers)
        _board_strengths(boards[row], strengths)
        groups = _order_hands(strengths, order, starts)
        total[:] = 0
        weaker[:] = 0
        for m in range(1081):
            h = order[m]
            word, one = cluster_of_combo[h] >> 2, 1 << np.int64(cluster_of_combo[h] & 3) * 16
            total[52, word] += one
            total[combo_cards[h, 0], word] += one
            total[combo_cards[h, 1], word] += one
        for group in range(groups):
            first, stop = np.int64(starts[group]), np.int64(starts[group + 1])
            for m in range(first, stop):
                h = order[m]
                a, b = combo_cards[h, 0], combo_cards[h, 1]
                for word in range(words):
                    score[h, word] = weaker[52, word] - weaker[a, word] - weaker[b, word]
            for m in range(first, stop):
                h = order[m]
                word, one = cluster_of_combo[h] >> 2, 1 << np.int64(cluster_of_combo[h] & 3) * 16
                weaker[52, word] += one
                weaker[combo_cards[h, 0], word] += one
                weaker[combo_cards[h, 1], word] += one
            for m in range(first, stop):
                h = order[m]
                if lowest[h] != h:
                    continue
                a, b = combo_cards[h, 0], combo_cards[h, 1]
                own, one = cluster_of_combo[h] >> 2, 1 << np.int64(cluster_of_combo[h] & 3) * 16
                at = features[offset + numbers[h]]
                everything = 0
                missing = False
                for word in range(words):
                    # The hand itself is counted once and subtracted with both of its cards: add it back.
                    self = one if word == own else 0
                    points = score[h, word] + weaker[52, word] + self - weaker[a, word] - weaker[b, word]
                    opponents = total[52, word] + self - total[a, word] - total[b, word]
                    for c in range(4 * word, min(4 * word + 4, clusters)):
                        at[c] = (points & 0xFFFF) * reciprocal[opponents & 0xFFFF]
                        everything += points & 0xFFFF
                        missing |= opponents & 0xFFFF == 0
                        points >>= 16
                        opponents >>= 16
                equities[offset + numbers[h]] = everything / 1980
                if missing:
                    for c in range(clusters):
                        shift = (c & 3) * 16
                        own_lane = one if c >> 2 == own else 0
                        left = total[52, c >> 2] + own_lane - total[a, c >> 2] - total[b, c >> 2]
                        if left >> shift & 0xFFFF == 0:
                            at[c] = everything / 1980
        offset += classes


def ochs(start: int, stop: int, clusters: NDArray) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Equity of each class of canonical rivers against each cluster of opponent hands, and against all.

    Against a cluster that has no hand left it is the equity against all hands.

    Parameters
    ----------
    clusters : [169], cluster of each hand class, every number from 0 up to the highest in use

    Returns
    -------
    features : float32 [classes, clusters]
    equities : float64 [classes], as `river_equities`
    """
    check_board_range(5, start, stop)
    groups = np.asarray(clusters, dtype=np.int64)
    if groups.shape != (NUM_CLASSES,) or groups.min() < 0 or (np.bincount(groups) == 0).any():
        raise ValueError("clusters: expected 169 numbers, from 0 up with none left out")
    canon = canonical_boards(5)
    offsets = hand_class_offsets(5)
    classes, count = int(offsets[stop] - offsets[start]), int(groups.max()) + 1
    features = np.empty((classes, count), dtype=np.float32)
    equities = np.empty(classes, dtype=np.float64)
    _ochs(
        canon.boards[start:stop],
        canon.stabilisers[start:stop],
        ORBIT_COMBO,
        COMBO_CARDS,
        groups[CLASS_OF_COMBO].astype(np.uint8),
        count,
        features,
        equities,
    )
    return features, equities
