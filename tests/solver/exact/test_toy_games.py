"""Kuhn and Leduc through the hold'em engine, against a tabular CFR that walks every deal."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from solver.betting.public_tree import NodeKind
from solver.cfr.schedules import SCHEDULES, schedule
from solver.exact.engine import CfrEngine
from solver.exact.toy_games import KUHN_VALUE, kuhn, leduc, limit_tree

LEDUC_VALUE = -0.085606


class Rules:
    """A fixed-limit game with one-card hands, written down independently of the engine."""

    def __init__(self, deck, bets, max_bets):
        self.deck, self.bets, self.max_bets = deck, bets, max_bets
        # Uneven ranges, so that no two actions tie exactly and rounding decides nothing.
        self.weights = [
            {card: 1.0 - 0.07 * k * (1 + player) / 2 for k, card in enumerate(deck)} for player in range(2)
        ]

    def rounds(self, history):
        return history.split("/")

    def actions(self, history):
        bets = self.rounds(history)[-1].count("b") + self.rounds(history)[-1].count("r")
        passive = ["f", "c"] if bets else ["x"]
        return passive + ([("r" if bets else "b")] if bets < self.max_bets else [])

    def player(self, history):
        return len(self.rounds(history)[-1]) % 2

    def closed(self, history):
        last = self.rounds(history)[-1]
        return last.endswith(("f", "c")) or last == "xx"

    def deals_next(self, history):
        over = history.endswith("f") or len(self.rounds(history)) == len(self.bets)
        return self.closed(history) and not over

    def stakes(self, history):
        chips = [1, 1]
        for street, line in enumerate(self.rounds(history)):
            for turn, action in enumerate(line):
                if action in "br":
                    chips[turn % 2] = max(chips) + self.bets[street]
                elif action == "c":
                    chips[turn % 2] = max(chips)
        return chips

    def payoff(self, history, cards, board):
        """Net chips of player 0 at a terminal."""
        chips = self.stakes(history)
        if history.endswith("f"):
            loser = (len(self.rounds(history)[-1]) - 1) % 2
            return -chips[0] if loser == 0 else chips[1]
        ranks = [100 if board is not None and card // 4 == board // 4 else card // 4 for card in cards]
        return chips[0] * ((ranks[0] > ranks[1]) - (ranks[0] < ranks[1]))


KUHN = Rules([0, 4, 8], [1], 1)
LEDUC = Rules([0, 1, 4, 5, 8, 9], [2, 4], 2)


class TabularCfr:
    """CFR over explicit deals; tables keyed by (player, own card, public card, history)."""

    def __init__(self, rules, variant):
        self.rules, self.variant = rules, variant
        self.regret = defaultdict(lambda: None)
        self.predicted = defaultdict(lambda: None)
        self.average = {}
        self.iteration = 0

    def strategy(self, key, count):
        source = self.predicted[key] if self.variant.predictive else self.regret[key]
        positive = np.maximum(np.zeros(count) if source is None else source, 0.0)
        return positive / positive.sum() if positive.sum() > 0 else np.full(count, 1 / count)

    def value(self, own, history, cards, board, reach, gains):
        """Value of player `own` for one deal; `reach` is the other's probability of playing here."""
        rules = self.rules
        if rules.deals_next(history):
            rest = [card for card in rules.deck if card not in cards]
            return sum(self.value(own, history + "/", cards, c, reach / len(rest), gains) for c in rest)
        if rules.closed(history):
            return reach * rules.payoff(history, cards, board) * (1 if own == 0 else -1)
        player, actions = rules.player(history), rules.actions(history)
        key = (player, cards[player], board, history)
        sigma = self.strategy(key, len(actions))
        if player != own:
            return sum(
                self.value(own, history + a, cards, board, reach * p, gains) for a, p in zip(actions, sigma)
            )
        values = np.array([self.value(own, history + a, cards, board, reach, gains) for a in actions])
        gains[key] = gains.get(key, 0.0) + values - sigma @ values
        return sigma @ values

    def add_average(self, player, keep, history="", card=None, board=None, reach=1.0):
        """Average strategy of a player: own reach times current strategy, at every infoset."""
        rules = self.rules
        if card is None:
            for own in rules.deck:
                self.add_average(player, keep, card=own, reach=rules.weights[player][own])
        elif rules.deals_next(history):
            for public in rules.deck:
                if public != card:
                    self.add_average(player, keep, history + "/", card, public, reach)
        elif not rules.closed(history):
            actions = rules.actions(history)
            if rules.player(history) != player:
                for action in actions:
                    self.add_average(player, keep, history + action, card, board, reach)
                return
            key = (player, card, board, history)
            sigma = self.strategy(key, len(actions))
            before = self.average.get(key, np.zeros(len(actions)))
            self.average[key] = keep * before + reach * sigma
            for action, p in zip(actions, sigma):
                self.add_average(player, keep, history + action, card, board, reach * p)

    def step(self):
        self.iteration += 1
        weights = self.variant.weights(self.iteration)
        for own in range(2):
            self.add_average(1 - own, weights.strategy)
            gains = {}
            for cards in permutations(self.rules.deck, 2):
                weight = self.rules.weights[1 - own][cards[1 - own]]
                self.value(own, "", cards, None, weight, gains)
            for key, gain in gains.items():
                old = np.zeros_like(gain) if self.regret[key] is None else self.regret[key]
                new = old * np.where(old > 0, weights.positive, weights.negative) + gain
                self.regret[key] = np.maximum(new, 0.0) if weights.floor_negative else new
                self.predicted[key] = np.maximum(self.regret[key] * weights.prediction + gain, 0.0)


