"""Boards and hands up to suits: published counts, group theory and brute force."""

from collections import Counter
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstractions.cards import COMBO_CARDS, COMBO_INDEX, live_combos, parse_board
from abstractions.features.hand_classes import class_weights
from abstractions.isomorphism import (
    COMBO_PERMUTATION,
    ORBIT_SIZE,
    SUIT_PERMUTATIONS,
    board_index,
    canonical_boards,
    hand_class_index,
    hand_class_offsets,
    hand_classes,
    permutation_number,
    permute_cards,
    permute_combos,
)

STREETS = {3: (1755, 1286792), 4: (16432, 13960050), 5: (134459, 123156254)}


@pytest.mark.parametrize("n", STREETS)
def test_published_numbers_of_boards_and_hand_board_classes(n):
    canon = canonical_boards(n)
    assert (len(canon.boards), hand_class_offsets(n)[-1]) == STREETS[n]
    assert canon.weights.sum() == comb(52, n)


@pytest.mark.parametrize("n", STREETS)
def test_canonical_boards_are_distinct_ascending_and_their_own_canonical_form(n):
    canon = canonical_boards(n)
    assert (np.diff(canon.boards.astype(int), axis=1) > 0).all()
    ids, renamings = board_index(canon.boards)
    assert (ids == np.arange(len(ids))).all()
    assert (renamings == np.arange(4)).all()


@pytest.mark.parametrize("n", [3, 4])
def test_weights_count_the_real_boards_of_each_class(n):
    real = np.array(list(combinations(range(52), n)))
    ids, renamings = board_index(real)
    canon = canonical_boards(n)
    assert (np.bincount(ids) == canon.weights).all()
    renamed = real // 4 * 4 + np.take_along_axis(renamings, real % 4, axis=1)
    assert (np.sort(renamed, axis=1) == canon.boards[ids]).all()


@pytest.mark.slow
def test_weights_count_all_real_rivers():
    real = np.fromiter(combinations(range(52), 5), dtype=np.dtype((np.uint8, 5)), count=comb(52, 5))
    ids, renamings = board_index(real)
    canon = canonical_boards(5)
    assert (np.bincount(ids) == canon.weights).all()
    renamed = (real & 252) | np.take_along_axis(renamings, real & 3, axis=1)
    assert (np.sort(renamed, axis=1) == canon.boards[ids]).all()


def test_permutation_tables_agree_with_renaming_the_cards():
    assert (SUIT_PERMUTATIONS[0] == np.arange(4)).all()
    assert len({tuple(row) for row in SUIT_PERMUTATIONS.tolist()}) == 24
    assert (permutation_number(SUIT_PERMUTATIONS) == np.arange(24)).all()
    for row, table in zip(SUIT_PERMUTATIONS, COMBO_PERMUTATION):
        renamed = permute_cards(COMBO_CARDS, row)
        assert (table == COMBO_INDEX[renamed[:, 0], renamed[:, 1]]).all()
        assert (table == permute_combos(row)).all()


def class_id(combo, board):
    """Class id of one combo on one board."""
    return int(hand_class_index(np.array([combo]), board)[0])


def class_members(classes, n):
    """Lowest combo of each class id, and the id of its canonical board."""
    offsets = hand_class_offsets(n)
    ids = np.searchsorted(offsets, classes, side="right") - 1
    combos = [
        int(np.argmax(hand_classes(int(i), n) == number)) for i, number in zip(ids, classes - offsets[ids])
    ]
    return np.array(combos), ids


deals = st.integers(3, 5).flatmap(
    lambda n: st.lists(st.integers(0, 51), min_size=n + 2, max_size=n + 2, unique=True)
)


@settings(deadline=None)
@given(deals, st.permutations(range(4)), st.data())
def test_renaming_suits_and_reordering_cards_keep_board_and_class(deal, suits, data):
    hand, board = deal[:2], deal[2:]
    new_hand = permute_cards(hand, suits)
    new_board = data.draw(st.permutations(permute_cards(board, suits).tolist()))
    assert board_index(np.array([board]))[0] == board_index(np.array([new_board]))[0]
    assert class_id(COMBO_INDEX[*hand], np.array(board)) == class_id(
        COMBO_INDEX[*new_hand], np.array(new_board)
    )


