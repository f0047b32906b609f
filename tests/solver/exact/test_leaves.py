"""An engine that stops before a later street, with the rest of the hand behind its leaves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from abstractions.cards import parse_combo
from abstractions.ranges import parse_range
from solver.betting.lines import FLOP, TURN
from solver.betting.public_tree import NodeKind
from solver.betting.tree import spot_tree
from solver.betting.tree_parts import upper_part
from solver.cfr.schedules import schedule
from solver.exact.engine import CfrEngine
from solver.exact.fixed_leaves import FixedLeaves
from solver.exact.node_values import node_values
from solver.exact.toy_games import kuhn, leduc
from solver.postflop.holdem import holdem_game, read_board

SIZES = {
    "flop": {"bet": "50%", "raise": "none"},
    "turn": {"bet": "60%", "raise": "a"},
    "river": {"bet": "50%"},
}
CLOSE = {"rtol": 0.0, "atol": 1e-9}


def weighted(hands, step):
    """A range of listed hands, in pairs of equal weight."""
    weights = np.zeros(1326)
    for place, hand in enumerate(hands.split()):
        weights[parse_combo(hand)] = 1.0 - step * (place // 2)
    return weights


def turn_spot():
    """A turn with two suits that may be exchanged: hands of clubs and spades come in pairs of equal weight."""
    ranges = ("AcKc AsKs 7s7c ThTd 9c9d 9s9d", "KcQc KsQs 8h7h JcJs QdTd 2d2h")
    game = holdem_game(read_board("QhJd2h8d"), *(weighted(hands, 0.26) for hands in ranges))
    return spot_tree(TURN, 100, 250, SIZES, rake=0.05, rake_cap=12.0), game


def short_deck_flop(*, alike=True):
    """A flop of a deck from ten to ace, with ranges that treat three suits alike or not.

    Rake keeps split pots from making ties, and the hands are such that every hand can meet another one wherever it
    plays: a tie would be decided by rounding.
    """
    weights = [parse_range("AA:0.9,KTo:0.7,AKs:0.4,QQ:0.2"), parse_range("KK,AQo:0.6,ATo:0.5,JJ:0.3")]
    if not alike:
        weights = [weighted("AcAd KhTd KcTh AhQd JcJd", 0.2), weighted("KsKd AhTc AsQc QhTd JhTc", 0.15)]
    game = holdem_game(read_board("TsJsQs"), *weights)
    game = replace(game, deck=tuple(card for card in game.deck if card >= 32))
    sizes = SIZES | {"turn": {"bet": "a"}, "river": {"bet": "a"}}
    return spot_tree(FLOP, 60, 200, sizes, rake=0.05, rake_cap=100.0), game


def by_ranks(tree, seed):
    """A mixed strategy that knows ranks but no suits, in sixteenths, which every precision holds exactly."""
    known = {}

    def row(node, ranks):
        if (node, ranks) not in known:
            actions = int(tree.num_children[node])
            rng = np.random.default_rng([seed, node, *ranks])
            known[node, ranks] = rng.multinomial(16, rng.dirichlet(np.ones(actions))) / 16
        return known[node, ranks]

    def strategy(node, board, hands):
        public = tuple(sorted(card // 4 for card in board))
        ranks = [(*public, *sorted(card // 4 for card in hand)) for hand in hands.tolist()]
        return np.array([row(node, each) for each in ranks]).T

    return strategy


def pair_of_engines(tree, game, last_street, *, name="dcfr", seed=1, **options):
    """The whole tree with a strategy locked after `last_street`, and the tree cut there with it behind the leaves."""
    strategy = by_ranks(tree, seed)
    cut, nodes = upper_part(tree, last_street)
    options = {"precision": "float64", **options}
    whole = CfrEngine(tree, game, schedule(name), **options)
    for node in np.flatnonzero((tree.kind == NodeKind.DECISION) & (tree.street > last_street)).tolist():
        for board, cards in enumerate(whole.deals.cards):
            if whole.deals.boards[board]["street"] == tree.street[node] - tree.street[0]:
                whole.lock(node, [board], strategy(node, cards, game.hands[int(tree.player[node])]))
    leaves = FixedLeaves(tree, nodes, game, strategy)
    return whole, CfrEngine(cut, game, schedule(name), leaves=leaves, **options), nodes


def upper_infosets(engine):
    """Every decision node of an engine with every board it is played on."""
    tree = engine.tree
    for node in np.flatnonzero(tree.kind == NodeKind.DECISION).tolist():
        for board in range(len(engine.deals.cards)):
            if engine.deals.boards[board]["street"] == tree.street[node] - tree.street[0]:
                yield node, board


def assert_same_play(whole, cut, nodes):
    """Tables, values, best responses and node reports of the cut engine are those of the whole one."""
    for node, board in upper_infosets(cut):
        there = int(nodes[node])
        np.testing.assert_allclose(cut.regrets(node, board), whole.regrets(there, board), **CLOSE)
        np.testing.assert_allclose(cut.strategy(node, board), whole.strategy(there, board), **CLOSE)
    for player in range(2):
        for best in (False, True):
            np.testing.assert_allclose(
                cut.root_values(player, best=best), whole.root_values(player, best=best), **CLOSE
            )
    assert cut.exploitability() == pytest.approx(whole.exploitability(), abs=1e-9)
    node, board = list(upper_infosets(cut))[-1]
    here, there = node_values(cut, node, board), node_values(whole, int(nodes[node]), board)
    np.testing.assert_allclose(here.action_values, there.action_values, **CLOSE)
    for player in range(2):
        np.testing.assert_allclose(here.reach[player], there.reach[player], **CLOSE)
        np.testing.assert_allclose(here.values[player], there.values[player], **CLOSE)


@pytest.mark.parametrize("isomorphism", [True, False])
@pytest.mark.parametrize("name", ["dcfr", "pcfr+"])
def test_a_turn_cut_before_the_river_plays_as_the_whole_tree(name, isomorphism):
    whole, cut, nodes = pair_of_engines(*turn_spot(), TURN, name=name, isomorphism=isomorphism)
    assert len(cut.leaves) == len(np.flatnonzero(cut.tree.kind == NodeKind.CHANCE))
    for engine in (whole, cut):
        engine.run(25)
    assert_same_play(whole, cut, nodes)


@pytest.mark.parametrize("isomorphism", [True, False])
def test_a_flop_and_turn_cut_before_the_river_play_as_the_whole_tree(isomorphism):
    # With this seed no hand is indifferent but for rounding, which would break ties differently in the two engines.
    spot = short_deck_flop(alike=isomorphism)
    whole, cut, nodes = pair_of_engines(*spot, TURN, isomorphism=isomorphism, seed=4)
    # Of 17 turn cards, the five spades, less three on the board, and five of one of the other suits are dealt.
    assert len(np.unique(cut.leaves.boards, axis=0)) == (7 if isomorphism else 17)
    for engine in (whole, cut):
        engine.run(8)
    assert_same_play(whole, cut, nodes)


def test_a_flop_cut_before_the_turn_plays_as_the_whole_tree():
    whole, cut, nodes = pair_of_engines(*short_deck_flop(), FLOP)
    assert cut.leaves.boards.shape == (len(cut.leaves), 3)
    for engine in (whole, cut):
        engine.run(8)
    assert_same_play(whole, cut, nodes)


def test_locks_above_the_leaves_hold():
    whole, cut, nodes = pair_of_engines(*turn_spot(), TURN, isomorphism=False)
    root = np.zeros((2, len(cut.game.hands[0])))
    root[:, ::2] = [[0.25], [0.75]]
    root[:, 1::2] = -1.0
    for engine in (whole, cut):
        engine.lock(0, [0], root)
        engine.run(10)
    assert cut.strategy(0)[1, 0] == 0.75
    assert_same_play(whole, cut, nodes)


def test_threads_share_leaves_to_the_same_bytes():
    tree, game = short_deck_flop()
    tables = []
    for threads in (1, 3):
        cut = pair_of_engines(tree, game, TURN, threads=threads)[1]
        cut.run(5)
        tables.append([cut.tables[player].regret for player in range(2)] + [cut.root_values(0, best=True)])
    for alone, shared in zip(*tables):
        np.testing.assert_array_equal(alone, shared)


@pytest.mark.parametrize(("precision", "tolerance"), [("float32", 1e-4), ("int16", 1e-1)])
def test_smaller_numbers_follow_double_precision(precision, tolerance):
    double = pair_of_engines(*turn_spot(), TURN)[1]
    small = pair_of_engines(*turn_spot(), TURN, precision=precision)[1]
    for engine in (double, small):
        engine.run(60)
    assert small.evaluate().expected == pytest.approx(double.evaluate().expected, abs=tolerance)


class Recorder:
    """Passes a provider on, and remembers what it was asked."""

    def __init__(self, provider):
        self.provider, self.asked = provider, []

    def values(self, leaves, reach, player):
        self.asked.append((leaves, (reach[0].copy(), reach[1].copy()), player))
        return self.provider.values(leaves, reach, player)


class Beside:
    """Passes a provider on, and lets the engine work first."""

    def __init__(self, provider):
        self.provider = provider

    def values(self, leaves, reach, player):
        return self.provider.values(leaves, reach, player)

    def values_beside(self, leaves, arriving, player, meanwhile):
        meanwhile()
        return self.provider.values(leaves, {1 - player: arriving}, player)


def test_work_beside_the_provider_changes_nothing():
    tree, game = turn_spot()
    cut, nodes = upper_part(tree, TURN)
    found = []
    for kind in (Recorder, Beside):
        provider = kind(FixedLeaves(tree, nodes, game, by_ranks(tree, 1)))
        engine = CfrEngine(cut, game, schedule("dcfr"), leaves=provider)
        engine.run(5)
        values = [engine.root_values(player, best=best) for player in range(2) for best in (False, True)]
        tables = [part for table in engine.tables for part in (table.regret, table.average)]
        found.append([*tables, *values])
    for apart, beside in zip(*found, strict=True):
        assert np.abs(apart).max() > 0.0
        np.testing.assert_array_equal(beside, apart)


def reach_of(engine, node, player, strategy):
    """A player's weight times its own actions on the way to a node of the first street."""
    reach = engine.game.weights[player].copy()
    while node > 0:
        parent = int(engine.tree.parent[node])
        if engine.tree.player[parent] == player:
            reach *= strategy(parent)[engine.tree.children_of(parent).tolist().index(node)]
        node = parent
    return reach


