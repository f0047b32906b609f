"""Equities against published figures and brute force."""

from itertools import combinations, pairwise
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from abstractions import equity as equity_module
from abstractions.cards import (
    CLASS_NAMES,
    CLASS_OF_COMBO,
    COMBO_CARDS,
    NUM_COMBOS,
    format_cards,
    live_combos,
    parse_board,
    parse_combo,
)
from abstractions.equity import (
    class_pairs,
    combo_equities,
    equity,
    preflop_table,
    preflop_table_chunk,
    preflop_table_from_wins,
)
from abstractions.evaluator import _CARD_WORD, _word_strength, evaluate, evaluate_board
from abstractions.isomorphism import canonical_boards, permute_cards
from abstractions.ranges import from_class_weights, parse_range

DISJOINT = ~(COMBO_CARDS[:, None, :, None] == COMBO_CARDS[None, :, None, :]).any(axis=(2, 3))


def class_index(*names):
    return tuple(CLASS_NAMES.index(name) for name in names)


@pytest.mark.parametrize(
    ("first", "second", "wins", "ties", "total"),
    [
        ("AA", "KK", 50371344, 285228, 61642944),
        ("AKs", "QQ", 18834720, 178116, 41095296),
        ("AKo", "22", 57996648, 760500, 123285888),
    ],
)
def test_class_against_class_counts_are_the_published_ones(first, second, wins, ties, total):
    pair = class_index(first, second)
    assert tuple(int(table[pair]) for table in preflop_table()) == (wins, ties, total)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("AA", 0.852037),
        ("KK", 0.823957),
        ("AKs", 0.670446),
        ("22", 0.503340),
        ("72o", 0.345836),
        ("32o", 0.323032),
    ],
)
def test_equity_against_a_random_hand_is_the_published_one(name, expected):
    wins, ties, totals = preflop_table()
    (row,) = class_index(name)
    assert (wins[row] + ties[row] / 2).sum() / totals[row].sum() == pytest.approx(expected, abs=5e-7)
    assert equity(name, "random") == pytest.approx(expected, abs=5e-7)


def test_the_preflop_table_accounts_for_every_deal():
    wins, ties, totals = preflop_table()
    assert all(table.dtype == np.int64 for table in (wins, ties, totals))
    assert (wins + ties + wins.T == totals).all()
    assert (ties == ties.T).all()
    assert min(wins.min(), ties.min()) >= 0
    assert totals.sum() == 1326 * comb(50, 2) * comb(48, 5)


def test_pairs_of_classes_are_counted_with_card_removal():
    pairs = np.zeros((169, 169), dtype=np.int64)
    np.add.at(pairs, (CLASS_OF_COMBO[:, None], CLASS_OF_COMBO[None, :]), DISJOINT.astype(np.int64))
    assert (class_pairs() == pairs).all()
    assert class_pairs()[class_index("AA", "AA")] == 6


@pytest.mark.parametrize(
    "board", ["KsKhQd7c2s", "QsJh2h8d3h", "As9s8s4s4h", "Ks9s8s4s2s", "TsTh9s9h2s", "AsAhAdAc2s"]
)
def test_wins_on_a_river_agree_with_comparing_all_pairs_of_hands(board):
    cards = np.sort(parse_board(board))
    rivers = canonical_boards(5)
    river = int(np.flatnonzero((rivers.boards == cards).all(axis=1))[0])
    strengths = evaluate_board(cards)
    beats = DISJOINT & (strengths[:, None] > strengths[None, :]) & (strengths >= 0)[None, :]
    expected = np.zeros((169, 169), dtype=np.int64)
    np.add.at(expected, (CLASS_OF_COMBO[:, None], CLASS_OF_COMBO[None, :]), beats.astype(np.int64))
    assert (preflop_table_chunk(river, river + 1) == expected * rivers.weights[river]).all()


@given(st.lists(st.integers(5000, 5400), min_size=1, max_size=4))
@settings(max_examples=20, deadline=None)
def test_chunks_add_up_however_they_are_cut(cuts):
    bounds = sorted({5000, 5400, *cuts})
    parts = sum(preflop_table_chunk(start, stop) for start, stop in pairwise(bounds))
    assert (parts == preflop_table_chunk(5000, 5400)).all()


@pytest.mark.slow
def test_the_table_is_the_sum_of_its_chunks():
    parts = sum(preflop_table_chunk(start, min(start + 50000, 134459)) for start in (100000, 50000, 0))
    assert all((a == b).all() for a, b in zip(preflop_table_from_wins(parts), preflop_table()))


@njit
def deal_all_boards(ours, theirs, deck):
    wins = ties = 0
    for a in range(len(deck)):
        for b in range(a):
            for c in range(b):
                for d in range(c):
                    four = deck[a] + deck[b] + deck[c] + deck[d]
                    for e in range(d):
                        x = _word_strength(four + deck[e] + ours)
                        y = _word_strength(four + deck[e] + theirs)
                        wins += x > y
                        ties += x == y
    return wins, ties


