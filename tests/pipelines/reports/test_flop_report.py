"""Reports over the flops of a line: rows, page and store, on the tiny exported blueprint."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from abstractions.cards import COMBO_CARDS, NUM_COMBOS, live_combos, parse_board, parse_card
from abstractions.isomorphism import canonical_boards
from artifacts.blueprint.bundle import BlueprintBundle, open_blueprint
from artifacts.bundle import open_bundle
from pipelines import solve
from pipelines.config.composition import compose_config
from pipelines.reports.flop_batch import columns, means, menu_of_game
from pipelines.reports.flop_spots import (
    FlopSettings,
    FlopTask,
    blueprint_row,
    check_history,
    differences,
    flop_words,
    later_rows,
    scaled,
    solve_flop,
)
from pipelines.reports.flop_subset import FlopSubset
from pipelines.run.errors import UserError

TWO = FlopSubset(np.array([100, 900]), np.array([0.25, 0.75]))
ASKED = {"line": "b250c", "flops": "12", "bet": "a", "raise": "a", "max_iterations": "3", "history": "xx"}


@pytest.fixture
def bundle(exported: Path) -> BlueprintBundle:
    return open_blueprint(exported)


@pytest.fixture
def few_flops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two flops, and few hands on each."""
    monkeypatch.setattr(solve, "flop_subset", lambda _: TWO)
    few = np.arange(NUM_COMBOS) % 11 == 0
    monkeypatch.setattr("pipelines.reports.flop_batch.scaled", lambda weights: scaled(weights * few))


