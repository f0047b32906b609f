"""Off-path combos after the flop: every rule by hand, an independent walk, and a real river."""

from __future__ import annotations

import copy
import re
import time
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from abstractions.cards import COMBO_CARDS, format_card, format_cards, live_combos, parse_board, parse_card
from abstractions.evaluator import evaluate_board
from artifacts import postflop_offpath
from artifacts.postflop_offpath import (
    clean_off_path,
    mark_off_path,
    mark_off_path_with_reason,
    reasons_by_key,
)
from solver.betting.tree import NodeKind, PublicTree, spot_tree

Strategy = dict[str, list[float]]

FLOP, TURN, RIVER = "2d7c9h", "2d7c9hKs", "2d7c9hJdKs"
LOW = "low_reach_same_street"
ACES, SIXES, QUEENS, FOURS = "AcAd", "6c6d", "QcQd", "4c4d"
EVERYONE = {ACES: 1.0, SIXES: 1.0, QUEENS: 1.0, FOURS: 1.0}


def rows(board: str, history: str, **hands: list[float]) -> Strategy:
    street = "ftr"[len(board) // 2 - 3]
    names = {"aces": ACES, "sixes": SIXES, "queens": QUEENS, "fours": FOURS}
    return {f"{names.get(hand, hand)}|{board}|{street}|{history}": row for hand, row in hands.items()}


def noise(board: str, history: str) -> Strategy:
    row = [0.1, 0.4, 0.5]
    return rows(board, history, aces=row, sixes=row, queens=row, fours=row)


def reasons(table: Strategy, history: str, board: str = FLOP, **options: object) -> dict[str, str | None]:
    options = {"board": board, "history": history} | options
    return mark_off_path_with_reason(table, options.pop("hero_range", EVERYONE), **options)


def named(
    aces: str | None, sixes: str | None, queens: str | None, fours: str | None
) -> dict[str, str | None]:
    return {ACES: aces, SIXES: sixes, QUEENS: queens, FOURS: fours}


# ---- each reason ---------------------------------------------------------------------------------


def test_a_combo_that_checks_is_not_there_when_the_line_has_bet() -> None:
    table = rows(FLOP, "", aces=[0, 1], sixes=[1, 0], queens=[0.99, 0.01], fours=[0.5, 0.5])
    table |= noise(FLOP, "b50r150")
    marks = reasons(table, "b50r150")
    assert marks == named(None, "checked_closed", "checked_closed", None)


def test_a_check_raise_by_a_combo_that_always_checks_follows_the_line() -> None:
    table = rows(FLOP, "", aces=[1, 0], sixes=[1, 0], queens=[0, 1], fours=[1, 0])
    table |= rows(FLOP, "xb50", aces=[0, 0, 1], sixes=[0, 1, 0], queens=[0, 0, 1], fours=[1, 0, 0])
    table |= noise(FLOP, "xb50r150r400")
    assert reasons(table, "xb50") == named(None, None, LOW, None)
    assert reasons(table, "xb50r150r400") == named(None, "called_closed", LOW, "folded")


def test_in_position_the_hero_acts_on_odd_token_counts() -> None:
    table = rows(FLOP, "x", aces=[0, 1], sixes=[1, 0], queens=[0.6, 0.4], fours=[0.3, 0.7])
    table |= rows(FLOP, "xb50r150", aces=[0, 0, 1], sixes=[0, 0, 1], queens=[0, 1, 0], fours=[1, 0, 0])
    table |= noise(FLOP, "xb50r150r400r900")
    marks = reasons(table, "xb50r150", hero_is_oop=False)
    assert marks == named(None, "checked_closed", None, None)
    marks = reasons(table, "xb50r150r400r900", hero_is_oop=False)
    assert marks == named(None, "checked_closed", "called_closed", "folded")


def test_a_check_back_ends_the_street_and_a_street_that_goes_on_contradicts_it() -> None:
    table = rows(FLOP, "x", aces=[0, 1], sixes=[1, 0], queens=[0.6, 0.4], fours=[0.3, 0.7])
    table |= noise(FLOP, "xxb50") | noise(TURN, "xx/x")
    assert reasons(table, "xxb50", hero_is_oop=False) == named(LOW, "checked_closed", None, None)
    marks = reasons(table, "xx/x", TURN, hero_is_oop=False)
    assert marks == named("rarely_reached", None, None, None)


def test_a_call_ends_the_street_and_a_street_that_goes_on_contradicts_it() -> None:
    table = rows(FLOP, "", aces=[0, 1]) | rows(FLOP, "b50r99", aces=[0, 1, 0])
    table |= rows(FLOP, "b50r99cb150", aces=[0, 0.5, 0.5]) | rows(FLOP, "b50r99cb150r200", aces=[0.5, 0.5])
    table |= rows(TURN, "b50r99c/", aces=[0.3, 0.7])
    assert reasons(table, "b50r99cb150r200", hero_range={ACES: 1.0}) == {ACES: "called_closed"}
    assert reasons(table, "b50r99c/", TURN, hero_range={ACES: 1.0}) == {ACES: None}


def test_any_size_of_bet_is_a_bet_on_this_line() -> None:
    table = rows(FLOP, "", aces=[0, 0.006, 0.994], sixes=[1, 0, 0], queens=[0, 1, 0], fours=[0.5, 0, 0.5])
    table |= noise(FLOP, "b50r150") | noise(FLOP, "b100r300")
    for history in ("b50r150", "b100r300"):
        assert reasons(table, history) == named(None, "checked_closed", None, None)


def test_the_last_entry_is_the_all_in_where_the_table_goes_on_with_one() -> None:
    table = rows(FLOP, "", aces=[0, 1, 0], sixes=[0, 0, 1], queens=[0.396, 0.004, 0.6], fours=[0, 0.7, 0.3])
    table |= noise(FLOP, "b50r150")
    assert reasons(table, "b50r150") == named(None, None, None, None)
    table |= rows(FLOP, "A", QsQh=[0.5, 0.5])
    assert reasons(table, "b50r150") == named(None, "all_in", LOW, None)


def test_after_an_all_in_of_its_own_a_combo_has_nothing_to_decide() -> None:
    table = rows(FLOP, "", aces=[0, 1], sixes=[0, 1], queens=[0, 1], fours=[0, 1])
    table |= rows(FLOP, "b50r99", aces=[0, 0, 1], sixes=[1, 0, 0], queens=[0, 1, 0], fours=[0, 0.5, 0.5])
    assert reasons(table, "b50r99A") == named("all_in", "folded", "called_closed", None)


def test_facing_a_shove_the_bettor_is_in_range() -> None:
    table = rows(FLOP, "", aces=[0, 1], sixes=[1, 0], queens=[0, 1], fours=[0.997, 0.003])
    table |= rows(FLOP, "b50A", aces=[0, 1], sixes=[0.5, 0.5], queens=[1, 0], fours=[0.5, 0.5])
    assert reasons(table, "b50A") == named(None, "checked_closed", None, "checked_closed")


@pytest.mark.parametrize(("fold", "reason"), [(0.99, "folded"), (0.9899, None)])
def test_dominance_starts_at_99_percent(fold: float, reason: str | None) -> None:
    table = rows(FLOP, "", aces=[0, 1], sixes=[0, 1])
    table |= rows(FLOP, "b50r150", aces=[0, 0, 1], sixes=[fold, 0, 1 - fold])
    table |= rows(FLOP, "b50r150r400r900", aces=[0, 1], sixes=[0, 1])
    assert reasons(table, "b50r150r400r900", combos=[SIXES]) == {SIXES: reason}


def test_the_earliest_decision_gives_the_reason() -> None:
    table = rows(FLOP, "", aces=[0, 1], sixes=[1, 0])
    table |= rows(FLOP, "b50r150", aces=[0, 0, 1], sixes=[1, 0, 0])
    table |= rows(FLOP, "b50r150r400r900", aces=[0, 1], sixes=[0, 1])
    assert reasons(table, "b50r150r400r900", combos=[SIXES]) == {SIXES: "checked_closed"}


def test_reasons_are_importable_by_their_older_names() -> None:
    assert postflop_offpath.low_reach == postflop_offpath.REASON_LOW_REACH == LOW
    assert postflop_offpath.REASON_RARELY_REACHED == "rarely_reached"


# ---- streets -------------------------------------------------------------------------------------


def two_streets() -> Strategy:
    table = rows(FLOP, "", aces=[1, 0], sixes=[1, 0], queens=[0, 1], fours=[0.999, 0.001])
    table |= rows(FLOP, "xb50", aces=[0, 1, 0], sixes=[1, 0, 0], queens=[0, 1, 0], fours=[0.998, 0.002, 0])
    table |= rows(TURN, "xb50c/", aces=[0.3, 0.7], sixes=[0.4, 0.6], queens=[0, 1], fours=[1, 0])
    return table | noise(TURN, "xb50c/b100r300")


def test_a_new_card_is_a_new_decision_for_a_combo_that_hardly_got_there() -> None:
    table = two_streets()
    marks = reasons(table, "xb50c/", TURN)
    assert marks == named(None, "rarely_reached", "rarely_reached", "rarely_reached")
    assert not any(mark_off_path(table, EVERYONE, board=TURN, history="xb50c/").values())
    cleaned = clean_off_path(table, EVERYONE, board=TURN, history="xb50c/")
    assert cleaned == table


def test_what_a_combo_does_on_this_street_folds_it_however_rarely_it_came() -> None:
    marks = reasons(two_streets(), "xb50c/b100r300", TURN)
    assert marks == named(None, "rarely_reached", "rarely_reached", "checked_closed")


def test_low_reach_belongs_to_the_street_with_the_smaller_factor() -> None:
    table = rows(FLOP, "", aces=[1, 0], sixes=[0.2, 0.8], queens=[0.02, 0.98], fours=[0.002, 0.998])
    turn = {"aces": [0, 1], "sixes": [0.98, 0.02], "queens": [0.8, 0.2], "fours": [0.5, 0.5]}
    table |= rows(TURN, "xx/", **turn) | noise(TURN, "xx/b100r300")
    assert reasons(table, "xx/b100r300", TURN) == named(None, LOW, "rarely_reached", "rarely_reached")


def test_low_reach_on_this_street_alone_is_enough() -> None:
    table = rows(FLOP, "", aces=[1, 0], sixes=[0.002, 0.998])
    table |= rows(TURN, "xx/", aces=[1, 0], sixes=[1, 0])
    table |= rows(TURN, "xx/xb50", aces=[0, 0, 1], sixes=[0.5, 0.496, 0.004])
    table |= noise(TURN, "xx/xb50r150r400")
    weights = {ACES: 1.0, SIXES: 1.0}
    assert reasons(table, "xx/xb50", TURN, hero_range=weights)[SIXES] == "rarely_reached"
    marks = reasons(table, "xx/xb50r150r400", TURN, hero_range=weights, combos=[ACES, SIXES])
    assert marks == {ACES: None, SIXES: None}
    for hole in (QUEENS, FOURS):
        del table[f"{hole}|{TURN}|t|xx/xb50r150r400"]
    marks = reasons(table, "xx/xb50r150r400", TURN, hero_range=weights)
    assert marks == {ACES: None, SIXES: LOW}


def test_a_tiny_range_weight_is_an_earlier_street_and_no_weight_is_not_in_range() -> None:
    table = rows(FLOP, "", aces=[0.4, 0.6], sixes=[0.5, 0.5], queens=[1, 0], fours=[0, 1])
    weights = {ACES: 1.0, SIXES: 0.001, QUEENS: 0.0}
    assert reasons(table, "", hero_range=weights) == named(None, "rarely_reached", LOW, LOW)
    assert clean_off_path(table, weights, board=FLOP, history="") == table | rows(
        FLOP, "", queens=[1.0, 0.0], fours=[1.0, 0.0]
    )


def test_scaling_the_range_changes_nothing() -> None:
    table = two_streets()
    for history in ("xb50c/", "xb50c/b100r300"):
        tiny = dict.fromkeys(EVERYONE, 1e-9)
        assert reasons(table, history, TURN, hero_range=tiny) == reasons(table, history, TURN)


def test_boards_are_sorted_so_earlier_ones_are_found_as_subsets() -> None:
    """The turn 3c and the river 2h both sort before cards of the flop."""
    flop, turn, river = "4dTsKc", "3c4dTsKc", "2h3c4dTsKc"
    table = rows(flop, "", aces=[1, 0], sixes=[0, 1]) | rows(turn, "xx/", aces=[1, 0], sixes=[1, 0])
    table |= rows(river, "xx/xx/", aces=[0.2, 0.8], sixes=[0.2, 0.8])
    marks = reasons(table, "xx/xx/", river, hero_range={ACES: 1.0, SIXES: 1.0})
    assert marks == {ACES: None, SIXES: "rarely_reached"}


def test_a_river_reached_over_two_turns_has_the_mean_reach_of_both() -> None:
    other = "2d7c9hJd"
    table = rows(FLOP, "", aces=[1, 0], sixes=[1, 0])
    table |= rows(TURN, "xx/", aces=[1, 0], sixes=[0.004, 0.996])
    table |= rows(RIVER, "xx/xx/", aces=[0.2, 0.8], sixes=[0.2, 0.8])
    marks = {"hero_range": {ACES: 1.0, SIXES: 1.0}}
    assert reasons(table, "xx/xx/", RIVER, **marks)[SIXES] == "rarely_reached"
    table |= rows(other, "xx/", aces=[1, 0], sixes=[0.5, 0.5])
    assert reasons(table, "xx/xx/", RIVER, **marks)[SIXES] is None
    table |= rows(TURN, "xx/", sixes=[0.008, 0.992])
    del table[f"{SIXES}|{other}|t|xx/"]
    assert reasons(table, "xx/xx/", RIVER, **marks)[SIXES] is None


def test_a_subgame_may_start_on_the_turn_or_the_river() -> None:
    for board in (TURN, RIVER):
        table = rows(board, "", aces=[0, 1], sixes=[1, 0]) | rows(board, "b50r150", aces=[0, 1], sixes=[0, 1])
        marks = reasons(table, "b50r150", board, hero_range={ACES: 1.0, SIXES: 1.0})
        assert marks == {ACES: None, SIXES: "checked_closed"}
    table |= rows(RIVER, "xx/", aces=[1, 0], sixes=[1, 0])
    table |= rows(TURN, "", aces=[1, 0], sixes=[0, 1])
    assert reasons(table, "xx/", RIVER, hero_range={ACES: 1.0, SIXES: 1.0})[SIXES] == "rarely_reached"


# ---- boards, combos and names --------------------------------------------------------------------


def test_a_combo_that_holds_a_board_card_is_not_in_range() -> None:
    blocked, live = "2d2s", "AcAd"
    table = {f"{hole}|{FLOP}|f|": [0.0, 1.0] for hole in (blocked, live)}
    weights = {blocked: 1.0, live: 1.0, "9h9s": 1.0}
    assert reasons(table, "", hero_range=weights) == {live: None, blocked: LOW, "9h9s": LOW}
    assert clean_off_path(table, weights)[f"{blocked}|{FLOP}|f|"] == [1.0, 0.0]


def test_a_combo_is_blocked_from_the_street_its_card_falls_on() -> None:
    table = rows(FLOP, "", aces=[1, 0], KsQs=[1, 0]) | rows(TURN, "xx/", aces=[0.5, 0.5], KsQs=[0.5, 0.5])
    weights = {ACES: 1.0, "KsQs": 1.0}
    assert reasons(table, "", hero_range=weights) == {ACES: None, "KsQs": None}
    assert reasons(table, "xx/", TURN, hero_range=weights) == {ACES: None, "KsQs": LOW}
    del table[f"KsQs|{TURN}|t|xx/"]
    assert reasons(table, "xx/", TURN, hero_range=weights) == {ACES: None, "KsQs": LOW}


def test_cards_are_understood_in_any_order() -> None:
    table = rows(FLOP, "", KcAh=[0, 1], **{"6d6c": [1, 0]})
    table |= {f"KcAh|{FLOP}|f|b50r150": [0.0, 1.0], "6c6d|9h2d7c|f|b50r150": [0.0, 1.0]}
    for weights in ({"AhKc": 1.0, "6c6d": 1.0}, {"KcAh": 1.0, "6d6c": 1.0}):
        for board in (FLOP, "9h7c2d", ["7c", "2d", "9h"], "9h 7c 2d"):
            marks = reasons(table, "b50r150", hero_range=weights, board=board)
            assert marks["AhKc"] is marks["KcAh"] is None
            assert marks["6c6d"] == marks["6d6c"] == marks.get("6d6c") == "checked_closed"
            assert "6d6c" in marks
            assert "6d6h" not in marks
            assert marks.get("6d6h", "none") == "none"
    asked = reasons(table, "b50r150", hero_range=weights, combos=["AhKc", "6d6c"])
    assert dict(asked) == {"AhKc": None, "6d6c": "checked_closed"}
    cleaned = clean_off_path(table, weights)
    assert cleaned["6c6d|9h2d7c|f|b50r150"] == [1.0, 0.0]
    assert cleaned[f"KcAh|{FLOP}|f|b50r150"] == [0.0, 1.0]
    with pytest.raises(KeyError, match="6d6h"):
        marks["6d6h"]


def test_asking_for_some_combos_answers_as_if_asked_for_all() -> None:
    table = rows(FLOP, "", aces=[0, 1], sixes=[0.99, 0.01], queens=[0.5, 0.5], fours=[0.5, 0.5])
    table |= rows(
        FLOP, "b50r150", aces=[0, 0, 1], sixes=[0, 0, 1], queens=[0.5, 0.496, 0.004], fours=[0, 0, 1]
    )
    table |= noise(FLOP, "b50r150r400r900")
    every = reasons(table, "b50r150r400r900")
    assert every == named(None, "checked_closed", LOW, None)
    for hole in EVERYONE:
        assert reasons(table, "b50r150r400r900", combos=[hole]) == {hole: every[hole]}
    cleaned = clean_off_path(table, EVERYONE, combos=[SIXES])
    assert {key for key in table if cleaned[key] != table[key]} == {
        f"{SIXES}|{FLOP}|f|b50r150",
        f"{SIXES}|{FLOP}|f|b50r150r400r900",
    }


def test_without_a_range_every_combo_weighs_the_same() -> None:
    table = two_streets()
    for history in ("xb50c/", "xb50c/b100r300"):
        assert reasons(table, history, TURN, hero_range=None) == reasons(table, history, TURN)


def test_a_longer_board_stands_for_the_part_the_history_has_reached() -> None:
    table = two_streets()
    assert reasons(table, "xb50c/b100r300", RIVER) == reasons(table, "xb50c/b100r300", TURN)
    assert reasons(table, "xb50", RIVER) == reasons(table, "xb50", FLOP)


def test_the_total_rule_compares_with_the_sum() -> None:
    table = rows(FLOP, "", aces=[0, 1], sixes=[0, 1], queens=[0, 1], fours=[0.985, 0.015])
    table |= noise(FLOP, "b50r150")
    assert reasons(table, "b50r150") == named(None, None, None, None)
    assert reasons(table, "b50r150", reach_rule="total") == named(None, None, None, LOW)


# ---- fail-safe -----------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [f"{ACES}|{FLOP}|f|", f"{FOURS}|{FLOP}|f|xb50"])
def test_one_combo_without_a_row_on_the_way_leaves_the_decision_untouched(missing: str) -> None:
    table = two_streets()
    del table[missing]
    assert set(reasons(table, "xb50c/b100r300", TURN).values()) == {None}
    assert clean_off_path(table, EVERYONE, board=TURN, history="xb50c/b100r300") == table


def test_rows_of_other_decisions_are_cleaned_all_the_same() -> None:
    table = two_streets() | noise(FLOP, "b50r150")
    del table[f"{ACES}|{FLOP}|f|xb50"]
    cleaned = clean_off_path(table, EVERYONE)
    assert {key for key in table if cleaned[key] != table[key]} == {
        f"{hole}|{FLOP}|f|b50r150" for hole in (ACES, SIXES, FOURS)
    } | {f"{QUEENS}|{FLOP}|f|xb50"}


@pytest.mark.parametrize(
    ("root", "history"),
    [
        ([1.0, 0.0], "cr150"),  # nothing to call
        ([1.0], "b50r150"),  # no bet on offer
        ([], "b50r150"),
        ([1.0, 0.0], "z50r150"),
        ([1.0, 0.0], "b50fr150"),
        ([1.0, 0.0], "b50r150/"),  # the next street has no board
        ([1.0, 0.0], "xx/b50r150"),
    ],
)
def test_a_history_that_cannot_be_walked_is_untouched(root: list[float], history: str) -> None:
    table = rows(FLOP, "", aces=root, sixes=root) | rows(FLOP, history, aces=[0.2, 0.8], sixes=[0.2, 0.8])
    assert reasons(table, history, hero_range={ACES: 1.0, SIXES: 1.0}) == {ACES: None, SIXES: None}
    assert clean_off_path(table, EVERYONE) == table


def test_where_only_the_all_in_is_on_offer_a_smaller_bet_cannot_be_walked() -> None:
    table = rows(FLOP, "", aces=[1, 0], sixes=[1, 0]) | noise(FLOP, "b50r150")
    table |= rows(FLOP, "A", QsQh=[0.5, 0.5])
    assert set(reasons(table, "b50r150", combos=[ACES, SIXES]).values()) == {None}


@pytest.mark.parametrize(
    "key",
    [
        "AcAd",
        "AcAd|2d7c9h",
        "AcAd|2d7c|f|",
        "AcAd|2d7c9h|t|",
        "AcAx|2d7c9h|f|",
        "Ac|2d7c9h|f|",
        "AcAd||p|b200",
    ],
)
def test_rows_under_unreadable_keys_are_kept_as_they_are(key: str) -> None:
    table = {**two_streets(), key: [0.3, 0.7]}
    cleaned = clean_off_path(table, {SIXES: 1.0})
    assert cleaned[key] == [0.3, 0.7]
    assert {k: v for k, v in cleaned.items() if k != key} == clean_off_path(two_streets(), {SIXES: 1.0})


def test_nothing_is_known_without_a_table() -> None:
    assert reasons({}, "b50r150") == named(None, None, None, None)
    assert mark_off_path(None, {ACES: 1.0}, board=FLOP, history="b50r150") == {ACES: False}
    assert clean_off_path(None, EVERYONE, board=FLOP, history="") == {}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reach_rule": "mean"}, "reach_rule 'mean': accepted are max, total"),
        ({"board": "2d7c"}, "board '2d7c' has 2 cards: expected 3, 4 or 5"),
        ({"board": "2d7cXx"}, "card 'Xx'"),
        ({"combos": ["AcA"]}, "card 'A'"),
        ({"hero_range": {"AKs": 1.0}}, "card 'AK'"),
        ({"hero_range": {"AcAd": -1.0}}, "weight -1.0 of AcAd: expected a number >= 0"),
        ({"hero_range": {"AcAd": float("nan")}}, "weight nan of AcAd"),
    ],
)
def test_bad_questions_are_refused_by_name(options: dict[str, object], message: str) -> None:
    arguments = {"board": FLOP, "history": "", "hero_range": EVERYONE} | options
    weights = arguments.pop("hero_range")
    for function in (mark_off_path, mark_off_path_with_reason, clean_off_path):
        with pytest.raises(ValueError, match=re.escape(message)):
            function(two_streets(), weights, **arguments)