def with_uneven_ranges(engine, rules):
    weights = tuple(np.array([rules.weights[p][card] for card in rules.deck]) for p in range(2))
    game = replace(engine.game, weights=weights)
    return CfrEngine(engine.tree, game, engine.schedule, precision="float64", isomorphism=False)


def history_of(line):
    return "".join(character for character in line if not character.isdigit())


def largest_difference(engine, tabular):
    """Largest difference of regrets and strategies; ties that only rounding breaks are broken alike afterwards."""
    worst = 0.0
    for node in np.flatnonzero(engine.tree.kind == NodeKind.DECISION):
        player = int(engine.tree.player[node])
        street = int(engine.tree.street[node])
        for board, cards in enumerate(engine.deals.cards):
            if engine.deals.boards[board]["street"] != street:
                continue
            regrets, average = engine.regrets(node, board), engine.strategy(node, board)
            current = engine.current_strategy(node, board)
            for place, hand in enumerate(engine.deals.hands[player][board]):
                card = int(engine.game.hands[player][hand, 0])
                key = (player, card, cards[0] if cards else None, history_of(engine.tree.line(node)))
                worst = max(worst, np.abs(regrets[:, place] - tabular.regret[key]).max())
                tabular.regret[key] = regrets[:, place].copy()
                if np.maximum(regrets[:, place], 0.0).sum() > 1e-9:
                    expected = tabular.strategy(key, len(current))
                    worst = max(worst, np.abs(current[:, place] - expected).max())
                mass = tabular.average[key].sum()
                # An infoset that its player never reaches has no average to compare.
                if mass > 1e-9:
                    worst = max(worst, np.abs(average[:, place] - tabular.average[key] / mass).max())
    return worst


@pytest.mark.parametrize("name", SCHEDULES)
def test_kuhn_agrees_with_tabular_cfr_iteration_by_iteration(name):
    engine, tabular = with_uneven_ranges(kuhn(schedule(name)), KUHN), TabularCfr(KUHN, schedule(name))
    for _ in range(40):
        engine.run(1)
        tabular.step()
        assert largest_difference(engine, tabular) < 1e-6


@pytest.mark.parametrize("name", ["vanilla", "dcfr-postflop", "pdcfr+"])
def test_leduc_agrees_with_tabular_cfr_iteration_by_iteration(name):
    engine, tabular = with_uneven_ranges(leduc(schedule(name)), LEDUC), TabularCfr(LEDUC, schedule(name))
    for _ in range(6):
        engine.run(1)
        tabular.step()
        assert largest_difference(engine, tabular) < 1e-6


@pytest.mark.parametrize("name", SCHEDULES)
def test_every_schedule_finds_the_value_of_kuhn(name):
    engine = kuhn(schedule(name))
    engine.run(2000)
    assert engine.evaluate().expected[0] == pytest.approx(KUHN_VALUE, abs=2e-4)
    assert 0 <= engine.exploitability() < 2e-3


@pytest.mark.parametrize("name", SCHEDULES)
def test_every_schedule_finds_the_value_of_leduc(name):
    engine = leduc(schedule(name))
    engine.run(1000)
    assert engine.evaluate().expected[0] == pytest.approx(LEDUC_VALUE, abs=1.5e-3)
    assert 0 <= engine.exploitability() < 0.015


def test_exploitability_falls_at_least_as_the_square_root_of_the_iterations():
    for name in SCHEDULES:
        engine = leduc(schedule(name))
        engine.run(100)
        early = engine.exploitability()
        engine.run(1500)
        # Sixteen times the iterations: a quarter of the exploitability, or better.
        assert engine.exploitability() < early / 4


def test_alpha_zero_would_leave_equilibrium_and_is_refused():
    with pytest.raises(ValueError, match="alpha"):
        kuhn(schedule("dcfr", alpha=0.0))


def test_equivalent_suits_change_nothing_but_the_number_of_boards():
    together, apart = leduc(schedule("dcfr")), leduc(schedule("dcfr"), isomorphism=False)
    together.run(100)
    apart.run(100)
    assert len(together.deals.cards) == 4
    assert len(apart.deals.cards) == 7
    assert together.evaluate().expected == pytest.approx(apart.evaluate().expected, abs=1e-12)
    assert together.exploitability() == pytest.approx(apart.exploitability(), abs=1e-12)


def test_single_precision_follows_double_precision():
    single, double = leduc(schedule("dcfr"), precision="float32"), leduc(schedule("dcfr"))
    single.run(300)
    double.run(300)
    assert single.evaluate().expected[0] == pytest.approx(double.evaluate().expected[0], abs=1e-4)


def test_limit_trees_have_the_known_size():
    # Kuhn: 4 decision nodes. Leduc: 6 in the first round and 6 for each of its 5 continuing lines.
    assert (limit_tree((1,), max_bets=1).kind == NodeKind.DECISION).sum() == 4
    assert (limit_tree((2, 4), max_bets=2).kind == NodeKind.DECISION).sum() == 36
