"""Buckets of the river below a search: by strength, of equal mass, and apart by what the last card does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstractions.cards import NUM_COMBOS, live_combos, parse_board
from abstractions.evaluator import evaluate_board
from abstractions.isomorphism import permute_combos
from solver.subgame.river_buckets import (
    FLUSH,
    HIGHEST,
    LOW,
    NUM_KINDS,
    PAIR,
    PARTS,
    SECOND,
    RiverBuckets,
    river_kind,
)
from tests.solver.subgame.small_spots import StrengthBuckets, thin_ranges


def wide_buckets(seed: int = 0) -> RiverBuckets:
    rng = np.random.default_rng(seed)
    return RiverBuckets.of(StrengthBuckets(), (rng.random(NUM_COMBOS), rng.random(NUM_COMBOS) ** 4))


@settings(deadline=None)
@given(st.permutations(range(52)).map(lambda deck: np.array(deck[:5], dtype=np.uint8)))
def test_stronger_hands_are_never_in_a_lower_part_and_ties_share_one(board):
    buckets, live = wide_buckets(), live_combos(board)
    strengths, found = evaluate_board(board)[live], buckets.buckets(board, 0)[live]
    assert set(found // PARTS) == {river_kind(board)}
    order = np.argsort(strengths, kind="stable")
    steps = np.diff(found[order])
    assert (steps >= 0).all()
    assert (steps[np.diff(strengths[order]) == 0] == 0).all()
    # A part holds its share of the mass, give or take the ties at its two ends.
    masses = buckets.masses[live]
    ties = np.bincount(np.unique(strengths, return_inverse=True)[1], weights=masses)
    held = np.bincount(found % PARTS, weights=masses, minlength=PARTS)
    assert held.max() <= masses.sum() / PARTS + ties.max() + 1e-9


def test_both_ranges_count_the_same_however_wide_they_are():
    first, second = thin_ranges()
    buckets = RiverBuckets.of(StrengthBuckets(), (first, second))
    assert buckets.masses.sum() == pytest.approx(2.0)
    np.testing.assert_allclose(buckets.masses, RiverBuckets.of(StrengthBuckets(), (5 * first, second)).masses)


@pytest.mark.parametrize(
    ("board", "kind"),
    [
        ("QsJh2h8d7h", FLUSH),
        ("QsJs2s8dQd", PAIR),
        ("QsJs2s8dAs", FLUSH),
        ("QsJh2c8dKc", HIGHEST),
        ("QsJh2c8sTd", LOW),
        ("QsQh2c8sTd", SECOND),
    ],
)
def test_rivers_are_told_apart_by_what_the_last_card_does(board, kind):
    assert river_kind(parse_board(board)) == kind


def test_exchanged_suits_have_the_same_buckets():
    board = parse_board("QsJh2h8d3c")
    suits = np.array([3, 0, 2, 1], dtype=np.uint8)
    renamed_board = (board & ~np.uint8(3)) | suits[board & 3]
    renamed = permute_combos(suits)
    buckets = wide_buckets()
    masses = np.empty(NUM_COMBOS)
    masses[renamed] = buckets.masses
    other = RiverBuckets(buckets.earlier, masses)
    live = live_combos(board)
    np.testing.assert_array_equal(
        other.buckets(renamed_board, 0)[renamed[live]], buckets.buckets(board, 0)[live]
    )


def test_earlier_streets_keep_their_buckets():
    buckets = wide_buckets()
    assert buckets.num_buckets == (1, 16, NUM_KINDS * PARTS)
    turn = parse_board("QsJh2h8d")
    np.testing.assert_array_equal(buckets.buckets(turn, 0), StrengthBuckets().buckets(turn, 0))


def test_a_river_that_nobody_can_have_puts_all_hands_together():
    buckets = RiverBuckets(StrengthBuckets(), np.zeros(NUM_COMBOS))
    board = parse_board("QsJh2h8d3c")
    assert set(buckets.buckets(board, 0)[live_combos(board)] % PARTS) == {0}