def test_a_provider_sees_own_actions_and_no_chance():
    tree, game = turn_spot()
    cut, nodes = upper_part(tree, TURN)
    recorder = Recorder(FixedLeaves(tree, nodes, game, by_ranks(tree, 1)))
    engine = CfrEngine(cut, game, schedule("dcfr"), precision="float64", leaves=recorder)
    engine.run(6)
    # Player 0 is asked first, then player 1, once per iteration.
    assert [player for _, _, player in recorder.asked] == [0, 1] * 6
    current = {node: engine.current_strategy(node) for node, _ in upper_infosets(engine)}
    engine.run(1)
    averages = {node: engine.strategy(node) for node, _ in upper_infosets(engine)}
    engine.root_values(1)
    for (leaves, reach, _), strategy in ((recorder.asked[12], current), (recorder.asked[-1], averages)):
        assert leaves is engine.leaves
        assert leaves.nodes.tolist() == np.flatnonzero(cut.kind == NodeKind.CHANCE).tolist()
        assert (leaves.boards == np.array(game.board)).all()
        for player in range(2):
            assert reach[player].dtype == np.float64
            expected = [reach_of(engine, int(node), player, strategy.get) for node in leaves.nodes]
            np.testing.assert_allclose(reach[player], expected, **CLOSE)


