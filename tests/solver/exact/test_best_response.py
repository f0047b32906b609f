"""Best responses and values against plain recursion over hands and cards."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstractions.cards import parse_combo
from solver.betting.public_tree import NodeKind
from solver.betting.tree import spot_tree
from solver.cfr.exploitability import exploitability
from solver.cfr.schedules import schedule
from solver.exact.strategies import engine_for, evaluate_strategy
from solver.exact.toy_games import kuhn, leduc
from solver.postflop.holdem import holdem_game, read_board


class Recursion:
    """Values of one hand against a dictionary of opponent hands, one card and one action at a time."""

    def __init__(self, tree, game, strategy):
        self.tree, self.game, self.strategy = tree, game, strategy
        self.rows, self.pays, self.ranks = {}, {}, {}

    def probabilities(self, node, board, hand):
        player = int(self.tree.player[node])
        key = (node, board)
        if key not in self.rows:
            cards = self.game.hands[player]
            live = [k for k, pair in enumerate(cards) if not set(pair.tolist()) & set(board)]
            table = np.asarray(self.strategy(node, board, cards[live]), dtype=float)
            self.rows[key] = {
                tuple(cards[k].tolist()): column / column.sum() for k, column in zip(live, table.T)
            }
        return self.rows[key][hand]

    def value(self, own, node, hand, reach, board, *, best):
        tree, kind = self.tree, self.tree.kind[node]
        if kind == NodeKind.CHANCE:
            return self.deal(own, int(tree.children_of(node)[0]), hand, reach, board, best=best)
        if kind == NodeKind.SHOWDOWN and len(board) < len(self.game.board) + self.game.num_deals:
            return self.deal(own, node, hand, reach, board, best=best)
        if kind in (NodeKind.FOLD, NodeKind.SHOWDOWN):
            return sum(r * self.payoff(own, node, hand, other, board) for other, r in reach.items())
        children = tree.children_of(node).tolist()
        if tree.player[node] == own:
            values = [self.value(own, child, hand, reach, board, best=best) for child in children]
            return max(values) if best else float(self.probabilities(node, board, hand) @ values)
        total = 0.0
        for k, child in enumerate(children):
            after = {other: r * self.probabilities(node, board, other)[k] for other, r in reach.items()}
            total += self.value(own, child, hand, after, board, best=best)
        return total

    def deal(self, own, node, hand, reach, board, *, best):
        dealt = len(board) - len(self.game.board)
        unseen = len(self.game.deck) - dealt - 2 * self.game.num_hole
        total = 0.0
        for card in self.game.deck:
            if card not in board and card not in hand:
                after = {other: r / unseen for other, r in reach.items() if card not in other}
                total += self.value(own, node, hand, after, (*board, card), best=best) if after else 0.0
        return total

    def payoff(self, own, node, hand, other, board):
        strengths = (0, 0)
        if self.tree.kind[node] == NodeKind.SHOWDOWN:
            mine, theirs = self.strength(hand, board), self.strength(other, board)
            strengths = (mine, theirs) if own == 0 else (theirs, mine)
        key = (node, strengths[0] > strengths[1], strengths[0] < strengths[1])
        if key not in self.pays:
            self.pays[key] = self.tree.payoffs(node, strengths) - self.tree.dead / 2
        return self.pays[key][own]

    def strength(self, hand, board):
        key = frozenset(board)
        if key not in self.ranks:
            hands = np.concatenate(self.game.hands)
            self.ranks[key] = dict(
                zip(map(tuple, hands.tolist()), self.game.strengths(board, hands).tolist())
            )
        return self.ranks[key][hand]

    def mean(self, own, *, best):
        total = weight = 0.0
        for pair, own_weight in zip(self.game.hands[own].tolist(), self.game.weights[own]):
            reach = {
                tuple(other): w
                for other, w in zip(self.game.hands[1 - own].tolist(), self.game.weights[1 - own])
                if not set(other) & set(pair)
            }
            weight += own_weight * sum(reach.values())
            total += own_weight * self.value(own, 0, tuple(pair), reach, self.game.board, best=best)
        return total / weight


def mixed(tree, seed):
    """A strategy that mixes and sometimes leaves actions out, the same whenever it is asked."""

    def strategy(node, board, hands):
        rng = np.random.default_rng([seed, node, *board])
        shape = (int(tree.num_children[node]), len(hands))
        weights = rng.random(shape) * (rng.random(shape) < 0.7)
        weights[0, weights.sum(axis=0) == 0.0] = 1.0
        return weights

    return strategy


def game_of(board, oop, ip):
    weights = []
    for k, hands in enumerate((oop, ip)):
        table = np.zeros(1326)
        for n, hand in enumerate(hands.split()):
            table[parse_combo(hand)] = 1.0 - 0.1 * n - 0.05 * k
        weights.append(table)
    return holdem_game(read_board(board), *weights)


TURN = ("QsJh2h8d", "AhKh 7s7d Tc9c 2s2c", "AhKh KsTs 9h8h 7s7c")
SIZES = {"turn": {"bet": "60%", "raise": "a"}, "river": {"bet": "50%", "raise": "none"}}


@pytest.mark.parametrize(("seed", "rake"), [(1, 0.0), (2, 0.05)])
def test_a_turn_spot_agrees_with_recursion(seed, rake):
    game = game_of(*TURN)
    tree = spot_tree(2, 100, 250, SIZES, rake=rake, rake_cap=12.0)
    evaluation = evaluate_strategy(tree, game, mixed(tree, seed))
    recursion = Recursion(tree, game, mixed(tree, seed))
    for own in range(2):
        assert evaluation.expected[own] == pytest.approx(recursion.mean(own, best=False), abs=1e-9)
        assert evaluation.best_response[own] == pytest.approx(recursion.mean(own, best=True), abs=1e-9)
    assert evaluation.exploitability >= -1e-9


@pytest.mark.slow
def test_a_flop_spot_with_an_all_in_agrees_with_recursion():
    game = game_of("Ts9s2d", "AsKs 7h7d", "TcTd 8s7s")
    sizes = {"flop": {"bet": "a", "raise": "none"}, "turn": {"bet": "none", "raise": "none"}}
    tree = spot_tree(1, 60, 200, sizes, rake=0.04, rake_cap=5.0)
    evaluation = evaluate_strategy(tree, game, mixed(tree, 5))
    recursion = Recursion(tree, game, mixed(tree, 5))
    for own in range(2):
        assert evaluation.expected[own] == pytest.approx(recursion.mean(own, best=False), abs=1e-9)
        assert evaluation.best_response[own] == pytest.approx(recursion.mean(own, best=True), abs=1e-9)


@pytest.mark.parametrize("build", [kuhn, leduc])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_toy_games_agree_with_recursion(build, seed):
    engine = build(schedule("vanilla"))
    evaluation = evaluate_strategy(engine.tree, engine.game, mixed(engine.tree, seed))
    recursion = Recursion(engine.tree, engine.game, mixed(engine.tree, seed))
    for own in range(2):
        assert evaluation.expected[own] == pytest.approx(recursion.mean(own, best=False), abs=1e-12)
        assert evaluation.best_response[own] == pytest.approx(recursion.mean(own, best=True), abs=1e-12)
    assert sum(evaluation.expected) == pytest.approx(0.0, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_no_strategy_has_negative_exploitability(seed):
    engine = kuhn(schedule("vanilla"))
    evaluation = evaluate_strategy(engine.tree, engine.game, mixed(engine.tree, seed))
    assert min(evaluation.gains) >= -1e-12


def test_kuhn_by_hand():
    # Both players always check and fold: betting any card wins the ante.
    engine = kuhn(schedule("vanilla"))
    tree = engine.tree
    passive = evaluate_strategy(
        tree, engine.game, lambda node, board, hands: np.eye(tree.num_children[node])[[0] * len(hands)].T
    )
    assert passive.expected == pytest.approx((0.0, 0.0), abs=1e-12)
    assert passive.best_response == pytest.approx((1.0, 1.0))
    assert passive.exploitability == pytest.approx(1.0)


def test_a_best_response_by_hand_sums_to_its_value():
    game = game_of(*TURN)
    tree = spot_tree(2, 100, 250, SIZES)
    engine = engine_for(tree, game, mixed(tree, 3))
    met = engine.compatible(0, game.weights[1])
    by_hand = engine.root_values(0, best=True) / met
    assert engine.evaluate().best_response[0] == pytest.approx(
        game.weights[0] * met @ by_hand / (game.weights[0] @ met)
    )


def test_exploitability_says_its_units():
    engine = kuhn(schedule("pcfr+"))
    engine.run(100)
    measured = exploitability(engine)
    assert measured.units == "chips"
    assert float(measured) == pytest.approx(engine.exploitability())
    assert sum(measured.gains) / 2 == pytest.approx(measured.value)
    with pytest.raises(ValueError, match="cannot measure a str"):
        exploitability("a strategy")


def test_strategies_that_are_no_distribution_are_refused():
    engine = kuhn(schedule("vanilla"))
    with pytest.raises(ValueError, match="no distribution"):
        evaluate_strategy(engine.tree, engine.game, lambda node, board, hands: np.zeros((2, len(hands))))
    with pytest.raises(ValueError, match="expected \\(2, 3\\)"):
        evaluate_strategy(engine.tree, engine.game, lambda node, board, hands: np.ones((3, len(hands))))