@settings(deadline=None)
@given(deals)
def test_unindexing_a_class_gives_the_same_hand_and_board_up_to_suits(deal):
    hand, board = deal[:2], deal[2:]
    n = len(board)
    number = class_id(COMBO_INDEX[*hand], np.array(board))
    combos, ids = class_members(np.array([number]), n)
    member = set(COMBO_CARDS[combos[0]].tolist()), set(canonical_boards(n).boards[ids[0]].tolist())
    renamed = [
        (set(permute_cards(hand, row).tolist()), set(permute_cards(board, row).tolist()))
        for row in SUIT_PERMUTATIONS
    ]
    assert member in renamed


@pytest.mark.parametrize("n", STREETS)
def test_class_ids_read_back_from_their_members(n):
    classes = np.random.default_rng(1).integers(hand_class_offsets(n)[-1], size=20000)
    classes[:2] = 0, hand_class_offsets(n)[-1] - 1
    combos, ids = class_members(classes, n)
    assert (hand_class_index(combos, canonical_boards(n).boards[ids]) == classes).all()


@pytest.mark.parametrize(
    "board", ["2c2d2h", "AsKsQs", "AsKhQd", "AsAhKs", "9s9h8s8h", "AsKsQsJsTs", "AsKhQdJc2s"]
)
def test_classes_of_a_board_are_its_hands_up_to_the_suits_it_cannot_tell_apart(board):
    """Brute force: hands are the same exactly if a renaming that keeps the board maps one to the other."""
    cards = parse_board(board)
    n = cards.size
    board_id = int(board_index(cards[None, :])[0][0])
    canon = canonical_boards(n)
    cards = canon.boards[board_id]
    keepers = [row for row in SUIT_PERMUTATIONS if set(permute_cards(cards, row)) == set(cards)]
    numbers = hand_classes(board_id, n)
    live = live_combos(cards)
    assert ((numbers >= 0) == live).all()
    orbits = {}
    for combo in np.nonzero(live)[0]:
        orbit = frozenset(int(permute_combos(row)[combo]) for row in keepers)
        orbits.setdefault(orbit, set()).add(int(numbers[combo]))
    assert all(len(found) == 1 for found in orbits.values())
    assert sorted(number for found in orbits.values() for number in found) == list(range(numbers.max() + 1))
    sizes = Counter(int(number) for number in numbers[live])
    assert (
        class_weights(n, board_id, board_id + 1)
        == [sizes[i] * canon.weights[board_id] for i in range(len(sizes))]
    ).all()
    assert canon.weights[board_id] == 24 // len(keepers)
    assert {len(orbit) for orbit in orbits} == set(ORBIT_SIZE[canon.stabilisers[board_id]][live].tolist())


def test_flop_class_weights_count_every_hand_on_every_flop():
    assert class_weights(3, 0, 1755).sum() == comb(52, 3) * comb(49, 2)


def test_one_board_serves_many_hands():
    board = parse_board("QsJh2h")
    live = np.nonzero(live_combos(board))[0]
    together = hand_class_index(live, board)
    assert (together == hand_class_index(live, np.tile(board, (live.size, 1)))).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: canonical_boards(2), "2 cards"),
        (lambda: board_index(np.array([[0, 1]])), "2 cards"),
        (lambda: board_index(np.array([0, 1, 2])), "one board per row"),
        (lambda: board_index(np.array([[0, 1, 52]])), "0 to 51"),
        (lambda: board_index(np.array([[0, 4, 8], [0, 4, 4]])), "2c3c3c in row 1 holds a card twice"),
        (lambda: class_id(0, np.array([0, 4, 8])), "2d2c shares a card with board 2c3c4c"),
        (lambda: class_id(1326, np.array([0, 4, 8])), "0 to 1325"),
        (lambda: hand_class_index(np.array([5, 6]), np.array([[0, 4, 8]])), "2 combos for 1 boards"),
        (lambda: hand_classes(1755, 3), "0 to 1754"),
    ],
)
def test_impossible_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