@pytest.mark.usefixtures("few_flops")
def test_a_report_has_a_row_for_each_flop_and_turn_and_is_made_once(
    bundle: BlueprintBundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = compose_config([f"store.root={tmp_path}/store", "cluster=inprocess"])
    batch = solve.read_batch(ASKED, bundle)
    report = open_bundle(solve.solve_line(config, batch))
    flops, turns = report["flops"], report["turns"]
    assert len(flops) == 2
    assert len(turns) == 98
    np.testing.assert_allclose(flops["weight"], TWO.weights)
    np.testing.assert_allclose(turns["weight"].sum(), 1.0)
    pot = batch.settings.pot
    assert (pot, batch.settings.stack) == (500, 750)
    for table in (flops, turns):
        np.testing.assert_allclose(table["ev_oop"] + table["ev_ip"], pot, rtol=1e-4)
        np.testing.assert_allclose(table["equity_oop"] + table["equity_ip"], 1.0, rtol=1e-5)
        np.testing.assert_allclose(table["oop_x"] + table["oop_A"], 1.0, rtol=1e-5)
        np.testing.assert_allclose(table["ip_x"] + table["ip_A"], 1.0, rtol=1e-5)
        np.testing.assert_allclose(table["eqr_ip"], table["ev_ip"] / (table["equity_ip"] * pot), rtol=1e-6)
    assert report.metrics["ev_oop"] == pytest.approx(float(TWO.weights @ flops["ev_oop"]))
    # The page holds all of it and asks for nothing else.
    page = report.text("report.html")
    data = json.loads(re.search(r"const DATA=(.*);\n", page)[1].replace("<\\/", "</"))
    assert [len(data["tables"][street]["rows"]) for street in ("flop", "turn")] == [2, 98]
    assert "suits" in data["tables"]["turn"]["names"]
    assert not re.search(r"(src|href)=.?(http|//)", page)

    def solved_again(*_: object) -> None:
        raise AssertionError("a kept flop was solved again")

    monkeypatch.setattr("pipelines.reports.flop_batch.solve_flop", solved_again)
    assert open_bundle(solve.solve_line(config, batch)).key == report.key


def test_the_blueprints_answer_is_its_strategy_over_the_deals(
    bundle: BlueprintBundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    flop = parse_board("QsJh2h")
    won = np.where(live_combos(flop), 20.0, np.nan)
    monkeypatch.setattr(
        BlueprintBundle,
        "continuation_value",
        lambda _self, _line, _board, _ranges, seat, **_: won * (1 - 2 * seat),
    )
    row = blueprint_row(bundle, "b250c", flop)
    # The small blind, in position, wins 20 chips beyond the 250 that it put in.
    assert row["blueprint_ev_ip"] == pytest.approx(270.0)
    assert row["blueprint_ev_oop"] == pytest.approx(230.0)
    decision = bundle.decision("b250c/")
    oop, ip = bundle.range("b250c", "bb", flop), bundle.range("b250c", "sb", flop)
    shares = bundle.probabilities(decision, flop)
    expected = np.zeros(len(decision.tokens))
    for combo in np.flatnonzero(oop).tolist():
        expected += shares[:, combo] * oop[combo] * ip[_disjoint(combo)].sum()
    expected /= expected.sum()
    found = [row[f"blueprint_oop_{token}"] for token in decision.tokens]
    np.testing.assert_allclose(found, expected, rtol=1e-7)
    assert sum(value for name, value in row.items() if name.startswith("blueprint_ip_")) == pytest.approx(1.0)


def test_the_blueprint_also_answers_on_turns_and_rivers(
    bundle: BlueprintBundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    flop, turn = parse_board("QsJh2h"), parse_card("8d")
    rivers = [parse_card("3c"), parse_card("4s")]
    known = {1: [(turn,)], 2: [(turn, river) for river in rivers]}
    # The tiny blueprint has buckets for this turn and its rivers.
    monkeypatch.setattr("pipelines.reports.flop_spots.deals", lambda _, count: known[count])
    rows = later_rows(bundle, "b250c", flop, ("xx", "xx"))
    assert set(rows) == {(turn,), *((turn, river) for river in rivers)}
    for cards, row in rows.items():
        assert row["blueprint_ev_oop"] + row["blueprint_ev_ip"] == pytest.approx(500.0)
        board = np.array([*flop, *cards], dtype=np.uint8)
        line = "b250c/xx" if len(cards) == 1 else "b250c/xx/xx"
        decision = bundle.decision(f"{line}/")
        oop, ip = bundle.range(line, "bb", board), bundle.range(line, "sb", board)
        met = np.array([oop[combo] * ip[_disjoint(combo)].sum() for combo in range(NUM_COMBOS)])
        expected = bundle.probabilities(decision, board) @ met / met.sum()
        found = [row[f"blueprint_oop_{token}"] for token in decision.tokens]
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    # A size that the blueprint does not have leaves its answer out.
    assert later_rows(bundle, "b250c", flop, ("xb333c",)) == {}


def test_turn_rows_stand_beside_the_blueprints_answer() -> None:
    flop = parse_board("QsJh2h")
    few = np.arange(NUM_COMBOS) % 97 == 0
    settings = FlopSettings(500, 750, {"flop": {"bet": "a", "raise": "a"}}, (0.0, 0.0), ("xx",), 50.0, 3)
    card = parse_card("8d")
    told = {"blueprint_oop_x": 0.25, "blueprint_ev_oop": 200.0}
    rows = solve_flop(FlopTask(flop, (few * 1.0, few * 1.0), {}, {(card,): told}), settings)
    assert isinstance(rows, dict)
    by_card = {row["card"]: row for row in rows["turn"]}
    assert len(by_card) == 49
    row = by_card["8d"]
    assert row["difference_ev_oop"] == pytest.approx(200.0 - row["ev_oop"])
    assert row["difference_bets_oop"] == pytest.approx(row["oop_x"] - 0.25)
    assert "blueprint_oop_x" not in by_card["3c"]


def _disjoint(combo: int) -> NDArray[np.bool_]:
    return ~np.isin(COMBO_CARDS, COMBO_CARDS[combo]).any(axis=1)


def test_differences_are_blueprint_less_exact_and_leave_out_what_is_not_known() -> None:
    exact = {"ev_oop": 90.0, "ev_ip": 110.0, "oop_x": 1.0, "oop_b100": 0.0, "ip_x": 0.25, "ip_A": 0.75}
    blueprint = {
        "blueprint_ev_oop": 100.0,
        "blueprint_ev_ip": 100.0,
        "blueprint_oop_x": 0.6,
        "blueprint_ip_x": 0.5,
    }
    assert differences(exact, blueprint) == {
        "difference_ev_oop": 10.0,
        "difference_bets_oop": 0.4,
        "difference_ev_ip": -10.0,
        "difference_bets_ip": -0.25,
    }
    assert differences(exact, {}) == {}


def test_words_of_flops() -> None:
    words = {
        text: flop_words(parse_board(text))
        for text in ("QsJh2h", "7c7d7h", "AsKsQs", "2c3d5h", "Ac2d3h", "9c9dAh")
    }
    assert [w["suits"] for w in words.values()] == [
        "two-tone",
        "rainbow",
        "monotone",
        "rainbow",
        "rainbow",
        "rainbow",
    ]
    assert [w["pairing"] for w in words.values()] == [
        "unpaired",
        "trips",
        "unpaired",
        "unpaired",
        "unpaired",
        "paired",
    ]
    assert [w["high"] for w in words.values()] == ["Q", "7", "A", "5", "A", "A"]
    assert [w["straights"] for w in words.values()] == ["no", "no", "yes", "yes", "yes", "no"]
    assert words["QsJh2h"]["flop"] == "QsJh2h"


def test_means_are_weighted_and_rows_may_lack_columns() -> None:
    rows = [
        {"weight": 0.25, "ev_oop": 100.0, "exploitability_pct": 0.5, "flop": "a", "ip_x": 1.0},
        {"weight": 0.75, "ev_oop": 200.0, "exploitability_pct": 0.1, "flop": "b"},
    ]
    found = means(rows)
    assert found["ev_oop"] == 175.0
    assert found["worst_exploitability_pct"] == 0.5
    assert "ip_x" not in found
    assert columns(rows)["ip_x"].to_pylist() == [1.0, None]


def test_the_menu_of_a_game_is_written_like_a_spots(bundle: BlueprintBundle) -> None:
    menu = menu_of_game(bundle.game)
    assert menu["river"]["ip"] == {"bet": "50%", "raise": "2.5x"}
    batch = solve.read_batch({"line": "b250c/", "flops": "all"}, bundle)
    assert batch.settings.bet_sizes == menu
    assert len(batch.subset.numbers) == len(canonical_boards(3).boards)
    assert batch.line == "b250c"
    # It has buckets for typical boards only, so it cannot say what it would do.
    assert not batch.with_blueprint
    check_history(batch.settings)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"line": ""}, "line: give a preflop line that sees a flop"),
        ({"line": "b250"}, "line: 'b250' sees no flop in this blueprint; accepted: "),
        ({"flops": "11"}, "flops: '11' is not accepted: a whole number from 12 to 1,755"),
        ({"target": "x"}, "target: 'x' is not accepted: percent of the pot"),
        ({"target": "0"}, "target: '0' is not accepted"),
        ({"max_iterations": "0"}, "max_iterations: '0' is not accepted"),
        ({"bet": "huge"}, "huge"),
        ({"history": "xb1c"}, "history: line 'xb1c/'"),
        ({"history": "xx/xx/xx"}, "history: 'xx/xx/xx' has more streets than flop and turn"),
        ({"history": "xAc"}, "history: "),
    ],
)
def test_bad_reports_are_refused_in_one_line(
    bundle: BlueprintBundle, change: dict[str, str], message: str
) -> None:
    with pytest.raises(UserError) as error:
        solve.read_batch(ASKED | change, bundle)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
