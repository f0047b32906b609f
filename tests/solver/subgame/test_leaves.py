"""Leaves of a depth-limited search against the exact engine, brute force and the game without abstraction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from abstractions.cards import COMBO_CARDS, NUM_COMBOS, parse_board
from abstractions.evaluator import evaluate_board
from solver.betting.lines import RIVER, TURN
from solver.betting.public_tree import NodeKind
from solver.blueprint.board_play import table_side
from solver.blueprint.boards import NUM_LIVE
from solver.blueprint.plan import LanePlan, shape_of
from solver.blueprint.river_choices import NO_CHOICES
from solver.blueprint.sweep import _sweep_board
from solver.blueprint.sweep_arrays import EXPECTED, FROM_TABLES, by_hand_showdown, make_work
from solver.exact.betting_plan import leaf_nodes
from solver.exact.engine import CfrEngine
from solver.exact.fixed_leaves import FixedLeaves
from solver.exact.strategies import evaluate_strategy
from solver.subgame import trained_leaves
from solver.subgame.bucketed_lines import BucketedLines, lines_by_shape
from solver.subgame.fixed_leaves import FixedContinuations
from solver.subgame.leaf_boards import combos_of
from solver.subgame.range_buckets import RangeBuckets
from solver.subgame.river_lines import RiverLines
from solver.subgame.solve import SAMPLED
from solver.subgame.trained_leaves import DISCOUNTS, DTYPE, EPOCHS, TrainedLeaves, range_masses
from tests.solver.subgame import small_spots
from tests.solver.subgame.small_spots import EveryHandOnEveryRiver, blueprint, spot

LINE = "b250c/xx/"


def trained(subgame, bucketing, *, run_outs=4, threads=1):
    """A search of the turn with the river in buckets."""
    tree, nodes = subgame.searched
    leaves = TrainedLeaves(
        subgame.tree,
        nodes,
        leaf_nodes(tree),
        subgame.cards,
        bucketing,
        0,
        run_outs=run_outs,
        threads=threads,
    )
    return leaves, CfrEngine(tree, subgame.cards, SAMPLED[len(subgame.board)], leaves=leaves)


def run(leaves, engine, iterations):
    for _ in range(iterations):
        leaves.begin_iteration()
        engine.run(1)


def river_play(subgame, rows, bucketing):
    """A strategy by bucket as the exact engine asks for it: ``rows(node) -> [action, bucket]``."""

    def strategy(node, board, hands):
        weights = np.maximum(rows(node), 0.0)
        total = weights.sum(axis=0)
        shares = np.where(total > 0, weights / np.where(total > 0, total, 1), 1 / len(weights))
        return shares[:, bucketing.buckets(np.array(board, dtype=np.uint8), 0)[combos_of(hands)]]

    return strategy


def averages(subgame, leaves):
    """The average of the trained rivers at a decision, ``[action, bucket]``."""
    (group,) = leaves.groups

    def rows(node):
        children = subgame.tree.children_of(node).tolist()
        return np.stack([group.average[group.layout.action_entries(child)] for child in children]).astype(
            float
        )

    return rows


def leaf_values(provider, engine, reach, player):
    return provider.values(engine.leaves, reach, player)


def some_reach(subgame, num_leaves, seed=3):
    rng = np.random.default_rng(seed)
    return tuple(rng.random((num_leaves, len(hands))) for hands in subgame.cards.hands)


def test_trained_rivers_are_worth_what_the_exact_engine_says():
    subgame, buckets = spot(LINE, small_spots.TURN), blueprint().bucketing
    leaves, engine = trained(subgame, buckets)
    run(leaves, engine, 12)
    leaves.begin_evaluation()
    exact = FixedLeaves(
        subgame.tree,
        subgame.searched[1],
        subgame.cards,
        river_play(subgame, averages(subgame, leaves), buckets),
    )
    reach = some_reach(subgame, len(engine.leaves))
    for player in range(2):
        found = leaf_values(leaves, engine, reach, player)
        expected = leaf_values(exact, engine, reach, player)
        assert np.abs(expected).max() > 1000.0
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())


def test_a_fixed_continuation_is_the_blueprint_over_every_river():
    subgame = spot(LINE, small_spots.TURN)
    tree, nodes = subgame.searched
    leaves = FixedContinuations(blueprint(), subgame, leaf_nodes(tree), num_values=1, factor=10.0, run_outs=4)
    engine = CfrEngine(tree, subgame.cards, SAMPLED[len(subgame.board)], leaves=leaves)
    game_tree, known = blueprint().game.tree, blueprint().layout

    def rows(node):
        # The subgame has the sizes of the game, so its decisions are the game's.
        children = game_tree.children_of(game_tree.node_at(LINE + subgame.tree.line(node))).tolist()
        return np.stack([blueprint().table[known.action_entries(child)] for child in children])

    exact = FixedLeaves(subgame.tree, nodes, subgame.cards, river_play(subgame, rows, blueprint().bucketing))
    leaves.begin_evaluation()
    reach = some_reach(subgame, len(engine.leaves))
    for player in range(2):
        expected = leaf_values(exact, engine, reach, player)
        found = leaf_values(leaves, engine, reach, player)
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())


@pytest.mark.parametrize(("line", "board"), [(LINE, small_spots.TURN), ("b250c/", small_spots.FLOP)])
def test_choices_are_worth_the_sum_over_all_pairs_of_strategies(line, board):
    subgame = spot(line, board)
    tree, _ = subgame.searched
    leaves = FixedContinuations(blueprint(), subgame, leaf_nodes(tree), num_values=4, factor=10.0, run_outs=2)
    engine = CfrEngine(tree, subgame.cards, SAMPLED[len(subgame.board)], leaves=leaves)
    leaves.sampled.begin_iteration()
    rng = np.random.default_rng(1)
    lines = len(leaves.plan.lines)
    reach = rng.random((4, lines, NUM_COMBOS)).astype(DTYPE)
    cards = tuple(engine.leaves.boards[0].tolist())
    work = make_work(leaves.plan.programs, NUM_LIVE, DTYPE)
    for player in range(2):
        found = leaves._board_values(cards, reach, player)
        expected = np.zeros_like(found)
        for deal in leaves.sampled.deals(cards):
            for own in range(4):
                for other in range(4):
                    _sweep_board(
                        leaves.plan.programs[player],
                        leaves.pays[player],
                        deal.hands,
                        deal.combos,
                        table_side(leaves.layout, leaves.tables[own], deal.runs),
                        table_side(leaves.layout, leaves.tables[other], deal.runs),
                        reach[other],
                        leaves.tables[own],
                        EXPECTED,
                        leaves.sampled.board(cards).dealer.scale / 2,
                        FROM_TABLES,
                        NO_CHOICES,
                        by_hand_showdown(DTYPE),
                        -np.inf,
                        work,
                        work,
                        expected[own],
                    )
        expected = leaves.sampled.board(cards).evened(expected)
        np.testing.assert_allclose(found, expected, rtol=2e-3, atol=1e-4 * np.abs(expected).max())
        # The strategies differ, so the choice matters.
        assert np.abs(found[1] - found[0]).max() > 0.01 * np.abs(found[0]).max()


def test_lines_that_begin_on_the_river_are_worth_the_same_together_as_alone():
    subgame = spot(LINE, small_spots.TURN)
    tree = subgame.tree
    roots = [
        int(tree.children_of(int(node))[0]) for node in subgame.searched[1][leaf_nodes(subgame.searched[0])]
    ]
    assert len(LanePlan.build(tree, roots).blocks) > 1
    values = {}
    for threads in (1, 3):
        leaves, engine = trained(subgame, blueprint().bucketing, threads=threads)
        run(leaves, engine, 5)
        values[threads] = [table.regret.copy() for table in engine.tables]
    for alone, shared in zip(values[1], values[3]):
        np.testing.assert_array_equal(alone, shared)


def test_without_abstraction_the_trained_river_leads_to_the_equilibrium():
    subgame = spot(LINE, small_spots.TURN)
    leaves, engine = trained(subgame, EveryHandOnEveryRiver(small_spots.TURN), run_outs=48)
    gaps = []
    for iterations in (15, 45):
        run(leaves, engine, iterations)
        leaves.begin_evaluation()
        river = river_play(subgame, averages(subgame, leaves), leaves.sampled.bucketing)

        def whole(node, board, hands, river=river):
            if len(board) == 5:
                return river(node, board, hands)
            return engine.strategy(int(np.flatnonzero(subgame.searched[1] == node)[0]))

        value = evaluate_strategy(subgame.tree, subgame.cards, whole)
        gaps.append(100 * value.exploitability / subgame.pot)
    # A best responder who is free on turn and river gains next to nothing.
    assert gaps[1] < 0.5 * gaps[0]
    assert gaps[1] < 1.0, gaps


def test_equivalent_suits_are_worth_the_same():
    subgame = spot("b250c/", small_spots.FLOP)
    tree, nodes = subgame.searched
    leaves = TrainedLeaves(
        subgame.tree, nodes, leaf_nodes(tree), subgame.cards, blueprint().bucketing, 0, run_outs=3
    )
    engine = CfrEngine(tree, subgame.cards, SAMPLED[len(subgame.board)], leaves=leaves)
    run(leaves, engine, 6)
    hands = {tuple(hand): k for k, hand in enumerate(subgame.cards.hands[0].tolist())}
    # Clubs and diamonds are not on QsJh2h: the sevens with a club play like those with a diamond.
    club, diamond = (hands[tuple(sorted(parse_board(text + "2c").tolist()[:2]))] for text in ("7c7h", "7d7h"))
    strategy = engine.strategy(int(np.flatnonzero(tree.player == 0)[0]))
    assert not np.allclose(strategy[:, club], 1.0 / len(strategy), atol=0.01)
    np.testing.assert_array_equal(strategy[:, club], strategy[:, diamond])


def test_run_outs_of_one_board_deal_every_turn_card_before_one_comes_again():
    subgame = spot("b250c/", small_spots.FLOP)
    tree, nodes = subgame.searched
    leaves = TrainedLeaves(
        subgame.tree, nodes, leaf_nodes(tree), subgame.cards, blueprint().bucketing, 0, run_outs=7
    )
    seen = []
    for _ in range(7):
        leaves.begin_iteration()
        boards = [deal.board for deal in leaves.sampled.deals(subgame.board)]
        assert leaves.sampled.deals(subgame.board)[0].board is boards[0]
        seen += [int(board[3]) for board in boards]
        assert all(len(set(board.tolist())) == 5 for board in boards)
    assert sorted(seen) == [card for card in range(52) if card not in subgame.board]
    assert subgame.tree.street.max() > TURN


def flop_search(*, chain=True, threads=1):
    """A search of the flop in buckets of its ranges, with or without run-outs in chains."""
    subgame = spot("b250c/", small_spots.FLOP)
    tree, nodes = subgame.searched
    buckets = RangeBuckets.of(3, range_masses(subgame.cards))
    leaves = TrainedLeaves(
        subgame.tree,
        nodes,
        leaf_nodes(tree),
        subgame.cards,
        buckets,
        0,
        run_outs=6,
        threads=threads,
        chain=buckets.chain if chain else None,
    )
    return subgame, leaves, CfrEngine(tree, subgame.cards, SAMPLED[len(subgame.board)], leaves=leaves)


def test_what_was_learnt_is_discounted_when_an_epoch_begins():
    _, leaves, engine = flop_search()
    run(leaves, engine, EPOCHS[3])
    (lines,) = leaves.groups
    regret, average = lines.regret.copy(), lines.average.copy()
    assert regret.min() < 0.0 < regret.max()
    leaves.begin_iteration()
    weights = DISCOUNTS.weights(2)
    expected = regret * np.where(regret > 0.0, weights.positive, weights.negative)
    np.testing.assert_allclose(lines.regret, expected, rtol=1e-6)
    np.testing.assert_allclose(lines.average, average * weights.strategy, rtol=1e-6)
    engine.run(1)
    regret = lines.regret.copy()
    leaves.begin_iteration()
    np.testing.assert_array_equal(lines.regret, regret)


def test_threads_that_take_chains_of_run_outs_change_no_number():
    found = []
    for threads in (1, 2, 4):
        _, leaves, engine = flop_search(threads=threads)
        run(leaves, engine, 12)
        (lines,) = leaves.groups
        found.append([table.regret for table in engine.tables] + [lines.regret, lines.average])
    for one, two, four in zip(*found, strict=True):
        assert np.abs(one).max() > 0.0
        np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(one, four)


def test_run_outs_in_chains_are_worth_what_they_are_one_after_the_other():
    subgame, chained, engine = flop_search()
    _, plain, other = flop_search(chain=False)
    played = set()
    for _ in range(8):
        for leaves in (chained, plain):
            leaves.begin_iteration()
        deals = chained.sampled.deals(subgame.board)
        plain.sampled._deals = {subgame.board: deals}
        played |= {chained._chain(deal.board) for deal in deals}
        engine.run(1)
        other.run(1)
    assert len(played) > 2
    for mine, theirs in zip(engine.tables, other.tables):
        np.testing.assert_allclose(mine.regret, theirs.regret, atol=1e-4 * np.abs(mine.regret).max())
    (lines,), (single,) = chained.groups, plain.groups
    np.testing.assert_allclose(lines.regret, single.regret, atol=1e-4 * np.abs(lines.regret).max())


def test_dealing_ahead_changes_no_board():
    subgame, ahead, _ = flop_search()
    _, plain, _ = flop_search()
    for _ in range(20):
        seen = []
        for leaves in (ahead, plain):
            leaves.begin_iteration()
            seen.append([bytes(deal.board) for deal in leaves.sampled.deals(subgame.board)])
        assert seen[0] == seen[1]
        ahead.sampled.deal_ahead(subgame.board)
        ahead.begin_evaluation()


def test_a_round_of_run_outs_spreads_every_kind_of_card():
    _, leaves, _ = flop_search()
    dealer = leaves.sampled.board(tuple(parse_board(small_spots.FLOP).tolist())).dealer
    for _ in range(5):
        turns = dealer.draw(49)
        kinds = np.array([leaves._chain(board) for board in turns])
        assert len(set(turns[:, 3].tolist())) == 49
        for kind in set(kinds.tolist()):
            until = np.cumsum(kinds == kind)
            expected = until[-1] * np.arange(1, 50) / 49
            # Each card of a kind lies in its own part of the round, moved a little by the parts of other kinds.
            assert np.abs(until - expected).max() < 2.5


def test_only_hands_that_somebody_may_hold_are_played():
    subgame, leaves, _ = flop_search()
    held = {*combos_of(subgame.cards.hands[0]).tolist(), *combos_of(subgame.cards.hands[1]).tolist()}
    leaves.begin_iteration()
    for deal in leaves.sampled.deals(subgame.board):
        combos = deal.combos.tolist()
        assert combos
        assert set(combos) <= held
        cards = {tuple(hand) for hand in zip(deal.hands.card1.tolist(), deal.hands.card2.tolist())}
        assert cards == {tuple(COMBO_CARDS[combo].tolist()) for combo in combos}
        strengths = evaluate_board(deal.board)[deal.combos]
        assert (np.diff(strengths) >= 0).all()
        assert deal.hands.group_end.tolist() == [*(np.flatnonzero(np.diff(strengths)) + 1), len(combos)]
        for street, runs in enumerate(deal.runs):
            buckets = leaves.sampled.bucketing.buckets(deal.board[: 3 + street], 0)
            for k, bucket in enumerate(runs.bucket.tolist()):
                rows = runs.order[runs.start[k] : runs.start[k + 1]]
                assert set(buckets[deal.combos[rows]].tolist()) == {bucket}
            assert sorted(runs.order.tolist()) == list(range(len(combos)))


def test_the_order_of_lanes_changes_no_number(monkeypatch):
    subgame, found = spot(LINE, small_spots.TURN), []
    for kind in (RiverLines, BucketedLines):
        monkeypatch.setattr(trained_leaves, "RiverLines", kind)
        leaves, engine = trained(subgame, blueprint().bucketing)
        assert type(leaves.groups[0]) is kind
        run(leaves, engine, 8)
        found.append([table.regret for table in engine.tables] + [leaves.groups[0].average])
    for in_lanes, in_rows in zip(*found, strict=True):
        assert np.abs(in_rows).max() > 0.0
        np.testing.assert_array_equal(in_lanes, in_rows)


def test_threads_share_lines_in_eights_of_one_shape():
    subgame = spot(LINE, small_spots.TURN, replace(small_spots.PLAIN, sizes="33%,50%,75%,100%,150%,a"))
    tree, nodes = subgame.searched
    lines = [int(subgame.tree.children_of(int(nodes[leaf]))[0]) for leaf in leaf_nodes(tree)]
    groups = lines_by_shape(subgame.tree, lines)
    assert sorted(place for group in groups for place in group) == list(range(len(lines)))
    assert 1 < len(groups) < len(lines)
    for group in groups:
        assert len(group) <= 8
        assert len({shape_of(subgame.tree, lines[place]) for place in group}) == 1


@pytest.mark.parametrize("protected", [None, 0, 1])
def test_a_bucket_learns_from_the_hands_of_the_range(protected):
    subgame, buckets = spot(LINE, small_spots.TURN), blueprint().bucketing
    tree, nodes = subgame.searched
    leaves = TrainedLeaves(
        subgame.tree, nodes, leaf_nodes(tree), subgame.cards, buckets, 0, run_outs=4, protected=protected
    )
    run(leaves, CfrEngine(tree, subgame.cards, SAMPLED[len(subgame.board)], leaves=leaves), 1)
    (group,) = leaves.groups
    river_nodes = np.flatnonzero((subgame.tree.kind == NodeKind.DECISION) & (subgame.tree.street == RIVER))
    for player in range(2):
        mine = leaves.combos[player]
        known = set()
        for deal in leaves.sampled.deals(subgame.board):
            alive = np.intersect1d(deal.combos, mine)
            known |= set(buckets.buckets(deal.board, 0)[alive].tolist())
        learnt = set()
        for node in river_nodes[subgame.tree.player[river_nodes] == player].tolist():
            for child in subgame.tree.children_of(node).tolist():
                learnt |= set(np.flatnonzero(group.regret[group.layout.action_entries(child)]).tolist())
        assert learnt
        assert learnt <= known
        weights = group.masses[player][mine]
        expected = 1.0 if player == protected else subgame.cards.weights[player]
        np.testing.assert_array_equal(weights, np.broadcast_to(expected, weights.shape))