# ---- cleaning ------------------------------------------------------------------------------------


def test_a_cleaned_row_gives_up_and_the_others_stay() -> None:
    table = two_streets() | noise(FLOP, "xb50r150r400")
    table |= rows(FLOP, "xb50r150r400", aces=[0, 0, 1], sixes=[0.2, 0.8, 0])
    cleaned = clean_off_path(table, EVERYONE, board=FLOP, history="xb50r150r400")
    key = f"%s|{FLOP}|f|xb50r150r400"
    assert [cleaned[key % hole] for hole in (ACES, SIXES, QUEENS, FOURS)] == [[1.0, 0.0, 0.0]] * 4
    assert {k: v for k, v in cleaned.items() if "r400" not in k} == two_streets()


def test_without_a_history_the_board_chooses_what_comes_before_and_after_it() -> None:
    other = "2d7c9hTs"
    table = two_streets() | rows(other, "xb50c/", aces=[1, 0], sixes=[1, 0], queens=[1, 0], fours=[1, 0])
    table |= noise(other, "xb50c/b100r300")
    changed = {
        board: {k for k, v in clean_off_path(table, EVERYONE, board=board).items() if v != table[k]}
        for board in (FLOP, TURN, other, RIVER, None)
    }
    here, there = f"{FOURS}|{TURN}|t|xb50c/b100r300", f"{ACES}|{other}|t|xb50c/b100r300"
    assert here in changed[TURN]
    assert there not in changed[TURN]
    assert there in changed[other]
    assert here not in changed[other]
    assert changed[RIVER] == changed[TURN]
    assert changed[FLOP] == changed[None] == changed[TURN] | changed[other]


