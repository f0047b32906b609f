"""The trainer plays what tabular CFR plays, deal by deal, and finds known values."""

from __future__ import annotations

import numpy as np
import pytest

from solver.betting.game import GameConfig
from solver.betting.lines import RIVER
from solver.betting.public_tree import PublicTree
from solver.betting.rules import BettingRules, StreetMenus, start_street
from solver.betting.sizes import Thresholds, parse_menu
from solver.betting.tree import subgame_tree
from solver.cfr.schedules import schedule
from solver.multiway.deals import WIDTH, Cards, Deck, _deal_key, _uniform, cards_of, deal_cards
from solver.multiway.game import MultiwayGame
from solver.multiway.replica import Player, Replica, Streams
from solver.multiway.responder import Responding, evaluate_seat, train_responder
from solver.multiway.trainer import MultiwayTrainer
from tests.solver.multiway.exact_toy import best_responses


def one_bet_tree(seats: int) -> PublicTree:
    """Kuhn poker for any number of seats: an ante of 1, one bet of 1 in all."""
    menus = StreetMenus(
        bet=(parse_menu("a", raising=False),) * 2, raises=((parse_menu(None, raising=True),),) * 2
    )
    rules = BettingRules(
        stacks=(1,) * seats,
        dead=seats,
        order=(tuple(range(seats)),) * 4,
        menus=(None, None, None, menus),
        thresholds=Thresholds.of(0.0, 0.0, 0.0),
        blind=0,
        min_bet=1,
        limp=True,
    )
    start = start_street(rules, RIVER, (0,) * seats, 0, -1)
    return subgame_tree(rules, start, antes=(1,) * seats)


def kuhn(cards: Cards, seats: int = 3) -> MultiwayGame:
    config = GameConfig(stacks=(2,) * seats, small_blind=1, big_blind=1, raise_sizes=("a",))
    return MultiwayGame.of_tree(config, one_bet_tree(seats), cards)


