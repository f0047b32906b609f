"""Play after the flop: templates pay what the game pays, and hands learn what scalar CFR learns."""

from __future__ import annotations

import dataclasses
from collections import defaultdict

import numpy as np
import pytest
from numpy.typing import NDArray

from abstractions.cards import CLASS_OF_COMBO, COMBO_CARDS
from abstractions.evaluator import evaluate_board
from solver.betting.game import GameConfig, StreetSizes
from solver.betting.public_tree import NodeKind
from solver.multiway.deals import WIDTH, _deal_key, _uniform, boards_dealt, deal_cards
from solver.multiway.game import MultiwayGame
from solver.multiway.replica import Player
from solver.multiway.space import Columns

NO_BETS = (StreetSizes(None, None, None, None),) * 3
ONE_BET = (StreetSizes("100%", None, "100%", None),) * 3
THREE = GameConfig(
    stacks=(1500,) * 3, raise_sizes=("3", "a"), raise_cap=2, postflop=ONE_BET, max_flop_players=3
)


class SomeBuckets:
    """A hand's bucket follows from its number, on every board."""

    def __init__(self, count: int) -> None:
        self.counts = (count,) * 3
        self.widths = self.counts

    def columns(self, boards: NDArray[np.uint8]) -> Columns:
        row = (np.arange(1326) % self.counts[0]).astype(np.uint16)
        buckets = np.broadcast_to(row, (len(boards), 3, 1326)).copy()
        return Columns(np.array(self.counts, np.int64), buckets, np.zeros(len(boards), np.int64))


def trained(config: GameConfig, deals: int, buckets: SomeBuckets | None) -> tuple[MultiwayGame, NDArray]:
    game = MultiwayGame.build(config, buckets=None if buckets is None else buckets.widths)
    table = np.zeros(game.entries, np.float32)
    Player(game, buckets).play(table, table, 6, 0, deals)
    return game, table[: game.rows * WIDTH].reshape(-1, WIDTH)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"stacks": (1500, 700, 2500, 2500), "rake": 0.05, "rake_cap": 60.0},
        {"stacks": (1500, 700, 2500), "antes": (10, 10, 10), "payouts": (50.0, 30.0, 20.0)},
    ],
    ids=["equal stacks", "side pots and rake", "prizes"],
)
def test_without_bets_after_the_flop_lines_are_worth_what_checking_down_is(changes) -> None:
    config = dataclasses.replace(THREE, postflop=NO_BETS, **({"antes": ()} | changes))
    _, joint = trained(config, 150, SomeBuckets(3))
    _, checked_down = trained(config, 150, None)
    assert np.abs(checked_down).max() > 10
    assert joint == pytest.approx(checked_down, abs=0.05)


def test_leaves_of_one_pot_type_have_stacks_of_about_as_many_pots() -> None:
    config = dataclasses.replace(
        THREE, stacks=(3000,) * 5, antes=(), raise_sizes=("2.5,3", "3x", "a"), raise_cap=3
    )
    game = MultiwayGame.build(config, buckets=(4, 4, 4))
    postflop = game.postflop
    assert postflop is not None
    assert len(postflop.nodes) == np.count_nonzero(game.tree.kind == NodeKind.CHANCE)
    by_table = defaultdict(list)
    for node, table in zip(postflop.nodes.tolist(), postflop.leaves.table.tolist()):
        live = game.tree.folded[node] == 0
        behind = (3000 - game.tree.committed[node][live]) / game.tree.pot[node]
        by_table[table].append((live.sum(), behind.min()))
    assert len(by_table) == len(postflop.pot_types) < len(postflop.nodes)
    for members in by_table.values():
        assert len({count for count, _ in members}) == 1
        shares = [share for _, share in members]
        assert max(shares) <= 1.26 * min(shares)