def test_the_opponents_rows_are_never_touched() -> None:
    table = rows(FLOP, "", aces=[0, 1], sixes=[1, 0]) | rows(FLOP, "b50r150", aces=[0, 1], sixes=[0, 1])
    table |= rows(FLOP, "b50", aces=[0, 0, 1], sixes=[0, 0, 1]) | rows(FLOP, "x", aces=[1, 0], sixes=[1, 0])
    table |= rows(FLOP, "xb50r150", aces=[0, 1], sixes=[0, 1])
    weights = {ACES: 1.0, SIXES: 1.0}
    oop, ip = (clean_off_path(table, weights, hero_is_oop=oop) for oop in (True, False))
    assert {k for k in table if oop[k] != table[k]} == {f"{SIXES}|{FLOP}|f|b50r150"}
    assert {k for k in table if ip[k] != table[k]} == {f"{hole}|{FLOP}|f|xb50r150" for hole in (ACES, SIXES)}


def test_arrays_are_rows_too_and_results_are_new_lists() -> None:
    table = {key: np.array(row, dtype=float) for key, row in two_streets().items()}
    cleaned = clean_off_path(table, EVERYONE)
    assert cleaned == clean_off_path(two_streets(), EVERYONE)
    for row in cleaned.values():
        row[0] = 9.0
    assert {key: row.tolist() for key, row in table.items()} == two_streets()


