"""Charts: what a cell shows, what a legend says."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex

from abstractions.cards import CLASS_NAMES
from pipelines.figures.chart_text import chart_html, chart_lines, range_lines
from pipelines.figures.charts import DASH, OFF_PATH_COLOUR, action_colours, chart_figure, frequencies

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
    assert [text.get_text() for text in figure.texts] == [
        f"{DASH} not in range: folded earlier on this line (1)"
    ]
    grey = [bar for bar in axes.patches if to_hex(bar.get_facecolor()) == OFF_PATH_COLOUR]
    assert [(bar.get_x(), bar.get_y()) for bar in grey] == [(7.0, 11.5)]


def test_the_legend_takes_the_frequencies_of_the_line_and_the_caption_is_below():
    played = np.array([0.25, 0.75])
    figure = chart_figure("t", ["fold", "call"], shares([0.5, 0.5]), played=played, caption="hu25, 25 bb")
    legend = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert legend == ["call 75.0%", "fold 25.0%"]
    assert [text.get_text() for text in figure.texts] == ["hu25, 25 bb"]
    lines = chart_lines(["fold", "call"], shares([0.5, 0.5]), played=played, caption="hu25, 25 bb")
    assert lines[0].plain == "hu25, 25 bb"
    assert lines[-2].plain.endswith("call 75.0%")
    page = chart_html("t", ["fold", "call"], shares([0.5, 0.5]), played=played, caption="<25 bb>")
    assert '<p class="caption">&lt;25 bb&gt;</p>' in page
    assert "call 75.0%" in page
    assert 'class="caption"' not in chart_html("t", ["fold", "call"], shares([0.5, 0.5]))


def test_a_cell_in_a_terminal_is_divided_as_in_the_picture():
    lines = chart_lines(["fold", "raise_600"], shares([0.5, 0.5]))
    row = lines[0]
    red, grey = (action_colours(["fold", "raise_600"])[index] for index in (1, 0))
    styles = [(span.start, span.end, str(span.style).rpartition(" ")[2]) for span in row.spans]
    assert row.plain.startswith("  AA   ")
    assert styles[:2] == [(0, 3, red), (3, 6, grey)]
    assert len(styles) == 26


def test_a_range_grid_fills_cells_by_weight():
    weights = np.zeros(169)
    weights[0] = 0.5
    coloured, plain = range_lines(weights)[0], range_lines(weights, colours=False)[0]
    assert plain.plain.startswith("AA 50  ")
    assert [(span.start, span.end) for span in coloured.spans[:3]] == [(0, 3), (3, 6), (7, 13)]