class ScalarCfr:
    """External sampling, one own hand at a time; draws and betting are those of the trainer."""

    def __init__(self, game: MultiwayGame, buckets: int, seed: int) -> None:
        self.game, self.tree, self.buckets, self.seed = game, game.tree, buckets, seed
        self.regret: dict[tuple, NDArray] = {}

    def play(self, number: int) -> None:
        seats = self.game.seats
        dealt = deal_cards(self.seed, number, seats)
        self.key = np.uint64(_deal_key(np.uint64(self.seed), np.int64(number)))
        self.strengths = evaluate_board(boards_dealt(self.seed, number, 1)[0])
        combos = COMBO_CARDS.tolist()
        hands = [combos.index(sorted(dealt.cards[5 + 2 * s : 7 + 2 * s].tolist())) for s in range(seats)]
        taken = set(dealt.cards.tolist())
        for seat in range(seats):
            added: dict[tuple, NDArray] = {}
            for combo, cards in enumerate(combos):
                if not taken & set(cards):
                    held = [*hands[:seat], combo, *hands[seat + 1 :]]
                    self.before_flop(0, seat, held, added)
            for place, regret in added.items():
                self.regret[place] = self.regret.get(place, 0) + regret

    def decide(self, place, player, seat, count, follow, draw, added) -> float:
        positive = np.maximum(self.regret.get(place, np.zeros(count)), 0)
        shares = positive / positive.sum() if positive.sum() > 0 else np.full(count, 1 / count)
        if player != seat:
            chance = float(_uniform(self.key, np.int64(seat), np.int64(draw)))
            return follow(min(int(np.searchsorted(np.cumsum(shares), chance, side="right")), count - 1))
        values = np.array([follow(k) for k in range(count)])
        added[place] = added.get(place, 0) + values - shares @ values
        return float(shares @ values)

    def before_flop(self, node, seat, held, added) -> float:
        tree, children = self.tree, self.tree.children_of(node)
        if tree.kind[node] == NodeKind.CHANCE:
            leaf = self.game.postflop.nodes.tolist().index(node)
            return self.after_flop(node, leaf, int(self.game.postflop.leaves.root[leaf]), seat, held, added)
        if not len(children):
            return float(tree.payoffs(node, self.strengths[held])[seat]) / 100
        player = int(tree.player[node])
        place = ("before", node, int(CLASS_OF_COMBO[held[player]]))
        return self.decide(
            place,
            player,
            seat,
            len(children),
            lambda k: self.before_flop(int(children[k]), seat, held, added),
            node,
            added,
        )

    def after_flop(self, start, leaf, node, seat, held, added) -> float:
        templates, leaves = self.game.postflop.templates, self.game.postflop.leaves
        seats = leaves.seat[leaf].tolist()
        if templates.player[node] < 0:
            stakes = self.tree.committed[start] / 100
            for position, player in enumerate(seats):
                if player >= 0:
                    stakes[player] += templates.stake[node, position] * leaves.pot[leaf]
            live = [p for k, p in enumerate(seats) if p >= 0 and not templates.folded[node] >> k & 1]
            best = max(self.strengths[held[player]] for player in live)
            winners = [player for player in live if self.strengths[held[player]] == best]
            # Equal stacks: nobody has more in the pot than those who contest it.
            return float(stakes.sum() / len(winners) * (seat in winners) - stakes[seat])
        player, row = seats[templates.player[node]], int(templates.row[node])
        entry = int(leaves.table[leaf] + templates.entry[row])
        end = int(self.game.ends.number[start])
        return self.decide(
            ("after", entry, held[player] % self.buckets),
            player,
            seat,
            int(templates.actions[node]),
            lambda k: self.after_flop(start, leaf, int(templates.child[row + k]), seat, held, added),
            (end << 24) + node,
            added,
        )


def test_three_players_learn_after_the_flop_what_scalar_cfr_learns() -> None:
    buckets = SomeBuckets(5)
    menus = (ONE_BET[0], *NO_BETS[1:])
    config = dataclasses.replace(THREE, raise_sizes=("a",), raise_cap=1, postflop=menus)
    game = MultiwayGame.build(config, buckets=buckets.widths)
    table = np.zeros(game.entries, np.float32)
    player, scalar = Player(game, buckets), ScalarCfr(game, 5, seed=8)
    for number in range(2):
        player.play(table, table, 8, number, 1)
        scalar.play(number)
    later = 0
    for (street, at, column), expected in scalar.regret.items():
        if street == "before":
            start = int(game.tree.child_start[at]) * WIDTH + column
            found = table[start + WIDTH * np.arange(len(expected))]
        else:
            start = game.rows * WIDTH + at + column
            found = table[start + 5 * np.arange(len(expected))]
            later += 1
        assert found == pytest.approx(expected, rel=1e-3, abs=0.02)
    assert later > 10
