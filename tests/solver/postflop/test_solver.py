"""The exact postflop solver: reference figures, poker facts, navigation, locks, threads, memory."""

from __future__ import annotations

import numpy as np
import pytest

from abstractions.cards import COMBO_INDEX, parse_combo
from abstractions.ranges import parse_range
from solver.cfr.exploitability import exploitability
from solver.cfr.schedules import SCHEDULES
from solver.exact.strategies import engine_for
from solver.exact.sweep import BELOW, DOWN, EXPECTED
from solver.postflop.node_report import real_combos
from solver.postflop.solver import PostflopSolver

OOP = "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s"
IP = "QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+"
RIVER = {"river": {"bet": "50%,100%,a", "raise": "60%,2.5x"}}


def river(**options):
    spot = {
        "board": "QsJh2h8d3c",
        "oop_range": "all",
        "ip_range": "all",
        "pot": 200,
        "stack": 900,
        "bet_sizes": RIVER,
    }
    return PostflopSolver(**{**spot, **options})


def turn(**options):
    spot = {
        "board": "QsJh2h8d",
        "oop_range": "QQ+,AKs,JTs,98s,87s,65s",
        "ip_range": "TT-88,AQs,KQs,QJs,T9s,AKs,76s",
        "pot": 200,
        "stack": 400,
        "bet_sizes": {"turn": {"bet": "50%", "raise": "2.5x"}},
    }
    return PostflopSolver(**{**spot, **options})


@pytest.fixture(scope="module")
def solved_river():
    solver = river()
    solver.solve(target_exploitability_pct=0.02, max_iterations=3000)
    return solver


@pytest.fixture(scope="module")
def solved_turn():
    solver = turn()
    solver.solve(target_exploitability_pct=0.05)
    return solver


def test_river_reference_values(solved_river):
    report = solved_river.node()
    assert report.ev == pytest.approx((93.672, 106.328), abs=0.2)
    assert report.actions == ["x", "b100", "b200", "A"]
    assert report.frequencies == pytest.approx([0.733, 0.267, 0.0, 0.0], abs=0.02)
    assert report.equity == pytest.approx((0.5, 0.5), abs=1e-6)


@pytest.mark.slow
def test_turn_reference_values():
    solver = PostflopSolver(
        board="QsJh2h8d",
        oop_range=OOP,
        ip_range=IP,
        pot=200,
        stack=900,
        bet_sizes={"turn": {"bet": "50%,100%", "raise": "2.5x"}},
    )
    result = solver.solve(target_exploitability_pct=0.1)
    assert result.reason == "target"
    report = solver.node()
    assert report.ev == pytest.approx((103.976, 96.024), abs=0.2)
    assert report.frequencies == pytest.approx([0.678, 0.078, 0.244], abs=0.02)
    assert [len(hands.combos) for hands in report.hands] == [171, 253]


def test_the_nuts_never_fold_and_bluffs_do(solved_river):
    # On QsJh2h8d3c the nuts are T9.
    report = solved_river.go("xb200").node()
    names = report.hands[0].names
    fold = report.actions.index("f")
    assert report.strategy[fold, names.index("Tc9c")] < 1e-3
    assert report.strategy[fold, names.index("7c4c")] > 0.99


def test_evs_share_the_pot_everywhere(solved_river, solved_turn):
    for solver, lines in ((solved_river, ["", "x", "xb100", "b200r560"]), (solved_turn, ["", "x", "b100"])):
        for line in lines:
            report = solver.go(line).node()
            assert sum(report.ev) == pytest.approx(report.pot, rel=1e-5)
            assert report.strategy.sum(axis=0) == pytest.approx(1.0)
            assert report.frequencies.sum() == pytest.approx(1.0)
            assert sum(report.equity) == pytest.approx(1.0, abs=1e-6)


def test_action_values_mix_to_the_value_of_the_hand(solved_turn):
    report = solved_turn.go("b100").node()
    hands = report.hands[report.player]
    assert (report.strategy * report.action_ev).sum(axis=0) == pytest.approx(hands.ev, abs=1e-6)
    fold = report.actions.index("f")
    assert report.action_ev[fold][hands.met > 0] == pytest.approx(0.0, abs=1e-3)
    share = hands.counterfactual / hands.met + 100.0
    assert hands.ev[hands.met > 0] == pytest.approx(share[hands.met > 0], abs=1e-9)


