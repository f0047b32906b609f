"""Gadgets in games with known answers: Coin Toss, and Leduc hold'em."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.betting.public_tree import NodeKind, PublicTree
from solver.betting.rules import Action
from solver.betting.tree_parts import child_links, lower_part
from solver.cfr.schedules import schedule
from solver.exact.card_game import CardGame
from solver.exact.engine import CfrEngine
from solver.exact.node_values import node_values
from solver.exact.strategies import evaluate_strategy
from solver.exact.terminals import NO_CARD
from solver.exact.toy_games import leduc
from solver.subgame.safety import Maxmargin, Resolve, gadget

# ---- Coin Toss (Brown & Sandholm 2017) -----------------------------------------------------------
# A coin lands, and player 0 alone sees how. It sells (heads pays .5, tails -.5), or player 1 guesses: a right guess
# costs player 0 one chip, a wrong one pays it one. The guess is the subgame; player 1 cannot lose with heads 1/4.

HEADS, TAILS, NOTHING = 8, 0, 4
SELL, PLAY, GUESS_HEADS, GUESS_TAILS = 1, 2, 3, 4
SALE = np.array([0.5, -0.5])


def coin_toss() -> tuple[PublicTree, CardGame]:
    """The game as betting and cards: heads beats, tails loses to, the one card of player 1."""
    parent = np.array([-1, 0, 0, 2, 2], dtype=np.int32)
    start, count, children = child_links(parent)
    kind = [NodeKind.DECISION, NodeKind.SHOWDOWN, NodeKind.DECISION, NodeKind.SHOWDOWN, NodeKind.SHOWDOWN]
    action = [Action.NONE, Action.CHECK, Action.BET, Action.CALL, Action.RAISE]
    tree = PublicTree(
        num_seats=2,
        kind=np.array(kind, dtype=np.int8),
        player=np.array([0, -1, 1, -1, -1], dtype=np.int8),
        street=np.zeros(5, dtype=np.int8),
        parent=parent,
        action=np.array(action, dtype=np.int8),
        amount=np.arange(5, dtype=np.int32),
        child_start=start,
        num_children=count,
        children=children,
        committed=np.zeros((5, 2), dtype=np.int32),
        folded=np.zeros((5, 2), dtype=np.uint8),
        pot=np.zeros(5, dtype=np.int32),
        dead=0,
        antes=(0, 0),
    )
    pay_coins(tree, {SELL: 0.5, GUESS_HEADS: -1.0, GUESS_TAILS: 1.0})
    hands = (
        np.array([(HEADS, NO_CARD[0]), (TAILS, NO_CARD[0])], dtype=np.uint8),
        np.array([(NOTHING, NO_CARD[1])], dtype=np.uint8),
    )
    game = CardGame(
        hands, (np.ones(2), np.ones(1)), (), (HEADS, TAILS, NOTHING), 0, 1, lambda _, h: h[:, 0] // 4
    )
    return tree, game


def pay_coins(tree: PublicTree, heads: dict[int, float]) -> None:
    """Pay player 0 so much with heads at some terminals, and the opposite with tails."""
    pays = np.zeros((len(tree), 3, 2))
    for node, amount in heads.items():
        pays[node, 0] = amount, -amount
        pays[node, 1] = -amount, amount
    tree.__dict__["heads_up_payoffs"] = pays


def guess() -> tuple[PublicTree, CardGame]:
    """The subgame."""
    tree, game = coin_toss()
    part, _ = lower_part(tree, np.array([PLAY]))
    pay_coins(part, {1: -1.0, 2: 1.0})
    return part, game


def solve_guess(root, weights=None, iterations=4000) -> tuple[float, CfrEngine]:
    """Probability that player 1 guesses heads, against a gadget or against fixed weights of heads and tails."""
    tree, game = guess()
    if weights is not None:
        game = replace(game, weights=(np.array(weights), game.weights[1]))
    engine = CfrEngine(tree, game, schedule("dcfr"), precision="float64")
    for _ in range(iterations):
        values = engine.update(0)
        if root is not None:
            root.observe(values)
            engine.set_range(0, root.weights)
        engine.update(1)
    return float(engine.strategy(0)[0, 0]), engine


def entering(heads: float) -> np.ndarray:
    """What heads and tails are worth to player 0 when player 1 guesses heads so often."""
    return np.array([1.0 - 2.0 * heads, 2.0 * heads - 1.0])


MET = np.ones(2)


def exploited(heads: float) -> float:
    """What player 0 wins in the whole game when player 1 guesses heads so often; 0 is the game's value."""
    tree, game = coin_toss()

    def strategy(node, board, hands):
        column = [0.5, 0.5] if node == 0 else [heads, 1.0 - heads]
        return np.repeat(np.array(column)[:, None], len(hands), axis=1)

    return evaluate_strategy(tree, game, strategy).best_response[0]


