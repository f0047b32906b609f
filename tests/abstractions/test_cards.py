"""Numbers and names of cards, combos and hand classes."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstractions.cards import (
    CLASS_COMBOS,
    CLASS_NAMES,
    CLASS_OF_COMBO,
    COMBO_CARDS,
    COMBO_INDEX,
    NUM_CLASSES,
    NUM_COMBOS,
    check_board,
    disjoint_weight,
    format_card,
    format_cards,
    format_combo,
    hand_class,
    live_combos,
    parse_board,
    parse_card,
    parse_cards,
    parse_combo,
)


def test_cards_count_up_by_rank_then_suit():
    assert [parse_card(name) for name in ("2c", "2d", "2h", "2s", "3c", "As")] == [0, 1, 2, 3, 4, 51]


def test_every_card_name_reads_back():
    assert [parse_card(format_card(card)) for card in range(52)] == list(range(52))


def test_combos_are_the_sorted_pairs_in_lexicographic_order():
    assert COMBO_CARDS.tolist() == [list(pair) for pair in combinations(range(52), 2)]
    assert all(COMBO_INDEX[a, b] == COMBO_INDEX[b, a] == i for i, (a, b) in enumerate(COMBO_CARDS))
    assert (np.diag(COMBO_INDEX) == -1).all()


def test_every_combo_name_reads_back_higher_card_first():
    for combo in range(NUM_COMBOS):
        name = format_combo(combo)
        assert parse_combo(name) == combo == parse_combo(name[2:] + name[:2])
        assert parse_card(name[:2]) > parse_card(name[2:])


def test_the_grid_starts_with_aces_and_puts_suited_hands_above_the_diagonal():
    assert CLASS_NAMES[:3] == ("AA", "AKs", "AQs")
    assert (CLASS_NAMES[13], CLASS_NAMES[14], CLASS_NAMES[-1]) == ("AKo", "KK", "22")
    assert len(set(CLASS_NAMES)) == NUM_CLASSES


@pytest.mark.parametrize(
    ("hand", "name"), [("AhKh", "AKs"), ("KdAh", "AKo"), ("7c7s", "77"), ("2c7d", "72o"), ("2s3s", "32s")]
)
def test_a_combo_belongs_to_the_class_of_its_ranks_and_suits(hand, name):
    assert CLASS_NAMES[CLASS_OF_COMBO[parse_combo(hand)]] == name
    assert hand_class(*parse_cards(hand).tolist()) == CLASS_NAMES.index(name)


def test_pairs_have_six_combos_suited_hands_four_and_offsuit_hands_twelve():
    expected = {2: 6, "s": 4, "o": 12}
    for name, combos in zip(CLASS_NAMES, CLASS_COMBOS):
        assert combos == expected[2 if len(name) == 2 else name[2]]
    assert CLASS_COMBOS.sum() == NUM_COMBOS


@pytest.mark.parametrize("text", ["QsJh2h", "Qs Jh 2h", "Qs,Jh,2h", " qS, jH 2H "])
def test_cards_may_be_separated_or_not(text):
    assert format_cards(parse_cards(text)) == "QsJh2h"


@given(st.lists(st.integers(0, 51), unique=True, max_size=52))
def test_any_list_of_cards_reads_back_in_order(cards):
    assert parse_cards(format_cards(cards)).tolist() == cards


@pytest.mark.parametrize(
    ("parse", "text", "message"),
    [
        (parse_card, "1s", "'1s'"),
        (parse_card, "Ax", "'Ax'"),
        (parse_card, "", "''"),
        (parse_cards, "AhKhA", "'A'"),
        (parse_cards, "Ah Kz", "'Kz'"),
        (parse_cards, "AhKhAh", "'Ah' appears twice"),
        (parse_board, "Ah", "1 cards: expected 0, 3, 4 or 5"),
        (parse_board, "AhKh", "2 cards"),
        (parse_board, "AhKhQhJhTh9h", "6 cards"),
        (parse_combo, "AhKhQh", "3 cards: expected two"),
        (parse_combo, "AhAh", "twice"),
    ],
)
def test_bad_text_is_refused_in_one_line_that_names_it(parse, text, message):
    with pytest.raises(ValueError, match=message) as error:
        parse(text)
    assert "\n" not in str(error.value)


def test_numbers_that_are_no_cards_are_refused():
    with pytest.raises(ValueError, match="52"):
        format_card(52)
    with pytest.raises(ValueError, match="1326"):
        format_combo(1326)
    with pytest.raises(ValueError, match="0 to 51"):
        check_board(np.array([0, 1, 52]))
    with pytest.raises(ValueError, match="twice"):
        check_board(np.array([0, 1, 1]))
    with pytest.raises(ValueError, match="0, 3, 4 or 5"):
        check_board(np.array([0, 1]))


@pytest.mark.parametrize(
    ("board", "count"), [("", 1326), ("QsJh2h", 1176), ("QsJh2h8d", 1128), ("QsJh2h8d3c", 1081)]
)
def test_a_board_leaves_the_pairs_of_the_other_cards(board, count):
    cards = set(parse_board(board).tolist())
    live = live_combos(parse_board(board))
    assert live.sum() == count
    assert live.tolist() == [not cards & set(pair) for pair in COMBO_CARDS.tolist()]


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=5, deadline=None)
def test_card_removal_leaves_the_hands_without_a_common_card(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.random(NUM_COMBOS) * (rng.random(NUM_COMBOS) < 0.5)
    found = disjoint_weight(weights)
    for combo in rng.choice(NUM_COMBOS, 20, replace=False):
        apart = ~(COMBO_CARDS[:, :, None] == COMBO_CARDS[combo]).any(axis=(1, 2))
        assert found[combo] == pytest.approx(weights[apart].sum(), abs=1e-9)


def test_one_card_hands_share_only_their_card() -> None:
    hands = np.array([[0, 52], [4, 52], [8, 52]], dtype=np.uint8)
    np.testing.assert_array_equal(disjoint_weight(np.array([1.0, 2.0, 4.0]), hands, hands), [6.0, 5.0, 3.0])
