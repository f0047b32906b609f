"""Charts: what a cell shows, what a legend says."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex

from abstractions.cards import CLASS_NAMES
from pipelines.charts import DASH, OFF_PATH_COLOUR, action_colours, chart_figure, frequencies

ACTIONS = ["fold", "call", "raise_600", "raise_900", "all_in"]


def shares(row: list[float]) -> np.ndarray:
    return np.tile(np.array(row), (169, 1))


def test_larger_raises_are_darker_and_passive_actions_are_not_red():
    fold, call, small, large, all_in = (
        tuple(bytes.fromhex(colour[1:])) for colour in action_colours(ACTIONS)
    )
    assert sum(small) > sum(large) > sum(all_in)
    assert all(colour[0] > max(colour[1:]) for colour in (small, large, all_in))
    assert max(call) == call[1]
    assert max(fold) == fold[2]


def test_frequencies_count_combos_reach_and_hands_in_range_only():
    table = shares([1.0, 0.0])
    table[CLASS_NAMES.index("AA")] = [0.0, 1.0]
    assert frequencies(table)[1] == pytest.approx(6 / 1326)
    reach = np.zeros(169)
    reach[[CLASS_NAMES.index("AA"), CLASS_NAMES.index("AKo")]] = [1.0, 0.5]
    assert frequencies(table, reach=reach).tolist() == [0.5, 0.5]
    reasons = ["folded" if hand == "AKo" else None for hand in CLASS_NAMES]
    assert frequencies(table, reasons, reach).tolist() == [0.0, 1.0]
    assert frequencies(table, ["folded"] * 169).tolist() == [0.0, 0.0]


def test_the_picture_divides_cells_from_the_largest_raise_and_dashes_off_path_hands():
    reasons = ["folded" if hand == "72o" else None for hand in CLASS_NAMES]
    figure = chart_figure("a title", ACTIONS, shares([0.4, 0.3, 0.2, 0.1, 0.0]), reasons)
    axes = figure.axes[0]
    texts = {text.get_text() for text in axes.texts}
    assert f"72o\n{DASH}" in texts
    assert "AA" in texts
    cell = {
        round(bar.get_x(), 6): round(bar.get_width(), 6)
        for bar in axes.patches
        if bar.get_y() == -0.5 and bar.get_x() < 0.99 and bar.get_width() > 0
    }
    assert cell == {0.0: 0.1, 0.1: 0.2, 0.3: 0.3, 0.6: 0.4}
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == ["all-in 0.0%", "raise 900 10.0%", "raise 600 20.0%", "call 30.0%", "fold 40.0%"]
    grey = [bar for bar in axes.patches if to_hex(bar.get_facecolor()) == OFF_PATH_COLOUR]
    assert [(bar.get_x(), bar.get_y()) for bar in grey] == [(7.0, 11.5)]