def test_coin_toss_is_worth_nothing_and_guessing_heads_a_quarter_secures_that():
    tree, game = coin_toss()
    engine = CfrEngine(tree, game, schedule("dcfr"), precision="float64")
    engine.run(3000)
    assert engine.evaluate().expected[0] == pytest.approx(0.0, abs=1e-3)
    assert float(engine.strategy(PLAY)[0, 0]) == pytest.approx(0.25, abs=0.01)
    assert exploited(0.25) == pytest.approx(0.0, abs=1e-12)
    assert exploited(0.625) == pytest.approx(3 / 8)


@pytest.mark.parametrize(("weights", "heads"), [((0.6, 0.4), 1.0), ((0.4, 0.6), 0.0)])
def test_solved_unsafely_player_1_guesses_what_is_likelier_and_loses_everything(weights, heads):
    found, _ = solve_guess(None, weights, iterations=200)
    assert found == pytest.approx(heads, abs=0.01)
    assert exploited(found) == pytest.approx(0.75 if heads == 1.0 else 0.25, abs=0.01)


def test_maxmargin_keeps_to_what_the_blueprint_secured():
    # A blueprint that guesses heads 5/8 lets tails win 1/4; nothing else is as good against both sides of the coin.
    found, _ = solve_guess(Maxmargin(entering(5 / 8), MET))
    assert found == pytest.approx(5 / 8, abs=0.005)


def test_reach_gives_back_what_heads_gave_away():
    # Heads could have sold for .5 and tails for -.5: against these the best guess is heads 1/4, and nothing is lost.
    found, _ = solve_guess(gadget("reach", entering(5 / 8), MET, gifts=SALE - entering(5 / 8)))
    assert found == pytest.approx(1 / 4, abs=0.005)
    assert exploited(found) == pytest.approx(0.0, abs=0.01)


def test_reach_with_what_the_blueprint_shows_goes_half_the_way_each_time():
    """Gifts as the paper bounds them: heads gave away the sale less what playing on is worth, tails nothing."""
    heads = 5 / 8
    for expected in (7 / 16, 11 / 32, 19 / 64):
        worth = entering(heads)
        heads, _ = solve_guess(gadget("reach", worth, MET, gifts=np.maximum(SALE - worth, 0.0)))
        assert heads == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("heads", [1 / 4, 5 / 8, 7 / 8])
def test_resolve_gives_neither_side_of_the_coin_more_than_its_opt_out(heads):
    found, _ = solve_guess(Resolve(entering(heads), MET))
    assert (entering(found) <= entering(heads) + 0.02).all()
    # Here this leaves only the blueprint's own guess.
    assert found == pytest.approx(heads, abs=0.01)


def test_with_an_opt_out_of_plus_infinity_nobody_enters():
    root = Resolve(np.full(2, np.inf), MET)
    solve_guess(root, iterations=20)
    assert not root.enters.any()
    assert not root.weights.any()


@pytest.mark.parametrize("weights", [(0.6, 0.4), (0.4, 0.6)])
def test_with_minus_infinity_everybody_enters_and_the_range_as_prior_is_unsafe(weights):
    root = Resolve(np.full(2, -np.inf), MET, prior=np.array(weights))
    found, engine = solve_guess(root, iterations=50)
    assert (root.enters == 1.0).all()
    unsafe, alone = solve_guess(None, weights, iterations=50)
    assert found == unsafe
    np.testing.assert_array_equal(engine.tables[1].regret, alone.tables[1].regret)


def test_unknown_gadgets_and_missing_gifts_are_refused():
    with pytest.raises(ValueError, match="safety: 'unsafe' has no gadget"):
        gadget("unsafe", np.zeros(2), MET)
    with pytest.raises(ValueError, match="reach needs what each hand gave away"):
        gadget("reach", np.zeros(2), MET)
    with pytest.raises(ValueError, match="maxmargin needs a finite number"):
        Maxmargin(np.array([np.inf, 0.0]), MET)


# ---- Leduc ---------------------------------------------------------------------------------------


def leduc_trunk(iterations: int) -> CfrEngine:
    engine = leduc(schedule("cfr+"), isomorphism=False)
    engine.run(iterations)
    return engine


