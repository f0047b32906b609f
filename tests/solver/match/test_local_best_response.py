"""Local best response: known winnings from simple strategies, and never more than the best response."""

from __future__ import annotations

import numpy as np
import pytest

from abstractions.cards import CLASS_NAMES, COMBO_CARDS, parse_board, parse_combo
from abstractions.equity import combo_equities, equity
from solver.betting.game import GameConfig
from solver.betting.lines import RIVER
from solver.betting.rules import Action
from solver.blueprint.evaluation import Evaluation
from solver.match.local_best_response import SIZES, LocalBestResponse, Setting, hand_equities
from solver.match.play import Interval, draw_deal, hand_rng
from solver.match.players import BlueprintPlayer
from solver.match.simple import simple_blueprint
from solver.match.table import Table
from tests.solver.blueprint.small_games import BOARDS, WEIGHTS, game_of, small_game
from tests.solver.match.random_blueprints import SHALLOW, random_blueprint

DEEP = GameConfig(raise_sizes=("2.5",), raise_cap=1)


def responder(name: str, setting: Setting) -> LocalBestResponse:
    game, table = game_of(DEEP), Table(DEEP)
    return LocalBestResponse(
        table, BlueprintPlayer(table, simple_blueprint(name, game)), game.preflop, setting
    )


def duplicate(local: LocalBestResponse, seed: int, number: int) -> float:
    """Chips of the responder, mean of both seats."""
    rng = hand_rng(seed, number)
    deal = draw_deal(rng)
    return (local.hand(deal, 0, rng) + local.hand(deal, 1, rng)) / 2


@pytest.mark.parametrize("actions", ["fcpa", "56"])
@pytest.mark.parametrize("streets", [None, (0, 1, 2, 3)])
def test_always_fold_loses_750_mbb_a_hand(actions, streets):
    setting = Setting.published(actions) if streets is None else Setting(actions, streets)
    local = responder("always-fold", setting)
    for number in range(4):
        # Half a blind from the small blind that folds, a whole one from the big blind, whatever the cards.
        assert duplicate(local, 1, number) == 75.0


def test_from_always_call_every_hand_wins_what_its_equity_on_the_river_says():
    # Checked down to the river, then all-in with every hand that is ahead of a random one: (2 e - 1) times the pot's
    # half, and times the 99 big blinds behind where that is positive.
    local = responder("always-call", Setting("fcpa", (RIVER,)))
    for number in range(40):
        rng = hand_rng(2, number)
        deal = draw_deal(rng)
        for own in range(2):
            ahead = 2 * combo_equities("all", deal.board)[deal.combos[own]] - 1
            expected = 100 * ahead + 9900 * max(ahead, 0.0)
            assert local.hand(deal, own, rng) == pytest.approx(expected, abs=1e-6)


def test_always_call_loses_25_4_big_blinds_a_hand_to_river_all_ins():
    # The mean of max(2 e - 1, 0) over all hands of random boards, found without the responder.
    rng = np.random.default_rng(5)
    ahead = [2 * combo_equities("all", rng.choice(52, 5, replace=False)) - 1 for _ in range(100)]
    known = 9900 * float(np.nanmean(np.maximum(ahead, 0.0) + 0 * np.array(ahead)))
    assert known == pytest.approx(2540, abs=20)
    local = responder("always-call", Setting("fcpa", (RIVER,)))
    found = Interval.of(np.array([duplicate(local, 3, number) for number in range(400)]))
    assert abs(found.mean - known) < 1.5 * found.half_width


def test_the_responder_folds_and_calls_by_its_odds():
    local = responder("always-call", Setting("fc", (RIVER,)))
    board = parse_board("AsKsQsJsTs")
    worst, line = parse_combo("2c3d"), "cx/xx/xx/b100"
    weights = np.zeros(1326)
    weights[parse_combo("4h4d")] = 1.0
    # On a royal flush the board plays, so nobody folds his half of the pot.
    assert local._choice(line, worst, weights, board) == "c"
    dry = parse_board("AsKd9c7h5d")
    assert local._choice(line, worst, weights, dry) == "f"
    assert local._choice(line, parse_combo("AcAd"), weights, dry) == "c"


def test_local_best_response_never_beats_the_best_response():
    blueprint, table = random_blueprint(1), Table(SHALLOW)
    tree = blueprint.game.preflop.tree
    # Nobody folds before the flop, so that hands are dealt board first in both.
    for node in range(1, len(tree)):
        if tree.action[node] == Action.FOLD:
            siblings = tree.children_of(int(tree.parent[node]))
            call = next(int(k) for k in siblings if tree.action[k] == Action.CALL)
            blueprint.preflop[call] += blueprint.preflop[node]
            blueprint.preflop[node] = 0.0
    best = np.mean(Evaluation(blueprint).evaluate(small_game()[1]).best_response)
    boards = [parse_board(text) for text in BOARDS]
    for actions in ("fcpa", "56"):
        local = LocalBestResponse(
            table, BlueprintPlayer(table, blueprint), blueprint.game.preflop, Setting.published(actions)
        )
        won = []
        for number in range(300):
            rng = hand_rng(11, number)
            deal = draw_deal(rng, boards[rng.choice(len(boards), p=WEIGHTS / WEIGHTS.sum())])
            won.append(10 * (local.hand(deal, 0, rng) + local.hand(deal, 1, rng)) / 2)
        found = Interval.of(np.array(won))
        assert found.mean - found.half_width < best
        # A random strategy is beaten all the same.
        assert found.mean - found.half_width > 0


@pytest.mark.parametrize("board", ["Kc7d2s", "Kc7d2s5h", "Kc7d2s5h9c"])
def test_equities_of_a_hand_are_those_of_hand_against_hand(board):
    found = hand_equities(parse_combo("AhKh"), parse_board(board))
    for other in ("QsQd", "AcKd", "3s4s"):
        assert found[parse_combo(other)] == pytest.approx(equity("AhKh", other, board))
    blocked = [
        k
        for k, cards in enumerate(COMBO_CARDS.tolist())
        if set(cards) & set(COMBO_CARDS[parse_combo("AhKh")])
    ]
    assert not found[blocked].any()
    assert found[parse_combo("7d8d")] == 0.0


def test_before_the_flop_equities_are_those_of_the_classes():
    game = game_of(DEEP)
    local = responder("always-call", Setting.published("fc"))
    weights = np.zeros(1326)
    weights[parse_combo("QsQd")] = 1.0
    pairs_won = game.preflop.equity[CLASS_NAMES.index("QQ"), CLASS_NAMES.index("AKs")]
    found = local._win_probability(parse_combo("AhKh"), weights, np.zeros(0, dtype=np.uint8))
    assert found == pytest.approx(pairs_won / (6 * 4))


def test_the_published_sizes():
    assert len(SIZES["56"]) == 56
    assert SIZES["56"][1] == pytest.approx(0.0575)
    assert SIZES["56"][54] == pytest.approx(94.766, abs=1e-3)
    local = responder("always-call", Setting.published("fcpa"))
    assert local._raises("cx/xx/") == ["b200", "A"]
    assert local._raises("cx/xx/b200") == ["r800", "A"]
    every = responder("always-call", Setting.published("56"))._raises("cx/xx/")
    # The smallest bet is a big blind, and the stack behind ends the list.
    assert every[0] == "b100"
    assert every[-1] == "A"
    assert len(every) == len(set(every)) == 35
