"""Combos on a board, and what they come to by hand class."""

from __future__ import annotations

import numpy as np
import pytest

from abstractions.cards import CLASS_NAMES, live_combos, parse_board, parse_combo
from artifacts.blueprint.combo_rows import BLOCKED, ComboRows

BOARD = parse_board("QsQhQd")
COMBOS = np.flatnonzero(live_combos(BOARD))


def place(hand: str) -> int:
    return int(np.flatnonzero(parse_combo(hand) == COMBOS)[0])


@pytest.fixture
def rows() -> ComboRows:
    """Everybody checks, but one combo of aces bets; some combos are off-path."""
    shares = np.tile([1.0, 0.0], (len(COMBOS), 1))
    shares[place("AsAh")] = [0.0, 1.0]
    reasons: list[str | None] = [None] * len(COMBOS)
    reach = np.ones(len(COMBOS))
    reach[place("AsAh")] = 0.25
    for hand in ("KsKh", "KsKd", "KsKc", "KhKd", "KhKc"):
        reasons[place(hand)] = "folded"
    reasons[place("KdKc")] = "low_reach_same_street"
    reasons[place("JsJh")], reasons[place("JsJd")] = "folded", "rarely_reached"
    shares[place("JsJh")] = [0.0, 1.0]
    return ComboRows(COMBOS, ("check", "bet_100"), shares, tuple(reasons), reach)


def of(values: np.ndarray, hand: str) -> list[float]:
    return values[CLASS_NAMES.index(hand)].tolist()


def test_a_class_is_the_mean_of_its_combos_by_weight(rows: ComboRows) -> None:
    assert of(rows.class_probability(), "AA") == pytest.approx([5 / 5.25, 0.25 / 5.25])
    assert of(rows.class_reach, "AA") == pytest.approx(5.25 / 6)
    assert of(rows.class_probability(), "AKs") == [1, 0]


def test_off_path_combos_count_in_the_raw_strategy_only(rows: ComboRows) -> None:
    assert of(rows.class_probability(), "JJ") == [1, 0]
    assert of(rows.class_probability(raw=True), "JJ") == pytest.approx([5 / 6, 1 / 6])
    assert rows.probability[place("JsJh")].tolist() == [1, 0]
    assert rows.raw_probability[place("JsJh")].tolist() == [0, 1]


def test_a_class_is_off_path_when_all_of_its_combos_are(rows: ComboRows) -> None:
    reasons = dict(zip(CLASS_NAMES, rows.class_reasons))
    assert reasons["KK"] == "folded"
    assert reasons["JJ"] is None
    assert reasons["QQ"] == BLOCKED
    # One of its four combos is left.
    assert reasons["AQs"] is None
    assert of(rows.class_reach, "AQs") == 0.25
    assert of(rows.class_reach, "QQ") == 0


def test_values_that_are_undefined_are_left_out(rows: ComboRows) -> None:
    values = np.full(len(COMBOS), 2.0)
    values[place("AsAh")] = np.nan
    values[place("AdAc")] = 7.0
    mean = rows.class_mean(values)
    assert of(mean, "AA") == pytest.approx((4 * 2 + 7) / 5)
    assert np.isnan(of(mean, "QQ"))
    assert np.isnan(of(mean, "KK"))
    assert of(rows.class_mean(values, raw=True), "KK") == 2