def test_navigation_by_play_line_and_back(solved_turn):
    by_play = solved_turn.go("").play("x").play("x").play("2c").play("x").node()
    assert solved_turn.line == "xx/x"
    assert solved_turn.board == "QsJh2h8d2c"
    by_line = solved_turn.go("xx/x", "2c").node()
    assert by_line.line == by_play.line
    assert np.array_equal(by_line.strategy, by_play.strategy)
    assert solved_turn.back().line == "xx/"
    assert solved_turn.back(100).line == ""
    with pytest.raises(ValueError, match="'r300' is not possible; accepted: x b100"):
        solved_turn.play("r300")
    with pytest.raises(ValueError, match="Qs is on the board already"):
        solved_turn.go("xx/", "Qs")
    with pytest.raises(ValueError, match="deals 1 cards, got 0"):
        solved_turn.go("xx/")


def test_blocked_hands_are_not_listed(solved_turn):
    report = solved_turn.go("xx/", "Qd").node()
    assert all("Qd" not in name and "Qs" not in name for hands in report.hands for name in hands.names)


def test_betting_more_streets_is_worth_at_least_the_equity_of_a_check_down():
    solver = turn(bet_sizes={"turn": {"bet": "none", "raise": "none"}})
    solver.solve(max_iterations=5, target_exploitability_pct=None)
    report = solver.node()
    assert report.ev == pytest.approx(tuple(200 * e for e in report.equity), abs=1e-3)
    assert solver.measure_exploitability().value == pytest.approx(0.0, abs=1e-3)


def test_rake_comes_out_of_the_evs():
    free, raked = turn(), turn(rake=0.05, rake_cap=15.0)
    for solver in (free, raked):
        result = solver.solve(target_exploitability_pct=0.2)
        assert 0.0 <= result.exploitability_pct <= 0.2
    assert sum(free.node().ev) == pytest.approx(200.0, rel=1e-5)
    assert 200.0 - 15.0 - 1e-3 <= sum(raked.node().ev) <= 200.0 - 0.05 * 200.0 + 1e-3


@pytest.mark.parametrize("name", ["cfr+", "lcfr", "dcfr", "dcfr-postflop", "pdcfr+", "hs-dcfr"])
def test_every_schedule_solves_the_river(name):
    assert name in SCHEDULES
    solver = river(schedule=name)
    solver.solve(max_iterations=400, target_exploitability_pct=None)
    measured = exploitability(solver)
    assert measured.units == "chips"
    assert 0.0 <= measured.percent_of_pot < 0.25


@pytest.mark.parametrize("spot", [river, turn])
def test_the_automatic_schedule_needs_fewer_iterations_than_dcfr_with_its_usual_exponents(spot):
    left = []
    for schedule in ("auto", "dcfr"):
        solver = spot(schedule=schedule)
        solver.engine.run(100)
        left.append(solver.engine.exploitability())
    assert left[0] < 0.9 * left[1]


def test_threads_do_not_change_a_single_bit():
    one, two, many = turn(threads=1), turn(threads=2), turn(threads=5)
    for solver in (one, two, many):
        solver.engine.run(12)
    for player in range(2):
        for name in ("regret", "average"):
            expected = getattr(one.engine.tables[player], name)
            assert np.array_equal(getattr(two.engine.tables[player], name), expected)
            assert np.array_equal(getattr(many.engine.tables[player], name), expected)


def test_threads_write_to_no_entry_of_each_other():
    engine = turn(threads=5).engine
    engine.run(2)
    once = np.ones((1, 4))
    root = engine.deals.boards[0]
    for own in range(2):
        engine._call(once, engine.iteration, EXPECTED, DOWN, (own, own), 0)
        written = np.zeros((engine.groups, len(engine._totals)), dtype=bool)
        for k in range(root["count"]):
            # What is read and written back unchanged, as lanes past the end of a row are, loses its sign.
            engine._totals[:] = -0.0
            engine._claims[0] = 0
            path = np.array([-1, root["first"] + k, -1])
            engine._call(once, engine.iteration, EXPECTED, BELOW, (own, own), 0, path)
            group = ((k + 1) * engine.groups - 1) // root["count"]
            written[group] |= engine._totals.view(np.int32) != np.float32(-0.0).view(np.int32)
        assert written.any(axis=1).all()
        assert written.sum(axis=0).max() == 1
        assert written.sum() > 1000


