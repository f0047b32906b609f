"""Sweeps of a shard: brute force, symmetries, and independence of how lines and textures are grouped."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from abstractions.buckets import BucketTables
from abstractions.cards import (
    CLASS_OF_COMBO,
    COMBO_CARDS,
    NUM_CLASSES,
    NUM_COMBOS,
    live_combos,
    parse_board,
)
from abstractions.evaluator import evaluate_board
from abstractions.isomorphism import (
    SUIT_PERMUTATIONS,
    board_index,
    hand_class_index,
    hand_classes,
    permute_cards,
    permute_combos,
)
from solver.betting.game import GameConfig, StreetSizes
from solver.betting.public_tree import NodeKind, PublicTree
from solver.blueprint.boards import (
    LIVE_FRACTION,
    BoardBatch,
    BoardSampler,
    SourceBuckets,
    board_hands,
    canonical_deals,
)
from solver.blueprint.pot_types import PotTypes, pot_types
from solver.blueprint.rows import action_nodes
from solver.blueprint.shard import MEET_SHARE, Shard
from solver.blueprint.trunk import TrunkGame
from solver.cfr.schedules import schedule

BOARDS = ("QsJh2h8d3c", "7c7d2sAhAd", "AsKs9d4c2h")
SMALL = GameConfig(
    stacks=(500, 500),
    raise_sizes=("2",),
    raise_cap=1,
    postflop=(StreetSizes("100%", "2.5x", "50%", None),) * 3,
)


class InvariantBuckets:
    """Buckets that only depend on a hand up to the names of suits."""

    num_buckets = (5, 7, 9)

    def buckets(self, board: NDArray[np.uint8], texture: int) -> NDArray[np.integer]:
        result = np.zeros(NUM_COMBOS, dtype=np.int64)
        live = np.flatnonzero(live_combos(board))
        boards = np.repeat(np.asarray(board, dtype=np.uint8)[None], len(live), axis=0)
        result[live] = (hand_class_index(live, boards) + 3 * texture) % self.num_buckets[len(board) - 3]
        return result


def game_of(config: GameConfig = SMALL) -> TrunkGame:
    nothing = np.zeros((NUM_CLASSES, NUM_CLASSES), dtype=np.int64)
    return TrunkGame.build(config, (nothing, nothing, nothing))


def batch_of(texts: tuple[str, ...] = BOARDS, textures: tuple[int, ...] | None = None) -> BoardBatch:
    boards = np.stack([parse_board(text) for text in texts])
    marks = np.zeros(len(texts)) if textures is None else np.array(textures)
    return BoardBatch(boards, np.full(len(texts), 1 / len(texts)), marks.astype(np.int16))


def random_reach(game: TrunkGame, seed: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    shape = (len(game.lines), NUM_CLASSES)
    return rng.random(shape) * (rng.random(shape) < 0.7)


def make_shard(game: TrunkGame, pots: PotTypes | None = None, **options: object) -> Shard:
    pots = pots or pot_types(game)
    options = {
        "types": range(len(pots.templates)),
        "bucketing": InvariantBuckets(),
        "dtype": np.float64,
        **options,
    }
    shard = Shard(game.tree, pots, **options)
    shard.begin_phase(1, schedule("lcfr"))
    return shard


class BruteUpdate:
    """One CFR update of a line on one board, node by node, over all pairs of hands."""

    def __init__(self, tree: PublicTree, board: NDArray, river_edge: NDArray | None = None) -> None:
        live = live_combos(board)
        shared = (COMBO_CARDS[:, None, :, None] == COMBO_CARDS[None, :, None, :]).any(axis=(2, 3))
        strength = evaluate_board(board)
        self.tree = tree
        self.live = live
        self.meets = (~shared & live[:, None] & live[None, :]).astype(float)
        self.wins = np.sign(strength[:, None] - strength[None, :]) * self.meets
        self.buckets = [InvariantBuckets().buckets(board[:size], 0) for size in (3, 4, 5)]
        self.river = self.meets, self.wins
        if river_edge is not None:
            both = (live[:, None] & live[None, :]) * MEET_SHARE
            bucket = self.buckets[2]
            self.river = both, both * river_edge[np.ix_(bucket, bucket)]
        self.regret: dict[int, NDArray] = {}
        self.average: dict[int, NDArray] = {}

    def strategy(self, node: int) -> NDArray:
        street = int(self.tree.street[node]) - 1
        regrets = np.stack(
            [
                np.maximum(self.regret.get(int(c), np.zeros(InvariantBuckets.num_buckets[street])), 0)
                for c in self.tree.children_of(node)
            ]
        )
        total = regrets.sum(axis=0)
        even = np.full_like(regrets, 1 / len(regrets))
        return np.where(total > 0, regrets / np.where(total > 0, total, 1), even)[:, self.buckets[street]]

    def values(self, node: int, own: int, reach: NDArray, weight: float, gains: dict) -> NDArray:
        tree, kind = self.tree, self.tree.kind[node]
        if kind == NodeKind.CHANCE:
            return self.values(int(tree.children_of(node)[0]), own, reach, weight, gains)
        if kind != NodeKind.DECISION:
            on_river = tree.street[node] == 3
            meets, wins = self.river if on_river else (self.meets, self.wins)
            win, lose, tie = (tree.heads_up_payoffs[node, k, own] for k in (own, 1 - own, 2))
            edge = (win - lose) / 2 * (wins @ reach) if kind == NodeKind.SHOWDOWN else 0.0
            return edge + tie * (meets @ reach)
        street, sigma = int(tree.street[node]) - 1, self.strategy(node)
        number = InvariantBuckets.num_buckets[street]
        children = [int(c) for c in tree.children_of(node)]
        if tree.player[node] != own:
            for k, child in enumerate(children):
                term = np.bincount(self.buckets[street], reach * sigma[k], minlength=number)
                self.average[child] = self.average.get(child, 0) + weight * term
            return sum(self.values(c, own, reach * sigma[k], weight, gains) for k, c in enumerate(children))
        below = np.stack([self.values(c, own, reach, weight, gains) for c in children])
        here = (sigma * below).sum(axis=0)
        for k, child in enumerate(children):
            gains[child] = weight * np.bincount(
                self.buckets[street], (below[k] - here) * self.live, minlength=number
            )
        return here

    def update(self, node: int, own: int, reach: NDArray, weight: float) -> NDArray:
        gains: dict[int, NDArray] = {}
        values = self.values(node, own, reach * self.live, weight, gains) * weight * self.live
        for child, gain in gains.items():
            self.regret[child] = self.regret.get(child, 0) + gain
        return values


@pytest.mark.parametrize("showdown", ["exact", "bucket"])
def test_two_updates_of_each_player_agree_with_brute_force(showdown: str) -> None:
    game = game_of()
    rng = np.random.default_rng(2)
    equity = rng.random((9, 9))
    equity = (equity + 1 - equity.T) / 2
    shard = make_shard(game, river_equity=equity if showdown == "bucket" else None)
    batch = batch_of(BOARDS[:1])
    weight = 1 / LIVE_FRACTION
    line, root = 1, game.lines[1]
    edge = 2 * equity - 1 if showdown == "bucket" else None
    brute = BruteUpdate(game.tree, batch.boards[0], edge)
    for own in (0, 1, 0, 1):
        reach = random_reach(game, own)
        found = shard.sweep(own, batch, reach, 1)[0, line]
        values = brute.update(root, own, reach[line, CLASS_OF_COMBO], weight)
        expected = np.bincount(CLASS_OF_COMBO, values, minlength=NUM_CLASSES)
        np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())
    for street in range(3):
        nodes = action_nodes(game.tree, root, street)
        for table, known in ((shard.regret, brute.regret), (shard.average, brute.average)):
            rows = shard.rows(table, street)[line]
            expected = np.stack([known[int(node)] for node in nodes])
            np.testing.assert_allclose(rows, expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("showdown", ["exact", "bucket"])
def test_what_one_player_wins_the_other_loses(showdown: str) -> None:
    game = game_of()
    equity = np.random.default_rng(4).random((9, 9))
    equity = (equity + 1 - equity.T) / 2
    reach = [random_reach(game, 0), random_reach(game, 1)]
    totals = []
    for own in range(2):
        shard = make_shard(game, river_equity=equity if showdown == "bucket" else None)
        values = shard.sweep(own, batch_of(BOARDS[1:2]), reach[1 - own], 1).sum(axis=0)
        totals.append((reach[own] * values).sum(axis=1))
    np.testing.assert_allclose(totals[0], -totals[1], atol=1e-9 * np.abs(totals[0]).max())


def test_boards_that_differ_by_suit_names_give_identical_updates() -> None:
    game = game_of()
    reach = random_reach(game, 3)
    states = []
    for permutation in SUIT_PERMUTATIONS[[0, 7, 16, 23]]:
        boards = permute_cards(batch_of().boards, permutation)
        boards[:, :3] = boards[:, [1, 2, 0]]
        shard = make_shard(game, dtype=np.float32)
        batch = replace(batch_of(), boards=canonical_deals(boards))
        values = [shard.sweep(own, batch, reach, 1) for own in range(2)]
        states.append([*values, shard.regret, shard.average])
    assert np.abs(states[0][2]).max() > 0
    for state in states[1:]:
        for found, expected in zip(state, states[0]):
            np.testing.assert_array_equal(found, expected)


def test_exchanging_the_seats_mirrors_the_strategies() -> None:
    game = game_of()
    tree = game.tree
    mirror = replace(
        tree,
        player=np.where(tree.player < 0, tree.player, 1 - tree.player).astype(tree.player.dtype),
        committed=np.ascontiguousarray(tree.committed[:, ::-1]),
        folded=np.ascontiguousarray(tree.folded[:, ::-1]),
        antes=tree.antes[::-1],
    )
    pots = pot_types(game)
    reach = random_reach(game, 3)
    left = make_shard(game)
    right = Shard(mirror, pots, range(len(pots.templates)), InvariantBuckets(), dtype=np.float64)
    right.begin_phase(1, schedule("lcfr"))
    for own in (0, 1, 0, 1):
        here, there = left.sweep(own, batch_of(), reach, 1), right.sweep(1 - own, batch_of(), reach, 1)
        np.testing.assert_array_equal(here, there)
    for street in range(3):
        for mine, other in ((left.regret, right.regret), (left.average, right.average)):
            rows, mirrored = left.rows(mine, street), right.rows(other, street)
            for kind in rows:
                np.testing.assert_array_equal(rows[kind], mirrored[kind])


def sweep_all(game: TrunkGame, shards: list[Shard], epochs: int = 2) -> dict[str, NDArray]:
    batches = [batch_of(BOARDS, (0, 1, 2)), batch_of(("2c3d4hJsQs", "AsKs9d4c3d"), (1, 2))]
    state: dict[str, NDArray] = {}
    for epoch in range(1, epochs + 1):
        for number, batch in enumerate(batches):
            for own in range(2):
                for shard in shards:
                    mine = np.isin(batch.textures, shard.textures or (0, 1, 2))
                    answer = shard.sweep(own, batch.select(mine), random_reach(game, number + epoch), epoch)
                    for board, texture in enumerate(np.flatnonzero(mine)):
                        for k, line in enumerate(shard.lines):
                            state[f"answer/{epoch}/{number}/{own}/{texture}/{line}"] = answer[board, k]
    for shard in shards:
        state |= shard.state()
    return state


@pytest.mark.parametrize("scope", ["global", "texture"])
def test_results_do_not_depend_on_how_shards_are_grouped(scope: str) -> None:
    game = game_of(replace(SMALL, stacks=(900, 900), raise_sizes=("2", "2.5x"), raise_cap=2))
    lines = range(len(game.lines))
    assert len(lines) >= 4
    everything = (0, 1, 2) if scope == "texture" else None
    whole = sweep_all(game, [make_shard(game, dtype=np.float32, textures=everything)])
    if scope == "global":
        parts = [make_shard(game, dtype=np.float32, types=kinds) for kinds in ((3,), (0, 2), (1, *lines[4:]))]
    else:
        parts = [
            make_shard(game, dtype=np.float32, types=kinds, textures=textures)
            for kinds in (lines[:2], lines[2:])
            for textures in ((2,), (1, 0))
        ]
    split = sweep_all(game, parts)
    assert whole.keys() == split.keys()
    for key, array in whole.items():
        assert array.tobytes() == split[key].tobytes(), key


def test_a_restored_shard_continues_with_the_same_bytes() -> None:
    game = game_of()
    reach = random_reach(game, 1)
    straight, broken = make_shard(game, dtype=np.float32), make_shard(game, dtype=np.float32)
    for epoch in (1, 2):
        straight.sweep(0, batch_of(), reach, epoch)
    broken.sweep(0, batch_of(), reach, 1)
    resumed = make_shard(game, dtype=np.float32)
    resumed.restore(broken.state())
    resumed.sweep(0, batch_of(), reach, 2)
    for key, array in straight.state().items():
        assert array.tobytes() == resumed.state()[key].tobytes(), key


def test_discounts_missed_by_a_bucket_are_made_up_for_when_it_is_touched_again() -> None:
    game = game_of()
    reach = random_reach(game, 1)
    fine = InvariantBuckets()
    fine.num_buckets = (1500, 2000, 3000)
    lazy, eager = make_shard(game, bucketing=fine), make_shard(game, bucketing=fine)
    order = (0, 1, 1, 2, 0)
    for epoch, board in enumerate(order, start=1):
        if epoch > 1:
            fresh = eager.up_to_date("regret", epoch), eager.up_to_date("average", epoch)
            eager.regret[:], eager.average[:] = fresh
            for clock in eager.clocks:
                clock[clock > 0] = epoch
        for shard in (lazy, eager):
            shard.sweep(epoch % 2, batch_of(BOARDS[board : board + 1]), reach, epoch)
    for name in ("regret", "average"):
        made_up = lazy.up_to_date(name, len(order))
        assert not np.array_equal(made_up, getattr(lazy, name))
        np.testing.assert_allclose(made_up, eager.up_to_date(name, len(order)), rtol=1e-12, atol=1e-9)


def test_a_line_that_nobody_plays_is_worth_nothing_and_learns_nothing() -> None:
    game = game_of()
    reach = random_reach(game, 1)
    reach[0] = 0
    shard = make_shard(game)
    values = shard.sweep(0, batch_of(), reach, 1)
    assert not values[:, 0].any()
    assert values[:, 1].any()
    for street in range(3):
        assert not shard.rows(shard.regret, street)[0].any()
        assert not shard.rows(shard.average, street)[0].any()


def test_lines_of_one_pot_type_share_tables_and_keep_the_game_zero_sum() -> None:
    game = game_of(replace(SMALL, stacks=(2000, 2000), raise_sizes=("2,2.2",), raise_cap=1))
    pots = pot_types(game, "shared", tolerance=0.2)
    assert len(pots.templates) == 2 < len(game.lines)
    assert sorted(line for members in pots.members for line in members) == list(range(len(game.lines)))
    reach = [random_reach(game, 0), random_reach(game, 1)]
    for line in range(len(game.lines)):
        only = np.arange(len(game.lines)) == line
        totals = []
        for own in range(2):
            shard = make_shard(game, pots)
            values = shard.sweep(own, batch_of(BOARDS[:1]), reach[1 - own] * only[:, None], 1)[0]
            assert not values[~only].any()
            assert np.count_nonzero([rows.any() for rows in shard.rows(shard.regret, 0).values()]) == 1
            totals.append((reach[own] * values).sum())
        assert totals[0] == pytest.approx(-totals[1], rel=1e-9)


def test_a_pot_type_of_one_line_is_that_line() -> None:
    game = game_of()
    reach = random_reach(game, 0)
    alone = make_shard(game).sweep(0, batch_of(), reach, 1)
    pots = pot_types(game, "shared", tolerance=0.0)
    assert pots.members == ((0,), (1, 2))
    shared = make_shard(game, pots).sweep(0, batch_of(), reach, 1)
    np.testing.assert_array_equal(shared[:, 0], alone[:, 0])


def test_sampled_boards_follow_the_weights_and_cover_every_texture() -> None:
    rng = np.random.default_rng(0)
    flops = np.stack([np.sort(rng.choice(52, 3, replace=False)) for _ in range(40)]).astype(np.uint8)
    weights = rng.integers(1, 30, 40)
    textures = np.arange(40) % 10
    sampler = BoardSampler(flops, weights, textures, batch=4, seed=7)
    assert sampler.epoch_length == 3
    share = np.bincount(textures, weights) / weights.sum()
    drawn = np.zeros(10)
    rounds = 400
    for iteration in range(1, 3 * rounds + 1):
        batch = sampler.draw(iteration)
        assert batch.weights.sum() == pytest.approx(1)
        assert all(len(set(board)) == 5 for board in batch.boards.tolist())
        drawn += np.bincount(batch.textures, minlength=10)
    # A systematic sample of 12 draws per epoch is never more than one draw off in any texture.
    assert np.abs(drawn / rounds - 12 * share).max() < 0.15
    again = sampler.draw(17)
    np.testing.assert_array_equal(again.boards, sampler.draw(17).boards)
    assert not np.array_equal(again.boards, sampler.draw(18).boards)


def test_schedules_that_sampling_breaks_are_refused() -> None:
    shard = make_shard(game_of())
    with pytest.raises(ValueError, match=r"cfr\+.*accepted"):
        shard.begin_phase(2, schedule("cfr+"))


def test_pruning_skips_hopeless_actions_and_nothing_else() -> None:
    game = game_of(replace(SMALL, stacks=(2000, 2000)))
    reach = random_reach(game, 1)
    full = make_shard(game)
    for epoch in range(1, 4):
        for own in range(2):
            full.sweep(own, batch_of(), reach, epoch)
    state = full.state()
    lowest = min(state[f"regret/1/-1/{street}"].min() for street in (0, 1))
    # With a threshold that no regret is below, nothing changes.
    same, exact = make_shard(game), make_shard(game)
    for shard in (same, exact):
        shard.restore(state)
    values = [
        same.sweep(0, batch_of(BOARDS[:1]), reach, 3, prune_below=2 * lowest),
        exact.sweep(0, batch_of(BOARDS[:1]), reach, 3),
    ]
    np.testing.assert_array_equal(*values)
    np.testing.assert_array_equal(same.regret, exact.regret)
    # Make one turn action hopeless everywhere: behind it nothing is learned, elsewhere the same as before.
    tree = game.tree
    hopeless = tree.node_at("b200c/xx/b400")
    pruned, exact = make_shard(game), make_shard(game)
    for shard in (pruned, exact):
        for sibling in tree.children_of(int(tree.parent[hopeless])):
            shard.regret[shard.layout.action_entries(int(sibling))] = 1e3
        shard.regret[shard.layout.action_entries(hopeless)] = -1e12
    before = pruned.regret.copy()
    own = int(tree.player[tree.parent[hopeless]])
    found = pruned.sweep(own, batch_of(BOARDS[:1]), reach, 3, prune_below=-1e11)
    expected = exact.sweep(own, batch_of(BOARDS[:1]), reach, 3)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    behind = [
        int(node)
        for node in pruned.layout.actions
        if hopeless < node < tree.subtree_end[hopeless] and tree.street[tree.parent[node]] == 3
    ]
    kept = [int(node) for node in pruned.layout.actions if node not in behind and node != hopeless]
    where = np.concatenate([pruned.layout.action_entries(node) for node in (*behind, hopeless)])
    np.testing.assert_array_equal(pruned.regret[where], before[where])
    assert not np.array_equal(exact.regret[where], before[where])
    where = np.concatenate([pruned.layout.action_entries(node) for node in kept])
    np.testing.assert_allclose(pruned.regret[where], exact.regret[where], rtol=1e-12, atol=1e-6)


def test_each_texture_is_shown_down_by_its_own_bucket_equities() -> None:
    game = game_of()
    rng = np.random.default_rng(6)
    equity = rng.random((3, 9, 9))
    equity = (equity + 1 - equity.transpose(0, 2, 1)) / 2
    reach = random_reach(game, 0)
    batch = batch_of(BOARDS[:1], (2,))
    own = make_shard(game, textures=(2, 0), river_equity=equity).sweep(0, batch, reach, 1)
    alone = make_shard(game, textures=(2,), river_equity=equity).sweep(0, batch, reach, 1)
    other = make_shard(game, textures=(2,), river_equity=equity[[0, 1, 0]]).sweep(0, batch, reach, 1)
    np.testing.assert_array_equal(own, alone)
    assert not np.allclose(own, other)
    with pytest.raises(ValueError, match=r"river_equity of shape \(9, 9\): expected \[texture"):
        make_shard(game, textures=(2,), river_equity=equity[0])


def test_bucket_tables_are_read_alike_under_any_names_of_suits() -> None:
    board = parse_board(BOARDS[0])
    keys, tables = {}, {}
    for size in (3, 4, 5):
        number, _ = board_index(board[None, :size])
        keys[size] = number.astype(np.int64)
        # Combos that a renaming exchanges on the same board are one hand class, and share a bucket.
        tables[size] = (hand_classes(int(number[0]), size)[None] * 5 % 6).astype(np.uint16)
    bucketing = SourceBuckets(BucketTables(tables, keys), (6, 6, 6))
    for permutation in SUIT_PERMUTATIONS[[5, 13]]:
        renamed = permute_cards(board, permutation)
        combos = permute_combos(permutation)
        for size in (3, 4, 5):
            here, there = bucketing.buckets(board[:size], 0), bucketing.buckets(renamed[:size], 0)
            np.testing.assert_array_equal(here, there[combos])
    deal = board_hands(board, bucketing)
    assert len(deal.combos) == 1081
    assert sorted(deal.runs[2].order.tolist()) == list(range(1081))
