"""The faces of the subgame solver: exact where it searches to the end, anytime, nested over a hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from abstractions.cards import disjoint_weight, live_combos, parse_board
from solver.exact.betting_plan import leaf_nodes
from solver.exact.engine import CfrEngine
from solver.exact.fixed_leaves import FixedLeaves
from solver.postflop.automatic_schedule import AUTOMATIC
from solver.postflop.solver import PostflopSolver
from solver.subgame import HandSolver, SubgameConfig, solve_subgame
from solver.subgame.solve import SubgameSolver
from solver.subgame.solved_street import SolvedStreet, content_key
from solver.subgame.subgame import Subgame
from tests.solver.subgame import small_spots
from tests.solver.subgame.small_spots import PLAIN, blueprint, spot, thin_ranges

TURN_LINE, RIVER_LINE = "b250c/xx/", "b250c/xx/xx/"


def test_a_depth_beyond_the_end_is_the_exact_solver():
    exact = PostflopSolver(
        board=small_spots.TURN,
        oop_range=thin_ranges()[1],
        ip_range=thin_ranges()[0],
        pot=500,
        stack=1250,
        bet_sizes={"turn": {"bet": "75%", "raise": "a"}},
        add_allin_threshold=0.0,
        merging_threshold=0.0,
    )
    exact.solve(max_iterations=600, target_exploitability_pct=None)
    report = exact.node()
    found = {}
    for depth in (2, 7, "full"):
        config = replace(PLAIN, depth=depth, iterations=600)
        solution = solve_subgame(blueprint(), TURN_LINE, small_spots.TURN, config, ranges=thin_ranges())
        assert (solution.num_leaves, solution.iterations, solution.reason) == (0, 600, "iterations")
        assert solution.actions() == report.actions == ["x", "b375"]
        found[depth] = solution
    hands = report.hands[0]
    for solution in found.values():
        np.testing.assert_array_equal(solution.strategy(), found["full"].strategy())
        np.testing.assert_allclose(solution.strategy()[:, hands.combos], report.strategy, atol=0.01)
        np.testing.assert_allclose(solution.ev()[hands.combos], hands.ev, atol=0.005 * 500)
        np.testing.assert_allclose(solution.frequencies(), report.frequencies, atol=1e-3)
    # A line of the river needs the whole board.
    river = found["full"].strategy(TURN_LINE + "xx/", small_spots.RIVER)
    np.testing.assert_allclose(river.sum(axis=0)[live_combos(parse_board(small_spots.RIVER))], 1.0)
    with pytest.raises(ValueError, match="expected 'QsJh2h8d' and 1 more cards"):
        found["full"].strategy(TURN_LINE + "xx/")


def test_leaves_that_hold_the_exact_solution_lead_to_its_value():
    subgame = spot(TURN_LINE, small_spots.TURN)
    whole = CfrEngine(subgame.tree, subgame.cards, AUTOMATIC, precision="float64", isomorphism=False)
    whole.run(200)
    numbers = {cards: board for board, cards in enumerate(whole.deals.cards)}

    def river(node, board, hands):
        return whole.strategy(node, numbers[board])

    cut, nodes = subgame.searched
    leaves = FixedLeaves(subgame.tree, nodes, subgame.cards, river)
    search = CfrEngine(cut, subgame.cards, AUTOMATIC, precision="float64", leaves=leaves, isomorphism=False)
    search.run(60)
    value, exact = search.evaluate(), whole.evaluate()
    assert value.expected[0] == pytest.approx(exact.expected[0], abs=0.002 * subgame.pot)
    # Playing the exact street in front of these leaves gives exactly what the exact solution gives.
    for node in range(len(cut)):
        if cut.player[node] >= 0:
            search.set_average(node, 0, whole.strategy(int(nodes[node])))
    for player in range(2):
        np.testing.assert_allclose(search.root_values(player), whole.root_values(player), rtol=0, atol=1e-8)


def test_a_solution_knows_strategies_ranges_and_values():
    line = RIVER_LINE + "xb400"
    solution = solve_subgame(
        blueprint(), line, small_spots.RIVER, replace(PLAIN, target_pct=0.1, iterations=1000)
    )
    assert solution.reason == "target"
    live = live_combos(parse_board(small_spots.RIVER))
    assert solution.player() == 1
    assert solution.actions() == ["f", "c", "A"]
    np.testing.assert_allclose(solution.strategy().sum(axis=0)[live], 1.0)
    assert not solution.strategy()[:, ~live].any()
    # The better of the small blind bets, and the big blind has checked.
    bet = solution.strategy(RIVER_LINE + "x")[solution.actions(RIVER_LINE + "x").index("b400")]
    np.testing.assert_allclose(solution.range(0), solution.subgame.ranges[0] * bet)
    check = solution.strategy(RIVER_LINE)[0]
    np.testing.assert_allclose(solution.range(1), solution.subgame.ranges[1] * check)
    # A fold receives nothing from there on, so no hand that gets there has less. Some hands bet instead and never do.
    arrives = solution.range(1) > 1e-4
    assert arrives.sum() > 0.5 * np.count_nonzero(solution.subgame.ranges[1])
    assert np.nanmin(solution.ev()[arrives]) > -0.01 * solution.subgame.pot
    # At the root both together receive the pot.
    kept = []
    for player in range(2):
        values = np.nan_to_num(solution.root_values(player))
        weights = solution.subgame.ranges[player] * disjoint_weight(solution.range(1 - player, RIVER_LINE))
        kept.append(float(weights @ values / weights.sum()))
    assert sum(kept) == pytest.approx(0.0, abs=0.01)
    with pytest.raises(ValueError, match="leaves the subgame at 'x'; accepted: x b375 b400"):
        solution.strategy(RIVER_LINE + "xb500")


def test_a_measured_solve_tells_its_exploitability_and_ends_the_same():
    subgame = Subgame.build(blueprint(), RIVER_LINE, small_spots.RIVER, PLAIN)
    config = replace(PLAIN, iterations=25)
    plain = SubgameSolver(blueprint(), subgame, config).run()
    told = []
    measured = SubgameSolver(blueprint(), subgame, config).run(progress=told.append, measure=True)
    np.testing.assert_array_equal(measured.strategy(), plain.strategy())
    found = {step.iteration: step.exploitability_pct for step in told if step.exploitability_pct is not None}
    assert sorted(found) == [10, 20, 25]
    assert found[25] < found[10]


def test_progress_budgets_and_cancelling():
    line, board = "b250c/", small_spots.FLOP
    told = []
    config = replace(PLAIN, iterations=None, time_s=0.8, run_outs=2)
    solution = solve_subgame(blueprint(), line, board, config, ranges=thin_ranges(), progress=told.append)
    assert solution.reason == "time"
    assert solution.seconds < 1.5
    assert 1 <= len(told) <= 4
    assert told[-1].iteration <= solution.iterations
    asked = []
    stopped = solve_subgame(
        blueprint(),
        line,
        board,
        PLAIN,
        ranges=thin_ranges(),
        should_stop=lambda: bool(asked.append(1)) or True,
    )
    assert stopped.reason == "stopped"
    assert 1 <= stopped.iterations < 300
    # Stopped early, there is an average all the same.
    live = live_combos(parse_board(board))
    np.testing.assert_allclose(stopped.strategy().sum(axis=0)[live], 1.0)
    with pytest.raises(ValueError, match=r"time_s: 0.0001 s are over before the first iteration"):
        solve_subgame(blueprint(), line, board, replace(PLAIN, time_s=0.0001), ranges=thin_ranges())
    with pytest.raises(ValueError, match="memory: "):
        solve_subgame(blueprint(), line, board, replace(PLAIN, memory_limit=1000), ranges=thin_ranges())


def test_two_streets_are_searched_before_the_leaves():
    config = replace(PLAIN, depth=2, iterations=3, run_outs=1)
    solution = solve_subgame(blueprint(), "b250c/", small_spots.FLOP, config, ranges=thin_ranges())
    # Each line to the river on each of 36 turns: clubs and diamonds are dealt once.
    lines = len(leaf_nodes(solution.subgame.searched[0]))
    assert solution.num_leaves == 36 * lines
    turn = solution.strategy("b250c/xx/", small_spots.TURN)
    np.testing.assert_allclose(turn.sum(axis=0)[live_combos(parse_board(small_spots.TURN))], 1.0)


@pytest.mark.parametrize("safety", ["resolve", "maxmargin", "reach"])
def test_a_safe_river_gives_no_hand_much_more_than_its_opt_out(safety):
    line = "b250c/xb375c/xx/x"
    config = replace(PLAIN, safety=safety, iterations=400)
    solver = SubgameSolver(
        blueprint(),
        spot(line, small_spots.RIVER, config),
        config,
        opt_outs=np.full(1326, 900.0),
        gifts=np.zeros(1326),
    )
    solver.run()
    # With more to get outside than there is to win, nobody needs to enter, or all gain as little as possible.
    assert solver.opponent == 1
    if safety == "resolve":
        assert solver.gadget.enters.max() < 0.01
    assert np.isfinite(solver.gadget.weights).all()


def test_opt_outs_are_estimated_with_the_blueprint():
    config = replace(PLAIN, safety="reach", iterations=20)
    solution = solve_subgame(blueprint(), "b250c/xx/xb400", small_spots.TURN, config)
    live = live_combos(parse_board(small_spots.TURN))
    np.testing.assert_allclose(solution.strategy().sum(axis=0)[live], 1.0)


class Shelf:
    """A cache that counts."""

    def __init__(self):
        self.kept, self.hits = {}, 0

    def get(self, key):
        self.hits += key in self.kept
        return self.kept.get(key)

    def put(self, key, solved):
        self.kept[key] = solved


def test_a_hand_is_followed_street_by_street():
    shelf = Shelf()
    config = replace(PLAIN, iterations=30, run_outs=2)
    hand = HandSolver(blueprint(), config, blueprint_key="tiny", cache=shelf)
    hand.play("b250").play("c").deal(small_spots.FLOP)
    flop = hand.solution
    assert flop.actions() == ["x", "b375"]
    hand.play("x")
    # The same solve answers at the next decision; a size it does not know is solved anew.
    assert hand.solution.actions() == ["x", "b375"]
    assert len(shelf.kept) == 1
    hand.play("b500")
    assert hand.solution.actions()[:2] == ["f", "c"]
    assert len(shelf.kept) == 2
    flop = hand.solution
    hand.play("c").deal("8d")
    for seat in range(2):
        arrived = flop.range(seat, "b250c/xb500c") * live_combos(parse_board(small_spots.TURN))
        np.testing.assert_allclose(hand._ranges[seat] * live_combos(parse_board(small_spots.TURN)), arrived)
    turn = hand.solution
    found = turn.range(1)
    expected = flop.range(1, "b250c/xb500c") * live_combos(parse_board(small_spots.TURN))
    kept = expected >= 1e-5 * expected.max()
    np.testing.assert_allclose(found[kept], expected[kept] / expected.max())
    assert isinstance(turn, SolvedStreet)
    # A second hand with the same cards answers at once, from the cache.
    again = HandSolver(blueprint(), config, blueprint_key="tiny", cache=shelf)
    again.play("b250").play("c").deal(small_spots.FLOP)
    np.testing.assert_array_equal(
        again.solution.strategy(), shelf.kept[next(iter(shelf.kept))].strategy("b250c/")
    )
    assert again.cached
    assert shelf.hits == 1


def test_bad_steps_of_a_hand_are_refused():
    hand = HandSolver(blueprint(), PLAIN).play("b250").play("c")
    with pytest.raises(ValueError, match="the street is over, '/' comes next"):
        hand.play("x")
    with pytest.raises(ValueError, match="the flop needs 3 that are not on the board"):
        hand.deal("Qs")
    hand.deal(small_spots.FLOP)
    with pytest.raises(ValueError, match="'/' before the betting of the flop is over"):
        hand.deal("8d")
    hand.play("x").play("x")
    with pytest.raises(ValueError, match="the turn needs 1 that are not on the board 'QsJh2h'"):
        hand.deal("Qs")


def test_the_content_key_belongs_to_what_is_solved_and_to_nothing_else():
    subgame = spot(TURN_LINE, small_spots.TURN)
    key = content_key("a", subgame, PLAIN)
    assert key == content_key("a", spot(TURN_LINE, small_spots.TURN), replace(PLAIN, threads=2))
    others = {
        content_key("b", subgame, PLAIN),
        content_key("a", spot(TURN_LINE + "x", small_spots.TURN), PLAIN),
        content_key("a", subgame, SubgameConfig()),
        content_key("a", replace(subgame, ranges=(subgame.ranges[1], subgame.ranges[0])), PLAIN),
    }
    assert len(others | {key}) == 5