def test_a_saved_run_goes_on_as_if_it_had_never_stopped():
    whole, first, second = turn(), turn(), turn()
    whole.engine.run(30)
    first.engine.run(13)
    second.load_state({name: array.copy() for name, array in first.state().items()})
    second.engine.run(17)
    assert second.iteration == whole.iteration
    assert np.array_equal(second.engine.tables[0].regret, whole.engine.tables[0].regret)
    assert np.array_equal(second.engine.tables[1].average, whole.engine.tables[1].average)
    with pytest.raises(ValueError, match="another game"):
        river().load_state(first.state())


def test_solving_again_continues():
    solver = river()
    solver.solve(max_iterations=20, target_exploitability_pct=None)
    result = solver.solve(max_iterations=50, target_exploitability_pct=None)
    assert result.iterations == 50
    assert [point.iteration for point in result.trace] == sorted({p.iteration for p in result.trace})


def test_limits_end_a_run_early():
    assert river().solve(time_limit_s=1e-3, target_exploitability_pct=None).reason == "time"
    stopped = river().solve(target_exploitability_pct=None, should_stop=lambda: True)
    assert stopped.reason == "stopped"
    assert stopped.iterations < 1000
    seen = []
    river().solve(
        max_iterations=30, target_exploitability_pct=None, progress=lambda *point: seen.append(point)
    )
    assert seen[-1][0] == 30


def test_a_locked_player_gains_nothing_and_is_exploited():
    free = river()
    free.solve(target_exploitability_pct=0.1)
    locked = river()
    locked.go("xb100").lock({"f": 1.0}).go("")
    result = locked.solve(target_exploitability_pct=0.1)
    assert result.reason == "target"
    # OOP always folds to a small bet: IP bets nearly everything and earns more than at equilibrium.
    assert locked.node().ev[1] > free.node().ev[1] + 5.0
    assert locked.go("xb100").node().frequencies == pytest.approx([1.0, 0.0, 0.0, 0.0])


def test_some_hands_can_be_locked_and_freed():
    solver = river()
    solver.lock({"b100": 0.5, "A": 0.5}, hands="AA,T9s")
    solver.solve(max_iterations=100, target_exploitability_pct=None)
    report = solver.node()
    names = report.hands[0].names
    assert report.strategy[:, names.index("AhAc")] == pytest.approx([0.0, 0.5, 0.0, 0.5])
    assert report.strategy[:, names.index("Tc9c")] == pytest.approx([0.0, 0.5, 0.0, 0.5])
    assert report.strategy[0, names.index("7c4c")] > 0.5
    solver.unlock()
    solver.solve(max_iterations=600, target_exploitability_pct=None)
    assert solver.node().strategy[0, names.index("AhAc")] > 0.5


def test_locks_that_make_no_sense_are_refused():
    solver = river()
    with pytest.raises(ValueError, match="'b300' is no action at ''; accepted: x b100 b200 A"):
        solver.lock({"b300": 1.0})
    with pytest.raises(ValueError, match="do not sum to 1"):
        solver.lock({"x": 0.5})
    with pytest.raises(ValueError, match="nobody acts"):
        solver.go("xx").lock({"x": 1.0})
    symmetric = turn(board="QsJs2s", bet_sizes={"flop": {"bet": "50%", "raise": "none"}})
    with pytest.raises(ValueError, match="equivalent suits"):
        symmetric.lock({"x": 1.0}, hands="AhKh")
    with pytest.raises(ValueError, match="equivalent suits"):
        symmetric.go("xx/", "2c").lock({"x": 1.0})


