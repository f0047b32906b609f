"""Charts: what a cell shows, what a legend says."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_hex

from abstractions.cards import CLASS_NAMES
from pipelines.figures.chart_text import OFF_PATH_IN_TERMINALS, chart_html, chart_lines, range_lines
from pipelines.figures.charts import (
    DASH,
    OFF_PATH_COLOUR,
    OFF_PATH_INK,
    ChartValues,
    action_colours,
    chart_figure,
    frequencies,
)
from pipelines.figures.contrast import READABLE, contrast, ink_on

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


@pytest.mark.parametrize("colours", [True, False])
def test_columns_stand_below_each_other_whether_hands_are_in_range_or_not(colours: bool) -> None:
    reasons = ["folded" if index % 3 == 0 else None for index in range(169)]
    lines = chart_lines(ACTIONS, mixed(), reasons, values=values(), colours=colours)[:26]
    assert len({len(line.plain) for line in lines}) == 1


def test_a_range_grid_fills_cells_by_weight():
    weights = np.zeros(169)
    weights[0] = 0.5
    coloured, plain = range_lines(weights)[0], range_lines(weights, colours=False)[0]
    assert plain.plain.startswith("AA 50  ")
    assert [(span.start, span.end) for span in coloured.spans[:3]] == [(0, 3), (3, 6), (7, 13)]


def mixed() -> np.ndarray:
    """Strategies of all kinds: pure, mixed, and with shares that are too small to see."""
    table = np.random.default_rng(4).random((169, 5)) ** 4
    table[0] = [0.0, 0.0, 0.0, 0.0, 1.0]
    table[1] = [0.0004, 0.0, 0.0, 0.0, 0.9996]
    table[2] = [0.5, 0.0, 0.0, 0.0, 0.5]
    return table / table.sum(axis=1, keepdims=True)


def values() -> ChartValues:
    by_action = np.tile([-0.5, 1.25, 2.0, 12.34, np.nan], (169, 1))
    return ChartValues(np.full(169, 1.25), by_action, "EV in bb")


def gradients(text: str) -> list[list[tuple[str, float, float]]]:
    """The colours of each gradient of a page, with where they start and end in percent."""
    found = re.findall(r"linear-gradient\(to right,([^)]*)\)", text)
    stops = [re.findall(r"(#[0-9a-f]{6}) ([\d.]+)% ([\d.]+)%", part) for part in found]
    return [[(colour, float(start), float(end)) for colour, start, end in parts] for parts in stops]


def test_the_colours_of_a_cell_fill_it_without_a_gap() -> None:
    page = chart_html("a title", ACTIONS, mixed())
    divided = gradients(page)
    assert len(divided) >= 169
    for parts in divided:
        assert (parts[0][1], parts[-1][2]) == (0, 100)
        assert sum(end - start for _, start, end in parts) == pytest.approx(100)
        assert all(before[2] == after[1] for before, after in pairwise(parts))
    # Nothing repeats at an edge, and a share too small to see is no line of another colour.
    assert page.count("background-repeat: no-repeat") == 2
    assert "border:" not in page
    pure = re.search(r'<td style="([^"]*)" title="AKs', page)
    assert pure is not None
    assert set(re.findall("#[0-9a-f]{6}", pure[1])) == {action_colours(ACTIONS)[-1]}


def test_a_page_fits_a_telephone() -> None:
    page = chart_html("a title", ACTIONS, mixed(), values=values(), caption="a caption")
    pixels = [float(width) for width in re.findall(r"([\d.]+)px", page)]
    assert max(pixels) < 400 / 13
    assert re.search(r"table \{[^}]*width: 100%; table-layout: fixed", page)
    # Only the text column has a largest width; nothing has a smallest one.
    assert re.findall(r"(?<![\w-])(?:min-)?width: ([\d.]+)rem", page) == []
    assert "width=device-width" in page


def test_every_text_can_be_read_on_its_background() -> None:
    many = [f"raise_{size}" for size in range(300, 2000, 100)]
    for colour in action_colours([*ACTIONS, *many]):
        assert contrast(ink_on(colour), colour) >= READABLE
    assert contrast(OFF_PATH_INK, OFF_PATH_COLOUR) >= READABLE
    assert contrast(OFF_PATH_INK, "#ffffff") >= READABLE
    assert contrast(*OFF_PATH_IN_TERMINALS) >= READABLE


def ink_at(parts: list[tuple[str, float, float]], place: float) -> str:
    return next(colour for colour, start, end in parts if start <= place <= end)


def test_the_text_of_a_page_has_the_ink_of_the_colour_below_it() -> None:
    page = chart_html("a title", ACTIONS, mixed())
    cells = re.findall(r"<td style=.*?</td>", page)
    assert len(cells) == 169
    split = 0
    for cell in cells:
        back, *inks = gradients(cell)
        if not inks:
            ink = re.search(r'<div style="color:(#[0-9a-f]{6})">', cell)
            assert ink is not None
            inks = [[(ink[1], 0, 100)]]
        else:
            split += 1
        for colour, start, end in back:
            assert contrast(ink_at(inks[0], (start + end) / 2), colour) >= READABLE
    assert 0 < split < 169


def test_the_text_of_a_picture_has_the_ink_of_the_colour_below_it() -> None:
    axes = chart_figure("a title", ACTIONS, mixed()).axes[0]
    # AQs folds half of the time, on the right, and is all-in on the left.
    left, right = (text for text in axes.texts if text.get_text() == "AQs")
    red, grey = action_colours(ACTIONS)[-1], action_colours(ACTIONS)[0]
    assert [text.get_color() for text in (left, right)] == [ink_on(red), ink_on(grey)]
    for text, start, end in ((left, 2.0, 2.5), (right, 2.5, 3.0)):
        assert text.get_clip_on()
        box = text.get_clip_box().transformed(axes.transData.inverted())
        assert (box.x0, box.x1) == pytest.approx((start, end))
    assert len([text for text in axes.texts if text.get_text() == "AA"]) == 1


def test_the_text_of_a_terminal_has_the_ink_of_the_colour_below_it() -> None:
    for line in chart_lines(ACTIONS, mixed(), values=values())[:26]:
        for span in line.spans:
            ink, _, colour = str(span.style).partition(" on ")
            assert contrast(ink, colour) >= READABLE


def test_values_are_written_under_the_hands_and_by_action_in_tooltips() -> None:
    reasons = ["folded" if hand == "72o" else None for hand in CLASS_NAMES]
    table = shares([0.4, 0.3, 0.2, 0.1, 0.0])
    page = chart_html("a title", ACTIONS, table, reasons, values=values(), caption="which game")
    tip = re.search(r'title="(AA: [^"]*)"', page)
    assert tip is not None
    worth = f"EV +1.250 bb (all-in {DASH}, raise 900 +12.340, raise 600 +2.000, call +1.250, fold -0.500)"
    assert tip[1].endswith(worth)
    assert page.count("<small>+1.25</small>") == 168
    assert "<li>EV in bb</li>" in page
    assert '<p class="caption">which game</p>' in page
    figure = chart_figure("a title", ACTIONS, table, reasons, values=values(), caption="which game")
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert "AA\n+1.25" in texts
    assert f"72o\n{DASH}" in texts
    assert {"which game", "EV in bb"} <= {text.get_text() for text in figure.texts}
    for colours in (True, False):
        lines = [
            line.plain
            for line in chart_lines(
                ACTIONS, table, reasons, values=values(), caption="which game", colours=colours
            )
        ]
        assert lines[0] == "which game"
        assert lines[1].count("A") == 14
        assert lines[2].split() == ["+1.25"] * 13
        # The last row of hands holds 72o, whose value is not shown.
        assert lines[26].split() == ["+1.25"] * 12
        assert "EV in bb" in lines
