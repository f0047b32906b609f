"""Spot files in, results out."""

from __future__ import annotations

import inspect
import json

import pytest

from solver.betting.tree import spot_tree
from solver.postflop.solver import PostflopSolver
from solver.postflop.spot import Spot, read_spot, solve_spot, spot_solver

SPOT = {
    "board": "QsJh2h8d3c",
    "oop_range": "66+,A8s+,JTs,T9s",
    "ip_range": "all",
    "pot": 200,
    "stack": 900,
    "bet_sizes": {"river": {"oop": {"bet": "50%,a", "raise": "2.5x"}, "ip": {"bet": "75%", "raise": "a"}}},
    "target_exploitability_pct": 0.3,
}


@pytest.fixture(scope="module")
def result():
    return solve_spot(SPOT)


def test_a_result_has_every_part_and_is_plain_json(result):
    assert json.loads(json.dumps(result)) == result
    keys = {"exploitability", "exploitability_pct", "iterations", "seconds", "memory_bytes", "ev", "equity"}
    assert keys | {"root", "schedule", "trace"} <= set(result)
    assert result["exploitability_pct"] <= 0.3
    assert result["exploitability"] == pytest.approx(2 * result["exploitability_pct"])
    assert result["ev"]["oop"] + result["ev"]["ip"] == pytest.approx(200.0, abs=1e-3)
    assert result["trace"][-1]["iteration"] == result["iterations"]


def test_the_root_lists_every_hand_of_the_player_to_act(result):
    root = result["root"]
    assert root["player"] == "oop"
    assert root["actions"] == ["x", "b100", "A"]
    assert sum(root["frequencies"]) == pytest.approx(1.0)
    assert len(root["hands"]) == len(spot_solver(SPOT).engine.game.hands[0])
    for hand in root["hands"].values():
        assert sum(hand["strategy"]) == pytest.approx(1.0)
        mixed = sum(p * ev for p, ev in zip(hand["strategy"], hand["action_ev"]))
        assert hand["ev"] == pytest.approx(mixed, abs=1e-6)
    assert root["hands"]["Tc9c"]["equity"] > 0.99


def test_the_turn_deals_on_and_sizes_fall_through():
    spot = {
        **SPOT,
        "board": "QsJh2h8d",
        "ip_range": "88-TT,KQs",
        "bet_sizes": {"turn": {"bet": "a", "raise": "a"}},
    }
    result = solve_spot({**spot, "stack": 150, "threads": 2, "max_iterations": 60})
    assert result["iterations"] <= 60
    assert result["ev"]["oop"] + result["ev"]["ip"] == pytest.approx(200.0, abs=1e-2)


def test_locks_hold():
    locks = [
        {"line": "", "strategy": {"x": 1.0}},
        {"line": "xb150", "strategy": {"f": 1.0}, "hands": "66-99"},
    ]
    solver = spot_solver({**SPOT, "locks": locks})
    solver.solve(max_iterations=50, target_exploitability_pct=None)
    assert solver.node().frequencies == pytest.approx([1.0, 0.0, 0.0])
    report = solver.go("xb150").node()
    names = report.hands[0].names
    assert report.strategy[0, names.index("7d7c")] == 1.0


def test_a_lock_on_later_streets_holds_for_every_run_out_or_for_one():
    base = {
        **SPOT,
        "board": "QsJh2h8d",
        "ip_range": "88-TT,KQs",
        "stack": 300,
        "bet_sizes": {"turn": {"bet": "50%", "raise": "none"}},
    }
    everywhere = spot_solver({**base, "locks": [{"line": "xx/", "strategy": {"b100": 1.0}}]})
    one = spot_solver({**base, "locks": [{"line": "xx/", "cards": "3c", "strategy": {"b100": 1.0}}]})
    for solver in (everywhere, one):
        solver.solve(max_iterations=20, target_exploitability_pct=None)
    always = [0.0, 1.0]
    assert everywhere.go("xx/", "3c").node().frequencies[:2] == pytest.approx(always)
    assert everywhere.go("xx/", "7h").node().frequencies[:2] == pytest.approx(always)
    assert one.go("xx/", "3c").node().frequencies[:2] == pytest.approx(always)
    assert one.go("xx/", "7h").node().frequencies[:2] != pytest.approx(always)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"boards": "QsJh2h"}, "spot: 'boards' is no key; accepted: board"),
        ({"pot": "200"}, "pot: '200' is not a whole number"),
        ({"pot": True}, "pot: True is not a whole number"),
        ({"rake": "5%"}, "rake: '5%' is not a number"),
        ({"board": ["Qs"]}, "board: .* is not text"),
        ({"compress": 1}, "compress: 1 is not true or false"),
        ({"bet_sizes": "50%"}, "bet_sizes: '50%'"),
        ({"locks": {"line": ""}}, "locks: .* is no list"),
        ({"locks": [{"line": ""}]}, "is no lock; accepted keys: line, strategy"),
        ({"locks": [{"line": "", "strategy": "x"}]}, "no object of actions"),
        (
            {"locks": [{"line": "", "strategy": {"x": "often"}}]},
            r"locks\[0\].strategy.x: 'often' is not a number",
        ),
        ({"donk_sizes": "50%"}, "donk_sizes: '50%' is no object with streets"),
        ({"locks": [{"line": "b7", "strategy": {"x": 1}}]}, "b7"),
        ({"max_iterations": 0}, "max_iterations: 0 is not a positive number"),
        ({"target_exploitability_pct": -1}, "target_exploitability_pct: -1"),
        ({"time_limit_s": 0}, "time_limit_s: 0"),
        ({"memory_limit_mib": 0.01}, "memory: the tree needs"),
        ({"schedule": "quick"}, "schedule 'quick' is unknown"),
    ],
)
def test_bad_spots_are_one_clear_line(change, message):
    with pytest.raises(ValueError, match=message) as caught:
        solve_spot({**SPOT, **change})
    assert "\n" not in str(caught.value)


def test_missing_keys_are_named():
    with pytest.raises(ValueError, match="'ip_range' is missing"):
        read_spot({key: value for key, value in SPOT.items() if key != "ip_range"})
    with pytest.raises(ValueError, match="expected an object"):
        read_spot([])


def test_what_is_left_out_is_what_the_documentation_says():
    optional = {
        "folded_ranges": None,
        "donk_sizes": None,
        "add_allin_threshold": 1.5,
        "force_allin_threshold": 0.15,
        "merging_threshold": 0.1,
        "rake": 0.0,
        "rake_cap": 0.0,
        "max_iterations": 1000,
        "target_exploitability_pct": 0.1,
        "time_limit_s": None,
        "schedule": "auto",
        "compress": False,
        "threads": 2,
        "locks": [],
        "memory_limit_mib": None,
    }
    required = {key: SPOT[key] for key in ("board", "oop_range", "ip_range", "pot", "stack", "bet_sizes")}
    assert read_spot(required).model_dump() == required | optional


@pytest.mark.parametrize("function", [spot_tree, PostflopSolver, PostflopSolver.solve])
def test_the_solver_has_the_defaults_of_a_spot_file(function):
    own = {
        name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.default is not parameter.empty and name in Spot.model_fields and name != "threads"
    }
    assert len(own) >= 3
    assert own == {name: Spot.model_fields[name].default for name in own}
