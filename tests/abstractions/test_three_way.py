"""Three classes before the flop: counts on single boards against brute force, and sets of winners from them."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from numpy.typing import NDArray

from abstractions.cards import (
    CLASS_NAMES,
    CLASS_OF_COMBO,
    COMBO_CARDS,
    parse_board,
)
from abstractions.class_triples import (
    NUM_PAIRS,
    NUM_TRIPLES,
    class_pairs_listed,
    disjoint_triples,
    pair_index,
    triple_index,
    triples_listed,
)
from abstractions.evaluator import evaluate_board
from abstractions.isomorphism import board_index, canonical_boards
from abstractions.multiway_equity import multiway_equity
from abstractions.three_way import three_way_chunk, winners_of_triples

#: No flush possible, three, four and five cards of a suit, a straight and a full house on the board.
BOARDS = ("Qs8h3d2c7s", "AsKsQs7d2c", "9s8s4s2sAd", "JsTs6s5s2s", "9s8h7d6c5s", "AsAhAd2c2s", "QsQhQdQc2s")


def members(hand_class: int) -> NDArray[np.intp]:
    return np.flatnonzero(np.equal(CLASS_OF_COMBO, hand_class))


def brute_force(own: int, others: tuple[int, int], strengths: NDArray[np.int32]) -> tuple[int, int]:
    """Deals of three classes that the first wins alone, and those in which nobody beats it."""
    alone = best = 0
    for deal in product(members(own), members(others[0]), members(others[1])):
        a, b, c = strengths[list(deal)]
        if min(a, b, c) >= 0 and len(set(COMBO_CARDS[list(deal)].ravel())) == 6:
            alone += a > b and a > c
            best += a >= b and a >= c
    return alone, best


def sampled_triples() -> list[tuple[int, int, int]]:
    """Triples with repeats and shared ranks, and some at random."""
    names = "AA AA KK", "AA AA AA", "AKs AKo AQs", "AKo AKo AKo", "T9s T9o T8s", "22 A2s 32o", "JTs JJ TT"
    chosen = [tuple(CLASS_NAMES.index(name) for name in text.split()) for text in names]
    drawn = np.random.default_rng(3).integers(0, 169, (12, 3)).tolist()
    return [(a, b, c) for a, b, c in [*chosen, *drawn]]


@pytest.mark.parametrize("board", BOARDS)
def test_a_board_counts_as_brute_force_does(board: str) -> None:
    cards = parse_board(board)
    (number,), _ = board_index(cards[None])
    rivers = canonical_boards(5)
    counts = three_way_chunk(number, number + 1)
    strengths = evaluate_board(rivers.boards[number])
    for own, *others in sampled_triples():
        expected = np.array(brute_force(own, (others[0], others[1]), strengths))
        np.testing.assert_array_equal(counts[:, own, pair_index(*others)], expected * rivers.weights[number])


def test_chunks_add_up() -> None:
    np.testing.assert_array_equal(
        three_way_chunk(70_000, 70_003) + three_way_chunk(70_003, 70_010), three_way_chunk(70_000, 70_010)
    )
    assert not three_way_chunk(5, 5).any()
    with pytest.raises(ValueError, match="expected a part of 0 to 134459"):
        three_way_chunk(0, 134_460)


def test_places_of_pairs_and_triples_are_their_order() -> None:
    assert (pair_index(*class_pairs_listed()) == np.arange(NUM_PAIRS)).all()
    triples = triples_listed().astype(np.intp)
    assert triples.shape == (NUM_TRIPLES, 3) == (818_805, 3)
    assert (triple_index(*triples.T) == np.arange(NUM_TRIPLES)).all()
    assert (triple_index(*triples[:, [2, 0, 1]].T) == np.arange(NUM_TRIPLES)).all()


def test_disjoint_hands_are_counted_for_every_triple() -> None:
    counts = disjoint_triples()
    triples = triples_listed().astype(np.intp)
    for row in [0, NUM_TRIPLES - 1, *np.random.default_rng(5).integers(0, NUM_TRIPLES, 20).tolist()]:
        deals = product(*(members(c) for c in triples[row]))
        assert counts[row] == sum(len(set(COMBO_CARDS[list(deal)].ravel())) == 6 for deal in deals)
    # Each triple stands for its orders: all ordered deals of three hands.
    orders = np.array([6, 3, 1])[(triples[:, :-1] == triples[:, 1:]).sum(axis=1)]
    assert (counts * orders).sum() == comb(52, 2) * comb(50, 2) * comb(48, 2)


def test_sets_of_winners_follow_from_what_each_class_beats() -> None:
    names = ("AA", "AKs", "KK"), ("AA", "AA", "KK"), ("AKo", "AKo", "AKo"), ("T9s", "98s", "44")
    counts = np.zeros((2, 169, NUM_PAIRS), dtype=np.int64)
    expected = {}
    for hands in names:
        classes = sorted(CLASS_NAMES.index(hand) for hand in hands)
        winners = multiway_equity([CLASS_NAMES[c] for c in classes]).winners
        for place, own in enumerate(classes):
            pair = pair_index(*np.delete(classes, place))
            counts[0, own, pair] = winners[1 << place]
            counts[1, own, pair] = sum(winners[mask] for mask in range(8) if mask >> place & 1)
        expected[tuple(classes)] = winners
    table = winners_of_triples(counts)
    cube = table.cube()
    for (a, b, c), winners in expected.items():
        row = int(triple_index(a, b, c))
        assert table.winners[row].tolist() == winners[1:].tolist()
        assert table.deals[row] == disjoint_triples()[row] * comb(46, 5)
        shares = multiway_equity([CLASS_NAMES[c], CLASS_NAMES[a], CLASS_NAMES[b]]).equity
        assert table.equity(c, a, b) == pytest.approx(shares[0])
        assert table.equity(a, c, b) == table.equity(a, b, c) == pytest.approx(shares[1])
        assert (cube[c, a, b], cube[a, b, c], cube[b, c, a]) == pytest.approx(tuple(shares))


def test_what_cannot_be_dealt_has_no_equity() -> None:
    table = winners_of_triples(np.zeros((2, 169, NUM_PAIRS), dtype=np.int64))
    assert disjoint_triples()[triple_index(0, 0, 0)] == 0
    assert np.isnan(table.equity(0, 0, 0))


@pytest.mark.deep
@pytest.mark.timeout(3600)
def test_all_boards_give_the_published_counts() -> None:
    table = winners_of_triples(three_way_chunk(0, 134_459))
    assert table.winners.min() >= 0
    ranges = ("AA", "KK"), ("KK", "QQ"), ("QQ", "AA")
    total = np.zeros(8, dtype=np.int64)
    for hands in product(*ranges):
        order = np.argsort([CLASS_NAMES.index(hand) for hand in hands], kind="stable")
        row = table.winners[triple_index(*(CLASS_NAMES.index(hand) for hand in hands))]
        for mask in range(1, 8):
            total[sum(1 << order[place] for place in range(3) if mask >> place & 1)] += row[mask - 1]
    assert total.tolist() == [
        *(0, 348_272_820, 119_882_736, 37_653_912),
        *(303_253_020, 74_015_280, 1_266_624, 3_904_200),
    ]
    for row in np.random.default_rng(11).integers(0, NUM_TRIPLES, 30):
        hands = [CLASS_NAMES[c] for c in triples_listed()[row]]
        assert table.winners[row].tolist() == multiway_equity(hands).winners[1:].tolist()