def resolved_leduc(
    trunk: CfrEngine, player: int, kind: str, iterations: int
) -> dict[tuple[int, int], np.ndarray]:
    """`player`'s second round, solved again at every line and public card, by node and board."""
    tree, game = trunk.tree, trunk.game
    found = {}
    starts = [
        int(tree.children_of(node)[0]) for node in np.flatnonzero(tree.kind == NodeKind.CHANCE).tolist()
    ]
    for board in range(1, len(trunk.deals.cards)):
        (card,) = trunk.deals.cards[board]
        for start in starts:
            part, nodes = lower_part(tree, np.array([start]))
            values = node_values(trunk, start, board)
            hands = [trunk.deals.hands[seat][board] for seat in range(2)]
            rest = replace(
                game,
                hands=(game.hands[0][hands[0]], game.hands[1][hands[1]]),
                weights=values.reach,
                board=(card,),
                deck=tuple(c for c in game.deck if c != card),
                num_deals=0,
            )
            if min(values.reach[0].sum(), values.reach[1].sum()) == 0.0:
                continue
            engine = CfrEngine(part, rest, schedule("dcfr"), precision="float64", isomorphism=False)
            opponent = 1 - player
            root = None
            if kind != "unsafe":
                met = engine.compatible(opponent, values.reach[player])
                worth = best_answer(trunk, start, board, opponent)
                opt_outs = np.divide(worth, met, out=np.zeros_like(worth), where=met > 0)
                root = gadget(kind, opt_outs, met)
            for _ in range(iterations):
                for seat in range(2):
                    if root is not None and seat == player:
                        engine.set_range(opponent, root.weights)
                    result = engine.update(seat)
                    if root is not None and seat == opponent:
                        root.observe(result)
            for node in np.flatnonzero((part.kind == NodeKind.DECISION) & (part.player == player)).tolist():
                found[int(nodes[node]), board] = engine.strategy(node)
    return found


def best_answer(trunk: CfrEngine, start: int, board: int, opponent: int) -> np.ndarray:
    """Counterfactual best-response value of the opponent's hands at a line on a public card."""
    tree = trunk.tree
    part, nodes = lower_part(tree, np.array([start]))
    (card,) = trunk.deals.cards[board]
    hands = [trunk.deals.hands[seat][board] for seat in range(2)]
    game = replace(
        trunk.game,
        hands=(trunk.game.hands[0][hands[0]], trunk.game.hands[1][hands[1]]),
        weights=node_values(trunk, start, board).reach,
        board=(card,),
        deck=tuple(c for c in trunk.game.deck if c != card),
        num_deals=0,
    )
    engine = CfrEngine(part, game, schedule("vanilla"), precision="float64", isomorphism=False)
    for node in np.flatnonzero(part.kind == NodeKind.DECISION).tolist():
        engine.set_average(node, 0, trunk.strategy(int(nodes[node]), board))
    return engine.root_values(opponent, best=True)


def lost_to_a_best_response(trunk: CfrEngine, player: int, replaced) -> float:
    """What the opponent wins from `player` when its second round is replaced."""
    numbers = {cards: board for board, cards in enumerate(trunk.deals.cards)}

    def strategy(node, board, hands):
        return replaced.get((node, numbers[board]), trunk.strategy(node, numbers[board]))

    return evaluate_strategy(trunk.tree, trunk.game, strategy).best_response[1 - player]


@pytest.mark.parametrize("player", [0, 1])
def test_safe_solving_of_leducs_second_round_never_loses_more_than_the_trunk(player):
    trunk = leduc_trunk(6)
    before = lost_to_a_best_response(trunk, player, {})
    after = {
        kind: lost_to_a_best_response(trunk, player, resolved_leduc(trunk, player, kind, 150))
        for kind in ("resolve", "maxmargin")
    }
    assert after["resolve"] <= before + 0.01
    assert after["maxmargin"] <= before + 0.01
    # Both gain something: the trunk is far from equilibrium.
    assert min(after.values()) < before - 0.02


def test_unsafe_solving_can_lose_more_than_the_trunk():
    losses = {}
    for iterations in (6, 30):
        trunk = leduc_trunk(iterations)
        before = lost_to_a_best_response(trunk, 1, {})
        losses[iterations] = (
            lost_to_a_best_response(trunk, 1, resolved_leduc(trunk, 1, "unsafe", 150)) - before
        )
    assert max(losses.values()) > 0.02, losses
