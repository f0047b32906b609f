"""Bucket against bucket, against a count of every pair of hands on every runout."""

from itertools import combinations

import numpy as np
import pytest

from abstractions.bucket_equity import bucket_equity, bucket_scores
from abstractions.cards import CLASS_OF_COMBO, COMBO_CARDS, live_combos
from abstractions.evaluator import evaluate_board
from abstractions.features.hand_classes import expand_classes
from abstractions.features.rivers import BLOCKED, river_equity_counts, river_orders
from abstractions.isomorphism import board_index, canonical_boards, hand_class_offsets

DISJOINT = ~(COMBO_CARDS[:, None, :, None] == COMBO_CARDS[None, :, None, :]).any(axis=(2, 3))


@pytest.fixture(scope="module")
def orders() -> np.ndarray:
    return river_orders(0, 134_459)


def random_table(num_cards: int, start: int, stop: int, buckets: int, seed: int) -> np.ndarray:
    """Buckets at random, the same along each orbit of hands as every real bucket is."""
    offsets = hand_class_offsets(num_cards)
    labels = np.random.default_rng(seed).integers(0, buckets, offsets[stop] - offsets[start])
    return expand_classes(num_cards, start, stop, labels.astype(np.uint16), np.uint16(BLOCKED))


def brute_scores(board: np.ndarray, row: np.ndarray, buckets: int) -> np.ndarray:
    """2 * wins + ties by bucket over all runouts of one board, pair by pair."""
    rest = [card for card in range(52) if card not in board]
    total = np.zeros((buckets, buckets))
    for runout in combinations(rest, 5 - len(board)):
        strength = evaluate_board(np.array([*board, *runout], dtype=np.uint8))
        live = np.flatnonzero(strength >= 0)
        member = np.eye(buckets, dtype=np.float32)[row[live]]
        own, other = strength[live].astype(np.int16)[:, None], strength[live].astype(np.int16)[None, :]
        score = (own > other).astype(np.float32) + (own >= other)
        total += member.T @ (score * DISJOINT[np.ix_(live, live)]) @ member
    return total.astype(np.int64)


@pytest.mark.parametrize(("start", "buckets"), [(0, 5), (70_000, 7), (120_000, 300), (134_458, 3)])
def test_river_counts_agree_with_brute_force(start: int, buckets: int) -> None:
    table = random_table(5, start, start + 1, buckets, seed=1)
    weights = canonical_boards(5).weights[[start]]
    scores = bucket_scores(5, [start], weights, table, buckets)
    assert (scores == weights[0] * brute_scores(canonical_boards(5).boards[start], table[0], buckets)).all()


@pytest.mark.parametrize(("start", "buckets"), [(3, 4), (8_000, 40)])
def test_turn_counts_agree_with_brute_force(start: int, buckets: int, orders: np.ndarray) -> None:
    table = random_table(4, start, start + 1, buckets, seed=2)
    scores = bucket_scores(4, [start], np.array([1]), table, buckets, orders)
    assert (scores == brute_scores(canonical_boards(4).boards[start], table[0], buckets)).all()


@pytest.mark.parametrize("flop", [0, 321, 1200])
def test_flop_counts_are_the_turn_counts_of_its_turn_cards(flop: int, orders: np.ndarray) -> None:
    # Every unordered runout of a flop is met twice among its turns and their rivers. Buckets of hand classes
    # do not change with the names of suits, so they are the same on the flop and on all its turns.
    buckets = 30
    board = canonical_boards(3).boards[flop]
    labels = np.random.default_rng(3).integers(0, buckets, 169)[CLASS_OF_COMBO]
    table = np.where(live_combos(board), labels, BLOCKED).astype(np.uint16)[None]
    total = np.zeros((buckets, buckets), dtype=np.int64)
    for turn in range(52):
        if turn in board:
            continue
        ids, _ = board_index(np.array([[*board, turn]]))
        live = live_combos(canonical_boards(4).boards[ids[0]])
        row = np.where(live, labels, BLOCKED).astype(np.uint16)
        total += bucket_scores(4, ids, np.array([1]), row[None], buckets, orders)
    assert (2 * bucket_scores(3, [flop], np.array([1]), table, buckets, orders) == total).all()


