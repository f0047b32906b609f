"""Folded players' hands: how the cards that they may hold change the weight of a deal."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest

from solver.exact.folded_hands import FoldedHands

ANY = np.ones((52, 52)) - np.eye(52)
BOARD = (0, 13, 26, 39)


def some_hands(rng: np.random.Generator, pool: np.ndarray, count: int) -> np.ndarray:
    weights = np.zeros((52, 52))
    for _ in range(count):
        a, b = rng.choice(pool, 2, replace=False)
        weights[a, b] = weights[b, a] = rng.uniform(0.1, 1.0)
    return weights


def count_deals(ranges: list[np.ndarray], taken: frozenset[int]) -> float:
    """Weight of all ways to deal one hand of each range without the cards in `taken`, one by one."""
    if not ranges:
        return 1.0
    total = 0.0
    for a, b in zip(*np.nonzero(np.triu(ranges[0]))):
        if not {int(a), int(b)} & taken:
            total += float(ranges[0][a, b]) * count_deals(ranges[1:], taken | {int(a), int(b)})
    return total


@pytest.mark.parametrize("players", [1, 2, 3, 4])
def test_the_weight_of_a_deal_is_that_of_all_ways_to_deal_the_folded_hands_around_it(players: int) -> None:
    rng = np.random.default_rng(players)
    pool = rng.choice(52, 14, replace=False)
    ranges = [some_hands(rng, pool, 8) for _ in range(players)]
    avoiding = FoldedHands(ranges).avoiding(BOARD)
    live = [int(card) for card in pool if card not in BOARD]
    sets = [tuple(rng.choice(live, 4, replace=False).tolist()) for _ in range(25)]
    sets += [(1, 2, 3, 4), (*live[:2], 1, 2 if 2 not in live[:2] else 5)]
    scale = np.prod([weights.sum() / 2 for weights in ranges])
    any_hands = np.prod([comb(44 - 2 * k, 2) / comb(52, 2) for k in range(players)])
    for cards in sets:
        if len(set(cards)) < 4:
            continue
        hands = np.array(cards, dtype=np.uint8).reshape(2, 1, 2)
        expected = count_deals(ranges, frozenset((*BOARD, *cards))) / scale / any_hands
        assert avoiding.of_pairs(hands[0], hands[1])[0, 0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("players", [1, 2, 3, 4])
def test_players_who_fold_anything_say_nothing(players: int) -> None:
    assert FoldedHands([ANY] * players).avoiding(BOARD).table == pytest.approx(1.0, abs=1e-12)


def test_the_weight_on_a_board_is_the_mean_over_the_cards_that_may_follow() -> None:
    rng = np.random.default_rng(5)
    folded = FoldedHands([some_hands(rng, np.arange(52), 300) for _ in range(3)])
    first, second = np.array([[1, 2]], dtype=np.uint8), np.array([[3, 51]], dtype=np.uint8)
    next_cards = [card for card in range(52) if card not in (*BOARD, 1, 2, 3, 51)]
    after = [folded.avoiding((*BOARD, card)).of_pairs(first, second)[0, 0] for card in next_cards]
    assert np.mean(after) == pytest.approx(folded.avoiding(BOARD).of_pairs(first, second)[0, 0], abs=1e-12)


def test_hands_that_share_a_card_or_hold_one_of_the_board_cannot_be_dealt() -> None:
    hands = np.array([[1, 2], [2, 3], [0, 5], [6, 7]], dtype=np.uint8)
    weights = FoldedHands([ANY]).avoiding(BOARD).of_pairs(hands, hands)
    possible = {(a, b) for a, b in combinations(range(4), 2) if weights[a, b] > 0.0}
    assert possible == {(0, 3), (1, 3)}


def test_more_than_four_players_are_sampled_and_the_error_is_the_one_that_is_stated() -> None:
    rng = np.random.default_rng(9)
    ranges = [some_hands(rng, np.arange(52), 400) for _ in range(4)]
    exact = FoldedHands(ranges).avoiding(BOARD).table
    sampled = FoldedHands([*ranges, ANY], samples=1 << 14)
    assert not sampled.is_exact
    # A fifth player who folds anything changes nothing.
    found = sampled.avoiding(BOARD).table
    error = np.sqrt(((found - exact) ** 2).mean()) / exact.mean()
    assert error == pytest.approx(sampled.relative_error(BOARD), rel=0.4)
    assert 0.001 < error < 0.05


def test_suits_are_alike_only_if_every_folded_range_treats_them_alike() -> None:
    rng = np.random.default_rng(1)
    exchange = np.arange(52).reshape(13, 4)[:, [1, 0, 2, 3]].ravel()
    assert FoldedHands([ANY]).is_unchanged_by(exchange)
    assert not FoldedHands([ANY, some_hands(rng, np.arange(52), 40)]).is_unchanged_by(exchange)
    assert not FoldedHands([ANY] * 5, samples=64).is_unchanged_by(exchange)
