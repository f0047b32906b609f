"""Textures and transitions partition the real deals, to the last one."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from abstractions.cards import live_combos, parse_board, parse_card
from abstractions.features.hand_classes import expand_classes
from abstractions.isomorphism import board_index, canonical_boards, hand_class_offsets
from abstractions.textures import (
    FLOP_FEATURES,
    NO_CARD,
    Textures,
    _scaled,
    build_textures,
    equity_spread,
    flop_features,
    flop_textures,
    medoid_boards,
)

FLOPS = canonical_boards(3)
# Stands for the equity spread where its value does not matter: a little texture, no two flops alike.
SPREAD = 0.2 + 0.01 * np.sin(np.arange(1755.0))


@pytest.fixture(scope="module")
def textures() -> Textures:
    return build_textures(SPREAD, np.random.default_rng(0), textures=50)


@pytest.fixture(scope="module")
def real_flops() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All 22,100 flops, their canonical ids and the renaming of suits that leads there."""
    flops = np.array(list(combinations(range(52), 3)), dtype=np.uint8)
    return flops, *board_index(flops)


def feature(board: str, name: str) -> float:
    flop = board_index(parse_board(board)[None])[0][0]
    return float(flop_features(SPREAD)[flop, FLOP_FEATURES.index(name)])


def test_flop_features_read_the_board() -> None:
    assert feature("AsKsQs", "monotone") == feature("As7s2d", "two-tone") == feature("As7c2d", "rainbow") == 1
    assert feature("KsKhKd", "trips") == feature("KsKh2d", "paired") == feature("Ks8h2d", "unpaired") == 1
    assert (
        feature("9s8h7d", "straights") == feature("As2h3d", "straight") == feature("AsKhQd", "straight") == 1
    )
    assert feature("Ks9h8d", "straight") == 0
    assert feature("Ks8h2d", "far apart") == feature("KsQh2d", "two near") == 1
    assert feature("As2h7d", "high card") == 12


def test_textures_partition_the_flops(textures: Textures) -> None:
    assert textures.weights.sum() == 22_100
    for texture in range(50):
        members = textures.members(texture)
        assert textures.medoids[texture] in members
        assert FLOPS.weights[members].sum() == textures.weights[texture]
    assert (np.diff(textures.medoids) > 0).all()


def test_medoid_is_the_member_nearest_to_all(textures: Textures) -> None:
    points = _scaled(flop_features(SPREAD), FLOPS.weights).astype(float)
    for texture in range(50):
        members = textures.members(texture)
        totals = [
            sum(w * np.linalg.norm(points[i] - points[j]) for j, w in zip(members, FLOPS.weights[members]))
            for i in members[:60]
        ]
        own = np.flatnonzero(members == textures.medoids[texture])[0]
        if own < 60:
            assert totals[own] <= min(totals) + 1e-6


def test_textures_tell_monotone_from_paired_from_other_flops() -> None:
    # Without spread the points are the seed's categories and the high card alone.
    level = np.full(1755, 0.2)
    labels, _ = flop_textures(level, 60, np.random.default_rng(0))
    features = flop_features(level)
    for name in ("monotone", "two-tone", "paired", "unpaired"):
        marked = features[:, FLOP_FEATURES.index(name)] == 1
        for texture in range(60):
            assert len(set(marked[labels == texture])) == 1


