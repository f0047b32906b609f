"""Reach and continuation values of a blueprint against products along the line and brute force."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from abstractions.cards import (
    CLASS_OF_COMBO,
    COMBO_CARDS,
    NUM_CLASSES,
    NUM_COMBOS,
    disjoint_weight,
    live_combos,
    parse_board,
    parse_combo,
)
from abstractions.evaluator import evaluate_board
from solver.betting.game import GameConfig, StreetSizes
from solver.betting.public_tree import NodeKind
from solver.betting.rules import Action
from solver.blueprint.boards import LIVE_FRACTION
from solver.blueprint.continuation import BIASES, REMEMBERED_BOARDS, Continuations, _action_places, _runouts
from solver.blueprint.flop_values import FlopEvaluator, group_boards
from solver.blueprint.plan import LanePlan
from solver.blueprint.pot_types import pot_types
from solver.blueprint.rows import action_nodes, normalised
from solver.blueprint.strategy import Blueprint
from solver.blueprint.tables import TableLayout
from solver.blueprint.trunk import TrunkGame

GAME = GameConfig(
    stacks=(1000, 1000),
    raise_sizes=("2.5",),
    raise_cap=1,
    postflop=(StreetSizes("50%", "2.5x", "50%", "2.5x"),) * 3,
)
RIVER = parse_board("QsJh2h8d3c")


class SmallBuckets:
    num_buckets = (3, 4, 5)

    def buckets(self, board: NDArray[np.uint8], texture: int) -> NDArray[np.integer]:
        number = self.num_buckets[len(board) - 3]
        return (np.arange(NUM_COMBOS) * 7 + int(np.asarray(board, dtype=int).sum())) % number


def random_blueprint(config: GameConfig, kind: str = "per_line", tolerance: float = 0.0) -> Blueprint:
    nothing = np.zeros((NUM_CLASSES, NUM_CLASSES), dtype=np.int64)
    game = TrunkGame.build(config, (nothing, nothing, nothing))
    pots = pot_types(game, kind, tolerance=tolerance)
    rng = np.random.default_rng(8)
    layout = TableLayout(LanePlan.build(game.tree, pots.templates), SmallBuckets.num_buckets)
    table = np.zeros(layout.size)
    for line in range(len(pots.templates)):
        for street in range(3):
            shape = layout.entries(line, street).shape
            layout.fill(table, line, street, rng.random(shape) * (rng.random(shape) < 0.85))
    preflop = rng.random(game.uniform().shape)
    return Blueprint(game, preflop, layout, table, SmallBuckets(), pots)


@pytest.fixture(scope="module")
def blueprint() -> Blueprint:
    return random_blueprint(GAME)


def probabilities(blueprint: Blueprint) -> dict[int, NDArray]:
    """The postflop strategy as {node: probability by bucket}."""
    tree, result = blueprint.game.tree, {}
    for line, root in enumerate(blueprint.game.lines):
        for street in range(3):
            nodes = action_nodes(tree, root, street)
            rows = normalised(tree, nodes, blueprint.layout.rows(blueprint.table, line, street))
            result |= {int(node): rows[k] for k, node in enumerate(nodes)}
    return result


def test_reach_is_the_product_of_the_actions_on_the_line(blueprint: Blueprint) -> None:
    game, tree = blueprint.game, blueprint.game.tree
    known = probabilities(blueprint)
    line = "b250c/xb250c/xx/"
    hand = parse_combo("AhKd")
    flop, turn, _ = (int(SmallBuckets().buckets(RIVER[:size], 0)[hand]) for size in (3, 4, 5))
    preflop = blueprint.preflop[game.preflop.tree.node_at("b250"), CLASS_OF_COMBO[hand]]
    small_blind = (
        preflop * known[tree.node_at("b250c/xb250")][flop] * known[tree.node_at("b250c/xb250c/xx")][turn]
    )
    big_blind = (
        blueprint.preflop[game.preflop.tree.node_at("b250c"), CLASS_OF_COMBO[hand]]
        * known[tree.node_at("b250c/x")][flop]
        * known[tree.node_at("b250c/xb250c")][flop]
        * known[tree.node_at("b250c/xb250c/x")][turn]
    )
    assert blueprint.reach(line, RIVER, 0)[hand] == pytest.approx(small_blind)
    assert blueprint.reach(line, RIVER, 1)[hand] == pytest.approx(big_blind)
    # The big blind acts first on the river, so the opponent there is the small blind.
    np.testing.assert_array_equal(blueprint.opponent_reach(line, RIVER), blueprint.reach(line, RIVER, 0))
    assert not blueprint.reach(line, RIVER, 0)[~live_combos(RIVER)].any()


def biased(blueprint: Blueprint, biases: tuple[str, str]) -> dict[int, NDArray]:
    """Ten times the probability on the favoured actions, normalised."""
    tree = blueprint.game.tree
    known = probabilities(blueprint)
    result = {}
    for parent in {int(tree.parent[node]) for node in known}:
        favoured = BIASES[biases[int(tree.player[parent])]]
        rows = {
            int(c): known[int(c)] * (10.0 if Action(int(tree.action[c])) in favoured else 1.0)
            for c in tree.children_of(parent)
        }
        total = sum(rows.values())
        result |= {child: row / total for child, row in rows.items()}
    return result


@pytest.mark.parametrize("biases", [("blueprint", "blueprint"), ("raise", "fold"), ("call", "blueprint")])
@pytest.mark.parametrize("line", ["cx/xx/xx/", "b250c/b250c/xx/A"])
def test_river_values_agree_with_brute_force(
    blueprint: Blueprint, line: str, biases: tuple[str, str]
) -> None:
    tree = blueprint.game.tree
    known = biased(blueprint, biases)
    live = live_combos(RIVER)
    strength = evaluate_board(RIVER)
    shared = (COMBO_CARDS[:, None, :, None] == COMBO_CARDS[None, :, None, :]).any(axis=(2, 3))
    meets = (~shared & live[:, None] & live[None, :]).astype(float)
    wins = np.sign(strength[:, None] - strength[None, :]) * meets
    bucket = SmallBuckets().buckets(RIVER, 0)

    def values(node: int, own: int, reach: NDArray) -> NDArray:
        if tree.kind[node] != NodeKind.DECISION:
            win, lose, tie = (tree.heads_up_payoffs[node, k, own] for k in (own, 1 - own, 2))
            edge = (win - lose) / 2 * (wins @ reach) if tree.kind[node] == NodeKind.SHOWDOWN else 0.0
            return edge + tie * (meets @ reach)
        if tree.player[node] == own:
            return sum(known[int(c)][bucket] * values(int(c), own, reach) for c in tree.children_of(node))
        return sum(values(int(c), own, reach * known[int(c)][bucket]) for c in tree.children_of(node))

    rng = np.random.default_rng(0)
    ranges = tuple(rng.random(NUM_COMBOS) * (rng.random(NUM_COMBOS) < 0.5) for _ in range(2))
    continuations = Continuations(blueprint)
    for player in range(2):
        found = continuations.value(line, RIVER, ranges, player, biases=biases)
        opponent = ranges[1 - player] * live
        with np.errstate(invalid="ignore"):
            expected = values(tree.node_at(line), player, opponent) / (meets @ opponent)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-6)


def test_values_before_the_river_average_over_every_run_out(blueprint: Blueprint) -> None:
    board = RIVER[:4]
    ranges = (np.ones(NUM_COMBOS), np.linspace(0, 1, NUM_COMBOS))
    total, met = np.zeros(NUM_COMBOS), np.zeros(NUM_COMBOS)
    continuations = Continuations(blueprint)
    found = continuations.value("cx/xx/", board, ranges, 0, runouts=None)
    sampled = continuations.value("cx/xx/", board, ranges, 0, runouts=40)
    live = live_combos(board)
    assert np.isnan(found[~live]).all()
    assert np.abs(np.nanmean(found) - np.nanmean(sampled)) < 10
    assert np.corrcoef(found[live], sampled[live])[0, 1] > 0.97
    evaluator = FlopEvaluator(blueprint.layout, blueprint.pots, SmallBuckets(), np.float64)
    flop_found = continuations.value("cx/", RIVER[:3], ranges, 0, runouts=96)
    deals = _runouts(RIVER[:3], 96, 0)
    assert len(np.unique(deals, axis=0)) == 96
    assert np.bincount(deals[:, 3])[np.unique(deals[:, 3])].max() == 2
    reach = np.stack([ranges[1]] * len(blueprint.game.lines))
    for flop in group_boards(deals, np.ones(96), np.zeros(96, dtype=int)):
        values = evaluator.combo_values(blueprint.table, flop, reach, 0, (False, False, False))
        total += values[blueprint.game.names.index("cx")]
    for deal in deals:
        met += disjoint_weight(ranges[1] * live_combos(deal)) * live_combos(deal) / 96
    known = met > 0
    np.testing.assert_allclose(flop_found[known], (total * LIVE_FRACTION)[known] / met[known], rtol=1e-8)


@pytest.mark.parametrize(
    ("line", "cards"),
    [("b250c/", 3), ("b250c/xb250", 3), ("cx/xx/x", 4), ("b250c/xx/", 4), ("cx/xx/xx/b100", 5)],
)
def test_one_sweep_values_every_action_as_a_sweep_of_its_own_does(
    blueprint: Blueprint, line: str, cards: int
) -> None:
    tree, board = blueprint.game.tree, RIVER[:cards]
    rng = np.random.default_rng(3)
    ranges = tuple(rng.random(NUM_COMBOS) * (rng.random(NUM_COMBOS) < 0.5) for _ in range(2))
    continuations = Continuations(blueprint)
    found = continuations.action_values(line, board, ranges, runouts=30)
    node = tree.node_at(line)
    player = int(tree.player[node])
    children = tree.children_of(node).tolist()
    assert found.shape == (len(children), NUM_COMBOS)
    known = np.isfinite(found[0])
    for action, child in enumerate(children):
        if tree.kind[child] in (NodeKind.DECISION, NodeKind.CHANCE):
            alone = continuations.value(tree.line(child).removesuffix("/"), board, ranges, player, runouts=30)
            np.testing.assert_allclose(found[action], alone, rtol=1e-9, atol=1e-9)
        elif tree.kind[child] == NodeKind.FOLD:
            assert found[action][known] == pytest.approx(tree.heads_up_payoffs[child, 2, player])
    # What a hand wins is the mean of its actions, by how often it takes them.
    shares = np.stack([probabilities(blueprint)[child] for child in children])
    buckets = SmallBuckets().buckets(board, 0)
    whole = continuations.value(line, board, ranges, player, runouts=30)
    np.testing.assert_allclose((shares[:, buckets] * found).sum(axis=0)[known], whole[known], atol=1e-8)


def test_the_places_of_actions_are_the_entries_that_the_layout_lists(blueprint: Blueprint) -> None:
    layout = blueprint.layout
    places = _action_places(layout)
    assert len(places) == len(layout.actions)
    for node, (first, step, buckets) in zip(layout.actions.tolist(), places.tolist()):
        np.testing.assert_array_equal(first + step * np.arange(buckets), layout.action_entries(node))


def test_the_run_outs_of_the_boards_asked_for_last_are_remembered(blueprint: Blueprint) -> None:
    continuations = Continuations(blueprint)
    ranges = (np.ones(NUM_COMBOS), np.ones(NUM_COMBOS))
    boards = [np.array([*RIVER[:3], card], dtype=np.uint8) for card in range(9) if card not in RIVER]
    first = continuations.value("cx/xx/", boards[0], ranges, 0, runouts=5)
    assert continuations._deals(boards[0], 5, 0) is continuations._deals(boards[0], 5, 0)
    for board in boards[1:]:
        continuations.value("cx/xx/", board, ranges, 0, runouts=5)
    assert len(continuations._dealt) == len(boards) <= REMEMBERED_BOARDS
    continuations.value("cx/xx/", np.array([*RIVER[:3], 50], dtype=np.uint8), ranges, 0, runouts=5)
    np.testing.assert_array_equal(continuations.value("cx/xx/", boards[0], ranges, 0, runouts=5), first)
    assert len(continuations._dealt) <= REMEMBERED_BOARDS


def test_lines_of_one_pot_type_are_asked_in_their_own_chips() -> None:
    blueprint = random_blueprint(replace(GAME, raise_sizes=("2,2.5",)), "shared", 0.3)
    tree = blueprint.game.tree
    assert [tree.lines[node] for node in blueprint.pots.templates] == ["cx/", "cb200c/"]
    continuations = Continuations(blueprint)
    with pytest.raises(ValueError, match=r"'b200' is not possible after b250c/x; accepted: x b250$"):
        blueprint.opponent_reach("b250c/xb200", RIVER[:3])

    for player in range(2):
        reach = [blueprint.reach(line, RIVER[:4], player) for line in ("cb200c/xb200c/", "b250c/xb250c/")]
        before = [blueprint.reach(line, RIVER[:3], player) for line in ("cb200c/", "b250c/")]
        np.testing.assert_allclose(reach[0] * before[1], reach[1] * before[0])
        assert not np.allclose(reach[0], reach[1])

    rng = np.random.default_rng(1)
    ranges = (rng.random(NUM_COMBOS), rng.random(NUM_COMBOS))
    for cards, *lines in ((3, "cb200c", "b250c"), (4, "cb200c/xb200c/", "b250c/xb250c/")):
        for player in range(2):
            values = [
                continuations.value(line, RIVER[:cards], ranges, player, biases=("call", "raise"), runouts=20)
                for line in lines
            ]
            # What is won from the flop on, as a share of the pot, is the same.
            won = [(value + pot / 2) / pot for value, pot in zip(values, (400, 500))]
            np.testing.assert_allclose(won[0], won[1], rtol=1e-9)
            assert np.nanstd(won[0]) > 0.01


def test_against_a_folding_opponent_everything_is_worth_more_than_folding(blueprint: Blueprint) -> None:
    ranges = (np.ones(NUM_COMBOS), np.ones(NUM_COMBOS))
    values = {
        bias: Continuations(blueprint).value("b250c/xx/xx/", RIVER, ranges, 1, biases=(bias, "blueprint"))
        for bias in BIASES
    }
    assert set(values) == {"blueprint", "fold", "call", "raise"}
    live = live_combos(RIVER)
    assert np.nanmean(values["fold"][live]) > np.nanmean(values["blueprint"][live])


def test_values_on_a_flop_take_well_under_a_second(blueprint: Blueprint) -> None:
    ranges = (np.ones(NUM_COMBOS), np.ones(NUM_COMBOS))
    continuations = Continuations(blueprint)
    continuations.value("cx/", RIVER[:3], ranges, 0, runouts=2)
    start = time.process_time()
    continuations.value("cx/", RIVER[:3], ranges, 0)
    assert time.process_time() - start < 1.0
    start = time.process_time()
    blueprint.opponent_reach("cx/xb100", RIVER[:3])
    assert time.process_time() - start < 0.05


def test_what_cannot_be_answered_is_refused(blueprint: Blueprint) -> None:
    continuations = Continuations(blueprint)
    ranges = (np.ones(NUM_COMBOS), np.ones(NUM_COMBOS))
    with pytest.raises(ValueError, match=r"3 cards; line 'cx/xx/' has 4"):
        blueprint.opponent_reach("cx/xx/", RIVER[:3])
    with pytest.raises(ValueError, match="bias 'limp' is unknown; accepted: blueprint, fold, call, raise"):
        continuations.value("cx/", RIVER[:3], ranges, 0, biases=("limp", "fold"))
    with pytest.raises(ValueError, match="not a decision after the flop"):
        continuations.value("c", np.empty(0, dtype=np.uint8), ranges, 0)
    with pytest.raises(ValueError, match="b777"):
        blueprint.reach("cx/b777", RIVER[:3], 0)
