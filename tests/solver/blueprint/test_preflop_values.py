"""Preflop values from sampled boards: right where they are known, with errors that say how wrong they are."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from abstractions.cards import CLASS_OF_COMBO, COMBO_CARDS, NUM_CLASSES
from abstractions.equity import preflop_table
from abstractions.evaluator import evaluate_board
from abstractions.isomorphism import board_index, canonical_boards
from solver.betting.game import GameConfig, StreetSizes
from solver.betting.rules import Action
from solver.blueprint.boards import LIVE_FRACTION
from solver.blueprint.evaluation import Evaluation
from solver.blueprint.flop_values import group_boards
from solver.blueprint.line_controls import NUM_CONTROLS
from solver.blueprint.plan import LanePlan
from solver.blueprint.pot_types import pot_types
from solver.blueprint.preflop_values import (
    BATCH_BOARDS,
    BoardValues,
    SampleSums,
    deal_batch,
    exact_values,
    sampled_values,
    seat_control_means,
)
from solver.blueprint.strategy import Blueprint
from solver.blueprint.tables import TableLayout
from solver.blueprint.trunk import TrunkGame
from solver.preflop.solver import PreflopStrategy

TINY = GameConfig(
    stacks=(1000, 1000),
    raise_sizes=("2.5", "a"),
    raise_cap=2,
    postflop=(StreetSizes("100%", None, "100%", None),) * 3,
)


class ByClass:
    """Four buckets, by hand class alone."""

    num_buckets = (4, 4, 4)

    def buckets(self, board: np.ndarray, texture: int) -> np.ndarray:
        return CLASS_OF_COMBO % 4


@cache
def blueprint(*, checked_down: bool, kind: str = "per_line") -> Blueprint:
    """A random strategy before the flop; after it a random one too, or nobody ever bets."""
    game = TrunkGame.build(TINY, preflop_table())
    pots = pot_types(game, kind, tolerance=0.9)
    layout = TableLayout(LanePlan.build(game.tree, pots.templates), ByClass.num_buckets)
    rng = np.random.default_rng(4)
    tree = game.preflop.tree
    preflop = game.uniform()
    for node in np.flatnonzero(tree.num_children > 0).tolist():
        weights = rng.random((tree.num_children[node], NUM_CLASSES)) ** 2
        preflop[tree.children_of(node)] = weights / weights.sum(axis=0)
    table = rng.random(layout.size).astype(np.float64)
    if checked_down:
        table[:] = 0.0
        for node in layout.actions.tolist():
            if game.tree.action[node] == Action.CHECK:
                table[layout.action_entries(node)] = 1.0
    return Blueprint(game, preflop, layout, table, ByClass(), pots)


def reach_of(strategy: Blueprint) -> list[np.ndarray]:
    return [strategy.game.reach(strategy.preflop, seat) for seat in range(2)]


def measure(strategy: Blueprint, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values and controls of boards, ``[board, ...]``."""
    measuring = BoardValues(
        strategy.layout, strategy.pots, strategy.bucketing, reach_of(strategy), np.float64
    )
    deals = [measuring.deal(board, 0) for board in boards]
    values = np.array([measuring.values(strategy.table, deal, 0) for deal in deals])
    return values, np.array([measuring.controls(deal) for deal in deals])