def test_reach_at_later_boards_is_dense_and_zero_for_blocked_hands():
    tree, game = short_deck_flop()
    cut, nodes = upper_part(tree, TURN)
    recorder = Recorder(FixedLeaves(tree, nodes, game, by_ranks(tree, 1)))
    engine = CfrEngine(cut, game, schedule("dcfr"), precision="float64", leaves=recorder)
    engine.root_values(0)
    ((leaves, reach, _),) = recorder.asked
    assert leaves.boards.shape == (len(leaves), 4)
    for player in range(2):
        assert reach[player].shape == (len(leaves), len(game.hands[player]))
        blocked = np.array([np.isin(game.hands[player], board).any(axis=1) for board in leaves.boards])
        assert (reach[player][blocked] == 0.0).all()
        # Nobody has learnt yet: every own decision on the way splits the weight evenly, and no card does.
        share = {}
        for node in np.unique(leaves.nodes).tolist():
            parents = [int(cut.parent[step]) for step in path_to(cut, node)]
            share[node] = np.prod([1.0 / cut.num_children[p] for p in parents if cut.player[p] == player])
        expected = np.array([share[node] * game.weights[player] for node in leaves.nodes.tolist()])
        np.testing.assert_allclose(reach[player][~blocked], expected[~blocked], **CLOSE)


def path_to(tree, node):
    while node > 0:
        yield node
        node = int(tree.parent[node])


def test_twice_the_range_is_twice_the_value():
    tree, game = turn_spot()
    cut, nodes = upper_part(tree, TURN)
    double = replace(game, weights=(game.weights[0], 2.0 * game.weights[1]))
    values = []
    for cards in (game, double):
        engine = CfrEngine(
            cut,
            cards,
            schedule("dcfr"),
            precision="float64",
            leaves=FixedLeaves(tree, nodes, cards, by_ranks(tree, 1)),
        )
        values.append([engine.root_values(player) for player in range(2)])
    np.testing.assert_allclose(values[1][0], 2.0 * values[0][0], **CLOSE)
    np.testing.assert_allclose(values[1][1], values[0][1], **CLOSE)