# ---- properties ----------------------------------------------------------------------------------

HISTORIES = ["", "xb50", "xb50r150r400", "b50r150", "b90r300", "b50r150r400A", "xA"]
HISTORIES += [
    "xx/",
    "xb50c/",
    "xx/b50r150",
    "xx/xb50",
    "xb50c/xb50",
    "xx/xx/",
    "xx/xx/b50r150",
    "b50c/xx/xb50",
]
OPPONENT = ["x", "b50", "A", "xx/x"]
COMBOS = ["AcAd", "6c6d", "TsJs", "2c3c", "KsQs"]
SHARES = (0.0, 0.0, 0.002, 0.0049, 0.01, 0.3, 1.0, 1.0, 40.0, 99.0, 5000.0)
BOARDS = {0: [FLOP], 1: [TURN, "2d7c9hJd"], 2: [RIVER]}


def random_table(seed: int) -> tuple[Strategy, dict[str, float]]:
    """Rows of all sorts, some of them missing, and a range."""
    random = Random(seed)
    table: Strategy = {}
    gaps = random.choice([0.0, 0.0, 0.05])
    for history in HISTORIES + OPPONENT:
        for board in BOARDS[history.count("/")]:
            size = 2 if history.endswith("A") else 4
            for hole in COMBOS if random.random() >= gaps else ():
                shares = random.choices(SHARES, k=size)
                total = sum(shares)
                row = [share / total for share in shares] if total else [1.0] + [0.0] * (size - 1)
                if random.random() >= gaps / 5:
                    table[f"{hole}|{board}|{'ftr'[history.count('/')]}|{history}"] = row
    return table, {hole: random.choice([1.0, 1.0, 0.5, 0.003, 0.0]) for hole in COMBOS}