def preflop_brute_force(ours, theirs):
    """Equity of combo against combo: every board, both hands ranked on it."""
    left = live_combos(np.concatenate([COMBO_CARDS[ours], COMBO_CARDS[theirs]]))
    deck = np.unique(COMBO_CARDS[left])
    assert deck.size == 48
    words = (int(_CARD_WORD[COMBO_CARDS[combo]].sum()) for combo in (ours, theirs))
    wins, ties = deal_all_boards(*words, _CARD_WORD[deck])
    return (wins + ties / 2) / comb(48, 5)


@pytest.mark.parametrize(
    ("ours", "theirs"), [("AhKh", "QsQd"), ("AhKh", "AdKc"), ("7h6h", "AhAs"), ("2c2d", "JsTs")]
)
def test_hand_against_hand_before_the_flop_is_the_count_over_all_boards(ours, theirs):
    expected = preflop_brute_force(parse_combo(ours), parse_combo(theirs))
    assert equity(ours, theirs) == pytest.approx(expected, abs=1e-14)


def brute_force(ours, theirs, board):
    """Equity over all pairs of hands and all runouts, one seven-card comparison at a time."""
    won = dealt = 0.0
    for a in np.flatnonzero(ours):
        for b in np.flatnonzero(theirs):
            dead = {*COMBO_CARDS[a].tolist(), *COMBO_CARDS[b].tolist(), *board.tolist()}
            if len(dead) != board.size + 4:
                continue
            deck = [card for card in range(52) if card not in dead]
            runouts = np.array(list(combinations(deck, 5 - board.size)), dtype=np.uint8)
            full = np.concatenate([np.tile(board, (len(runouts), 1)), runouts], axis=1)
            x, y = (
                evaluate(np.concatenate([full, np.tile(COMBO_CARDS[combo], (len(full), 1))], axis=1))
                for combo in (a, b)
            )
            won += ours[a] * theirs[b] * ((x > y).mean() + (x == y).mean() / 2)
            dealt += ours[a] * theirs[b]
    return won / dealt


@pytest.mark.parametrize(
    "board", ["QsJh2h", "AhKhQh", "7c7d2s", "QsJh2h8d", "9s8s7s6s", "QsJh2h8d3c", "AsKsQsJsTs"]
)
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("AdKd", "9c9d"), ("AdKd", "KK,AcKc,8h7h:0.25"), ("TT:0.5,6d5d", "AcTc,5s5d,6h5h:0.75,TdTc")],
)
def test_equities_on_a_board_agree_with_brute_force(ours, theirs, board):
    expected = brute_force(
        *(np.where(live_combos(parse_board(board)), parse_range(text), 0) for text in (ours, theirs)),
        parse_board(board),
    )
    assert equity(ours, theirs, board) == pytest.approx(expected, abs=1e-12)


deals = st.lists(st.integers(0, 51), min_size=7, max_size=9, unique=True)


@given(deals, st.permutations(range(4)))
@settings(max_examples=40, deadline=None)
def test_equities_sum_to_one_and_ignore_the_names_of_suits(deal, suits):
    ours, theirs, board = deal[:2], deal[2:4], deal[4:]
    value = equity(format_cards(ours), format_cards(theirs), np.array(board))
    renamed = [format_cards(permute_cards(np.array(cards), suits)) for cards in (ours, theirs, board)]
    assert equity(format_cards(theirs), format_cards(ours), format_cards(board)) == pytest.approx(1 - value)
    assert equity(*renamed) == pytest.approx(value)


@given(st.lists(st.integers(0, 51), min_size=8, max_size=8, unique=True))
@settings(max_examples=10, deadline=None)
def test_the_equity_on_a_turn_is_the_mean_over_its_rivers(deal):
    ours, theirs, board = format_cards(deal[:2]), format_cards(deal[2:4]), deal[4:]
    rivers = [equity(ours, theirs, format_cards([*board, card])) for card in range(52) if card not in deal]
    assert len(rivers) == 44
    assert equity(ours, theirs, format_cards(board)) == pytest.approx(np.mean(rivers))


def equity_by_combo(opponent, board=""):
    """Equity of every combo against a range, and the range's weight that shares no card with it."""
    cards = parse_board(board)
    live = live_combos(cards)
    weights = np.where(live, parse_range(opponent), 0.0)
    possible = np.zeros(NUM_COMBOS)
    equity_module._compatible_weight(weights, COMBO_CARDS, possible)
    possible[~live] = 0.0
    equities = np.full(NUM_COMBOS, np.nan)
    winnings = equity_module._winnings(weights, live, cards)
    np.divide(winnings, possible, out=equities, where=possible > 0)
    return equities, possible


