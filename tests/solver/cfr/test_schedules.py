"""Discount schedules: the factors of each variant, and what is refused."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.cfr.schedules import SCHEDULES, Schedule, schedule


def cumulative_weights(variant, iterations):
    """Weight of each iteration's strategy in the average after the last one."""
    weights = []
    for t in range(1, iterations + 1):
        keep = variant.weights(t).strategy
        weights = [w * keep for w in weights] + [1.0]
    return weights


def test_vanilla_keeps_everything():
    for t in (1, 2, 50):
        weights = schedule("vanilla").weights(t)
        assert (weights.positive, weights.negative) == (1.0, 1.0)
        assert not weights.floor_negative
    assert cumulative_weights(schedule("vanilla"), 5) == [1.0] * 5


@pytest.mark.parametrize(
    ("name", "power"), [("cfr+", 1), ("lcfr", 1), ("dcfr", 2), ("pcfr+", 2), ("pdcfr+", 5)]
)
def test_averages_weigh_iteration_t_by_a_power_of_t(name, power):
    weights = cumulative_weights(schedule(name), 30)
    assert weights == pytest.approx([(t / 30) ** power for t in range(1, 31)])


def test_linear_cfr_weighs_regrets_by_t():
    total = 0.0
    for t in range(1, 21):
        total = total * schedule("lcfr").weights(t).positive + 1.0
    # sum of t over T, in units of T.
    assert total == pytest.approx(sum(range(1, 21)) / 20)


def test_dcfr_halves_negative_regrets_and_discounts_positive_ones_by_the_paper():
    weights = schedule("dcfr").weights(10)
    assert weights.positive == pytest.approx(9**1.5 / (9**1.5 + 1))
    assert weights.negative == 0.5
    assert weights.strategy == pytest.approx(0.9**2)


def test_the_postflop_average_restarts_at_powers_of_four():
    restarts = [t for t in range(1, 300) if schedule("dcfr-postflop").weights(t).restart]
    assert restarts == [1, 4, 16, 64, 256]
    assert schedule("dcfr-postflop").weights(17).strategy == pytest.approx((1 / 2) ** 3)
    assert schedule("dcfr-postflop").weights(20).strategy == pytest.approx((4 / 5) ** 3)


def test_plus_variants_floor_and_predictive_ones_predict():
    assert {name for name, item in SCHEDULES.items() if item.floor_negative} == {"cfr+", "pcfr+", "pdcfr+"}
    assert {name for name, item in SCHEDULES.items() if item.predictive} == {"pcfr+", "pdcfr+"}
    weights = schedule("pdcfr+")
    assert weights.weights(5).prediction == weights.weights(6).positive


def test_hyperparameter_schedule_moves_over_its_horizon_and_stays():
    moving = schedule("hs-dcfr", horizon=100)
    early, late = moving.weights(2), moving.weights(101)
    assert early.strategy == pytest.approx(0.5 ** (30 - 5 / 100))
    assert late.positive == pytest.approx(100**4 / (100**4 + 1))
    assert late.negative == pytest.approx(100**-3.0 / (100**-3.0 + 1))
    assert moving.weights(151).strategy == pytest.approx((150 / 151) ** 25)


def test_a_continued_run_may_start_a_fresh_average():
    weights = schedule("dcfr").weights(101, average_start=101)
    assert weights.restart
    assert weights.strategy == 0.0
    assert weights.positive == pytest.approx(100**1.5 / (100**1.5 + 1))


@given(alpha=st.floats(max_value=0.0, allow_nan=False))
def test_alpha_at_or_below_zero_is_refused(alpha):
    with pytest.raises(ValueError, match="alpha must be above 0"):
        schedule("dcfr", alpha=alpha)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("dcf",), "schedule 'dcf' is unknown; accepted: vanilla, cfr\\+"),
        (("dcfr", 1.5, 0.0, -1.0), "gamma"),
        (("dcfr", math.nan), "alpha"),
        (("dcfr", 1.5, math.nan), "beta"),
        (("cfr+", 1.5), "does not discount"),
    ],
)
def test_bad_schedules_say_what_is_accepted(arguments, message):
    with pytest.raises(ValueError, match=message):
        schedule(*arguments)


def test_iterations_count_from_one():
    with pytest.raises(ValueError, match="from 1"):
        schedule("dcfr").weights(0)


@given(t=st.integers(1, 10_000), name=st.sampled_from(sorted(SCHEDULES)))
def test_factors_are_probabilities(t, name):
    weights = schedule(name).weights(t)
    for factor in (weights.positive, weights.negative, weights.strategy, weights.prediction):
        assert 0.0 <= factor <= 1.0


def test_schedules_are_plain_data():
    assert Schedule("mine", 1.5, 0.0, 4.0).weights(3) == schedule("dcfr", gamma=4).weights(3)