SEEDS = st.integers(0, 2**32)


def cards_of(text: str) -> frozenset[str]:
    return frozenset(text[i : i + 2] for i in range(0, len(text), 2))


def walk_one_combo(
    table: Strategy, hole: str, board: str, history: str, oop: bool
) -> tuple[float, float, str | None] | None:
    """Reach before this street, reach on it and its first block, back from a decision to the root."""
    streets = [re.findall(r"[xcbrA]\d*", body) for body in history.split("/")]
    own = [(s, i) for s, t in enumerate(streets) for i in range(len(t)) if (i % 2 == 0) == oop]
    if not own:
        return 1.0, 1.0, None
    s, i = own[-1]
    before = "/".join(["".join(tokens) for tokens in streets[:s]] + ["".join(streets[s][:i])])
    token, facing = streets[s][i], i > 0 and streets[s][i - 1][0] in "brA"
    all_in = any(key.split("|")[-1].startswith(before + "A") for key in table)
    size = len(board) - 2 * (len(streets) - 1 - s)
    found = []
    for earlier in dict.fromkeys(key.split("|")[1] for key in table):
        if len(earlier) != size or not cards_of(earlier) <= cards_of(board):
            continue
        row = table.get(f"{hole}|{earlier}|{'ftr'[size // 2 - 3]}|{before}")
        walk = None if row is None else walk_one_combo(table, hole, earlier, before, oop)
        if row is None or walk is None:
            continue
        raises = row[2 if facing else 1 :]
        jam = raises.pop() if all_in and raises else 0.0
        if (token == "x" and facing) or (token == "c" and not facing) or (token[0] in "br" and not raises):
            continue
        mass = {"x": row[0], "c": row[1], "A": jam}.get(token, sum(raises))
        block = walk[2]
        if block is None and facing and row[0] >= 0.99:
            block = "folded"
        if block is None and jam >= 0.99:
            block = "all_in"
        if block is None and not facing and token != "x" and row[0] >= 0.99:
            block = "checked_closed"
        if block is None and facing and token != "c" and row[1] >= 0.99:
            block = "called_closed"
        found.append((walk[0], walk[1], mass, block))
    if not found:
        return None
    if s == len(streets) - 1:
        to_street, within, mass, block = found[0]
        return to_street, within * mass, block
    return sum(to * within * mass for to, within, mass, _ in found) / len(found), 1.0, None


