"""Spots in which other players folded: their ranges change which hands and cards are left."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from abstractions.cards import COMBO_CARDS, NUM_CARDS
from abstractions.ranges import parse_range
from solver.betting.tree import spot_tree
from solver.exact.engine import CfrEngine
from solver.exact.strategies import engine_for
from solver.postflop.automatic_schedule import AUTOMATIC
from solver.postflop.holdem import holdem_game, read_board, read_folded
from solver.postflop.solver import PostflopSolver
from solver.postflop.spot import solve_spot

SPOT = {
    "board": "QsJh2h8d3c",
    "oop_range": "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s",
    "ip_range": "QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+",
    "pot": 200,
    "stack": 900,
    "bet_sizes": {"river": {"bet": "50%,100%", "raise": "2.5x"}},
    "target_exploitability_pct": 0.02,
    "threads": 1,
}
#: What two players folded, and what b-inary/postflop-solver finds for the spot with and without them.
FOLDED = [
    (
        "33:0.59,22:0.635,A8o:0.265,A7o-A6o,A5o:0.445,A4o-A2o,K2s,K9o:0.905,K8o-K2o,Q4s-Q2s,Q9o-Q2o,"
        "J6s-J2s,J9o:0.88,J8o-J2o,T7s:0.405,T6s-T2s,T9o:0.96,T8o-T2o,96s-92s,92o+,86s:0.57,85s-82s,82o+,"
        "76s:0.37,75s-72s,72o+,65s:0.475,64s-62s,62o+,54s:0.68,53s-52s,52o+,42+,32"
    ),
    (
        "66:0.46,55:0.821,44:0.92,33:0.93,22:0.925,A6s:0.73,A3s:0.47,A2s,ATo:0.105,A9o-A2o,K8s:0.795,K7s,"
        "K6s:0.85,K5s:0.965,K4s-K2s,KJo:0.085,KTo:0.645,K9o-K2o,Q8s-Q2s,QJo:0.765,QTo-Q2o,J8s-J2s,J2o+,"
        "T8s:0.69,T7s-T2s,T2o+,98s:0.905,97s-92s,92o+,87s:0.78,86s-82s,82o+,76s:0.77,75s-72s,72o+,"
        "65s:0.845,64s-62s,62o+,54s:0.735,53s-52s,52o+,42+,32"
    ),
]
REFERENCE = [
    (
        [],
        (103.4652, 96.5348),
        {"7h5h": 0.05, "6s6d": 0.47609, "8s8h": 0.95671, "KhTh": 0.20045, "JsJd": 0.96861, "AsAh": 0.87923},
    ),
    (
        FOLDED,
        (104.2051, 95.7949),
        {
            "7h5h": 0.04726,
            "6s6d": 0.47401,
            "8s8h": 0.95636,
            "KhTh": 0.19585,
            "JsJd": 0.96838,
            "AsAh": 0.88052,
        },
    ),
]


@pytest.mark.parametrize(("folded", "ev", "equities"), REFERENCE, ids=["plain", "two folded"])
def test_the_reference_solver_agrees(folded: list[str], ev: tuple[float, float], equities: dict) -> None:
    result = solve_spot({**SPOT, "folded_ranges": folded})
    assert result["exploitability_pct"] <= 0.02
    assert (result["ev"]["oop"], result["ev"]["ip"]) == pytest.approx(ev, abs=0.05)
    for hand, equity in equities.items():
        assert result["root"]["hands"][hand]["equity"] == pytest.approx(equity, abs=0.0005)
    if folded:
        assert result["folded"] == {"players": 2, "exact": True, "relative_error": 0.0}
    else:
        assert "folded" not in result


@pytest.mark.parametrize(("board", "players"), [("AcAdKh", 1), ("AcAdKh7s", 2)])
def test_quad_aces_take_the_pot_from_hands_that_cannot_win(board: str, players: int) -> None:
    solver = PostflopSolver(
        board=board,
        oop_range="AA",
        ip_range="22,33",
        pot=100,
        stack=100,
        bet_sizes={"flop": {"bet": "a", "raise": "a"}},
        folded_ranges=["22+,KQs:0.5", "55:0.3,T9"][:players],
    )
    solver.solve(max_iterations=20, target_exploitability_pct=None)
    report = solver.node()
    assert report.ev == pytest.approx((100.0, 0.0), abs=0.5)
    assert report.equity == pytest.approx((1.0, 0.0), abs=1e-6)


def test_weights_of_pairs_that_do_not_fit_are_refused() -> None:
    tables = PostflopSolver(**TURN).memory_bytes
    with pytest.raises(ValueError, match="memory: the tree needs"):
        PostflopSolver(**TURN, folded_ranges=["all"], memory_limit=tables + 10_000)


TURN = {
    "board": "QsJh2h8d",
    "oop_range": "JJ,T9s,AhKh,A5s,Kc7c",
    "ip_range": "88,QTs,KQo,9h7h,AdTd",
    "pot": 100,
    "stack": 250,
    "bet_sizes": {"turn": {"bet": "75%", "raise": "a"}},
}


def solved(folded: list[str], **options: object) -> PostflopSolver:
    solver = PostflopSolver(**TURN, folded_ranges=folded, **options)
    solver.solve(max_iterations=150, target_exploitability_pct=None)
    return solver


def test_players_who_fold_anything_leave_the_plain_solution() -> None:
    plain, folded = solved([]).node(), solved(["all", "all"]).node()
    assert folded.ev == pytest.approx(plain.ev, abs=1e-3)
    assert folded.strategy == pytest.approx(plain.strategy, abs=1e-3)
    assert folded.hands[0].equity == pytest.approx(plain.hands[0].equity, abs=1e-5)


def test_merged_suits_threads_and_a_resumed_run_do_not_change_the_result() -> None:
    ranges = ["A2o+,K2o+", "22+,T2s+"]
    merged = solved(ranges)
    assert solved(ranges, threads=2).node().ev == merged.node().ev
    apart = solved(ranges, isomorphism=False)
    assert apart.node().ev == pytest.approx(merged.node().ev, abs=2e-3)
    assert apart.go("xx/", "2c").node().equity == pytest.approx(
        merged.go("xx/", "2c").node().equity, abs=1e-6
    )
    first = PostflopSolver(**TURN, folded_ranges=ranges)
    first.solve(max_iterations=70, target_exploitability_pct=None)
    later = PostflopSolver(**TURN, folded_ranges=ranges)
    later.load_state({name: array.copy() for name, array in first.state().items()})
    for solver in (first, later):
        solver.solve(max_iterations=150, target_exploitability_pct=None)
    assert later.node().ev == first.node().ev


def test_training_against_earlier_corrections_reaches_a_low_exploitability() -> None:
    solver = PostflopSolver(**TURN, folded_ranges=["AA,KK:0.7,QQ", "TT,99"])
    result = solver.solve(target_exploitability_pct=0.02, max_iterations=1000)
    assert result.exploitability_pct <= 0.02


def test_a_run_that_is_stopped_says_how_exploitable_it_is_exactly() -> None:
    solver = PostflopSolver(**TURN, folded_ranges=["AA,KK:0.7,QQ", "TT,99"])
    result = solver.solve(target_exploitability_pct=0.0, should_stop=lambda: solver.iteration >= 25)
    assert result.reason == "stopped"
    assert result.exploitability == pytest.approx(solver.engine.evaluate().exploitability, abs=1e-4)
    assert result.trace[-1].exploitability_pct == result.exploitability_pct
    # On the way, the estimates were near: the game changes little between two corrections.
    solver.engine.run(30)
    estimate = solver.engine.exploitability(estimate=True)
    assert estimate == pytest.approx(solver.engine.exploitability(), rel=0.2)


def test_values_are_those_of_every_way_to_deal_the_folded_hands() -> None:
    """A strategy is worth the mean over the folded hands of what it is worth in a deck without them."""
    ranges = ["AhQc,AdKd:0.4,7c7d,9s9c:0.2", "AhTc:0.6,KsKd,7c2c,6d5d"]
    board = read_board("QsJh2h8d")
    tree = spot_tree(2, 100, 250, TURN["bet_sizes"], rake=0.05, rake_cap=10.0)
    hands = parse_range(TURN["oop_range"]), parse_range(TURN["ip_range"])
    game = holdem_game(board, *hands, read_folded(ranges))
    engine = CfrEngine(tree, game, AUTOMATIC, precision="float64", isomorphism=False)
    engine.run(7)
    boards = {cards: number for number, cards in enumerate(engine.deals.cards)}

    def strategy(node: int, cards: tuple[int, ...], asked: np.ndarray) -> np.ndarray:
        player, number = int(tree.player[node]), boards[cards]
        known = game.hands[player][engine.deals.hands[player][number]].tolist()
        return engine.strategy(node, number)[:, [known.index(hand) for hand in asked.tolist()]]

    total = np.zeros(len(game.hands[0])), np.zeros(len(game.hands[1]))
    met = np.zeros(len(game.hands[0])), np.zeros(len(game.hands[1]))
    weights = [parse_range(text) for text in ranges]
    for first, second in product(*(np.flatnonzero(w).tolist() for w in weights)):
        gone = {*COMBO_CARDS[first].tolist(), *COMBO_CARDS[second].tolist()}
        if len(gone) < 4 or gone & set(board):
            continue
        weight = weights[0][first] * weights[1][second]
        left = [np.flatnonzero(~np.isin(cards, list(gone)).any(axis=1)) for cards in game.hands]
        without = replace(
            game,
            hands=tuple(game.hands[p][left[p]] for p in range(2)),
            weights=tuple(game.weights[p][left[p]] for p in range(2)),
            deck=tuple(card for card in range(NUM_CARDS) if card not in (*board, *gone)),
            folded=None,
        )
        there = engine_for(tree, without, strategy)
        for player in range(2):
            total[player][left[player]] += weight * there.root_values(player)
            met[player][left[player]] += weight * there.compatible(player, without.weights[1 - player])
    for player in range(2):
        expected = np.divide(
            total[player], met[player], out=np.zeros_like(met[player]), where=met[player] > 0
        )
        own = engine.compatible(player, game.weights[1 - player])
        found = np.divide(engine.root_values(player), own, out=np.zeros_like(own), where=own > 0)
        assert found == pytest.approx(expected, abs=1e-9)
        assert own / own.sum() == pytest.approx(met[player] / met[player].sum(), abs=1e-12)
