"""Figures of an abstraction from the sums of its buckets, against the hands themselves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstractions.report import abstraction_report, street_report


def moments_of(labels: np.ndarray, weights: np.ndarray, equities: np.ndarray, buckets: int) -> np.ndarray:
    sums = [np.bincount(labels, weights * equities**p, minlength=buckets) for p in range(3)]
    return np.stack(sums, axis=1)


@given(st.integers(0, 10_000), st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_figures_are_those_of_the_hands(seed: int, buckets: int) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, buckets, 200)
    weights = rng.integers(1, 25, 200)
    equities = rng.random(200)
    report = street_report(moments_of(labels, weights, equities, buckets))
    hands = np.repeat(equities, weights)
    owners = np.repeat(labels, weights)
    present = [b for b in range(buckets) if (owners == b).any()]
    deviations = np.array([hands[owners == b].std() for b in present])
    figures = report.figures
    assert figures["sd_mean"] == pytest.approx(deviations.mean(), abs=1e-9)
    assert figures["sd_max"] == pytest.approx(deviations.max(), abs=1e-9)
    assert figures["sd_p95"] == pytest.approx(np.percentile(deviations, 95), abs=1e-9)
    assert figures["empty"] == buckets - len(present)
    means = np.array([hands[owners == b].mean() for b in range(buckets) if b in present])
    np.testing.assert_allclose(report.mean[present], means, atol=1e-12)
    residual = hands - report.mean[owners]
    assert figures["variance_explained"] == pytest.approx(1 - residual.var() / hands.var(), abs=1e-9)
    assert report.occupancy.sum() == pytest.approx(1)


def test_buckets_of_equal_hands_explain_everything() -> None:
    equities = np.array([0.1, 0.1, 0.7, 0.7])
    report = street_report(moments_of(np.array([0, 0, 1, 1]), np.ones(4), equities, 2))
    assert report.figures["variance_explained"] == pytest.approx(1)
    assert report.figures["sd_max"] == pytest.approx(0, abs=1e-8)
    assert report.figures["occupancy_entropy"] == pytest.approx(1)


def test_one_bucket_explains_nothing() -> None:
    equities = np.random.default_rng(0).random(50)
    report = street_report(moments_of(np.zeros(50, dtype=int), np.ones(50), equities, 1))
    assert report.figures["variance_explained"] == pytest.approx(0, abs=1e-12)
    assert report.figures["sd_mean"] == pytest.approx(equities.std())


def test_buckets_of_textures_count_each_for_itself() -> None:
    rng = np.random.default_rng(1)
    parts = [moments_of(rng.integers(0, 4, 90), np.ones(90), rng.random(90), 4) for _ in range(3)]
    assert street_report(np.stack(parts)).figures == street_report(np.concatenate(parts)).figures


def test_empty_buckets_are_counted_and_have_no_mean() -> None:
    report = street_report(np.array([[4.0, 2.0, 1.2], [0.0, 0.0, 0.0]]))
    assert report.figures["empty"] == 1
    assert np.isnan(report.mean[1])
    assert report.figures["sd_mean"] == pytest.approx(np.sqrt(0.3 - 0.25))


def test_a_report_has_the_figures_of_every_street_in_order() -> None:
    rng = np.random.default_rng(2)
    moments = {
        street: moments_of(rng.integers(0, 5, 400), np.ones(400), rng.random(400), 5)
        for street in ("flop", "turn")
    }
    reports = abstraction_report(moments)
    assert list(reports) == ["flop", "turn"]
    for street, report in reports.items():
        assert report.figures == street_report(moments[street]).figures
    assert reports["flop"].figures["sd_mean"] != reports["turn"].figures["sd_mean"]


@pytest.mark.parametrize("moments", [np.zeros((4, 2)), np.zeros((0, 3)), np.zeros((4, 3))])
def test_bad_moments_are_refused(moments: np.ndarray) -> None:
    with pytest.raises(ValueError, match="moments"):
        street_report(moments)
