"""Best responses and expected values against brute force over every pair of hands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from abstractions.cards import CLASS_OF_COMBO, COMBO_CARDS, NUM_CLASSES, NUM_COMBOS, live_combos, parse_board
from abstractions.evaluator import evaluate_board
from solver.betting.game import GameConfig, StreetSizes
from solver.betting.public_tree import NodeKind, PublicTree
from solver.blueprint import evaluation
from solver.blueprint.boards import LIVE_FRACTION
from solver.blueprint.evaluation import (
    Evaluation,
    gain_error,
    gain_responses,
    held_out_gain,
    mean_gain,
    without_flop_luck,
)
from solver.blueprint.flop_values import FlopEvaluator, group_boards
from solver.blueprint.plan import LanePlan
from solver.blueprint.pot_types import pot_types
from solver.blueprint.rows import action_nodes, normalised
from solver.blueprint.strategy import Blueprint
from solver.blueprint.tables import TableLayout
from solver.blueprint.trunk import TrunkGame
from solver.cfr.exploitability import exploitability

BOARDS = ("QsJh2h8d3c", "QsJh2h8d4c", "QsJh2h7s3c", "7c7d2sAhAd")
SHORT = GameConfig(
    stacks=(700, 700),
    raise_sizes=("2.5", "a"),
    raise_cap=2,
    postflop=(StreetSizes("50%,100%", "2.5x", "50%,100%", "2.5x"),) * 3,
    add_allin_threshold=0.5,
)
RAKED = GameConfig(
    stacks=(600, 500), antes=(0, 10), raise_sizes=("2.5",), raise_cap=1, rake=0.05, rake_cap=30.0,
    postflop=(StreetSizes("100%", "2.5x", "50%", None),) * 3,
)  # fmt: skip


@dataclass
class SmallBuckets:
    """A few arbitrary buckets that differ by board."""

    num_buckets: tuple[int, int, int] = (3, 4, 5)

    def buckets(self, board: NDArray[np.uint8], texture: int) -> NDArray[np.integer]:
        number = self.num_buckets[len(board) - 3]
        return (np.arange(NUM_COMBOS) * 7 + int(np.asarray(board, dtype=int).sum())) % number


def deal(texts: tuple[str, ...]) -> NDArray[np.uint8]:
    return np.stack([parse_board(text) for text in texts])


class BruteForce:
    """Plays out some own hands against every hand on every board, node by node, from dense matrices."""

    def __init__(
        self,
        tree: PublicTree,
        boards: NDArray,
        weights: NDArray,
        bucketing: SmallBuckets,
        strategy: dict,
        hands: NDArray,
    ) -> None:
        self.tree, self.boards, self.weights = tree, boards, weights
        self.bucketing, self.strategy, self.hands = bucketing, strategy, hands
        shared = (COMBO_CARDS[hands][:, None, :, None] == COMBO_CARDS[None, :, None, :]).any(axis=(2, 3))
        self.meets, self.wins = [], []
        for board in boards:
            live = live_combos(board)
            self.meets.append((~shared & live[hands][:, None] & live[None, :]).astype(float))
            strength = evaluate_board(board)
            self.wins.append(np.sign(strength[hands][:, None] - strength[None, :]) * self.meets[-1])

    def values(self, node: int, own: int, reach: dict[int, NDArray], best: tuple[bool, ...]) -> NDArray:
        """Value by own hand of a node, summed over the boards in `reach`."""
        tree = self.tree
        kind = tree.kind[node]
        if kind in (NodeKind.FOLD, NodeKind.SHOWDOWN):
            total = np.zeros(len(self.hands))
            win, lose, tie = (tree.heads_up_payoffs[node, k, own] for k in (own, 1 - own, 2))
            for b, r in reach.items():
                worth = tie * (self.meets[b] @ r)
                if kind == NodeKind.SHOWDOWN:
                    ahead, behind = np.maximum(self.wins[b], 0) @ r, np.maximum(-self.wins[b], 0) @ r
                    even = self.meets[b] @ r - ahead - behind
                    worth = win * ahead + lose * behind + tie * even
                total += self.weights[b] / self.weights.sum() / LIVE_FRACTION * worth
            return total
        if kind == NodeKind.CHANCE:
            size = int(tree.street[node]) + 3
            total = np.zeros(len(self.hands))
            for card in {int(self.boards[b][size - 1]) for b in reach}:
                below = {b: r for b, r in reach.items() if self.boards[b][size - 1] == card}
                total += self.values(int(tree.children_of(node)[0]), own, below, best)
            return total
        street = int(tree.street[node]) - 1
        played = {}
        for b in reach:
            bucket = self.bucketing.buckets(self.boards[b][: street + 3], 0)
            played[b] = {int(c): self.strategy[int(c)][bucket] for c in tree.children_of(node)}
        if tree.player[node] != own:
            return sum(
                self.values(int(c), own, {b: r * played[b][int(c)] for b, r in reach.items()}, best)
                for c in tree.children_of(node)
            )
        below = np.stack([self.values(int(c), own, reach, best) for c in tree.children_of(node)])
        if best[street]:
            return below.max(axis=0)
        mix = next(iter(played.values()))  # all boards here share the public cards, hence the strategy
        return sum(below[k] * mix[int(c)][self.hands] for k, c in enumerate(tree.children_of(node)))


def random_strategy(layout: TableLayout, rng: np.random.Generator) -> tuple[NDArray, dict]:
    """A random table, some of it pure, and the same as {node: probability by bucket}."""
    table = np.zeros(layout.size)
    by_node = {}
    for line in range(len(layout.plan.lines)):
        for street in range(3):
            nodes = action_nodes(layout.plan.tree, layout.plan.lines[line], street)
            sums = (
                rng.random((len(nodes), layout.num_buckets[street])) * (rng.random(len(nodes)) < 0.8)[:, None]
            )
            layout.fill(table, line, street, sums)
            rows = normalised(layout.plan.tree, nodes, sums)
            by_node |= {int(node): rows[k] for k, node in enumerate(nodes)}
    return table, by_node


MANY = GameConfig(
    stacks=(1500, 1500), raise_sizes=("2",), raise_cap=1, limp=False, force_allin_threshold=0.0,
    postflop=(
        StreetSizes(None, None, None, None),
        StreetSizes("20%,40%,80%", None, None, None),
        StreetSizes("25%,50%,75%,100%", "2.5x,4x", None, "a"),
    ),
)  # fmt: skip


@pytest.mark.parametrize(
    "config", [SHORT, RAKED, MANY], ids=["short", "raked, unequal, antes", "one to five actions"]
)
@pytest.mark.parametrize(
    "best",
    [(True, True, True), (False, False, False), (False, True, False)],
    ids=["best", "expected", "turn only"],
)
def test_values_of_every_flop_line_agree_with_brute_force(
    config: GameConfig, best: tuple[bool, bool, bool]
) -> None:
    game = TrunkGame.build(config, table=no_equities())
    bucketing = SmallBuckets()
    layout = TableLayout(LanePlan.build(game.tree, game.lines), bucketing.num_buckets)
    rng = np.random.default_rng(5)
    table, by_node = random_strategy(layout, rng)
    boards, weights = deal(BOARDS), np.array([3.0, 1.0, 2.0, 4.0])
    reach = rng.random((len(game.lines), NUM_CLASSES)) * (rng.random((len(game.lines), NUM_CLASSES)) < 0.6)
    by_combo = reach[:, CLASS_OF_COMBO]
    hands = rng.choice(NUM_COMBOS, 50, replace=False)
    brute = BruteForce(game.tree, boards, weights, bucketing, by_node, hands)
    evaluator = FlopEvaluator(layout, pot_types(game), bucketing, np.float64)
    for own in range(2):
        found = sum(
            evaluator.combo_values(table, flop, reach, own, best)
            for flop in group_boards(boards, weights, np.zeros(len(boards), dtype=int))
        )
        for line, node in enumerate(game.lines):
            expected = np.zeros(len(hands))
            for flop in ((0, 1, 2), (3,)):
                start = dict.fromkeys(flop, by_combo[line])
                expected += brute.values(node, own, start, best)
            np.testing.assert_allclose(found[line, hands], expected, atol=1e-8 * np.abs(expected).max())


def no_equities() -> tuple[NDArray, NDArray, NDArray]:
    """An equity table for tests that look at flop lines only."""
    return tuple(np.zeros((NUM_CLASSES, NUM_CLASSES), dtype=np.int64) for _ in range(3))


def test_best_responses_alone_give_the_exploitability_of_a_game_without_rake() -> None:
    game = TrunkGame.build(SHORT, table=no_equities())
    bucketing = SmallBuckets()
    layout = TableLayout(LanePlan.build(game.tree, game.lines), bucketing.num_buckets)
    rng = np.random.default_rng(3)
    table, _ = random_strategy(layout, rng)
    preflop = game.uniform()
    blueprint = Blueprint(game, preflop, layout, table, bucketing, pot_types(game))
    flops = group_boards(deal(BOARDS), np.ones(4), np.zeros(4, dtype=int))
    full = Evaluation(blueprint).evaluate(flops)
    assert full.best_response[0] > full.preflop_response[0] > full.expected[0]
    responses = gain_responses(game)
    assert len(responses) == 1
    evaluator = FlopEvaluator(layout, blueprint.pots, bucketing, table.dtype)
    reach = [game.reach(preflop, seat) for seat in range(2)]
    values = np.sum([evaluator.flop_values(table, flop, reach, responses) for flop in flops], axis=0)
    assert mean_gain(game, preflop, values) == pytest.approx(np.mean(full.best_response))


def test_with_rake_both_players_together_lose_the_rake() -> None:
    game = TrunkGame.build(RAKED, table=no_equities())
    bucketing = SmallBuckets()
    layout = TableLayout(LanePlan.build(game.tree, game.lines), bucketing.num_buckets)
    table, _ = random_strategy(layout, np.random.default_rng(3))
    blueprint = Blueprint(game, game.uniform(), layout, table, bucketing, pot_types(game))
    flops = group_boards(deal(BOARDS), np.ones(4), np.zeros(4, dtype=int))
    value = Evaluation(blueprint).evaluate(flops)
    assert sum(value.expected) < -1
    gains = [best - mean for best, mean in zip(value.best_response, value.expected)]
    assert value.exploitability == pytest.approx(sum(gains) / 2)
    measured = exploitability(blueprint, flops)
    assert (measured.value, measured.units) == (value.exploitability, "mbb/hand")
    assert measured.gains == tuple(gains)
    assert min(gains) > 0


def test_a_responder_that_does_not_know_the_flop_gains_less_unless_all_flops_are_alike() -> None:
    game = TrunkGame.build(RAKED, table=no_equities())
    rng = np.random.default_rng(8)
    preflop, weights = game.uniform(), np.array([0.2, 0.5, 0.3])
    one = 1e6 * rng.normal(size=(2, 2, len(game.lines), NUM_CLASSES))
    alike = weights[:, None, None, None, None] * one
    assert held_out_gain(game, preflop, alike, weights) == pytest.approx(mean_gain(game, preflop, one))
    noise = 1e6 * rng.normal(size=(3, *one.shape))
    noise -= np.einsum("f,f...->...", weights, noise)
    differ = weights[:, None, None, None, None] * (one + noise)
    # The sum over flops is the same, and so is the gain of a responder that knows them.
    assert mean_gain(game, preflop, differ.sum(axis=0)) == pytest.approx(mean_gain(game, preflop, one))
    assert held_out_gain(game, preflop, differ, weights) < 0.9 * mean_gain(game, preflop, one)


def test_luck_that_flops_bring_to_every_response_is_taken_off() -> None:
    game = TrunkGame.build(RAKED, table=no_equities())
    rng = np.random.default_rng(10)
    preflop, weights = game.uniform(), np.array([0.2, 0.5, 0.3])
    one = 1e6 * rng.normal(size=(2, 2, len(game.lines), NUM_CLASSES))
    luck = 1e6 * rng.normal(size=(3, 2, 1, len(game.lines), NUM_CLASSES))
    values = weights[:, None, None, None, None] * (one + luck)
    even = without_flop_luck(values, values[:, :, 0], weights, one[:, 0])
    assert even.sum(axis=0) == pytest.approx(one)
    assert held_out_gain(game, preflop, even, weights) == pytest.approx(mean_gain(game, preflop, one))
    # Whoever knows the three flops chooses the hands that they favour.
    assert mean_gain(game, preflop, values.sum(axis=0)) > 1.05 * mean_gain(game, preflop, one)


def test_the_best_actions_before_the_flop_win_the_best_responses_value() -> None:
    game = TrunkGame.build(RAKED, table=no_equities())
    values = 1e6 * np.random.default_rng(9).normal(size=(len(game.lines), NUM_CLASSES))
    for seat in range(2):
        best = game.values(game.uniform(), seat, values, best=True)[0]
        play = game.response(game.uniform(), seat, values)
        assert game.values(play, seat, values)[0] == pytest.approx(best)
        assert (best >= game.values(game.uniform(), seat, values)[0]).all()


def test_the_standard_error_of_a_mean_over_flops_is_the_textbooks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "mean_gain", lambda *given: float(given[-1].sum()))

    def error(gains: NDArray, weights: NDArray, balanced: NDArray) -> float:
        values = (gains * weights).reshape(-1, 1, 1, 1, 1)
        return gain_error(None, None, values, weights, balanced)  # type: ignore[arg-type]

    rng = np.random.default_rng(2)
    gains, constant = rng.normal(size=9), np.ones((9, 1))
    alike = np.full(9, 1 / 9)
    assert error(gains, alike, constant) == pytest.approx(gains.std(ddof=1) / 3)
    weights = rng.random(9) + 0.5
    weights /= weights.sum()
    off = gains - weights @ gains
    assert error(gains, weights, constant) == pytest.approx(np.sqrt(9 / 8 * (weights**2 @ off**2)))
    # What follows from balanced features is no error; what does not is the residual of the regression.
    features = np.concatenate([constant, rng.normal(size=(9, 2))], axis=1)
    assert error(features @ [3.0, 1.0, -2.0], weights, features) == pytest.approx(0, abs=1e-9)
    left = gains - features @ np.linalg.lstsq(features, gains, rcond=None)[0]
    assert error(gains, alike, features) == pytest.approx(np.sqrt((left**2).sum() / 6 / 9))
    assert np.isnan(error(gains[:1], np.ones(1), np.ones((1, 1))))