def test_leduc_cut_after_the_first_round_is_worth_what_the_whole_game_is():
    whole = leduc(schedule("dcfr"))
    whole.run(200)
    cut, nodes = upper_part(whole.tree, 0)

    def second_round(node, board, hands):
        number, suits = whole.deals.locate(board)
        # The engine deals one of the two suits; a hand of the real suits is found by exchanging them back.
        cards = np.array([4 * (c // 4) + suits.index(c % 4) for c in hands[:, 0].tolist()])
        player = int(whole.tree.player[node])
        there = whole.game.hands[player][whole.deals.hands[player][number], 0]
        return whole.strategy(node, number)[:, [there.tolist().index(card) for card in cards.tolist()]]

    engine = CfrEngine(
        cut,
        whole.game,
        schedule("dcfr"),
        precision="float64",
        leaves=FixedLeaves(whole.tree, nodes, whole.game, second_round),
    )
    for node, board in upper_infosets(engine):
        engine.set_average(node, board, whole.strategy(int(nodes[node]), board))
    for player in range(2):
        np.testing.assert_allclose(engine.root_values(player), whole.root_values(player), rtol=0, atol=1e-12)
    # The responder is free in the first round alone, so it gains something, and less than in the whole game.
    evaluation, free = engine.evaluate(), whole.evaluate()
    assert all(0.0 <= mine <= theirs for mine, theirs in zip(evaluation.gains, free.gains))
    # Against the equilibrium below, training the first round alone leads back to the game's value.
    trained = CfrEngine(cut, whole.game, schedule("dcfr"), precision="float64", leaves=engine._provider)
    trained.run(300)
    assert trained.evaluate().expected[0] == pytest.approx(free.expected[0], abs=2e-3)


class Zeros:
    def values(self, leaves, reach, player):
        return np.zeros_like(reach[player])


def test_leaves_worth_nothing():
    engine = leduc(schedule("dcfr"))
    cut, _ = upper_part(engine.tree, 0)
    zero = CfrEngine(cut, engine.game, schedule("dcfr"), precision="float64", leaves=Zeros())
    zero.run(10)
    # The figures of the engine before it knew leaves, when such lines were worth nothing.
    assert zero.evaluate().expected == pytest.approx(
        (0.0038775510204081625, -0.003877551020408163), abs=1e-12
    )
    assert zero.evaluate().best_response == pytest.approx((0.004329004329004327, 0.0), abs=1e-12)


def test_without_a_provider_a_cut_line_is_checked_down():
    sizes = SIZES | {"river": {"bet": "none", "raise": "none"}}
    _, game = turn_spot()
    tree = spot_tree(TURN, 100, 250, sizes, add_allin_threshold=0.0, rake=0.05, rake_cap=12.0)
    cut, nodes = upper_part(tree, TURN)
    silent, engine = (CfrEngine(t, game, schedule("dcfr"), precision="float64") for t in (tree, cut))
    assert len(engine.leaves) == 0
    for each in (silent, engine):
        each.run(20)
    assert_same_play(silent, engine, nodes)


class Gift:
    """Both players win at every leaf, so the game is no longer zero-sum."""

    def values(self, leaves, reach, player):
        return np.full_like(reach[player], reach[1 - player].sum(axis=1, keepdims=True))


def test_exploitability_does_not_take_leaves_for_zero_sum():
    engine = leduc(schedule("dcfr"))
    cut, _ = upper_part(engine.tree, 0)
    gift = CfrEngine(cut, engine.game, schedule("dcfr"), precision="float64", leaves=Gift())
    gift.run(100)
    assert sum(gift.evaluate().expected) > 0.5
    assert gift.exploitability() == pytest.approx(gift.evaluate().exploitability, abs=1e-12)


def test_no_provider_and_no_leaves_is_the_engine_as_it_was():
    plain = kuhn(schedule("dcfr"))
    asked = CfrEngine(plain.tree, plain.game, schedule("dcfr"), precision="float64", leaves=Zeros())
    for engine in (plain, asked):
        engine.run(50)
    assert len(asked.leaves) == 0
    np.testing.assert_array_equal(plain.tables[0].regret, asked.tables[0].regret)


def test_answers_of_another_shape_are_refused():
    engine = leduc(schedule("dcfr"))
    cut, _ = upper_part(engine.tree, 0)

    class Short:
        def values(self, leaves, reach, player):
            return np.zeros((len(leaves), 1))

    short = CfrEngine(cut, engine.game, schedule("dcfr"), precision="float64", leaves=Short())
    with pytest.raises(
        ValueError, match=r"leaves: the values of player 0 have shape \(5, 1\), expected \(5, 6\)"
    ):
        short.run(1)


def test_a_tree_longer_than_the_game_is_refused():
    engine = leduc(schedule("dcfr"))
    with pytest.raises(ValueError, match="tree: 2 streets, but the game deals only 0 cards"):
        CfrEngine(engine.tree, replace(engine.game, num_deals=0), schedule("dcfr"))
