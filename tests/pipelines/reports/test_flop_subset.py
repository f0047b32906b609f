"""A few weighted flops stand for all of them."""

from __future__ import annotations

import numpy as np
import pytest

from abstractions.cards import COMBO_CARDS, live_combos
from abstractions.equity import equity
from abstractions.isomorphism import canonical_boards
from abstractions.ranges import parse_range
from pipelines.reports.flop_subset import (
    NUM_FLOPS,
    SMALLEST,
    USUAL_SIZES,
    calibrated,
    flop_subset,
    stratum_counts,
)
from pipelines.training.flop_draw import STRATA, flop_strata, shares

FLOPS = canonical_boards(3)


@pytest.mark.parametrize("size", [SMALLEST, *USUAL_SIZES, NUM_FLOPS])
def test_suits_and_pairing_have_exactly_their_shares(size: int) -> None:
    subset = flop_subset(size)
    assert len(subset.numbers) == len(set(subset.numbers.tolist())) == size
    assert (subset.weights > 0).all()
    assert subset.weights.sum() == pytest.approx(1.0)
    everything = shares(flop_strata(FLOPS.boards), FLOPS.weights, len(STRATA))
    np.testing.assert_allclose(shares(flop_strata(subset.flops), subset.weights, len(STRATA)), everything)


@pytest.mark.parametrize("hands", ["AA-22", "AKs-ATs,KQs", "76s,87s,98s,T9s", "all"])
def test_how_often_a_range_hits_is_nearer_than_by_chance(hands: str) -> None:
    # The share of a range that pairs a card of the flop: exact, and nothing that the draw looks at.
    weights, ranks = parse_range(hands), COMBO_CARDS // 4
    hits = np.array(
        [
            float(weights @ (live * np.isin(ranks, flop // 4).any(axis=1)) / (weights @ live))
            for flop, live in ((flop, live_combos(flop)) for flop in FLOPS.boards)
        ]
    )
    everything = flop_subset(NUM_FLOPS)
    mean = everything.mean(hits)
    spread = np.sqrt(everything.mean((hits - mean) ** 2))
    for size in USUAL_SIZES:
        subset = flop_subset(size)
        assert abs(subset.mean(hits[subset.numbers]) - mean) < 0.6 * spread / np.sqrt(size)


@pytest.mark.deep
def test_equities_of_ranges_are_nearer_than_by_chance() -> None:
    figures = np.array(
        [equity("TT+,AJs+,KQs,AKo", "22-JJ,ATs+,KTs+,QTs+,JTs,AJo+", flop) for flop in FLOPS.boards]
    )
    everything = flop_subset(NUM_FLOPS)
    mean = everything.mean(figures)
    spread = np.sqrt(everything.mean((figures - mean) ** 2))
    for size in USUAL_SIZES:
        subset = flop_subset(size)
        assert abs(subset.mean(figures[subset.numbers]) - mean) < spread / np.sqrt(size)


def test_calibration_moves_the_mean_of_a_feature_to_where_it_belongs() -> None:
    feature = np.array([[-1.0], [0.5], [2.0], [-0.5]])
    groups, even = np.ones((4, 1)), np.full(4, 0.25)
    found = calibrated(100 * feature, groups, even)
    assert abs(found @ feature[:, 0]) < 1e-3 < even @ feature[:, 0]
    assert found.sum() == pytest.approx(1.0)
    # Weights that would turn negative are not taken.
    np.testing.assert_array_equal(calibrated(100 * (feature + 5), groups, even), even)


@pytest.mark.parametrize("size", [0, SMALLEST - 1, NUM_FLOPS + 1])
def test_other_sizes_are_refused(size: int) -> None:
    with pytest.raises(ValueError, match="accepted are 12 to 1755"):
        flop_subset(size)


def test_counts_add_up_and_no_stratum_is_left_out() -> None:
    for size in (12, 25, 49, 95, 184, 700):
        counts = stratum_counts(size)
        assert sum(counts) == size
        assert min(counts) >= 1