def expected_reasons(
    table: Strategy, weights: dict[str, float], board: str, history: str, oop: bool, rule: str
) -> dict[str, str | None]:
    tail = f"|{board}|{'ftr'[history.count('/')]}|{history}"
    there = [hole for hole in COMBOS if hole + tail in table]
    walks = {
        hole: (0.0, 0.0, None)
        if cards_of(hole) & cards_of(board)
        else walk_one_combo(table, hole, board, history, oop)
        for hole in there
    }
    if None in walks.values():
        return dict.fromkeys(there)
    known = {hole: walk for hole, walk in walks.items() if walk is not None}
    before = {hole: weights[hole] * walk[0] for hole, walk in known.items()}
    reach = {hole: before[hole] * walk[1] for hole, walk in known.items()}
    reference = (max if rule == "max" else sum)(list(reach.values()) or [0.0])
    best_before = max(before.values(), default=0.0)
    best_within = max((known[hole][1] for hole in there if weights[hole] > 0), default=0.0)
    marks: dict[str, str | None] = {}
    for hole in there:
        low = reach[hole] < 0.005 * reference or reach[hole] == 0
        if (rule == "max" and reach[hole] > 0.05 * reference) or (known[hole][2] is None and not low):
            marks[hole] = None
        elif known[hole][2] is not None:
            marks[hole] = known[hole][2]
        elif cards_of(hole) & cards_of(board) or weights[hole] == 0 or known[hole][1] == 0:
            marks[hole] = LOW
        else:
            within = known[hole][1] / best_within
            earlier = within >= 0.005 and within >= (before[hole] / best_before if best_before else 0.0)
            marks[hole] = "rarely_reached" if earlier else LOW
    return marks


@given(SEEDS, st.booleans(), st.sampled_from(["max", "total"]))
@settings(max_examples=60, deadline=None)
def test_marks_agree_with_a_walk_combo_by_combo(seed: int, oop: bool, rule: str) -> None:
    table, weights = random_table(seed)
    before = copy.deepcopy(table)
    by_key = reasons_by_key(table, weights, hero_is_oop=oop, reach_rule=rule)
    cleaned = clean_off_path(table, weights, hero_is_oop=oop, reach_rule=rule)
    for history in HISTORIES + OPPONENT:
        tokens = re.findall(r"[xcbrA]\d*", history.split("/")[-1])
        for board in BOARDS[history.count("/")]:
            tail = f"|{board}|{'ftr'[history.count('/')]}|{history}"
            there = [hole for hole in COMBOS if hole + tail in table]
            if (len(tokens) % 2 == 0) != oop:
                assert all(cleaned[hole + tail] == table[hole + tail] for hole in there)
                assert not any(hole + tail in by_key for hole in there)
                continue
            expected = expected_reasons(table, weights, board, history, oop, rule)
            options = {"board": board, "history": history, "hero_is_oop": oop, "reach_rule": rule}
            marks = mark_off_path_with_reason(table, weights, **options)
            assert {hole: marks[hole] for hole in there} == expected
            assert {hole: by_key[hole + tail] for hole in there} == expected
            for hole in there:
                row = table[hole + tail]
                gone = expected[hole] not in (None, "rarely_reached")
                assert cleaned[hole + tail] == ([1.0] + [0.0] * (len(row) - 1) if gone else row)
    assert table == before


