"""What the explorer shows is what the bundle says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from abstractions.cards import CLASS_NAMES, parse_board
from abstractions.ranges import parse_range
from artifacts import open_blueprint, open_bundle
from artifacts.blueprint.line_reach import line_play
from pipelines.poker_solver import app
from tests.pipelines.explorer.conftest import FLOP, RIVER, TURN

Ask = Callable[..., Any]
BLUEPRINT = "export-global"


def cell(node: Any, hand: str) -> Any:
    return next(found for found in node["grid"] if found["hand"] == hand)


def test_the_sources_are_the_bundles_of_the_store_and_agents_on_them(ask: Ask) -> None:
    found = {source["id"]: source for source in ask("sources")["sources"]}
    assert found[BLUEPRINT]["kind"] == "blueprint"
    assert found[BLUEPRINT]["exploitability_mbb"] > 0
    assert found[BLUEPRINT]["seats"] == ["sb", "bb"]
    assert found[f"always-call:{BLUEPRINT}"]["kind"] == "agent"


def test_the_first_decision_is_that_of_the_bundle(ask: Ask, exported: Path) -> None:
    node = ask("node", source=BLUEPRINT)
    bundle = open_blueprint(exported)
    assert (node["kind"], node["seat"], node["pot"], node["street"]) == ("decision", "sb", 150, "preflop")
    assert [action["label"] for action in node["actions"]] == ["fold", "call", "open_250"]
    assert [action["leads_to"] for action in node["actions"]] == ["end", "decision", "decision"]
    rows = bundle.preflop("")
    for number, hand in enumerate(CLASS_NAMES):
        assert cell(node, hand)["strategy"] == pytest.approx(rows.probability[number], abs=1e-6)
    shares = [action["frequency"] for action in node["actions"]]
    assert shares == pytest.approx(line_play(bundle, "").frequencies, abs=1e-6)
    # Against all hands: the exact table of this small game.
    wins, ties, totals = bundle.class_equity()
    expected = (wins + ties / 2).sum(axis=1) / totals.sum(axis=1)
    assert [found["equity"] for found in node["grid"]] == pytest.approx(expected, abs=1e-6)


def test_an_off_path_cell_has_its_reason_and_raw_shows_its_strategy(ask: Ask, exported: Path) -> None:
    node = ask("node", source=BLUEPRINT, line="cb250")
    assert cell(node, "AA")["reason"] is not None
    assert cell(node, "AA")["strategy"] == [1.0, 0.0, 0.0]
    assert node["reasons"][cell(node, "72o")["reason"]] == "folded earlier on this line"
    raw = ask("node", source=BLUEPRINT, line="cb250", raw=True)
    expected = open_blueprint(exported).strategy("cb250", "72o", clean=False)
    assert cell(raw, "72o")["strategy"] == pytest.approx(list(expected.values()), abs=1e-6)
    assert cell(raw, "72o")["reason"] is None


def test_a_line_leads_from_the_first_decision_to_the_end_of_the_hand(ask: Ask) -> None:
    flop = ask("node", source=BLUEPRINT, line="b250c")
    assert (flop["kind"], flop["cards_needed"], flop["pot"]) == ("deal", 3, 500)
    turn = ask("node", source=BLUEPRINT, line="b250c/xx", board=FLOP)
    assert (turn["kind"], turn["cards_needed"]) == ("deal", 1)
    river = ask("node", source=BLUEPRINT, line="b250c/xx/xx/x", board=RIVER)
    assert (river["kind"], river["seat"], river["street"]) == ("decision", "sb", "river")
    assert [step["seat"] for step in river["history"]] == ["sb", "bb", "bb", "sb", "bb", "sb", "bb"]
    taken = [step["actions"][step["taken"]]["token"] for step in river["history"]]
    assert taken == ["b250", "c", "x", "x", "x", "x", "x"]
    assert [step["board"] for step in river["history"]][-2:] == [TURN, RIVER]
    over = ask("node", source=BLUEPRINT, line="b250c/xx/xx/xx", board=RIVER)
    assert (over["kind"], over["seat"], over["actions"]) == ("end", None, [])
    fold = ask("node", source=BLUEPRINT, line="f")
    assert fold["kind"] == "end"
    assert [seat["folded"] for seat in fold["seats"]] == [True, False]


def test_the_grid_after_the_flop_is_the_mean_over_the_combos_that_the_board_leaves(ask: Ask) -> None:
    where = {"source": BLUEPRINT, "line": "b250c/xx/x", "board": TURN}
    node, combos = ask("node", **where, raw=True), ask("combos", **where, raw=True)["combos"]
    assert cell(node, "QQ")["combos"] == 3
    for hand in ("QQ", "AKs", "T9o"):
        rows = [row for row in combos if row["hand"] == hand]
        weights = np.array([row["reach"] for row in rows])
        expected = weights @ np.array([row["strategy"] for row in rows]) / weights.sum()
        assert cell(node, hand)["strategy"] == pytest.approx(expected, abs=1e-5)
        assert cell(node, hand)["reach"] == pytest.approx(weights.mean(), abs=1e-5)
        values = weights @ np.array([row["ev"] for row in rows]) / weights.sum()
        assert cell(node, hand)["ev"] == pytest.approx(values, abs=1e-5)


def test_combos_know_what_they_have_made_and_what_they_draw_to(ask: Ask) -> None:
    combos = ask("combos", source=BLUEPRINT, line="b250c/xx/x", board=TURN)
    found = {row["combo"]: row for row in combos["combos"]}
    assert len(found) == 1128
    assert found["QhQd"]["made"] == "set"
    assert found["AhKh"]["draw"] == "combo draw"
    assert sum(row["share"] for row in combos["made"]) == pytest.approx(1.0, abs=1e-4)
    # EV of a hand is that of its actions, by how often it takes them.
    row = found["AhKh"]
    assert row["ev"] == pytest.approx(np.dot(row["strategy"], row["action_ev"]), abs=1e-4)
    one = ask("combos", source=BLUEPRINT, line="b250c/x", board=FLOP, hand="QQ")
    assert {row["hand"] for row in one["combos"]} == {"QQ"}
    assert len(one["combos"]) == 3


def test_a_blueprint_of_typical_boards_says_why_it_has_no_values(ask: Ask) -> None:
    node = ask("node", source=BLUEPRINT, line="b250c/x", board=FLOP)
    assert cell(node, "AKs")["ev"] is None
    assert "has no buckets: they cover typical boards only" in node["ev_meaning"]
    assert cell(node, "AKs")["equity"] > 0


def test_equity_realisation_is_what_a_hand_receives_of_what_its_equity_claims(ask: Ask) -> None:
    node = ask("node", source=BLUEPRINT, line="b250")
    aces = cell(node, "AA")
    received = 100 * aces["ev"] + 100  # the big blind is already in
    assert aces["realisation"] == pytest.approx(received / (350 * aces["equity"]), abs=1e-4)


def test_viewing_as_the_other_seat_shows_its_range(ask: Ask, exported: Path) -> None:
    node = ask("node", source=BLUEPRINT, line="b250c/x", board=FLOP, seat="bb")
    assert (node["seat"], node["viewing"]) == ("sb", "bb")
    weights = open_blueprint(exported).range("b250c/x", "bb", board=FLOP)
    kings = cell(node, "KK")
    assert kings["strategy"] == []
    assert kings["reach"] == pytest.approx(weights[parse_range("KK") > 0].mean(), abs=1e-5)


def test_both_ranges_have_their_curves(ask: Ask) -> None:
    data = ask("distribution", source=BLUEPRINT, line="b250c/xx/x", board=TURN)
    assert [curve["seat"] for curve in data["equity"]] == ["sb", "bb"]
    for curve in data["equity"] + data["ev"]:
        assert all(first >= second for first, second in zip(curve["values"], curve["values"][1:]))
    assert len(data["ev"]) == 2


def test_two_blueprints_are_compared_hand_by_hand(ask: Ask) -> None:
    same = ask("compare", source=BLUEPRINT, other=BLUEPRINT, line="b250c/x", board=FLOP)
    assert same["mean"] == 0.0
    other = ask("compare", source=BLUEPRINT, other="export-texture", line="b250c/x", board=FLOP)
    assert other["by"] == "action"
    for distance, first, second in zip(other["distance"], other["first"]["grid"], other["second"]["grid"]):
        if distance is not None:
            apart = np.abs(np.subtract(first["strategy"], second["strategy"])).sum() / 2
            assert distance == pytest.approx(apart, abs=1e-5)
    assert 0.0 < other["mean"] < 1.0
    folds = ask("compare", source=BLUEPRINT, other=f"always-fold:{BLUEPRINT}")
    aces = folds["distance"][CLASS_NAMES.index("AA")]
    assert aces == 1.0  # aces always raise


def test_agents_look_at_no_cards(ask: Ask) -> None:
    node = ask("node", source=f"uniform:{BLUEPRINT}", line="b250c/x", board=FLOP)
    shares = {tuple(found["strategy"]) for found in node["grid"] if found["combos"]}
    assert shares == {(0.5, 0.5)}
    calls = ask("node", source=f"always-call:{BLUEPRINT}", line="c")
    assert [action["frequency"] for action in calls["actions"]] == [1.0, 0.0]
    never = ask("node", source=f"always-call:{BLUEPRINT}", line="b250")
    assert [action["frequency"] for action in never["actions"]] == [None, None, None]


def test_a_report_has_a_row_for_every_card_that_may_come(ask: Ask, exported: Path) -> None:
    data = ask("report", source=BLUEPRINT, line="b250c/xx/xx", board=TURN)
    assert (data["over"], len(data["rows"]), data["missing"]) == ("river", 48, 0)
    bundle = open_blueprint(exported)
    row = next(row for row in data["rows"] if row["cards"] == "3c")
    expected = line_play(bundle, "b250c/xx/xx/", parse_board(RIVER)).frequencies
    assert row["frequencies"] == pytest.approx(expected, abs=1e-5)
    weights = np.array([row["weight"] for row in data["rows"]])
    shares = np.array([row["frequencies"] for row in data["rows"]])
    assert data["mean"] == pytest.approx(weights @ shares / weights.sum(), abs=1e-5)
    # The tiny blueprint has buckets for one turn only; the others are counted.
    # What a river is worth to the player who acts is the mean over its range that the decision itself shows.
    for row in data["rows"][::20]:
        node = ask("node", source=BLUEPRINT, line="b250c/xx/xx/", board=row["board"], raw=True)
        assert row["ev"] == pytest.approx(node["ev"], abs=1e-4)
    assert data["ev_meaning"] == node["ev_meaning"]
    turns = ask("report", source=BLUEPRINT, line="b250c/xx", board=FLOP)
    assert (len(turns["rows"]) + turns["missing"]) == 49
    assert turns["missing"] > 0


def test_the_curve_of_a_run_is_that_of_its_bundle(ask: Ask) -> None:
    points = ask("trace", source=BLUEPRINT)["points"]
    assert [(point["iteration"], point["exploitability"]) for point in points] == [(10, 900.0), (20, 800.0)]


def test_a_source_that_was_not_trained_has_no_curve(ask: Ask) -> None:
    assert ask("trace", source=f"uniform:{BLUEPRINT}")["points"] == []


def test_what_hands_win_is_added_to_what_is_known_of_a_decision(ask: Ask) -> None:
    """The page asks for the strategy first; asked for at once, or in the other order, the answer is the same."""
    where = {"source": BLUEPRINT, "line": "b250c/xx/xx/x", "board": RIVER, "raw": True}
    plain, full = ask("node", **where, values=False), ask("node", **where)
    assert (plain["ev"], plain["ev_meaning"]) == (None, None)
    assert full["ev"] is not None
    nothing = {"ev": None, "realisation": None}
    assert [{**cell, **nothing} for cell in full["grid"]] == plain["grid"]
    assert ask("node", **where, values=False) == plain


def test_a_store_without_recorded_runs_says_so(ask: Ask) -> None:
    data = ask("runs")
    assert data["runs"] == []
    assert "does not exist" in data["note"]


def test_a_saved_spot_is_walked_on_its_own_board(ask: Ask, store: Path) -> None:
    spot = {
        "board": RIVER,
        "oop_range": "QQ,AhKh,T9s",
        "ip_range": "JJ,AcQc,98s",
        "pot": 200,
        "stack": 400,
        "bet_sizes": {"river": {"bet": "50%", "raise": "a"}},
        "max_iterations": 20,
        "threads": 1,
    }
    (store / "spot.json").write_text(json.dumps(spot))
    folder = store / "my-spot"
    done = CliRunner().invoke(
        app,
        ["solve", str(store / "spot.json"), "--out", str(folder), "--nodes", "all"],
        catch_exceptions=False,
    )
    assert done.exit_code == 0
    about = {source["id"]: source for source in ask("sources")["sources"]}["my-spot"]
    assert (about["kind"], about["board"], about["seats"]) == ("spot", RIVER, ["oop", "ip"])
    node = ask("node", source="my-spot", board=RIVER)
    bundle = open_bundle(folder)
    assert (node["seat"], node["pot"], node["kind"]) == ("oop", 200, "decision")
    result = json.loads(bundle.text("result.json"))
    assert [action["frequency"] for action in node["actions"]] == pytest.approx(
        result["root"]["frequencies"], abs=1e-5
    )
    # A full spot needs no cards: EVs are chips received, in hundreds.
    assert 100 * node["ev"] == pytest.approx(result["ev"]["oop"], abs=0.01)
    assert node["equity"] == pytest.approx(result["equity"]["oop"], abs=1e-4)
    assert cell(node, "AA")["reason"] == "not_held"
    bet = ask("node", source="my-spot", line=node["actions"][1]["next"], board=RIVER)
    assert (bet["seat"], [step["seat"] for step in bet["history"]]) == ("ip", ["oop"])
    assert bet["can_solve"] is False
