"""Subgames of several players in a tournament: values are what brute force finds, and survival is worth chips."""

from __future__ import annotations

import dataclasses
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from abstractions.cards import COMBO_CARDS, parse_board, parse_combo
from abstractions.evaluator import evaluate_board
from solver.betting.icm import icm
from solver.betting.public_tree import NodeKind
from solver.multiplayer.config import MultiplayerConfig
from solver.multiplayer.solution import MultiplayerSolution
from solver.multiplayer.solve import solve_multiplayer
from solver.multiplayer.two_left import solve_two_left
from solver.subgame.config import FULL, SubgameConfig
from tests.solver.multiplayer.uniform_blueprint import EVERYTHING, GAME, uniform_blueprint

RIVER = "QsJh2h8d3c"
STACKS, PAYOUTS = (3000, 1500, 2200), (50.0, 30.0, 20.0)
TOURNAMENT = dataclasses.replace(GAME, stacks=STACKS, payouts=PAYOUTS)
#: A hand that wins, one that ties with another seat's, and one that loses, for each seat.
HANDS = (("AsAh", "KcTc", "7c6c"), ("QhQd", "KdTd", "9h7h"), ("JsJd", "AdKs", "6s5s"))


def weights_of(hands: tuple[str, ...]) -> NDArray[np.float64]:
    weights = np.zeros(1326)
    weights[[parse_combo(hand) for hand in hands]] = 1.0
    return weights


class BruteForce:
    """Every deal of three short ranges on a river, every line, prizes by the independent chip model."""

    def __init__(self, solution: MultiplayerSolution) -> None:
        self.solution, self.tree = solution, solution.subgame.tree
        combos = [[parse_combo(hand) for hand in hands] for hands in HANDS]
        self.deals = [
            deal for deal in product(*combos) if len(set(COMBO_CARDS[list(deal)].ravel().tolist())) == 6
        ]
        self.strengths = evaluate_board(parse_board(RIVER))
        self.shares = {
            node: solution.strategy(solution.subgame.hand.root_line + self.tree.line(node))
            for node in np.flatnonzero(self.tree.kind == NodeKind.DECISION).tolist()
        }

    def values(self, node: int, deal: tuple[int, ...]) -> NDArray[np.float64]:
        """What the tournament is worth to every seat from a node on."""
        children = self.tree.children_of(node).tolist()
        if not children:
            chips = np.array(STACKS) + self.tree.payoffs(node, self.strengths[list(deal)])
            return icm(chips, PAYOUTS) * sum(STACKS) / sum(PAYOUTS)
        shares = self.shares[node][:, deal[int(self.tree.player[node])]]
        return sum(share * self.values(child, deal) for share, child in zip(shares, children))

    def by_hand(self, seat: int, actions: list[int]) -> dict[int, NDArray[np.float64]]:
        """Mean over all deals of each hand of a seat, after each of some nodes."""
        found: dict[int, list[list[float]]] = {}
        for deal in self.deals:
            found.setdefault(deal[seat], []).append([self.values(node, deal)[seat] for node in actions])
        return {combo: np.mean(rows, axis=0) for combo, rows in found.items()}


@pytest.fixture(scope="module")
def solved() -> MultiplayerSolution:
    config = MultiplayerConfig(iterations=300, sizes="100%,a", raises="none", raise_cap=0, value_deals=20_000)
    ranges = [weights_of(hands) for hands in HANDS]
    return solve_multiplayer(uniform_blueprint(TOURNAMENT), "b300cc/xxx/xxx/", RIVER, config, ranges=ranges)


def test_values_are_those_of_brute_force_over_all_deals_and_lines(solved: MultiplayerSolution) -> None:
    brute = BruteForce(solved)
    assert len(brute.deals) == 27
    for seat in range(3):
        found = solved.values(player=seat)
        for combo, (expected,) in brute.by_hand(seat, [0]).items():
            assert found.standard_error[combo] < 10.0
            assert abs(found.ev[combo] - expected) < 5 * found.standard_error[combo] + 0.05


def test_every_action_is_worth_what_brute_force_says_and_the_best_one_is_taken(
    solved: MultiplayerSolution,
) -> None:
    children = solved.subgame.tree.children_of(0).tolist()
    found, seat = solved.values(), solved.player()
    strategy = solved.strategy()
    for combo, expected in BruteForce(solved).by_hand(seat, children).items():
        assert found.action_ev[:, combo] == pytest.approx(expected, abs=40.0)
        assert expected @ strategy[:, combo] > expected.max() - 0.01 * sum(STACKS)


def test_all_seats_together_are_worth_the_prize_pool_also_after_a_fold() -> None:
    blueprint = uniform_blueprint(TOURNAMENT)
    config = MultiplayerConfig(iterations=6, value_deals=6000)
    for line in ("b300cc/xxx/", "fcx/xx/"):
        solution = solve_multiplayer(blueprint, line, RIVER[:8], config)
        worth = 0.0
        for seat in range(3):
            found = solution.values(player=seat)
            weights = solution.range(seat) * found.met
            worth += float((weights * np.nan_to_num(found.ev)).sum() / weights.sum())
        assert worth == pytest.approx(sum(STACKS), rel=0.01)


def test_one_prize_for_the_winner_is_worth_what_the_chips_are_behind_leaves_too() -> None:
    chips = dataclasses.replace(GAME, stacks=STACKS)
    config = MultiplayerConfig(iterations=4, deals=16, value_deals=500)
    money, prize = (
        solve_multiplayer(uniform_blueprint(game), "b300cc/xx", RIVER[:6], config)
        for game in (chips, dataclasses.replace(chips, payouts=(1.0,)))
    )
    seat = money.player()
    assert prize.num_leaves == money.num_leaves > 0
    assert prize.strategy() == pytest.approx(money.strategy(), abs=2e-3)
    put_in = float(money.subgame.tree.committed[money.subgame.node, seat])
    gained = prize.values().action_ev - STACKS[seat]
    assert np.nan_to_num(gained) == pytest.approx(np.nan_to_num(money.values().action_ev - put_in), abs=5.0)


def test_a_player_who_may_bust_before_a_short_stack_calls_less_than_for_chips() -> None:
    """Two prizes of the same size, and a third player who has almost nothing left: the bubble."""
    stacks = (3000, 3000, 400)
    ranges = [EVERYTHING, EVERYTHING, EVERYTHING]
    config = MultiplayerConfig(iterations=150, sizes="a", raises="none", raise_cap=0, value_deals=500)
    calls = {}
    for payouts in ((), (50.0, 50.0)):
        game = dataclasses.replace(GAME, stacks=stacks, payouts=payouts)
        solution = solve_multiplayer(uniform_blueprint(game), "fcx/xx/xx/A", RIVER, config, ranges=ranges)
        calls[payouts] = solution.frequencies()[solution.actions().index("c")]
    assert calls[(50.0, 50.0)] < 0.5 * calls[()]


def test_the_exact_solve_of_two_players_left_refuses_prizes() -> None:
    config = SubgameConfig(depth=FULL, sizes="100%", raises="none", raise_cap=0, iterations=2)
    with pytest.raises(ValueError, match=r"^depth: full counts chips, and this game has payouts"):
        solve_two_left(uniform_blueprint(TOURNAMENT), "fcx/xx/xx/", RIVER, config)