@given(SEEDS, st.sampled_from(HISTORIES))
@settings(max_examples=60, deadline=None)
def test_one_decision_is_cleaned_as_marked_and_the_others_not_at_all(seed: int, history: str) -> None:
    table, weights = random_table(seed)
    every = clean_off_path(table, weights)
    board = BOARDS[history.count("/")][0]
    marks = mark_off_path(table, weights, board=board, history=history)
    one = clean_off_path(table, weights, board=board, history=history)
    for key, row in table.items():
        hole, *place = key.split("|")
        here = place == [board, "ftr"[history.count("/")], history]
        assert one[key] == (every[key] if here else row)
        if here:
            assert marks[hole] or one[key] == row


@given(SEEDS, st.booleans())
@settings(max_examples=50, deadline=None)
def test_rows_stay_distributions_in_the_order_of_the_table(seed: int, oop: bool) -> None:
    table, weights = random_table(seed)
    cleaned = clean_off_path(table, weights, hero_is_oop=oop)
    assert list(cleaned) == list(table)
    assert all(sum(row) == pytest.approx(1.0) and min(row) >= 0 for row in cleaned.values())
    assert all(len(cleaned[key]) == len(row) and cleaned[key] is not row for key, row in table.items())
    keys = list(table)
    Random(seed).shuffle(keys)
    assert clean_off_path({key: table[key] for key in keys}, weights, hero_is_oop=oop) == cleaned


# ---- a real river --------------------------------------------------------------------------------


class River:
    """A river between two small ranges, solved by CFR+ on the engine's own tree."""

    def __init__(self, tree: PublicTree, holes: list[NDArray[np.intp]], strengths: NDArray) -> None:
        self.tree = tree
        self.holes = holes
        cards = [COMBO_CARDS[own].astype(int) for own in holes]
        shared = (cards[0][:, None, :, None] == cards[1][None, :, None, :]).any(axis=(2, 3))
        values = [strengths[own].astype(np.int64) for own in holes]
        self.compatible = (~shared).astype(float)
        self.wins = self.compatible * (values[0][:, None] > values[1][None, :])
        self.ties = self.compatible * (values[0][:, None] == values[1][None, :])
        self.losses = self.compatible - self.wins - self.ties

    def leaf(self, node: int, player: int, reach: NDArray) -> NDArray:
        """Values of a player's hands at the end of a line, against the reach of the other's."""
        pays = self.tree.heads_up_payoffs[node, :, player]
        if self.tree.kind[node] == NodeKind.SHOWDOWN:
            matrix = self.wins * pays[0] + self.losses * pays[1] + self.ties * pays[2]
        else:
            matrix = self.compatible * pays[0]
        return (matrix if player == 0 else matrix.T) @ reach

    def solve(self, iterations: int) -> dict[int, NDArray]:
        nodes = np.flatnonzero(self.tree.kind == NodeKind.DECISION).tolist()
        shape = {n: (len(self.tree.children_of(n)), len(self.holes[self.tree.player[n]])) for n in nodes}
        regret = {n: np.zeros(shape[n]) for n in nodes}
        total = {n: np.zeros(shape[n]) for n in nodes}
        for t in range(1, iterations + 1):
            for player in (0, 1):
                current = {n: _normalised(regret[n]) for n in nodes}
                ones = [np.ones(len(own)) for own in self.holes]
                self._update(0, player, ones, current, regret, total, t)
        return {n: _normalised(total[n]) for n in nodes}

    def _update(
        self,
        node: int,
        player: int,
        reach: list[NDArray],
        current: dict[int, NDArray],
        regret: dict[int, NDArray],
        total: dict[int, NDArray],
        t: int,
    ) -> NDArray:
        if self.tree.kind[node] != NodeKind.DECISION:
            return self.leaf(node, player, reach[1 - player])
        actor = int(self.tree.player[node])
        values = []
        for action, child in enumerate(self.tree.children_of(node).tolist()):
            after = list(reach)
            after[actor] = reach[actor] * current[node][action]
            values.append(self._update(child, player, after, current, regret, total, t))
        if actor != player:
            return np.sum(values, axis=0)
        value = (current[node] * values).sum(axis=0)
        regret[node] = np.maximum(regret[node] + values - value, 0.0)
        total[node] += t * reach[player] * current[node]
        return value

    def value(self, strategy: dict[int, NDArray], player: int, *, best: bool) -> float:
        def descend(node: int, reach: NDArray) -> NDArray:
            if self.tree.kind[node] != NodeKind.DECISION:
                return self.leaf(node, player, reach)
            children = self.tree.children_of(node).tolist()
            if self.tree.player[node] != player:
                return np.sum([descend(c, reach * strategy[node][i]) for i, c in enumerate(children)], axis=0)
            values = np.array([descend(c, reach) for c in children])
            return values.max(axis=0) if best else (strategy[node] * values).sum(axis=0)

        return float(descend(0, np.ones(len(self.holes[1 - player]))).sum() / self.compatible.sum())

    def exploitability(self, strategy: dict[int, NDArray]) -> float:
        return (
            sum(self.value(strategy, p, best=True) - self.value(strategy, p, best=False) for p in (0, 1)) / 2
        )

    def rows(self, strategy: dict[int, NDArray], board: str) -> Strategy:
        """The strategy by key, cards ascending, with the engine's own lines as histories."""
        return {
            f"{_hole(combo)}|{board}|r|{self.tree.line(node)}": strategy[node][:, i].tolist()
            for node in strategy
            for i, combo in enumerate(self.holes[self.tree.player[node]])
        }