@pytest.mark.parametrize(
    "board", ["Qs7s2d5d", "QsQh2d2c", "Qs7s2s5s", pytest.param("Qs7s2d", marks=pytest.mark.slow)]
)
def test_equivalent_suits_change_nothing_but_the_work(board):
    """What was solved on a third of the boards is as good, and as exploitable, on all of them."""
    street = "flop" if len(board) == 6 else "turn"
    narrow = {"oop_range": "QQ,AKs,87s", "ip_range": "TT,KQs,76s"} if street == "flop" else {}
    solver = turn(
        board=board, bet_sizes={street: {"bet": "60%", "raise": "none"}}, precision="float64", **narrow
    )
    solver.engine.run(15)
    merged = solver.engine

    def strategy(node, cards, hands):
        number, suits = merged.deals.locate(cards[len(merged.game.board) :])
        player = int(merged.tree.player[node])
        combos = real_combos(merged.game.hands[player][merged.deals.hands[player][number]], suits)
        columns = {int(combo): k for k, combo in enumerate(combos)}
        wanted = [columns[int(COMBO_INDEX[pair[0], pair[1]])] for pair in hands]
        return merged.strategy(node, number)[:, wanted]

    apart = engine_for(merged.tree, merged.game, strategy)
    assert len(apart.deals.cards) > 1.3 * len(merged.deals.cards)
    ours, theirs = merged.evaluate(), apart.evaluate()
    assert ours.expected == pytest.approx(theirs.expected, abs=1e-8)
    assert ours.best_response == pytest.approx(theirs.best_response, abs=1e-8)


def test_a_monotone_flop_needs_about_a_third_of_the_tables():
    options = {"board": "Qs7s2s", "bet_sizes": {"flop": {"bet": "60%", "raise": "none"}}, "stack": 200}
    assert turn(**options).table_bytes < 0.4 * turn(**options, isomorphism=False).table_bytes


@pytest.mark.slow
def test_compressed_tables_take_half_the_memory_and_agree():
    plain, packed = turn(), turn(compress=True)
    assert packed.table_bytes < 0.56 * plain.table_bytes
    for solver in (plain, packed):
        assert solver.solve(target_exploitability_pct=0.2).reason == "target"
    assert packed.node().ev == pytest.approx(plain.node().ev, abs=0.4)
    with pytest.raises(ValueError, match="cannot be compressed"):
        turn(compress=True, schedule="pcfr+")


def test_memory_is_known_before_it_is_allocated():
    with pytest.raises(ValueError, match=r"memory: the tree needs .* over the limit of 0 MiB"):
        turn(memory_limit=2**16)
    solver = turn()
    tables = sum(t.regret.nbytes + t.average.nbytes + t.nodes.nbytes for t in solver.engine.tables)
    assert solver.table_bytes == tables
    assert solver.memory_bytes > solver.table_bytes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"oop_range": np.zeros(1326)}, "oop_range: the range is empty"),
        ({"ip_range": "QsQd"}, "ip_range: every hand is blocked by the board"),
        ({"oop_range": "AhAd", "ip_range": "AhKh,AdKd"}, "no hand of oop_range can be dealt together"),
        ({"oop_range": "AA,XY"}, "oop_range: .*XY"),
        ({"board": "QsQs2h8d3c"}, "board: .*Qs"),
        ({"board": "Qs2h"}, "board"),
        ({"board": ""}, "board: 0 cards; accepted: 3"),
        ({"pot": 0}, "pot"),
        ({"stack": -5}, "stack"),
        ({"bet_sizes": {"river": {"bet": "", "raise": "2x"}}}, "bet_sizes.river"),
        ({"bet_sizes": {"river": {"bet": "50%", "raise": "half"}}}, "half"),
        ({"schedule": "fast"}, "schedule 'fast' is unknown"),
        ({"threads": 0}, "threads"),
    ],
)
def test_bad_input_is_one_clear_line(options, message):
    with pytest.raises(ValueError, match=message) as caught:
        river(**options)
    assert "\n" not in str(caught.value)


def test_weighted_ranges_scale_out():
    half = river(oop_range=0.5 * parse_range("all"))
    full = river()
    for solver in (half, full):
        solver.engine.run(40)
    assert half.node().ev == pytest.approx(full.node().ev, abs=1e-2)
    combo = parse_combo("AhKh")
    assert half.node().hands[0].weights[half.node().hands[0].combos == combo] == pytest.approx(0.5)