def test_every_real_deal_falls_into_the_class_that_counts_it(
    textures: Textures, real_flops: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> None:
    flops, ids, renamings = real_flops
    turn_tally = np.zeros_like(textures.turn_counts)
    river_tally = np.zeros_like(textures.river_counts)
    for turn in range(52):
        renamed_turn = (turn & ~3) | renamings[:, turn & 3]
        alive = (flops != turn).all(axis=1)
        texture = textures.texture_of_flop[ids]
        label = textures.turn_transition[ids, renamed_turn]
        assert ((label == NO_CARD) == ~alive).all()
        np.add.at(turn_tally, (texture[alive], label[alive]), 1)
        for river in range(52):
            if river == turn:
                continue
            renamed = (river & ~3) | renamings[:, river & 3]
            still = alive & (flops != river).all(axis=1)
            last = textures.river_transition[ids, renamed_turn, renamed]
            index = (texture[still].astype(int) * 10 + label[still]) * 10 + last[still]
            river_tally += np.bincount(index, minlength=river_tally.size).reshape(river_tally.shape)
    assert (turn_tally == textures.turn_counts).all()
    assert (river_tally == textures.river_counts).all()
    assert (textures.turn_counts.sum(axis=1) == 49 * textures.weights).all()
    assert (textures.river_counts.sum(axis=2) == 48 * textures.turn_counts).all()


def test_drawing_texture_flop_transition_and_card_is_the_real_deal(textures: Textures) -> None:
    rng = np.random.default_rng(4)
    for flop in rng.integers(0, 1755, 40):
        weight = int(FLOPS.weights[flop])
        texture = textures.texture_of_flop[flop]
        of_texture = int(textures.weights[texture])
        turn_labels = textures.turn_transition[flop]
        turn = int(rng.choice(np.flatnonzero(turn_labels != NO_CARD)))
        river_labels = textures.river_transition[flop, turn]
        river = int(rng.choice(np.flatnonzero(river_labels != NO_CARD)))
        turns = int((turn_labels == turn_labels[turn]).sum())
        rivers = int((river_labels == river_labels[river]).sum())
        drawn = Fraction(of_texture, 22_100) * Fraction(weight, of_texture)
        drawn *= Fraction(turns, 49) * Fraction(1, turns) * Fraction(rivers, 48) * Fraction(1, rivers)
        assert drawn == Fraction(weight, 22_100 * 49 * 48)
        # The same by drawing the turn transition of the texture first, then a pair of flop and card in it.
        count = int(textures.turn_counts[texture, turn_labels[turn]])
        first = Fraction(of_texture, 22_100) * Fraction(count, 49 * of_texture) * Fraction(weight, count)
        assert first == Fraction(weight, 22_100 * 49)


def test_all_makes_every_card_its_own_transition() -> None:
    every = build_textures(
        SPREAD, np.random.default_rng(0), textures=5, turn_transitions="all", river_transitions="all"
    )
    for flop in (0, 900, 1754):
        labels = every.turn_transition[flop]
        live = labels != NO_CARD
        assert sorted(labels[live].tolist()) == list(range(49))
        assert (live == ~np.isin(np.arange(52), FLOPS.boards[flop])).all()
        turn = int(np.flatnonzero(live)[7])
        assert sorted(every.river_transition[flop, turn].tolist())[:48] == list(range(48))
    assert (every.turn_counts == every.weights[:, None]).all()
    assert (every.river_counts == every.weights[:, None, None]).all()


def test_flush_cards_and_pairing_cards_are_told_from_blanks(textures: Textures) -> None:
    flops, renamings = board_index(parse_board("KsTs4d")[None])
    labels = textures.turn_transition[flops[0]]

    def of(card: str) -> int:
        number = parse_card(card)
        return int(labels[(number & ~3) | renamings[0, number & 3]])

    assert of("2s") != of("2h")
    assert of("Kh") != of("6h")
    assert of("2h") == of("2c")


def test_medoid_boards_carry_the_weight_of_all_deals(textures: Textures) -> None:
    boards, weights, owners = medoid_boards(textures)
    assert weights.sum() == 22_100 * 49 * 48
    assert (np.bincount(owners, weights) == textures.weights * 49 * 48).all()
    for board in boards[::97]:
        assert live_combos(board).sum() == 1081
    flop_ids, _ = board_index(boards[:, :3])
    assert (flop_ids == textures.medoids[owners]).all()


def test_equity_spread_is_the_deviation_over_live_hands() -> None:
    offsets = hand_class_offsets(3)
    equities = np.random.default_rng(2).random(offsets[-1])
    spread = equity_spread(equities)
    for flop in (0, 17, 1000, 1754):
        table = expand_classes(3, flop, flop + 1, equities[offsets[flop] : offsets[flop + 1]], np.nan)[0]
        hands = table[live_combos(FLOPS.boards[flop])]
        assert spread[flop] == pytest.approx(np.sqrt(((hands - 0.5) ** 2).mean()))


def test_equal_seeds_give_equal_bytes(textures: Textures) -> None:
    again = build_textures(SPREAD, np.random.default_rng(0), textures=50)
    assert again.texture_of_flop.tobytes() == textures.texture_of_flop.tobytes()
    assert again.river_transition.tobytes() == textures.river_transition.tobytes()
    assert again.river_counts.tobytes() == textures.river_counts.tobytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"textures": 0}, "textures=0: expected a number from 1 to 1755"),
        ({"textures": 1756}, "textures=1756"),
        ({"turn_transitions": 50}, "turn_transitions=50: expected a number from 1 to 49, or 'all'"),
        ({"river_transitions": "some"}, "river_transitions='some'"),
    ],
)
def test_bad_counts_are_named(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build_textures(SPREAD, np.random.default_rng(0), **options)


def test_bad_arrays_are_named(textures: Textures) -> None:
    with pytest.raises(ValueError, match="spread of shape"):
        flop_features(SPREAD[:-1])
    with pytest.raises(ValueError, match="equities of shape"):
        equity_spread(SPREAD)
    with pytest.raises(ValueError, match="texture 50: expected a number from 0 to 49"):
        textures.members(50)