def _hole(combo: int) -> str:
    return format_cards(COMBO_CARDS[combo])


def _normalised(sums: NDArray) -> NDArray:
    total = sums.sum(axis=0)
    return np.divide(sums, total, out=np.full(sums.shape, 1 / len(sums)), where=total > 0)


@pytest.fixture(scope="module")
def river() -> tuple[River, dict[int, NDArray], str]:
    board = parse_board("2h3c8dJhQs")
    live = np.flatnonzero(live_combos(board))
    strengths = np.zeros(1326, dtype=np.int64)
    strengths[live] = evaluate_board(board)[live]
    random = np.random.default_rng(7)
    holes = [np.sort(random.choice(live, 40, replace=False)) for _ in range(2)]
    tree = spot_tree(3, 200, 900, {"river": {"bet": "50%,100%,a", "raise": "60%,2.5x"}})
    game = River(tree, holes, strengths)
    return game, game.solve(400), format_cards(board)


def test_cleaning_both_players_of_a_solved_river_costs_next_to_nothing(
    river: tuple[River, dict[int, NDArray], str],
) -> None:
    game, strategy, board = river
    raw = game.rows(strategy, board)
    before = copy.deepcopy(raw)
    cleaned, seen = raw, set()
    for seat in (0, 1):
        weights = {_hole(combo): 1.0 for combo in game.holes[seat]}
        cleaned = clean_off_path(cleaned, weights, board=board, hero_is_oop=seat == 0)
        seen |= set(reasons_by_key(raw, weights, hero_is_oop=seat == 0).values())
    assert raw == before
    assert seen == {None, "folded", "all_in", "checked_closed", "called_closed", LOW}
    changed = sum(cleaned[key] != row for key, row in raw.items())
    assert changed > len(raw) / 10
    folded = {
        node: np.array(
            [
                cleaned[f"{_hole(combo)}|{board}|r|{game.tree.line(node)}"]
                for combo in game.holes[game.tree.player[node]]
            ]
        ).T
        for node in strategy
    }
    pot = 200
    assert game.exploitability(strategy) < 0.002 * pot
    assert game.exploitability(folded) < game.exploitability(strategy) + 0.005 * pot


def test_marks_of_a_solved_river_agree_with_a_walk_combo_by_combo(
    river: tuple[River, dict[int, NDArray], str],
) -> None:
    game, strategy, board = river
    raw = game.rows(strategy, board)
    for node in strategy:
        seat = int(game.tree.player[node])
        history = game.tree.line(node)
        holes = [_hole(combo) for combo in game.holes[seat]]
        marks = mark_off_path_with_reason(
            raw, dict.fromkeys(holes, 1.0), board=board, history=history, hero_is_oop=seat == 0
        )
        reach = {}
        for hole in holes:
            walk = walk_one_combo(raw, hole, board, history, seat == 0)
            assert walk is not None
            reach[hole] = walk[1]
            if marks[hole] not in (None, LOW):
                assert marks[hole] == walk[2]
        best = max(reach.values())
        assert all(marks[hole] is None for hole in holes if reach[hole] > 0.05 * best)
        assert all(marks[hole] is not None for hole in holes if reach[hole] < 0.005 * best)


# ---- speed ---------------------------------------------------------------------------------------


def big_table(num_combos: int, turns: int, rivers: int) -> tuple[Strategy, dict[str, float]]:
    """A flop with many turns and rivers under it, random rows."""
    random = np.random.default_rng(1)
    flop = sorted(parse_card(card) for card in ("2d", "7c", "9h"))
    deck = [card for card in range(52) if card not in flop]
    boards = [[flop], [[*flop, c] for c in deck[:turns]]]
    boards.append([[*flop, *pair] for pair in list(combinations(deck[: turns + 1], 2))[:rivers]])
    holes = [pair.tolist() for pair in COMBO_CARDS if not set(pair.tolist()) & set(flop)]
    holes = [holes[i] for i in random.choice(len(holes), num_combos, replace=False)]
    table = {}
    for history in HISTORIES:
        size = 2 if history.endswith("A") else 4
        for board in boards[history.count("/")]:
            tail = f"{format_cards(sorted(board))}|{'ftr'[history.count('/')]}|{history}"
            drawn = random.dirichlet(np.full(size, 0.2), len(holes)).tolist()
            for (low, high), row in zip(holes, drawn):
                if low not in board and high not in board:
                    table[f"{format_card(low)}{format_card(high)}|{tail}"] = row
    return table, {_hole_of(low, high): 1.0 for low, high in holes}


def _hole_of(low: int, high: int) -> str:
    return format_card(low) + format_card(high)


@pytest.mark.parametrize(("num_combos", "turns", "rivers"), [(1100, 8, 16), (32, 48, 1100)])
def test_a_hundred_thousand_rows_are_cleaned_in_under_a_second(
    num_combos: int, turns: int, rivers: int
) -> None:
    table, weights = big_table(num_combos, turns, rivers)
    keys = list(table)[:100_000]
    table = {key: table[key] for key in keys}
    assert len(table) > 90_000
    times = []
    for _ in range(3):
        start = time.process_time()
        cleaned = clean_off_path(table, weights)
        times.append(time.process_time() - start)
    assert min(times) < len(table) / 100_000
    assert cleaned != table