@pytest.mark.slow
def test_flop_counts_agree_with_brute_force(orders: np.ndarray) -> None:
    table = random_table(3, 1500, 1501, 6, seed=4)
    scores = bucket_scores(3, [1500], np.array([1]), table, 6, orders)
    assert (scores == brute_scores(canonical_boards(3).boards[1500], table[0], 6)).all()


@pytest.mark.parametrize(("num_cards", "runouts"), [(3, 990), (4, 44), (5, 1)])
def test_pair_weights_hold_every_case_and_equities_mirror(
    num_cards: int, runouts: int, orders: np.ndarray
) -> None:
    start, stop, buckets = 1000, 1003, 25
    table = random_table(num_cards, start, stop, buckets, seed=5)
    weights = canonical_boards(num_cards).weights[start:stop]
    scores = bucket_scores(num_cards, np.arange(start, stop), weights, table, buckets, orders)
    equity, cases = bucket_equity(scores)
    hands = (52 - num_cards) * (51 - num_cards) // 2
    opponents = (50 - num_cards) * (49 - num_cards) // 2
    assert cases.sum() == weights.sum() * hands * opponents * runouts
    assert (cases == cases.T).all()
    np.testing.assert_allclose(equity + equity.T, 1, atol=1e-15)


def test_rows_in_parts_add_up_to_the_whole(orders: np.ndarray) -> None:
    for num_cards in (4, 5):
        table = random_table(num_cards, 500, 506, 20, seed=6)
        weights = canonical_boards(num_cards).weights[500:506]
        ids = np.arange(500, 506)
        whole = bucket_scores(num_cards, ids, weights, table, 20, orders)
        parts = [
            bucket_scores(num_cards, ids[a:b], weights[a:b], table[a:b], 20, orders)
            for a, b in ((0, 1), (1, 4), (4, 6))
        ]
        assert (sum(parts) == whole).all()


def test_buckets_of_equity_beat_the_buckets_below_them() -> None:
    # Rivers bucketed by equity in twenty equal steps: the mean equity of a row rises with the bucket.
    start, stop, buckets = 40_000, 40_200, 20
    counts = river_equity_counts(start, stop)
    table = np.where(
        counts == BLOCKED, BLOCKED, np.minimum(counts.astype(int) * buckets // 1980, buckets - 1)
    )
    scores = bucket_scores(
        5, np.arange(start, stop), canonical_boards(5).weights[start:stop], table.astype(np.uint16), buckets
    )
    equity, cases = bucket_equity(scores)
    mean = (equity * cases).sum(axis=1) / cases.sum(axis=1)
    assert (np.diff(mean) > 0).all()
    exists = cases > 0
    below = np.tril(np.ones((buckets, buckets), dtype=bool), -1) & exists
    assert (equity[below] > 0.5).mean() > 0.99


def test_missing_pairs_weigh_nothing() -> None:
    table = random_table(5, 9, 10, 2, seed=7)
    equity, cases = bucket_equity(bucket_scores(5, [9], np.array([1]), table, 4))
    assert (cases[2:] == 0).all()
    assert (equity[2:] == 0.5).all()


def test_bad_input_is_named(orders: np.ndarray) -> None:
    table = random_table(5, 0, 1, 3, seed=8)
    with pytest.raises(ValueError, match="table: expected 1081 buckets below 2 in every row"):
        bucket_scores(5, [0], np.array([1]), table, 2)
    with pytest.raises(ValueError, match="expected 1128 buckets below 3"):
        bucket_scores(4, [0], np.array([1]), table, 3, orders)
    with pytest.raises(ValueError, match="for 2 boards"):
        bucket_scores(5, [0, 1], np.array([1, 1]), table, 3)
    with pytest.raises(ValueError, match="buckets=0"):
        bucket_scores(5, [0], np.array([1]), table, 0)
    with pytest.raises(ValueError, match="orders of shape None"):
        bucket_scores(4, [0], np.array([1]), random_table(4, 0, 1, 3, seed=8), 3)