def random_boards(count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.array([rng.choice(52, 5, replace=False) for _ in range(count)], dtype=np.uint8)


def test_a_batch_deals_all_flops_by_weight_and_all_later_cards_alike() -> None:
    drawn = [deal_batch(7, number) for number in range(400)]
    boards, flops = (np.concatenate(part) for part in zip(*drawn))
    assert all(len(set(board.tolist())) == 5 for board in boards)
    np.testing.assert_array_equal(board_index(boards[:, :3])[0], flops)
    # A batch covers the weights of the flops evenly: no stretch of them is left out.
    cumulated = np.cumsum(canonical_boards(3).weights) / 22_100
    for numbers in (flops[:BATCH_BOARDS], flops[-BATCH_BOARDS:]):
        assert np.abs(cumulated[numbers] - (np.arange(BATCH_BOARDS) + 0.5) / BATCH_BOARDS).max() < 0.02
    counts = np.bincount(flops, minlength=1755)
    expected = len(flops) * canonical_boards(3).weights / 22_100
    assert (np.abs(counts - expected) < 5.5 * np.sqrt(expected) + 1).all()
    for place in (3, 4):
        shares = np.bincount(boards[:, place] >> 2, minlength=13) / len(boards)
        np.testing.assert_allclose(shares, 1 / 13, atol=0.012)
    np.testing.assert_array_equal(deal_batch(7, 3)[0], drawn[3][0])
    assert not np.array_equal(deal_batch(8, 3)[0], drawn[3][0])


def test_deals_met_and_pots_won_by_brute_force() -> None:
    strategy = blueprint(checked_down=False)
    (board,) = random_boards(1, seed=5)
    _, (controls,) = measure(strategy, board[None])
    strengths = evaluate_board(board)
    live = np.flatnonzero(strengths >= 0)
    cards = COMBO_CARDS[live]
    disjoint = (cards[:, None, :, None] != cards[None, :, None, :]).all(axis=(2, 3))
    won = disjoint * (np.sign(strengths[live][:, None] - strengths[live]) + 1) / 2
    for seat, line in ((0, 0), (1, 1)):
        opponent = reach_of(strategy)[1 - seat][line][CLASS_OF_COMBO[live]]
        for row, pairs in enumerate((disjoint, won)):
            expected = np.bincount(CLASS_OF_COMBO[live], pairs @ opponent, minlength=169) / LIVE_FRACTION
            np.testing.assert_allclose(controls[seat, line, row], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", ["per_line", "shared"])
def test_values_of_boards_are_those_of_the_evaluation(kind: str) -> None:
    strategy = blueprint(checked_down=False, kind=kind)
    assert strategy.pots.num_rounds == (1 if kind == "per_line" else 3)
    boards = random_boards(3, seed=6)
    values, _ = measure(strategy, boards)
    weights = np.array([0.5, 0.2, 0.3])
    exact = exact_values(strategy.game, strategy.preflop, np.tensordot(weights, values, 1), 3)
    expected = Evaluation(strategy).evaluate(group_boards(boards, weights, np.zeros(3, dtype=int)))
    np.testing.assert_allclose(exact.values, expected.preflop_values, rtol=1e-9, atol=1e-6)
    assert exact.expected == pytest.approx(expected.expected)
    assert exact.expected_errors == (0.0, 0.0)
    assert not exact.errors.any()


def test_a_game_that_is_checked_down_is_valued_exactly_by_any_boards() -> None:
    strategy = blueprint(checked_down=True)
    game = strategy.game
    means = seat_control_means(game, reach_of(strategy))
    parts = []
    for first in (0, 2):
        measured = [measure(strategy, deal_batch(9, number)[0]) for number in (first, first + 1)]
        values, controls = (np.array(part) for part in zip(*measured))
        parts.append(SampleSums.of_batches(values, controls - means))
    found = sampled_values(game, strategy.preflop, parts[0] + parts[1])
    play = PreflopStrategy(game.preflop, strategy.preflop)
    for seat in range(2):
        expected = play.node_values(seat)
        # In chips per deal: the boards alone scatter by hundreds.
        scale = NUM_CLASSES * 1225.0
        np.testing.assert_allclose(found.values[seat] / scale, expected / scale, atol=2e-3)
        assert found.errors[seat].max() / scale < 2e-3
    assert found.num_boards == 4 * BATCH_BOARDS
    fold = game.preflop.tree.node_at("f")
    assert not found.errors[:, fold].any()


@cache
def whole_game() -> tuple[np.ndarray, np.ndarray]:
    """Values and controls of a game that deals 240 boards."""
    return measure(blueprint(checked_down=False), random_boards(240, seed=8))


def test_standard_errors_are_those_of_repeated_samples() -> None:
    strategy = blueprint(checked_down=False)
    values, controls = whole_game()
    exact = exact_values(strategy.game, strategy.preflop, values.mean(axis=0), len(values))
    centred = controls - controls.mean(axis=0)
    rng = np.random.default_rng(1)
    distances, errors, roots = [], [], []
    for _ in range(50):
        rows = rng.integers(0, len(values), (16, 16))
        sums = SampleSums.of_batches(values[rows], centred[rows])
        found = sampled_values(strategy.game, strategy.preflop, sums)
        first = strategy.game.preflop.tree.children_of(0)[1:]
        distances.append((found.values - exact.values)[0, first])
        errors.append(found.errors[0, first])
        roots.append((found.expected[0] - exact.expected[0]) / found.expected_errors[0])
    squares, variances = np.square(distances).mean(axis=0), np.square(errors).mean(axis=0)
    sampled = variances > 1e-9
    assert sampled.mean() > 0.5
    assert (squares[sampled] / variances[sampled]).mean() == pytest.approx(1, abs=0.2)
    assert 0.6 < np.std(roots) < 1.5


def test_controls_leave_a_small_part_of_the_variance() -> None:
    values, controls = whole_game()
    centred = controls - controls.mean(axis=0)
    sums = SampleSums.of_batches(np.array([values] * 2), np.array([centred] * 2))
    left = values - (np.moveaxis(sums.coefficients(0), 3, 2) * centred).sum(axis=3)
    assert NUM_CONTROLS == 11
    assert left.var(axis=0).sum() < 0.3 * values.var(axis=0).sum()
