"""Ranks of hands on boards: one board by brute force, and the mean over all boards."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from abstractions.cards import CLASS_COMBOS, CLASS_OF_COMBO, COMBO_CARDS, live_combos, parse_board
from abstractions.evaluator import evaluate
from abstractions.isomorphism import canonical_boards
from abstractions.rank_moments import NUM_MOMENTS, POWERS, mean_rank_moments, rank_moments


def ranks(board: np.ndarray) -> np.ndarray:
    """Rank of every combo on 3, 4 or 5 cards, by sorting; nan for blocked ones."""
    live = np.flatnonzero(live_combos(board))
    strengths = evaluate(np.column_stack([COMBO_CARDS[live], np.tile(board, (len(live), 1))]))
    ordered = np.sort(strengths)
    found = np.full(1326, np.nan)
    found[live] = sum(np.searchsorted(ordered, strengths, side) for side in ("left", "right")) / 2 / len(live)
    return found


@pytest.mark.parametrize("board", ["QsJh2h8d3c", "2c2d2h2sAs", "TsJsQsKsAs"])
def test_one_board_by_brute_force(board: str) -> None:
    cards = parse_board(board)
    live = live_combos(cards)
    by_street = [(3, (2, 4)), (4, (2, 4)), (5, POWERS)]
    expected = [
        np.bincount(CLASS_OF_COMBO[live], ranks(cards[:count])[live] ** power, minlength=169)
        for count, powers in by_street
        for power in powers
    ]
    found = rank_moments(cards)
    assert found.shape == (NUM_MOMENTS, 169)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_means_over_all_boards() -> None:
    means = mean_rank_moments()
    # On the river every live hand counts, and half of all other hands are weaker on average.
    np.testing.assert_allclose(means[4], CLASS_COMBOS * comb(50, 5) / comb(52, 5))
    assert means[5].sum() == pytest.approx(1081 / 2)
    # All flops one by one, of which a fixed share of the later boards leaves a hand alive.
    flops = canonical_boards(3)
    squares = sum(
        weight * np.bincount(CLASS_OF_COMBO, np.nan_to_num(ranks(flop)) ** 2, minlength=169)
        for flop, weight in zip(flops.boards, flops.weights)
    )
    np.testing.assert_allclose(means[0], squares / 22_100 * comb(47, 2) / comb(49, 2))


def test_random_boards_scatter_around_the_means() -> None:
    rng = np.random.default_rng(3)
    boards = np.array([rng.choice(52, 5, replace=False) for _ in range(600)], dtype=np.uint8)
    found = np.array([rank_moments(board) for board in boards])
    z = (found.mean(axis=0) - mean_rank_moments()) / (found.std(axis=0) / np.sqrt(len(boards)))
    assert np.abs(z).max() < 5
    assert 0.7 < z.std() < 1.4


def test_a_board_has_five_cards() -> None:
    with pytest.raises(ValueError, match="expected five"):
        rank_moments(parse_board("QsJh2h"))
