"""Buckets of later streets below a search: by strength, of equal mass, and apart by what the cards to come do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstractions.cards import NUM_COMBOS, live_combos, parse_board
from abstractions.evaluator import evaluate_board
from abstractions.isomorphism import permute_combos
from solver.subgame.range_buckets import (
    FLUSH,
    HIGHEST,
    LOW,
    NUM_KINDS,
    PAIR,
    RIVER_PARTS,
    SECOND,
    SPREADS,
    STRAIGHT,
    TURN_PARTS,
    RangeBuckets,
    _equal_parts,
    bucket_counts,
    card_kind,
    places,
)
from tests.solver.subgame.small_spots import thin_ranges

RIVER = "QsJh2h8d3c"


def wide_buckets(known: int = 4, seed: int = 0) -> RangeBuckets:
    rng = np.random.default_rng(seed)
    return RangeBuckets.of(known, (rng.random(NUM_COMBOS), rng.random(NUM_COMBOS) ** 4))


def boards(cards: int) -> st.SearchStrategy[np.ndarray]:
    return st.permutations(range(52)).map(lambda deck: np.array(deck[:cards], dtype=np.uint8))


@settings(deadline=None)
@given(boards(5))
def test_stronger_hands_are_never_in_a_lower_part_and_ties_share_one(board):
    buckets, live = wide_buckets(), live_combos(board)
    strengths, found = evaluate_board(board)[live], buckets.buckets(board, 0)[live]
    assert set(found // RIVER_PARTS) == {card_kind(board)}
    order = np.argsort(strengths, kind="stable")
    steps = np.diff(found[order])
    assert (steps >= 0).all()
    assert (steps[np.diff(strengths[order]) == 0] == 0).all()
    # A part holds its share of the mass, give or take the ties at its two ends.
    masses = buckets.masses[live]
    ties = np.bincount(np.unique(strengths, return_inverse=True)[1], weights=masses)
    held = np.bincount(found % RIVER_PARTS, weights=masses, minlength=RIVER_PARTS)
    assert held.max() <= masses.sum() / RIVER_PARTS + ties.max() + 1e-9


@settings(deadline=None, max_examples=50)
@given(boards(5), st.sampled_from([0.01, 0.2, 1.0]), st.integers(0, 99))
def test_parts_of_a_river_are_equal_parts_of_the_places(board, dense, seed):
    rng = np.random.default_rng(seed)
    # In thin ranges there are strengths between which there is no mass.
    masses = rng.random(NUM_COMBOS) * (rng.random(NUM_COMBOS) < dense)
    combos = np.flatnonzero(live_combos(board))
    found = RangeBuckets(4, masses).buckets(board, 0)[combos] % RIVER_PARTS
    expected = _equal_parts(places(board, masses)[0, combos], masses[combos], RIVER_PARTS)
    np.testing.assert_array_equal(found, expected)


@settings(deadline=None, max_examples=20)
@given(st.permutations(range(49)))
def test_run_outs_of_two_chains_share_no_bucket(order):
    buckets, flop = wide_buckets(known=3), parse_board("QsJh2h")
    rest = [card for card in range(52) if card not in flop]
    seen: dict[int, tuple[set[int], set[int]]] = {}
    for first, second in zip(order[0:24:2], order[1:24:2]):
        board = np.array([*flop, rest[first], rest[second]], dtype=np.uint8)
        rows = seen.setdefault(buckets.chain(board), (set(), set()))
        for street, cards in enumerate((4, 5)):
            rows[street].update(buckets.buckets(board[:cards], 0)[live_combos(board)].tolist())
    for street in range(2):
        used = [rows[street] for rows in seen.values()]
        assert len(set.union(*used)) == sum(map(len, used))


def test_places_on_a_turn_are_those_of_brute_force():
    turn, masses = parse_board("QsJh2h8d"), wide_buckets().masses
    live = live_combos(turn)
    seen: list[list[float]] = [[] for _ in range(NUM_COMBOS)]
    for river in set(range(52)) - set(turn.tolist()):
        board = np.array([*turn, river], dtype=np.uint8)
        there = np.flatnonzero(live_combos(board))
        strengths = evaluate_board(board)[there]
        beaten = (strengths[:, None] > strengths) + (strengths[:, None] == strengths) / 2
        for combo, share in zip(there, beaten @ masses[there] / masses[there].sum()):
            seen[combo].append(share)
    found = places(turn, masses)
    np.testing.assert_allclose(found[0, live], [np.mean(seen[c]) for c in np.flatnonzero(live)])
    np.testing.assert_allclose(found[1, live], [np.var(seen[c]) for c in np.flatnonzero(live)], atol=1e-12)


@settings(deadline=None, max_examples=20)
@given(boards(4))
def test_parts_of_a_turn_are_in_the_order_of_places_and_then_of_their_spread(board):
    buckets, live = wide_buckets(known=3), live_combos(board)
    mean, spread = np.round(places(board, buckets.masses)[:, live], 9)
    found = buckets.buckets(board, 0)[live]
    rows = TURN_PARTS * SPREADS
    assert set(found // rows) == {card_kind(board)}
    parts, within = np.divmod(found % rows, SPREADS)
    assert len(set(parts)) > TURN_PARTS / 2
    order = np.argsort(mean, kind="stable")
    assert (np.diff(parts[order]) >= 0).all()
    for part in set(parts.tolist()):
        here = parts == part
        assert (np.diff(within[here][np.argsort(spread[here], kind="stable")]) >= 0).all()


def test_a_flush_draw_is_apart_from_a_made_hand_of_the_same_mean_place():
    board = parse_board("QsJh2h8d")
    buckets = wide_buckets(known=3)
    mean, spread = places(board, buckets.masses)
    found = buckets.buckets(board, 0)
    parts, within = np.divmod(found, SPREADS)
    combos = np.flatnonzero(live_combos(board))
    same = [c for c in combos if parts[c] == parts[combos[500]]]
    widest, narrowest = max(same, key=lambda c: spread[c]), min(same, key=lambda c: spread[c])
    assert abs(mean[widest] - mean[narrowest]) < 0.05
    assert within[widest] == SPREADS - 1
    assert within[narrowest] == 0


def test_both_ranges_count_the_same_however_wide_they_are():
    first, second = thin_ranges()
    buckets = RangeBuckets.of(4, (first, second))
    assert buckets.masses.sum() == pytest.approx(2.0)
    np.testing.assert_allclose(buckets.masses, RangeBuckets.of(4, (5 * first, second)).masses)


@pytest.mark.parametrize(
    ("board", "kind"),
    [
        ("QsJh2h8d7h", FLUSH),
        ("QsJs2s8dQd", PAIR),
        ("QsJs2s8dAs", FLUSH),
        ("QsJh2c8dKc", HIGHEST),
        ("QsJh2c8s5d", LOW),
        ("QsJh2c8sTd", STRAIGHT),
        ("9s8s7d2cJc", STRAIGHT),
        ("9s8s7dTc", STRAIGHT),
        ("9s8s7dTcJh", STRAIGHT),
        ("9s8s7dTc3h", LOW),
        ("9s8s7dTs", FLUSH),
        ("AsTd4d3h2c", STRAIGHT),
        ("AsKd4dQhJc", STRAIGHT),
        ("AsTd4d3h6c", LOW),
        ("AsTd4d3hKc", SECOND),
        ("QsQh2c8sTd", SECOND),
        ("QsJh2h8h", FLUSH),
        ("QsJh2h2d", PAIR),
    ],
)
def test_cards_are_told_apart_by_what_they_do(board, kind):
    assert card_kind(parse_board(board)) == kind


def test_below_a_flop_rows_are_apart_by_turn_and_river():
    buckets = wide_buckets(known=3)
    live = live_combos(parse_board(RIVER))
    for turn, river in (("8d", "3c"), ("8h", "3c"), ("8d", "Kc")):
        board = parse_board("QsJh2h" + turn + river)
        kinds = card_kind(board[:4]) * NUM_KINDS + card_kind(board)
        found = buckets.buckets(board, 0)[live_combos(board)]
        assert set(found // RIVER_PARTS) == {kinds}
        assert found.max() < bucket_counts(3)[2]
    assert live.sum() == 1081


@pytest.mark.parametrize("board", [RIVER, RIVER[:8]])
def test_exchanged_suits_have_the_same_buckets(board):
    cards = parse_board(board)
    suits = np.array([3, 0, 2, 1], dtype=np.uint8)
    renamed_board = (cards & ~np.uint8(3)) | suits[cards & 3]
    renamed = permute_combos(suits)
    buckets = wide_buckets(known=3)
    masses = np.empty(NUM_COMBOS)
    masses[renamed] = buckets.masses
    other = RangeBuckets(3, masses)
    live = live_combos(cards)
    np.testing.assert_array_equal(
        other.buckets(renamed_board, 0)[renamed[live]], buckets.buckets(cards, 0)[live]
    )


def test_streets_that_are_searched_have_one_bucket():
    for known, cards in ((3, "QsJh2h"), (4, "QsJh2h"), (4, "QsJh2h8d")):
        assert not wide_buckets(known).buckets(parse_board(cards), 0).any()
    assert bucket_counts(4) == (1, 1, NUM_KINDS * RIVER_PARTS)
    assert bucket_counts(3) == (1, NUM_KINDS * TURN_PARTS * SPREADS, NUM_KINDS**2 * RIVER_PARTS)


def test_a_river_that_nobody_can_have_is_bucketed_all_the_same():
    buckets = RangeBuckets(4, np.zeros(NUM_COMBOS))
    board = parse_board(RIVER)
    found = buckets.buckets(board, 0)
    assert found.max() < bucket_counts(4)[2]
    assert set(found[live_combos(board)] // RIVER_PARTS) == {card_kind(board)}
