"""Batched folds and showdowns against the sum over every pair of hands."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstractions.cards import COMBO_CARDS
from abstractions.evaluator import evaluate_board
from solver.exact.terminals import terminal_values


def brute_force(own, opp, own_strength, opp_strength, reach, win, lose):
    """Pair by pair: no shared card, then compare strengths."""
    disjoint = ~(own[:, None, :, None] == opp[None, :, None, :]).any(axis=(2, 3))
    above = own_strength[:, None] > opp_strength[None, :]
    below = own_strength[:, None] < opp_strength[None, :]
    pays = np.where(above, win, np.where(below, lose, (win + lose) / 2)) * disjoint
    return pays @ reach, disjoint @ reach


def spread(seed, own_size, opp_size, terminals):
    rng = np.random.default_rng(seed)
    board = rng.permutation(52)[:5].astype(np.uint8)
    strength = evaluate_board(board)
    live = np.flatnonzero(strength >= 0)
    own, opp = (np.sort(rng.permutation(live)[:size]) for size in (own_size, opp_size))
    reach = rng.random((len(opp), terminals)) * (rng.random((len(opp), terminals)) < 0.8)
    return COMBO_CARDS[own], COMBO_CARDS[opp], strength[own], strength[opp], reach


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    own_size=st.integers(1, 200),
    opp_size=st.integers(1, 200),
    terminals=st.integers(1, 40),
    pot=st.integers(2, 2000),
    rake=st.floats(0, 20),
)
def test_batches_equal_the_sum_over_all_pairs(seed, own_size, opp_size, terminals, pot, rake):
    case = spread(seed, own_size, opp_size, terminals)
    win, lose = pot / 2 - rake, -pot / 2
    showdown, fold = terminal_values(*case, win=win, lose=lose)
    expected_showdown, expected_fold = brute_force(*case, win, lose)
    np.testing.assert_allclose(showdown, expected_showdown, atol=1e-9 * pot * opp_size)
    np.testing.assert_allclose(fold, expected_fold, atol=1e-9 * opp_size)


def test_all_hands_of_a_river_at_once():
    case = spread(7, 1081, 1081, 3)
    showdown, fold = terminal_values(*case)
    expected_showdown, expected_fold = brute_force(*case, 1.0, -1.0)
    np.testing.assert_allclose(showdown, expected_showdown, atol=1e-8)
    np.testing.assert_allclose(fold, expected_fold, atol=1e-8)


def test_a_showdown_is_zero_sum_over_the_ranges():
    own, opp, own_strength, opp_strength, reach = spread(3, 120, 90, 1)
    weight = np.random.default_rng(0).random((120, 1))
    there, _ = terminal_values(own, opp, own_strength, opp_strength, reach)
    back, _ = terminal_values(opp, own, opp_strength, own_strength, weight)
    assert (weight.T @ there)[0, 0] == pytest.approx(-(reach.T @ back)[0, 0], rel=1e-12)


def test_a_hand_never_meets_itself_or_its_blockers():
    aces = np.array([[50, 51]], dtype=np.uint8)
    others = np.array([[50, 51], [49, 51], [48, 49]], dtype=np.uint8)
    showdown, fold = terminal_values(aces, others, np.array([5]), np.array([5, 5, 5]), np.ones((3, 1)))
    assert fold[0, 0] == 1.0
    assert showdown[0, 0] == 0.0
