"""Hand strengths against the rules of poker."""

from collections import Counter
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from abstractions.cards import COMBO_CARDS, live_combos, parse_board, parse_cards, parse_combo
from abstractions.evaluator import (
    _CARD_WORD,
    CATEGORIES,
    NUM_STRENGTHS,
    _sorted_board,
    _word_strength,
    category,
    category_index,
    evaluate,
    evaluate_board,
)

FIVE_CARD_COUNTS = (1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 40)
SEVEN_CARD_COUNTS = (23294460, 58627800, 31433400, 6461620, 6180020, 4047644, 3473184, 224848, 41584)


def rules_of_poker(cards):
    """Five cards as (category, ranks in order of importance), straight from the rule book."""
    ranks = sorted((card // 4 for card in cards), reverse=True)
    by_count = sorted(Counter(ranks).items(), key=lambda item: (-item[1], -item[0]))
    counts = [count for _, count in by_count]
    order = [rank for rank, _ in by_count]
    flush = len({card % 4 for card in cards}) == 1
    straight = len(order) == 5 and (ranks[0] - ranks[4] == 4 or ranks == [12, 3, 2, 1, 0])
    if straight:
        order = [3] if ranks == [12, 3, 2, 1, 0] else [ranks[0]]
    if straight and flush:
        name = "straight flush"
    elif counts == [4, 1]:
        name = "quads"
    elif counts == [3, 2]:
        name = "full house"
    elif flush:
        name = "flush"
    elif straight:
        name = "straight"
    else:
        name = {3: "trips", 2: "two pair" if counts == [2, 2, 1] else "pair", 1: "high card"}[counts[0]]
    return CATEGORIES.index(name), order


def strength(text):
    return int(evaluate(parse_cards(text)[None, :])[0])


@pytest.fixture(scope="module")
def five_card_hands():
    return np.array(list(combinations(range(52), 5)), dtype=np.uint8)


def test_all_five_card_hands_give_the_known_category_counts(five_card_hands):
    strengths = evaluate(five_card_hands)
    assert tuple(np.bincount(category_index(strengths))) == FIVE_CARD_COUNTS
    assert np.unique(strengths).size == NUM_STRENGTHS == 7462


def test_five_card_hands_rank_as_the_rule_book_says(five_card_hands):
    """One hand per strength: ascending strengths are ascending in the rules, and no two are equal there."""
    strengths, firsts = np.unique(evaluate(five_card_hands), return_index=True)
    ruled = [rules_of_poker(hand.tolist()) for hand in five_card_hands[firsts]]
    assert all(weaker < stronger for weaker, stronger in pairwise(ruled))
    assert [CATEGORIES[kind] for kind, _ in ruled] == [category(int(value)) for value in strengths]


hands = st.lists(st.integers(0, 51), min_size=5, max_size=7, unique=True)


@settings(deadline=None)
@given(hands)
def test_a_hand_is_worth_its_best_five_cards(cards):
    fives = np.array(list(combinations(cards, 5)))
    assert evaluate(np.array([cards]))[0] == evaluate(fives).max()


@settings(deadline=None)
@given(st.lists(st.integers(0, 51), min_size=5, max_size=5, unique=True), st.data())
def test_five_card_hands_compare_as_in_the_rule_book(first, data):
    second = data.draw(st.lists(st.integers(0, 51), min_size=5, max_size=5, unique=True))
    a, b = evaluate(np.array([first, second])).tolist()
    x, y = rules_of_poker(first), rules_of_poker(second)
    assert (a > b, a == b) == (x > y, x == y)


@settings(deadline=None)
@given(hands, st.permutations(range(4)), st.data())
def test_order_and_names_of_suits_do_not_matter(cards, suits, data):
    shuffled = data.draw(st.permutations([4 * (card // 4) + suits[card % 4] for card in cards]))
    assert evaluate(np.array([cards]))[0] == evaluate(np.array([shuffled]))[0]


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("AsKsQsJsTs2c2d", "AcAdAhAsKc2h3h"),
        ("2h3h4h5h6h2c2d", "Ah2h3h4h5h2c2d"),
        ("5c5d5h5sKc2d2h", "5c5d5h5sQc2d2h"),
        ("KcKdKhAcAdAh2s", "KcKdKhQcQdQh2s"),
        ("2c3c4c5c7c9d9h", "AcKdQhJsTc2c2d"),
        ("6c5d4h3s2cAcKd", "AcKdQhJs2c3d4h"),
        ("AcAdKhKsQcJdJh", "AcAdKhKsTcJd9h"),
        ("AcAdKhQs9c3d2h", "AcAdKhJs9c3d2h"),
    ],
)
def test_showdowns_people_argue_about(better, worse):
    assert strength(better) > strength(worse)


def test_three_pairs_count_as_the_best_two_with_the_best_kicker():
    assert strength("AcAdKhKsQcQdJh") == strength("AhAsKcKdQsTh9h")


def test_playing_the_board_ties():
    strengths = evaluate_board(parse_board("AsKsQsJsTs"))
    assert np.unique(strengths[strengths >= 0]).tolist() == [NUM_STRENGTHS - 1]


# Boards without a flush draw, and with three, four and five cards of a suit.
boards = st.one_of(
    st.lists(st.integers(0, 51), min_size=5, max_size=5, unique=True),
    st.tuples(st.integers(0, 3), st.sets(st.integers(0, 12), min_size=5, max_size=5), st.integers(3, 5)).map(
        lambda t: [4 * rank + (t[0] if i < t[2] else (t[0] + i) % 4) for i, rank in enumerate(sorted(t[1]))]
    ),
)


@settings(deadline=None)
@given(boards)
def test_a_boards_hands_rank_as_seven_cards_each(board):
    strengths = evaluate_board(np.array(board))
    live = live_combos(board)
    sevens = np.concatenate([COMBO_CARDS[live], np.tile(board, (1081, 1))], axis=1)
    assert (strengths[live] == evaluate(sevens)).all()
    assert (strengths[~live] == -1).all()


@settings(deadline=None)
@given(boards)
def test_a_sorted_board_lists_its_live_hands_from_weakest_to_strongest(board):
    strengths, order = np.empty(1326, np.int16), np.empty(1326, np.int16)
    count = _sorted_board(np.array(board, dtype=np.uint8), strengths, order)
    assert (strengths == evaluate_board(np.array(board))).all()
    assert sorted(order[:count].tolist()) == np.flatnonzero(live_combos(board)).tolist()
    assert (np.diff(strengths[order[:count]]) >= 0).all()


def test_the_nuts_on_a_four_flush_board():
    board = parse_board("AhTh7h2hAc")
    strengths = evaluate_board(board)
    assert strengths.argmax() == parse_combo("AdAs")
    flushes = [
        combo for combo in range(1326) if strengths[combo] >= 0 and category(int(strengths[combo])) == "flush"
    ]
    best = strengths[flushes].max()
    assert (
        best
        == strengths[parse_combo("KhQh")]
        > strengths[parse_combo("KhJh")]
        > strengths[parse_combo("Kh3c")]
    )
    assert all({4 * rank + 2 for rank in range(13)} & set(COMBO_CARDS[combo].tolist()) for combo in flushes)


@pytest.mark.parametrize(
    ("cards", "message"),
    [
        ([[0, 1, 2, 3]], "5, 6 or 7"),
        ([[0, 1, 2, 3, 52]], "0 to 51"),
        ([[0, 1, 2, 3, -1]], "0 to 51"),
        ([[0, 1, 2, 3, 4], [0, 1, 2, 3, 3]], "row 1 holds a card twice"),
    ],
)
def test_impossible_hands_are_refused(cards, message):
    with pytest.raises(ValueError, match=message):
        evaluate(np.array(cards))


def test_hands_are_ranked_on_full_boards_only():
    with pytest.raises(ValueError, match="3 cards"):
        evaluate_board(parse_board("QsJh2h"))
    with pytest.raises(ValueError, match="7462"):
        category(7462)


@njit
def count_strengths_of_seven_cards(card_word, counts):
    for a in range(46):
        for b in range(a + 1, 47):
            two = card_word[a] + card_word[b]
            for c in range(b + 1, 48):
                three = two + card_word[c]
                for d in range(c + 1, 49):
                    four = three + card_word[d]
                    for e in range(d + 1, 50):
                        five = four + card_word[e]
                        for f in range(e + 1, 51):
                            six = five + card_word[f]
                            for g in range(f + 1, 52):
                                counts[_word_strength(six + card_word[g])] += 1


@pytest.mark.slow
def test_all_seven_card_hands_give_the_known_category_counts():
    counts = np.zeros(NUM_STRENGTHS, dtype=np.int64)
    count_strengths_of_seven_cards(_CARD_WORD, counts)
    by_category = np.bincount(category_index(np.arange(NUM_STRENGTHS)), weights=counts)
    assert tuple(by_category.astype(int)) == SEVEN_CARD_COUNTS
    assert counts.sum() == 133784560