class TabularCfr:
    """External sampling over dictionaries, one own card at a time; draws are those of the trainer."""

    def __init__(self, game: MultiwayGame, seed: int) -> None:
        self.tree, self.cards, self.seed = game.tree, game.cards, seed
        self.regret: dict[tuple[int, int], np.ndarray] = {}

    def strategy(self, node: int, rank: int) -> np.ndarray:
        count = int(self.tree.num_children[node])
        positive = np.maximum(self.regret.get((node, rank), np.zeros(count)), 0)
        return positive / positive.sum() if positive.sum() > 0 else np.full(count, 1 / count)

    def play(self, number: int) -> None:
        dealt = deal_cards(self.seed, number, self.tree.num_seats, self.cards)
        key = np.uint64(_deal_key(np.uint64(self.seed), np.int64(number)))
        taken = dealt.cards[: self.tree.num_seats].tolist()
        deck = self.cards.ranks * self.cards.suits
        for seat in range(self.tree.num_seats):
            added: dict[tuple[int, int], np.ndarray] = {}
            for card in set(range(deck)) - set(taken):
                ranks = [held // self.cards.suits for held in taken]
                ranks[seat] = card // self.cards.suits
                self.walk(0, seat, ranks, key, added)
            for place, regret in added.items():
                self.regret[place] = self.regret.get(place, 0) + regret

    def walk(self, node: int, seat: int, ranks: list[int], key: np.uint64, added: dict) -> float:
        tree = self.tree
        if not tree.num_children[node]:
            return float(tree.payoffs(node, ranks)[seat])
        player, children = int(tree.player[node]), tree.children_of(node).tolist()
        shares = self.strategy(node, ranks[player])
        if player != seat:
            chance = float(_uniform(key, np.int64(seat), np.int64(node)))
            chosen = int(np.searchsorted(np.cumsum(shares), chance, side="right"))
            return self.walk(children[min(chosen, len(children) - 1)], seat, ranks, key, added)
        values = np.array([self.walk(child, seat, ranks, key, added) for child in children])
        value = float(shares @ values)
        place = (node, ranks[seat])
        added[place] = added.get(place, 0) + values - value
        return value


@pytest.mark.parametrize(
    "cards",
    [cards_of(Deck.ONE_CARD, ranks=4, suits=1), cards_of(Deck.ONE_CARD, ranks=3, suits=2)],
    ids=["kuhn", "deck with ties"],
)
def test_three_players_learn_what_tabular_cfr_learns_deal_by_deal(cards: Cards) -> None:
    game = kuhn(cards)
    tabular, player = TabularCfr(game, seed=5), Player(game)
    regret = np.zeros(game.entries, np.float32)
    for number in range(60):
        player.play(regret, regret, 5, number, 1)
        tabular.play(number)
        rows = regret.reshape(-1, WIDTH)
        for (node, rank), expected in tabular.regret.items():
            start = int(game.tree.child_start[node])
            found = rows[start : start + len(expected), rank]
            assert found == pytest.approx(expected, abs=2e-4), (number, game.tree.line(node), rank)


def test_two_players_of_kuhn_poker_win_what_theory_says() -> None:
    game = kuhn(cards_of(Deck.ONE_CARD, ranks=3, suits=1), seats=2)
    trainer = MultiwayTrainer(game, Streams(seed=3, count=1, deals=1000))
    trainer.run(100)
    table = trainer.strategy().table
    values = Player(game).play(table, table, 9, 0, 60_000, learn=False).mean(axis=0)
    assert values[0] == pytest.approx(-1 / 18, abs=0.01)
    assert values.sum() == pytest.approx(0.0, abs=0.01)


TOY_VALUES = [-0.0890, -0.4407, 0.5289]


@pytest.fixture(scope="module")
def toy_game() -> MultiwayGame:
    """Blinds 1 and 2, one raise to 6 in all, no board: pairs win, then the higher cards."""
    config = GameConfig(
        stacks=(1000,) * 3, small_blind=1, big_blind=2, raise_sizes=("3",), raise_cap=1, limp=True
    )
    return MultiwayGame.build(config, cards=cards_of(Deck.HOLE_CARDS))


def trained_toy(game: MultiwayGame, deals: int, epoch: int, seed: int = 1) -> MultiwayTrainer:
    """The toy after some deals, in epochs of so many."""
    trainer = MultiwayTrainer(game, Streams(seed=seed, count=1, deals=epoch))
    trainer.run(deals // epoch)
    return trainer


@pytest.fixture(scope="module")
def toy(toy_game: MultiwayGame) -> MultiwayTrainer:
    """A strategy that leaves something to gain: its average is one of 60 strategies only."""
    return trained_toy(toy_game, 300_000, epoch=5000)


@pytest.mark.parametrize("seed", [1, 2])
def test_nobody_gains_from_leaving_the_three_seat_toy(toy_game: MultiwayGame, seed: int) -> None:
    table = trained_toy(toy_game, 300_000, epoch=500, seed=seed).strategy().table
    values, best = best_responses(toy_game, table)
    assert 2 * values == pytest.approx(TOY_VALUES, abs=0.003)
    assert 1000 * (best - values).max() < 5.0
    for seat in range(3):
        gain = evaluate_seat(toy_game, table, seat, Responding(20, 2500, 100_000, 7)).gain
        assert gain.mean < 5.0
        assert gain.low < 1000 * (best - values)[seat]


def test_an_average_of_few_strategies_leaves_much_to_gain(toy_game: MultiwayGame) -> None:
    """Single strategies swing far, so the same deals in 15 long epochs are much worse than in 600 short ones."""
    gains = []
    for epoch in (500, 20_000):
        values, best = best_responses(toy_game, trained_toy(toy_game, 300_000, epoch).strategy().table)
        gains.append(1000 * (best - values).max())
    assert gains[1] > 5 * gains[0]


@pytest.mark.deep
def test_the_three_seat_toy_has_the_published_values_and_nobody_gains_from_leaving_it(
    toy: MultiwayTrainer,
) -> None:
    toy.run(340)
    table = toy.strategy().table
    values, best = best_responses(toy.game, table)
    assert 2 * values == pytest.approx(TOY_VALUES, abs=0.003)
    assert 1000 * (best - values).max() < 5.0
    for seat in range(3):
        result = evaluate_seat(toy.game, table, seat, Responding(40, 5000, 400_000, 7))
        assert result.gain.low < 1000 * (best - values)[seat]
        assert result.gain.mean < 5.0


def test_a_responder_gains_what_it_says_and_no_more_than_the_best_response(toy: MultiwayTrainer) -> None:
    game, table = toy.game, toy.strategy().table
    values, best = best_responses(game, table)
    assert 2 * values == pytest.approx(TOY_VALUES, abs=0.003)
    assert values.sum() == pytest.approx(0.0, abs=1e-9)
    seat, plan = 1, Responding(epochs=20, deals=2500, measured=60_000, seed=7)
    response = train_responder(game, table, seat, plan)
    play = np.where(np.repeat(game.row_owner, WIDTH) == seat, response, table).astype(np.float32)
    responded, _ = best_responses(game, play)
    gain = 1000 * (responded - values)[seat]
    assert 0 < gain < 1000 * (best - values)[seat] < 20
    measured = evaluate_seat(game, table, seat, plan).gain
    error = (measured.high - measured.low) / 4
    assert abs(measured.mean - gain) < 4 * error
    assert 0 < error < 5


def test_a_responder_gains_little_from_a_trained_strategy_and_much_from_a_bad_one(
    toy: MultiwayTrainer,
) -> None:
    game, plan = toy.game, Responding(epochs=8, deals=2500, measured=30_000, seed=7)
    trained = evaluate_seat(game, toy.strategy().table, 2, plan)
    uniform = MultiwayTrainer(game, Streams(1, 1, 1)).strategy().table
    untrained = evaluate_seat(game, uniform, 2, plan)
    assert untrained.gain.low > 200 > trained.gain.high
    assert untrained.gain.low < untrained.gain.mean < untrained.gain.high


def test_changes_of_streams_are_the_same_whoever_plays_them() -> None:
    game = MultiwayGame.build(GameConfig(stacks=(1000,) * 3, raise_sizes=("a",), limp=False))
    streams = Streams(seed=4, count=4, deals=200)

    def trained(workers: int) -> Replica:
        replicas = [Replica(game, schedule("lcfr"), streams) for _ in range(workers)]
        for _ in range(3):
            for replica in replicas:
                replica.begin_epoch()
            changes = [replicas[stream % workers].play(stream) for stream in range(4)]
            for replica in replicas:
                replica.end_epoch(changes)
        assert all((replica.regret == replicas[0].regret).all() for replica in replicas)
        return replicas[-1]

    one, two, four = trained(1), trained(2), trained(4)
    for other in (two, four):
        assert one.regret.tobytes() == other.regret.tobytes()
        assert one.average.tobytes() == other.average.tobytes()


def test_training_goes_on_from_a_saved_state_with_the_same_bytes() -> None:
    game = MultiwayGame.build(GameConfig(stacks=(1000,) * 3, raise_sizes=("a",), limp=False))
    whole = MultiwayTrainer(game, Streams(4, 2, 150))
    whole.run(2)
    saved = {name: array.copy() for name, array in whole.state().items()}
    whole.run(2)
    resumed = MultiwayTrainer(game, Streams(4, 2, 150))
    resumed.restore(saved)
    resumed.run(2)
    assert resumed.epoch == whole.epoch
    for name, array in whole.state().items():
        assert array.tobytes() == resumed.state()[name].tobytes(), name