def test_equity_by_combo_is_the_equity_of_each_hand():
    equities, weights = equity_by_combo("QQ+,AKs:0.5", "QsJh2h")
    theirs = np.where(live_combos(parse_board("QsJh2h")), parse_range("QQ+,AKs:0.5"), 0)
    assert weights == pytest.approx(np.where(live_combos(parse_board("QsJh2h")), DISJOINT @ theirs, 0))
    for hand in ("AhKh", "QdQc", "7c2d", "JsJd"):
        assert equities[parse_combo(hand)] == pytest.approx(equity(hand, "QQ+,AKs:0.5", "QsJh2h"))
    assert np.isnan(equities[parse_combo("QsAs")])


def test_a_combo_that_blocks_the_whole_range_has_no_equity():
    equities, weights = equity_by_combo("AsAh,AsAd", "QsJh2h")
    assert weights[parse_combo("AsKs")] == 0
    assert np.isnan(equities[parse_combo("AsKs")])
    assert weights[parse_combo("AhKs")] == 1


def test_before_the_flop_every_combo_of_a_class_has_the_equity_of_the_table():
    equities, weights = equity_by_combo("all")
    wins, ties, totals = preflop_table()
    expected = (wins + ties / 2).sum(axis=1) / totals.sum(axis=1)
    assert equities == pytest.approx(expected[CLASS_OF_COMBO], abs=1e-12)
    assert (weights == comb(50, 2)).all()


def test_ranges_before_the_flop_agree_between_table_and_sweep(monkeypatch):
    ours, theirs = "22+,A2s+,KTo+,AhJd:0.5", "55-22,T9s,A9o-A7o,QJ:0.25"
    by_table = equity(ours, theirs)
    monkeypatch.setattr(equity_module, "_FEW_COMBOS", NUM_COMBOS * 2)
    assert equity(ours, theirs) == pytest.approx(by_table, abs=1e-12)


@pytest.mark.slow
def test_ranges_without_suit_symmetry_before_the_flop_average_over_their_hands():
    """All 24 renamings differ here; the mean over hand pairs is taken pair by pair."""
    ours, theirs = "AhKd:0.5,9s9c,7c6c", "AsQs,8h8d:0.25,Kc2d,5d4h"
    won = dealt = 0.0
    for a in np.flatnonzero(parse_range(ours)):
        for b in np.flatnonzero(parse_range(theirs)):
            weight = parse_range(ours)[a] * parse_range(theirs)[b]
            if DISJOINT[a, b]:
                won += weight * preflop_brute_force(a, b)
                dealt += weight
    assert equity(ours, theirs) == pytest.approx(won / dealt, abs=1e-12)


def test_a_range_has_half_the_pot_against_itself():
    levels = np.random.default_rng(3).random(169)
    for board in ("", "QsJh2h", "QsJh2h8d3c"):
        assert equity(from_class_weights(levels), from_class_weights(levels), board) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: equity("AhKh", "QQ", "2c"), "1 cards: expected 0, 3, 4 or 5"),
        (lambda: equity("AhKh", "QQ", "2c3c"), "2 cards"),
        (lambda: equity("AhKh", "QQ", "2c3c4c5c6c7c"), "6 cards"),
        (lambda: equity("AhKh", "QQ", "2c3c3c"), "'3c' appears twice"),
        (lambda: equity("AhKh", "QQ", "Ah3c4c"), "range 'AhKh' has no hand on board Ah3c4c"),
        (lambda: equity("AhKh", "", "2h3c4c"), "range '' has no hand"),
        (lambda: equity("AhKh", "AhQh"), "no deal is possible"),
        (lambda: equity("AhKx", "QQ"), "'AhKx'"),
        (lambda: equity("AhKh", np.ones(169)), "1326 weights"),
        (lambda: equity("AhKh", "QQ", np.array([1, 2])), "0, 3, 4 or 5"),
        (lambda: equity("AhKh", np.zeros(NUM_COMBOS), "2c3c4c"), "has no hand on board 2c3c4c"),
        (lambda: preflop_table_chunk(0, 134460), "134459"),
    ],
)
def test_impossible_deals_are_refused_in_one_line(call, message):
    with pytest.raises(ValueError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("board", ["Kc7d2s5h", "Kc7d2s5h9c"])
def test_the_equities_of_combos_come_to_that_of_their_range(board: str) -> None:
    theirs = parse_range("QQ,A7s:0.5,T9s")
    by_combo = combo_equities(theirs, board)
    for hand in ("AhKh", "QsQh", "Td9d"):
        assert by_combo[parse_combo(hand)] == pytest.approx(equity(hand, theirs, board))
    assert np.isnan(by_combo[parse_combo("Kc2c")])
    # The only hand of the range holds one of its queens.
    assert np.isnan(combo_equities("QsQh", board)[parse_combo("QhQd")])
