"""Equities of several players: published counts, brute force, and what no relabelling may change."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from abstractions.cards import COMBO_CARDS, format_cards, format_combo, parse_cards
from abstractions.equity import equity, preflop_table
from abstractions.evaluator import evaluate
from abstractions.isomorphism import SUIT_PERMUTATIONS, permute_cards, permute_combos
from abstractions.multiway_equity import equity as module
from abstractions.multiway_equity import multiway_equity
from abstractions.ranges import parse_range

MIXED = ("AhAd,KK:0.25,QhJh", "KK,AcQc:0.5,9h8h", "QQ:0.75,AsKs,7d6d", "JJ,AsQs:0.5,5c4c")


def brute_force(hands: Sequence[str], board: str, dead: str = "") -> NDArray[np.float64]:
    """Weight by set of winners: every hand of everybody, every run-out, one evaluation each."""
    ranges = [[(c, w) for c, w in enumerate(parse_range(text)) if w] for text in hands]
    known, gone = parse_cards(board).tolist(), parse_cards(dead).tolist()
    counts = np.zeros(1 << len(hands))
    for deal in product(*ranges):
        cards = [int(card) for combo, _ in deal for card in COMBO_CARDS[combo]]
        if len({*cards, *known, *gone}) < len(cards) + len(known) + len(gone):
            continue
        deck = [card for card in range(52) if card not in {*cards, *known, *gone}]
        weight = np.prod([weight for _, weight in deal])
        for rest in combinations(deck, 5 - len(known)):
            rows = [[*COMBO_CARDS[combo], *known, *rest] for combo, _ in deal]
            strengths = evaluate(np.array(rows))
            counts[(1 << np.flatnonzero(strengths == strengths.max())).sum()] += weight
    return counts


def test_aces_against_kings_are_the_published_counts() -> None:
    found = multiway_equity(["AA", "KK"])
    assert found.winners.tolist() == [0, 50_371_344, 10_986_372, 285_228]
    assert found.exact
    assert found.standard_error == 0.0


@pytest.mark.parametrize("most_listed", [module._MAX_LISTED, 0], ids=["listed", "swept"])
def test_three_ranges_that_block_each_other_are_the_published_counts(
    most_listed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MAX_LISTED", most_listed)
    found = multiway_equity(["AA,KK", "KK,QQ", "QQ,AA"])
    assert found.winners.tolist() == [
        *(0, 348_272_820, 119_882_736, 37_653_912),
        *(303_253_020, 74_015_280, 1_266_624, 3_904_200),
    ]


def test_dead_cards_on_a_flop_are_the_published_counts() -> None:
    found = multiway_equity(["3d7d", "2h9h", "2c9c"], "5d5h5c", "3s3c")
    assert found.winners.tolist() == [0, 183, 28, 0, 28, 0, 380, 201]
    assert found.winners.sum() == comb(52 - 3 - 2 - 6, 2)


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize(("board", "dead"), [("Kc7d2s5h", ""), ("QsJh2h8d", "AsKd"), ("9c8c7c5d5s", "Ad")])
def test_weighted_ranges_agree_with_brute_force(players: int, board: str, dead: str) -> None:
    found = multiway_equity(MIXED[:players], board, dead)
    np.testing.assert_allclose(found.winners, brute_force(MIXED[:players], board, dead), rtol=1e-12)
    assert found.exact


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_random_hands_on_random_turns_agree_with_brute_force(seed: int, players: int) -> None:
    rng = np.random.default_rng(seed)
    board = format_cards(rng.permutation(52)[:4])
    combos = rng.integers(0, 1326, (players, 3))
    hands = [",".join(format_combo(int(c)) for c in own) for own in combos]
    expected = brute_force(hands, board)
    if expected.any():
        np.testing.assert_array_equal(multiway_equity(hands, board).winners, expected)
    else:
        with pytest.raises(ValueError, match=r"no hand|no deal is possible"):
            multiway_equity(hands, board)


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("board", ["Ts9s4d", "Ts9s4d4c", "Ts9s4d4c8s"])
def test_sweeps_and_listed_deals_count_the_same(
    players: int, board: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hands = ("99+,AKs,T8s:0.5", "TT+,AhKh,QJs", "88,AQs:0.25,JTs")[:players]
    listed = multiway_equity(hands, board)
    monkeypatch.setattr(module, "_MAX_LISTED", 0)
    swept = multiway_equity(hands, board)
    assert listed.exact
    assert swept.exact
    np.testing.assert_allclose(swept.winners, listed.winners, rtol=1e-12)


def test_three_random_hands_share_a_flop_evenly() -> None:
    found = multiway_equity(["all"] * 3, "QsJh2h")
    np.testing.assert_allclose(found.equity, 1 / 3)
    assert found.winners.sum() == comb(49, 2) * comb(47, 2) * comb(45, 2) * comb(43, 2)


def test_two_players_have_the_equity_of_the_two_player_table() -> None:
    for *hands, board in (("AhKh", "QQ", ""), ("QQ+,AKs:0.5", "all", "Ts9s4d"), ("76s", "AKo", "7c7d2h")):
        assert multiway_equity(hands, board).equity[0] == pytest.approx(equity(*hands, board), abs=1e-12)
    wins, ties, totals = (int(table[1, 14]) for table in preflop_table())  # AKs against KK
    assert multiway_equity(["AKs", "KK"]).winners.tolist() == [0, wins, totals - wins - ties, ties]


def test_the_order_of_the_players_does_not_matter() -> None:
    first = multiway_equity(MIXED, "Ts9s4d")
    for order in list(permutations(range(4)))[::5]:
        other = multiway_equity([MIXED[i] for i in order], "Ts9s4d")
        np.testing.assert_allclose(other.equity, first.equity[list(order)])
        for mask in range(16):
            moved = sum(1 << place for place, player in enumerate(order) if mask >> player & 1)
            assert other.winners[moved] == pytest.approx(first.winners[mask])


def test_renaming_the_suits_of_everything_does_not_matter() -> None:
    ranges = [parse_range(text) for text in MIXED[:3]]
    board = parse_cards("Ts9s4d")
    first = multiway_equity(ranges, board)
    for suits in SUIT_PERMUTATIONS[::7]:
        renamed = [np.empty(1326) for _ in ranges]
        for old, new in zip(ranges, renamed):
            new[permute_combos(suits)] = old
        other = multiway_equity(renamed, permute_cards(board, suits))
        np.testing.assert_allclose(other.winners, first.winners, rtol=1e-12)


def test_a_range_that_breaks_the_symmetry_of_the_others_is_counted_exactly() -> None:
    # One suit stands for four: the enumeration uses the sum of the range's renamings, and divides.
    hands = ["AhKh,AhQd:0.5", "99,JTs", "QQ,88"]
    for board, dead in (("Ts9s4d", ""), ("Ts9d4c", "2s2d"), ("TsTdTc5h", "")):
        found = multiway_equity(hands, board, dead)
        np.testing.assert_allclose(found.winners, brute_force(hands, board, dead), rtol=1e-12)
    one, all_suits = multiway_equity(["AhKh", "QQ", "JJ"]), multiway_equity(["AKs", "QQ", "JJ"])
    assert (4 * one.winners == all_suits.winners).all()


def test_shares_add_up() -> None:
    found = multiway_equity(["AhKh", "QsQd", "JcJd", "Tc9c", "8h7h", "6s6d", "5c4c", "Ad2d", "KsQc"])
    assert found.exact
    assert found.winners.sum() == comb(34, 5)
    assert found.equity.sum() == pytest.approx(1.0)
    assert (found.win <= found.equity).all()
    assert (found.equity <= found.win + found.tie).all()


def test_too_many_deals_are_sampled_and_said_to_be() -> None:
    hands = ["AA,KK", "KK,QQ", "QQ,AA"]
    exact = multiway_equity(hands)
    for listed in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            if not listed:  # each player draws from its own range, and collisions are dropped
                patch.setattr(module, "_MAX_LISTED", 0)
            drawn = multiway_equity(hands, max_work=0, error=1e-3, seed=7)
            assert (
                drawn.winners.tolist()
                == multiway_equity(hands, max_work=0, error=1e-3, seed=7).winners.tolist()
            )
        assert not drawn.exact
        assert 0 < drawn.standard_error <= 1e-3
        assert (abs(drawn.equity - exact.equity) < 4.5 * drawn.standard_errors).all()
        chances, known = (found.winners / found.winners.sum() for found in (drawn, exact))
        assert (abs(chances - known) < 4.5 * np.sqrt(known / drawn.winners.sum()) + 1e-12).all()


def test_sampling_knows_board_dead_cards_and_weights() -> None:
    for board, dead in (("QsJh2h", "AsKd"), ("QsJh2h8d3c", "")):
        exact = multiway_equity(MIXED, board, dead)
        drawn = multiway_equity(MIXED, board, dead, max_work=0, error=2e-3, seed=1)
        assert (abs(drawn.equity - exact.equity) < 4.5 * drawn.standard_errors).all()


def test_six_random_hands_are_sampled_at_equal_equity() -> None:
    found = multiway_equity(["all"] * 6, error=1e-3)
    assert not found.exact
    assert (abs(found.equity - 1 / 6) < 4.5 * found.standard_errors).all()


@pytest.mark.parametrize(
    ("hands", "board", "dead", "message"),
    [
        (["AA"], "", "", "1 hand given: expected 2 to 9"),
        (["AA"] * 10, "", "", "10 hands given: expected 2 to 9"),
        (["AhKh", "QQ", "AhQd"], "", "", "hands 1 and 3 both hold Ah"),
        (["AA", "AA", "AA"], "", "", "3 players have 4 cards to hold"),
        (["AsAh,KsKh", "AsKd", "KsQd"], "", "", "no deal is possible: the hands cannot"),
        (["AA", "KK"], "AsKs2d", "As", "dead card 'As' is on the board"),
        (["AA", "KK"], "", "AsAs", "card 'As' appears twice"),
        (["AA", "KK"], "", "AsAhAd", "range 'AA' has no hand with AsAhAd dead"),
        (["AsAh", "KK"], "As2c3d", "Kd", "range 'AsAh' has no hand on board As2c3d with Kd dead"),
        (["AA", ""], "", "", "range '' has no hand"),
    ],
)
def test_what_cannot_be_dealt_is_refused(hands: list[str], board: str, dead: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        multiway_equity(hands, board, dead)
