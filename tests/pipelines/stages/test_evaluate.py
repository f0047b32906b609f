"""Tiers are fair samples of real boards, and evaluation does not depend on where it runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstractions.cards import CLASS_COMBOS, CLASS_NAMES, NUM_CLASSES, format_cards
from abstractions.equity import class_pairs
from abstractions.isomorphism import board_index, canonical_boards
from abstractions.textures import Textures, build_textures, medoid_boards
from pipelines.run.cluster import InProcess
from pipelines.stages.evaluate import cleaned_blueprint, preflop_metrics
from pipelines.stages.preflop_ev import preflop_evs
from pipelines.training.evaluation_boards import (
    TIERS,
    EvaluationBoards,
    Tier,
    evaluate_blueprint,
    evaluation_boards,
    exploitability,
    flop_line_values,
    swept_boards,
    tier_boards,
    tier_flops,
    value_over_all_flops,
)
from pipelines.training.flop_draw import HIGH_GROUPS, STRATA, drawn_tiers, flop_features, shares
from solver.blueprint.evaluation import Evaluation
from solver.blueprint.flop_values import group_boards
from solver.blueprint.plan import LanePlan
from solver.blueprint.pot_types import pot_types
from solver.blueprint.strategy import Blueprint
from solver.blueprint.tables import TableLayout
from solver.blueprint.trunk import TrunkGame
from solver.preflop.solver import PreflopStrategy
from tests.pipelines.stages.hand_buckets import BUCKETS, TINY, Everywhere, source


@cache
def textures() -> Textures:
    rng = np.random.default_rng(1)
    return build_textures(
        np.linspace(0.1, 0.3, 1755), rng, textures=5, turn_transitions=2, river_transitions=2
    )


@cache
def blueprint(rake: float = 0.0) -> Blueprint:
    """A random strategy of the tiny game."""
    totals = class_pairs() * 1_712_304
    strength = np.argsort(np.argsort(-np.arange(NUM_CLASSES) % 61))
    wins = (totals / (1 + np.exp((strength[:, None] - strength[None, :]) / 60))).astype(np.int64)
    config = dataclasses.replace(TINY, rake=rake, rake_cap=50.0)
    game = TrunkGame.build(config, (wins, totals - wins - wins.T, totals))
    pots = pot_types(game)
    rng = np.random.default_rng(5)
    layout = TableLayout(LanePlan.build(game.tree, pots.templates), BUCKETS)
    tree = game.preflop.tree
    preflop = rng.random((len(tree), NUM_CLASSES)) ** 3
    for node in np.flatnonzero(tree.num_children > 0):
        children = tree.children_of(int(node))
        preflop[children] /= preflop[children].sum(axis=0)
    preflop[0] = 1.0
    table = rng.random(layout.size).astype(np.float32)
    return Blueprint(game, preflop, layout, table, Everywhere(), pots)


class Shuffled:
    """A cluster of three cores that finishes its tasks in some other order."""

    num_cpus = 3

    def stream(
        self, function: Callable, items: Sequence, *, shared: object = None
    ) -> Iterator[tuple[int, Any]]:
        for position in np.random.default_rng(2).permutation(len(items)).tolist():
            yield position, function(items[position], shared)


def some_boards(flops: int, cards: int) -> EvaluationBoards:
    """A few flops with so many turns, and rivers of each."""
    tier = Tier(TIERS["small"].flops[:flops], cards, cards)
    return EvaluationBoards.build(group_boards(*tier_boards(textures(), tier)), source())


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 1754), min_size=1, max_size=40), st.integers(1, 4), st.integers(1, 4))
def test_a_tier_deals_real_boards_of_its_flops(flops: list[int], turns: int, rivers: int) -> None:
    names = [format_cards(canonical_boards(3).boards[flop]) for flop in flops]
    boards, weights, owners = tier_boards(textures(), Tier(names, turns, rivers))
    assert weights.sum() == len(flops) * turns * rivers
    assert all(len(set(board.tolist())) == 5 for board in boards)
    ids, _ = board_index(boards[:, :3])
    np.testing.assert_array_equal(textures().texture_of_flop[ids], owners)
    np.testing.assert_array_equal(
        np.bincount(ids, weights, minlength=1755), np.bincount(flops, minlength=1755) * turns * rivers
    )


def test_tiers_are_the_same_every_time_and_grow() -> None:
    for name, tier in TIERS.items():
        first, second = (tier_flops(textures(), tier) for _ in range(2))
        for one, other in zip(first, second, strict=True):
            np.testing.assert_array_equal(one.boards, other.boards)
            np.testing.assert_array_equal(one.weights, other.weights)
        assert sum(len(flop.boards) for flop in first) <= swept_boards(tier) <= tier.boards, name
        assert sum(flop.weights.sum() for flop in first) == pytest.approx(1)
    sizes = [TIERS[name].boards for name in ("small", "full", "real_small", "huge", "real")]
    assert sizes == sorted(set(sizes))


@pytest.mark.parametrize("name", TIERS)
def test_all_abstractions_are_measured_on_the_same_boards(name: str) -> None:
    others = dataclasses.replace(textures(), texture_of_flop=np.arange(1755) % 7)
    before, after = (tier_flops(given, TIERS[name]) for given in (textures(), others))
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one.boards, other.boards)
        np.testing.assert_array_equal(one.weights, other.weights)
        assert other.texture == board_index(other.boards[:1, :3])[0][0] % 7


def test_the_responder_of_a_real_tier_foresees_no_turn_and_no_river() -> None:
    for name in ("real", "real_small"):
        for flop in tier_flops(textures(), TIERS[name]):
            turns = np.zeros(52)
            np.add.at(turns, flop.boards[:, 3], flop.weights / flop.weights.sum())
            # Each rank comes as often as it is left in the deck.
            left = 4 - np.bincount(flop.boards[0, :3] // 4, minlength=13)
            np.testing.assert_allclose(turns.reshape(13, 4).sum(axis=1), left / 49)


def flop_kinds(flops: np.ndarray) -> np.ndarray:
    """Of each flop: one suit, two suits, a pair or trips, the ranks of its highest and its lowest card."""
    ranks, suits = np.sort(flops // 4, axis=1), np.sort(flops % 4, axis=1)
    num_suits = 1 + (np.diff(suits, axis=1) > 0).sum(axis=1)
    paired = (np.diff(ranks, axis=1) == 0).any(axis=1)
    return np.stack([num_suits == 1, num_suits == 2, paired, ranks[:, 2] / 12, ranks[:, 0] / 12], axis=1)


@pytest.mark.parametrize("name", TIERS)
def test_the_flops_of_a_tier_are_a_fair_sample(name: str) -> None:
    flops = canonical_boards(3)
    sample = TIERS[name].cards
    ids, _ = board_index(sample)
    np.testing.assert_array_equal(flops.boards[ids], sample)
    kinds = flop_kinds(flops.boards)
    expected = flops.weights @ kinds / flops.weights.sum()
    spread = np.sqrt(flops.weights @ (kinds - expected) ** 2 / flops.weights.sum())
    error = spread / np.sqrt(len(sample))  # of a plain random sample
    found = np.average(flop_kinds(sample), axis=0, weights=TIERS[name].flop_weights)
    assert (np.abs(found - expected) < 1.5 * error).all()


@pytest.mark.parametrize("name", ["real", "real_small", "full"])
def test_weighted_tiers_have_suits_pairs_and_high_cards_as_they_are_dealt(name: str) -> None:
    flops, tier = canonical_boards(3), TIERS[name]
    dealt, drawn = (flop_features(cards, np.ones(len(cards))) for cards in (flops.boards, tier.cards))
    strata = shares(dealt.stratum, flops.weights, len(STRATA))
    np.testing.assert_allclose(shares(drawn.stratum, tier.flop_weights, len(STRATA)), strata, atol=1e-4)
    assert strata[2] == pytest.approx(286 * 4 / 22_100)  # monotone
    assert strata[3] + strata[4] == pytest.approx((13 * 12 * 24 + 52) / 22_100)  # paired, and trips
    others = flop_features(flops.boards, flops.weights).others[board_index(tier.cards)[0]]
    off = np.average(others, axis=0, weights=tier.flop_weights)  # in standard deviations
    assert (np.abs(off) < (0.25 if name == "real_small" else 0.06)).all()
    high = shares(dealt.high, flops.weights, HIGH_GROUPS)
    # Six flops have one of nearly every high card, each with the weight of its stratum.
    tolerance = 0.2 if name == "real_small" else 1e-4
    np.testing.assert_allclose(shares(drawn.high, tier.flop_weights, HIGH_GROUPS), high, atol=tolerance)


def test_the_weighted_tiers_can_be_drawn_again() -> None:
    boards = canonical_boards(3).boards
    for name, (rows, weights) in drawn_tiers().items():
        tier = TIERS[name]
        assert [format_cards(flop) for flop in boards[rows]] == list(tier.flops)
        np.testing.assert_allclose(weights, tier.flop_weights / 1e5, atol=6e-6)
    assert set(TIERS["real_small"].flops) < set(TIERS["real"].flops)


def test_where_only_typical_boards_have_buckets_every_tier_is_the_medoid_game() -> None:
    boards, weights, _ = medoid_boards(textures())
    found = evaluation_boards("small", textures(), source(), "medoids")
    assert found.num_boards == len(boards)
    mass = np.concatenate([flop.weights for flop in found.flops])
    assert mass.sum() == pytest.approx(1)
    np.testing.assert_allclose(np.sort(mass), np.sort(weights / weights.sum()))
    with pytest.raises(
        ValueError,
        match="tier 'tiny' is unknown; accepted: real, real_small, small, full, huge, medoids",
    ):
        evaluation_boards("tiny", textures(), source(), "all")


@pytest.mark.parametrize("rake", [0.0, 0.05])
def test_evaluation_over_a_cluster_is_the_solvers_own_to_the_last_bit(rake: float) -> None:
    boards = some_boards(7, 2)
    plain = Evaluation(blueprint(rake), by_street=True).evaluate(boards.flops)
    for cluster in (InProcess(), Shuffled()):
        assert evaluate_blueprint(blueprint(rake), boards, cluster, by_street=True) == plain
        quick = exploitability(blueprint(rake), boards, cluster)
        assert quick == pytest.approx(plain.exploitability, rel=1e-5)
    assert plain.exploitability > 0


def test_a_sample_of_flops_has_a_standard_error_and_the_whole_game_has_none() -> None:
    boards = some_boards(7, 2)
    assert evaluate_blueprint(blueprint(), boards, InProcess()).standard_error is None
    sampled = dataclasses.replace(boards, balanced=np.ones((7, 1)))
    value = evaluate_blueprint(blueprint(), sampled, InProcess())
    assert value.standard_error is not None
    assert 0 < value.standard_error < value.exploitability
    # Not knowing which of seven flops comes costs the responder something, but not all of its gain.
    assert value.held_out is not None
    assert 0.3 * value.exploitability < value.held_out < value.exploitability


def test_a_sample_that_is_the_whole_game_has_no_luck_to_take_off() -> None:
    boards = dataclasses.replace(some_boards(7, 2), balanced=np.ones((7, 1)))
    alone = evaluate_blueprint(blueprint(), boards, InProcess())
    evaluation = Evaluation(blueprint())
    values = flop_line_values(blueprint(), evaluation.responses, boards, InProcess())
    own = values[:, :, 0]
    even = value_over_all_flops(evaluation, boards, values, own, own.sum(axis=0))
    assert even.exploitability == pytest.approx(alone.exploitability)
    # The flops differ less from each other once the luck of each is taken off.
    assert even.standard_error is not None
    assert alone.standard_error is not None
    assert even.held_out is not None
    assert alone.held_out is not None
    assert even.standard_error < alone.standard_error
    assert alone.held_out < even.held_out <= even.exploitability


def test_more_run_outs_leave_the_responder_less_to_foresee() -> None:
    values = [exploitability(blueprint(), some_boards(6, n), InProcess()) for n in (1, 3, 7)]
    assert values[0] > values[1] > values[2]


def test_cleaning_folds_off_path_hands_and_leaves_the_rest() -> None:
    raw = blueprint()
    tree = raw.game.preflop.tree
    never = dataclasses.replace(raw, preflop=raw.preflop.copy())
    hand = CLASS_NAMES.index("72o")
    never.preflop[tree.children_of(0), hand] = 0.0
    never.preflop[tree.node_at("f"), hand] = 1.0
    cleaned = cleaned_blueprint(never)
    for line in ("f", "c", "b200"):  # nobody is off-path at the start
        node = tree.node_at(line)
        np.testing.assert_array_equal(cleaned.preflop[node], never.preflop[node])
    later, fold = tree.node_at("cb200"), tree.node_at("cb200f")  # the small blind limped and was raised
    assert never.preflop[fold, hand] < 1
    assert cleaned.preflop[fold, hand] == 1
    sums = [cleaned.preflop[tree.children_of(int(node))].sum(axis=0) for node in (0, later)]
    np.testing.assert_allclose(sums, 1)
    assert not np.array_equal(cleaned.preflop, never.preflop)
    assert cleaned.table is raw.table


def test_preflop_figures_are_means_over_combos() -> None:
    play = PreflopStrategy(blueprint().game.preflop, blueprint().preflop)
    metrics = preflop_metrics(play)
    root = play.frequencies("")
    assert metrics["first_in_fold"] == pytest.approx(root["fold"])
    assert metrics["first_in_call"] == pytest.approx(root["call"])
    assert metrics["first_in_raise"] == pytest.approx(1 - root["fold"] - root["call"])
    assert sum(metrics[f"facing_raise_{name}"] for name in ("fold", "call", "raise")) == pytest.approx(1)
    row = play.by_line()["||p|"]["AA"]
    assert metrics["first_in_raise_AA"] == pytest.approx(1 - row["fold"] - row["call"])
    assert metrics["first_in_fold_premium"] >= row["fold"]
    assert CLASS_COMBOS.sum() == 1326


def test_what_the_actions_win_averages_to_the_blueprints_value() -> None:
    boards = some_boards(7, 2)
    value = evaluate_blueprint(blueprint(), boards, InProcess())
    play = PreflopStrategy(blueprint().game.preflop, blueprint().preflop)
    table = preflop_evs(play, value.preflop_values, np.zeros_like(value.preflop_values))
    rows = dict(zip(zip(table["line"], table["action"]), np.asarray(table["ev"])))
    first = {label: ev for (line, label), ev in rows.items() if line == "||p|"}
    np.testing.assert_allclose(first["fold"], -50)
    tree = play.game.tree
    shares = dict(zip(first, play.probabilities[tree.children_of(0)]))
    won = CLASS_COMBOS @ sum(shares[label] * ev for label, ev in first.items()) / 1326
    assert won * 10 == pytest.approx(value.expected[0])
