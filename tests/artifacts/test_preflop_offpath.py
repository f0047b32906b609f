"""Off-path hands before the flop: every rule by hand, an independent walk, and real solves."""

from __future__ import annotations

import copy
import re
import time
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstractions.cards import CLASS_NAMES
from artifacts import preflop_offpath
from artifacts.offpath import marks as offpath
from artifacts.preflop_offpath import (
    clean_off_path,
    mark_off_path,
    mark_off_path_with_reason,
    reasons_by_line,
    strategy_table,
)
from solver.betting.game import GameConfig
from solver.betting.tree_text import action_labels
from solver.preflop.solver import PreflopStrategy, solve_preflop

Row = dict[str, float]
Table = dict[str, dict[str, Row]]

LOW = "low_reach_same_street"


def facing(fold: float = 0.0, call: float = 0.0, raises: float = 0.0, all_in: float = 0.0) -> Row:
    return {"fold": fold, "call": call, "raise_400": raises, "all_in": all_in}


def first_in(fold: float = 0.0, call: float = 0.0, opens: float = 0.0, all_in: float = 0.0) -> Row:
    return {"fold": fold, "call": call, "open_200": opens, "all_in": all_in}


NOISE = {"fold": 0.1, "call": 0.2, "raise_2000": 0.3, "all_in": 0.4}


def four_bet_table(**hands: Row) -> Table:
    """The big blind's answers to an open, and its rows facing the four-bet."""
    return {
        "||p|": {hand: first_in(opens=1.0) for hand in hands},
        "||p|b200": hands,
        "||p|b200r400": {hand: facing(call=1.0) for hand in hands},
        "||p|b200r400r1000": {hand: dict(NOISE) for hand in hands},
    }


FOUR_BET = "||p|b200r400r1000"


def reasons(table: Table, line: str, **rule: str) -> dict[str, str | None]:
    return mark_off_path_with_reason(table, line, **rule)


# ---- each reason ---------------------------------------------------------------------------------


def test_hands_that_folded_or_called_the_open_are_not_there_for_the_four_bet() -> None:
    table = four_bet_table(
        **{
            "AA": facing(raises=1.0),
            "82s": facing(fold=1.0),
            "A3o": facing(call=1.0),
            "77": facing(all_in=1.0),
        }
    )
    assert reasons(table, FOUR_BET) == {"AA": None, "82s": "folded", "A3o": "called_closed", "77": "all_in"}
    assert mark_off_path(table, FOUR_BET) == {"AA": False, "82s": True, "A3o": True, "77": True}


def test_a_hand_that_mixes_too_little_raising_into_folds_and_calls_has_low_reach() -> None:
    table = four_bet_table(AA=facing(raises=1.0), K9o=facing(fold=0.5, call=0.496, raises=0.004))
    assert reasons(table, FOUR_BET) == {"AA": None, "K9o": LOW}


@pytest.mark.parametrize("line", ["||p|", "||p|b200", "||p|b200r400"])
def test_only_the_own_decisions_of_the_player_to_act_count(line: str) -> None:
    table = four_bet_table(AA=facing(raises=1.0), **{"72o": facing(fold=1.0)})
    assert reasons(table, line) == {"AA": None, "72o": None}


def test_at_the_decision_where_a_hand_folds_it_is_still_in_range() -> None:
    table = four_bet_table(AA=facing(raises=1.0), **{"72o": facing(fold=1.0)})
    assert clean_off_path(table)["||p|b200"] == table["||p|b200"]


@pytest.mark.parametrize(
    ("probability", "reason"), [(0.99, "folded"), (1.0, "folded"), (0.9899, None), (0.5, None)]
)
def test_dominance_starts_at_99_percent(probability: float, reason: str | None) -> None:
    hand = facing(fold=probability, raises=1 - probability)
    assert reasons(four_bet_table(AA=facing(raises=1.0), X=hand), FOUR_BET)["X"] == reason


@pytest.mark.parametrize(("share", "reason"), [(0.005, None), (0.00499, LOW), (0.0, LOW), (0.05, None)])
def test_reach_is_low_below_half_a_percent_of_the_maximum(share: float, reason: str | None) -> None:
    best = facing(call=0.6, raises=0.4)
    hand = facing(fold=0.5, call=0.5 - 0.4 * share, raises=0.4 * share)
    assert reasons(four_bet_table(AA=best, X=hand), FOUR_BET)["X"] == reason


def test_fold_outranks_all_in_which_outranks_call() -> None:
    table = four_bet_table(
        AA=facing(raises=1.0), X=facing(0.99, 0.99, 0.0, 0.99), Y=facing(0.0, 0.99, 0.0, 0.99)
    )
    assert reasons(table, FOUR_BET) == {"AA": None, "X": "folded", "Y": "all_in"}


def test_the_earliest_decision_gives_the_reason() -> None:
    line = "||p|b200r400r1000r2200"
    table = {
        "||p|": {"AA": first_in(opens=1.0), "X": first_in(call=1.0), "Y": first_in(opens=1.0)},
        "||p|b200r400": {"AA": facing(raises=1.0), "X": facing(fold=1.0), "Y": facing(fold=1.0)},
        line: {"AA": dict(NOISE), "X": dict(NOISE), "Y": dict(NOISE)},
    }
    assert reasons(table, line) == {"AA": None, "X": "called_closed", "Y": "folded"}


def test_reasons_have_the_names_of_the_interface_and_one_alias() -> None:
    assert offpath.REASONS == (
        None,
        "folded",
        "all_in",
        "checked_closed",
        "called_closed",
        "low_reach_same_street",
        "rarely_reached",
    )
    assert offpath.canonical_reason("low_reach") == preflop_offpath.low_reach == LOW
    assert preflop_offpath.REASON_LOW_REACH == preflop_offpath.REASON_LOW_REACH_SAME_STREET == LOW
    with pytest.raises(ValueError, match="reason 'bored': accepted are folded"):
        offpath.canonical_reason("bored")


# ---- limping and checking ------------------------------------------------------------------------


LIMPERS = ("limper", "opener", "trapper", "folder")


def limp_table() -> Table:
    return {
        "||p|": {
            "limper": first_in(call=1.0),
            "opener": first_in(opens=1.0),
            "trapper": first_in(call=1.0),
            "folder": first_in(fold=1.0),
        },
        "||p|c": {
            "limper": {"check": 1.0, "open_300": 0.0},
            "opener": {"check": 0.0, "open_300": 1.0},
            "trapper": {"check": 0.2, "open_300": 0.8},
            "folder": {"check": 0.995, "open_300": 0.005},
        },
        "||p|cb300": {
            "limper": facing(call=1.0),
            "opener": facing(call=0.5, raises=0.5),
            "trapper": facing(raises=1.0),
            "folder": facing(call=1.0),
        },
        "||p|cb300r900": {hand: dict(NOISE) for hand in LIMPERS},
        "||p|cb300r900r2100": {hand: dict(NOISE) for hand in LIMPERS},
        "||p|b200r400": {hand: dict(NOISE) for hand in LIMPERS},
    }


def test_a_hand_that_limps_every_time_is_there_to_face_the_raise() -> None:
    assert reasons(limp_table(), "||p|cb300") == {
        "limper": None,
        "opener": LOW,
        "trapper": None,
        "folder": "folded",
    }


def test_a_hand_that_limps_every_time_never_opened() -> None:
    marks = reasons(limp_table(), "||p|b200r400")
    assert marks == {
        "limper": "called_closed",
        "opener": None,
        "trapper": "called_closed",
        "folder": "folded",
    }


def test_a_limp_and_reraise_is_followed_to_its_end() -> None:
    marks = reasons(limp_table(), "||p|cb300r900r2100")
    assert marks == {"limper": "called_closed", "opener": LOW, "trapper": None, "folder": "folded"}


def test_a_checked_option_is_not_there_for_the_limp_reraise() -> None:
    marks = reasons(limp_table(), "||p|cb300r900")
    assert marks == {
        "limper": "checked_closed",
        "opener": None,
        "trapper": None,
        "folder": "checked_closed",
    }


def test_a_line_that_goes_on_after_a_closing_call_has_nobody_who_called() -> None:
    table = four_bet_table(AA=facing(raises=1.0), A3o=facing(call=1.0))
    table["||p|b200cr900"] = {"AA": dict(NOISE), "A3o": dict(NOISE)}
    assert reasons(table, "||p|b200cr900") == {"AA": LOW, "A3o": "called_closed"}


# ---- sizes and all-ins ---------------------------------------------------------------------------


def test_a_raise_of_another_size_is_a_raise_on_this_line() -> None:
    row = {"fold": 0.0, "call": 0.02, "raise_600": 0.0, "raise_700": 0.006, "raise_900": 0.974}
    table = four_bet_table(AA=row, A3o={**row, "call": 1.0, "raise_700": 0.0, "raise_900": 0.0})
    for line in ("||p|b200r600r1400", "||p|b200r700r1400", "||p|b200r900r1400"):
        table[line] = {"AA": dict(NOISE), "A3o": dict(NOISE)}
        assert reasons(table, line) == {"AA": None, "A3o": "called_closed"}


def test_all_in_mass_is_not_raising_mass() -> None:
    table = four_bet_table(AA=facing(raises=1.0), TT=facing(call=0.396, raises=0.004, all_in=0.6))
    assert reasons(table, FOUR_BET)["TT"] == LOW


def test_an_all_in_token_is_credited_from_the_all_in_label_alone() -> None:
    table = {
        "||p|": {"AA": first_in(opens=1.0), "TT": first_in(all_in=1.0)},
        "||p|Ab900": {"AA": dict(NOISE), "TT": dict(NOISE)},
    }
    assert reasons(table, "||p|Ab900") == {"AA": LOW, "TT": "all_in"}


def test_facing_an_all_in_the_opener_is_in_range_and_the_limper_is_not() -> None:
    table = {
        "||p|": {"AA": first_in(opens=1.0), "87s": first_in(call=1.0)},
        "||p|b200A": {"AA": {"fold": 0.0, "call": 1.0}, "87s": {"fold": 0.5, "call": 0.5}},
        "||p|cA": {"AA": {"fold": 0.3, "call": 0.7}, "87s": {"fold": 0.9, "call": 0.1}},
    }
    assert reasons(table, "||p|b200A") == {"AA": None, "87s": "called_closed"}
    assert reasons(table, "||p|cA") == {"AA": LOW, "87s": None}


# ---- the two reach rules -------------------------------------------------------------------------


def test_the_total_rule_greys_everybody_once_more_than_200_hands_share_a_node() -> None:
    for count, reason in ((200, None), (201, LOW)):
        table = four_bet_table(**{f"h{i}": facing(fold=0.5, raises=0.5) for i in range(count)})
        assert set(reasons(table, FOUR_BET).values()) == {None}
        assert set(reasons(table, FOUR_BET, reach_rule="total").values()) == {reason}


def test_an_unknown_reach_rule_is_refused() -> None:
    for call in (
        lambda: mark_off_path({}, "||p|", reach_rule="mean"),
        lambda: clean_off_path({}, reach_rule="mean"),
        lambda: strategy_table({}, reach_rule="mean"),
        lambda: reasons_by_line({}, reach_rule="mean"),
    ):
        with pytest.raises(ValueError, match="reach_rule 'mean': accepted are max, total"):
            call()


def test_on_a_line_everybody_avoids_the_hands_that_get_there_most_are_the_range() -> None:
    table = four_bet_table(
        AA=facing(call=0.9999, raises=0.0001),
        KK=facing(call=0.99999, raises=0.00001),
        A3o=facing(call=0.999996, raises=0.000004),
        K3s=facing(call=1.0),
    )
    assert reasons(table, FOUR_BET) == {
        "AA": None,
        "KK": None,
        "A3o": "called_closed",
        "K3s": "called_closed",
    }
    assert set(reasons(table, FOUR_BET, reach_rule="total").values()) == {"called_closed"}


def test_where_nobody_gets_everybody_is_off_path() -> None:
    table = four_bet_table(AA=facing(fold=0.5, call=0.5), KK=facing(call=1.0))
    assert reasons(table, FOUR_BET) == {"AA": LOW, "KK": "called_closed"}


def test_asking_for_some_hands_answers_as_if_asked_for_all() -> None:
    table = four_bet_table(
        AA=facing(raises=1.0), K9o=facing(fold=0.5, call=0.498, raises=0.002), A3o=facing(call=1.0)
    )
    assert mark_off_path_with_reason(table, FOUR_BET, ["K9o"]) == {"K9o": LOW}
    assert mark_off_path(table, FOUR_BET, ("A3o", "AA")) == {"A3o": True, "AA": False}


# ---- fail-safe -----------------------------------------------------------------------------------

BROKEN = {"AA": facing(raises=1.0), "82s": facing(fold=1.0)}


def test_a_missing_ancestor_leaves_its_lines_and_only_them_untouched() -> None:
    table = four_bet_table(**BROKEN)
    table["||p|b200r400r1000r2200A"] = {"AA": dict(NOISE), "82s": dict(NOISE)}
    table["||p|cb300"] = {"AA": dict(NOISE), "82s": dict(NOISE)}
    table["||p|"]["82s"] = first_in(call=1.0)
    del table["||p|b200"]
    assert reasons(table, FOUR_BET) == {"AA": None, "82s": None}
    assert clean_off_path(table)["||p|b200r400r1000r2200A"] == table["||p|b200r400r1000r2200A"]
    assert reasons(table, "||p|cb300") == {"AA": LOW, "82s": None}


def test_one_hand_without_a_row_on_the_way_leaves_the_whole_line_untouched() -> None:
    table = four_bet_table(**BROKEN, A3o=facing(call=1.0))
    del table["||p|b200"]["AA"]
    assert set(reasons(table, FOUR_BET).values()) == {None}
    assert clean_off_path(table) == table
    del table[FOUR_BET]["AA"]
    assert reasons(table, FOUR_BET) == {"82s": "folded", "A3o": "called_closed"}


@pytest.mark.parametrize(
    "line",
    ["||p|b200z9r1000", "||p|b200r400r", "||p|b200fr1000", "b200r400r1000", "||p|b200xr1000", "||f|b200"],
)
def test_a_line_with_an_unknown_token_is_untouched(line: str) -> None:
    table = four_bet_table(**BROKEN)
    table[line] = table[FOUR_BET]
    assert reasons(table, line) == {"AA": None, "82s": None}
    assert clean_off_path(table)[line] == table[line]


@pytest.mark.parametrize(
    ("answers", "line"),
    [
        ({"fold": 0.0, "call": 1.0}, FOUR_BET),
        ({"fold": 0.0, "raise_400": 1.0}, "||p|b200cr1000"),
        ({"fold": 0.0, "call": 1.0}, "||p|b200Ar1000"),
    ],
)
def test_an_action_that_nobody_is_offered_leaves_the_line_untouched(answers: Row, line: str) -> None:
    table = four_bet_table(AA=answers, A3o=dict.fromkeys(answers, 0.5))
    table[line] = {"AA": dict(NOISE), "A3o": dict(NOISE)}
    assert reasons(table, line) == {"AA": None, "A3o": None}


def test_rows_may_leave_out_actions_of_probability_zero() -> None:
    table = four_bet_table(AA={"raise_400": 1.0}, **{"82s": {"fold": 1.0}, "A3o": {"call": 1.0}})
    assert reasons(table, FOUR_BET) == {"AA": None, "82s": "folded", "A3o": "called_closed"}


def test_nothing_is_known_without_a_table() -> None:
    assert mark_off_path(None, "||p|b200", ["AA"]) == {"AA": False}
    assert mark_off_path({}, "||p|b200r400", ["AA"]) == {"AA": False}
    assert mark_off_path({}, "||p|") == {}
    assert clean_off_path(None) == clean_off_path({}) == {}


# ---- cleaning ------------------------------------------------------------------------------------


def test_a_cleaned_row_folds_and_keeps_its_labels() -> None:
    table = four_bet_table(**BROKEN)
    cleaned = clean_off_path(table)[FOUR_BET]
    assert cleaned["82s"] == {"fold": 1.0, "call": 0.0, "raise_2000": 0.0, "all_in": 0.0}
    assert cleaned["AA"] == NOISE


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"check": 0.3, "open_300": 0.7}, {"check": 1.0, "open_300": 0.0}),
        ({"call": 1.0}, {"call": 0.0, "fold": 1.0}),
        ({"call": 0.5, "fold": 0.5}, {"call": 0.0, "fold": 1.0}),
    ],
)
def test_a_row_without_a_fold_gives_up_by_checking(row: Row, expected: Row) -> None:
    table = four_bet_table(**BROKEN)
    table[FOUR_BET]["82s"] = row
    assert clean_off_path(table)[FOUR_BET]["82s"] == expected


def test_one_line_is_cleaned_alone_if_asked() -> None:
    table = four_bet_table(**BROKEN)
    table["||p|b200r400r1400"] = {"AA": dict(NOISE), "82s": dict(NOISE)}
    cleaned = clean_off_path(table, FOUR_BET)
    assert cleaned[FOUR_BET]["82s"]["fold"] == 1.0
    assert {line: cleaned[line] for line in cleaned if line != FOUR_BET} == {
        line: table[line] for line in table if line != FOUR_BET
    }


def test_marks_come_from_the_raw_table_and_not_from_a_cleaned_one() -> None:
    """X is low at the three-bet, where AA is common, and in range at the five-bet, where AA is rare."""
    three_bet, five_bet = "||p|b200r400", "||p|b200r400r1000r2200"
    table = {
        "||p|": {"AA": first_in(opens=1.0), "X": first_in(fold=0.6, call=0.396, opens=0.004)},
        three_bet: {"AA": facing(call=0.98, raises=0.02), "X": facing(raises=1.0)},
        five_bet: {"AA": dict(NOISE), "X": dict(NOISE)},
    }
    cleaned = clean_off_path(table)
    assert cleaned[three_bet]["X"] == facing(fold=1.0)
    assert cleaned[five_bet]["X"] == NOISE
    assert clean_off_path(cleaned)[five_bet]["X"]["fold"] == 1.0


def test_the_strategy_table_is_cleaned_unless_asked_for_raw() -> None:
    table = four_bet_table(**BROKEN)
    average = {f"{hand}{line}": row for line, hands in table.items() for hand, row in hands.items()}
    before = copy.deepcopy(average)
    assert strategy_table(average) == clean_off_path(table) != table
    raw = strategy_table(average, clean=False)
    assert raw == table
    raw[FOUR_BET]["AA"]["fold"] = 9.0
    assert average == before


def test_a_key_that_is_no_preflop_infoset_is_named() -> None:
    for key in ("KcAh|2d5s7c|f|", "||p|b200", "AA"):
        with pytest.raises(ValueError, match=re.escape(f"infoset {key!r}: expected <hand>||p|<tokens>")):
            strategy_table({key: {"fold": 1.0}})


# ---- properties ----------------------------------------------------------------------------------

LINES = [
    "",
    "c",
    "b200",
    "b300",
    "A",
    "cb300",
    "cA",
    "cb300r900",
    "cb300r900r2100",
    "cb300r900A",
    "b200r600",
    "b200r800",
    "b300r900",
    "b200r600r1500",
    "b200r800r1500",
    "b300r900A",
    "b200r600r1500A",
]
SHARES = (0.0, 0.0, 0.002, 0.0049, 0.01, 0.3, 1.0, 1.0, 40.0, 98.0, 99.0, 5000.0)
SEEDS = st.integers(0, 2**32)


def labels_of(tokens: str) -> list[str]:
    if not tokens:
        return ["fold", "call", "open_200", "open_300", "all_in"]
    if tokens == "c":
        return ["check", "open_300", "all_in"]
    if tokens.endswith("A"):
        return ["fold", "call"]
    return ["fold", "call", "raise_a", "raise_b", "all_in"]


def random_table(seed: int) -> Table:
    """Rows of all sorts for a few hands, now and then with a line or a row missing."""
    random = Random(seed)
    hands = [f"h{i}" for i in range(random.randint(1, 6))]
    gaps = random.choice([0.0, 0.0, 0.05])
    table: Table = {}
    for tokens in LINES:
        labels = labels_of(tokens)
        node = {}
        for hand in hands:
            shares = random.choices(SHARES, k=len(labels))
            total = sum(shares)
            values = [share / total for share in shares] if total else [1.0] + [0.0] * (len(labels) - 1)
            if random.random() >= gaps / 2:
                node[hand] = dict(zip(labels, values))
        if random.random() >= gaps:
            table[f"||p|{tokens}"] = node
    return table


def walk_one_hand(table: Table, line: str, hand: str) -> tuple[float, str | None] | None:
    """Reach and first dominant block of a hand, token by token."""
    tokens = re.findall(r"[bcrA]\d*", line[4:])
    reach, block = 1.0, None
    for i in range(len(tokens) % 2, len(tokens), 2):
        row = table.get("||p|" + "".join(tokens[:i]), {}).get(hand)
        if row is None:
            return None
        token = tokens[i]
        if block is None:
            if row.get("fold", 0) >= 0.99:
                block = "folded"
            elif row.get("all_in", 0) >= 0.99:
                block = "all_in"
            elif token != "c" and row.get("check", 0) >= 0.99:
                block = "checked_closed"
            elif token != "c" and row.get("call", 0) >= 0.99:
                block = "called_closed"
        if token == "c":
            reach *= row["call"]
        elif token == "A":
            reach *= row["all_in"]
        else:
            reach *= sum(p for label, p in row.items() if label.startswith(("open_", "raise_")))
    return reach, block


def expected_reasons(table: Table, line: str, rule: str) -> dict[str, str | None]:
    walks = {hand: walk_one_hand(table, line, hand) for hand in table[line]}
    if None in walks.values():
        return dict.fromkeys(walks)
    reach = {hand: walk[0] for hand, walk in walks.items() if walk}
    reference = max(reach.values(), default=0.0) if rule == "max" else sum(reach.values())
    marks: dict[str, str | None] = {}
    for hand, walk in walks.items():
        assert walk is not None
        if rule == "max" and reach[hand] > 0.05 * reference:
            marks[hand] = None
        elif walk[1] is not None:
            marks[hand] = walk[1]
        else:
            marks[hand] = LOW if reach[hand] == 0 or reach[hand] < 0.005 * reference else None
    return marks


@given(SEEDS, st.sampled_from(["max", "total"]))
@settings(max_examples=200, deadline=None)
def test_marks_agree_with_a_walk_hand_by_hand(seed: int, rule: str) -> None:
    table = random_table(seed)
    before = copy.deepcopy(table)
    every = reasons_by_line(table, reach_rule=rule)
    for line in table:
        expected = expected_reasons(table, line, rule)
        assert reasons(table, line, reach_rule=rule) == every[line] == expected
    assert table == before


@given(SEEDS, st.sampled_from(["max", "total"]))
@settings(max_examples=100, deadline=None)
def test_cleaning_changes_marked_rows_only_and_never_the_input(seed: int, rule: str) -> None:
    table = random_table(seed)
    before = copy.deepcopy(table)
    cleaned = clean_off_path(table, reach_rule=rule)
    assert table == before
    assert list(cleaned) == list(table)
    for line, hands in cleaned.items():
        marks = mark_off_path(table, line, reach_rule=rule)
        for hand, row in hands.items():
            assert row is not table[line][hand]
            assert list(row) == list(table[line][hand])
            assert sum(row.values()) == pytest.approx(1.0)
            if marks[hand]:
                assert row["fold" if "fold" in row else "check"] == 1.0
            else:
                assert row == table[line][hand]
    assert clean_off_path(table, reach_rule=rule) == cleaned


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_the_order_of_lines_hands_and_labels_does_not_matter(seed: int) -> None:
    def shuffled(mapping: dict) -> dict:
        items = list(mapping.items())
        random.shuffle(items)
        return dict(items)

    random = Random(seed)
    table = random_table(seed)
    mixed = {
        line: shuffled({hand: shuffled(row) for hand, row in node.items()})
        for line, node in shuffled(table).items()
    }
    assert reasons_by_line(mixed) == reasons_by_line(table)
    assert clean_off_path(mixed) == clean_off_path(table)


@given(SEEDS)
@settings(max_examples=100, deadline=None)
def test_a_hand_with_a_twentieth_of_the_best_reach_is_never_marked(seed: int) -> None:
    table = random_table(seed)
    for line in table:
        walks = {hand: walk_one_hand(table, line, hand) for hand in table[line]}
        best = max((walk[0] for walk in walks.values() if walk), default=0.0)
        marks = mark_off_path(table, line)
        assert not any(marks[hand] for hand, walk in walks.items() if walk and walk[0] > 0.05 * best)


# ---- real solves ---------------------------------------------------------------------------------

DEEP = GameConfig(raise_sizes=("2,3,a", "2.5x,3x,a", "2.5x,a", "a"))


@pytest.fixture(scope="module")
def solved() -> PreflopStrategy:
    return solve_preflop(DEEP, iterations=2000, check_every=2000).strategy


def played(strategy: PreflopStrategy, table: Table) -> PreflopStrategy:
    """The strategy with the probabilities of a table."""
    tree = strategy.game.tree
    probabilities = strategy.probabilities.copy()
    for line, hands in table.items():
        node = tree.node_at(line)
        labels = action_labels(tree, node)
        probabilities[tree.children_of(node)] = [[hands[h][label] for h in CLASS_NAMES] for label in labels]
    return PreflopStrategy(strategy.game, probabilities)


def test_cleaning_a_solution_costs_far_less_than_a_milliblind(solved: PreflopStrategy) -> None:
    raw = solved.by_line()
    cleaned = clean_off_path(raw)
    assert cleaned != raw
    assert solved.exploitability < 0.1
    assert abs(played(solved, cleaned).exploitability - solved.exploitability) < 0.2
    assert played(solved, clean_off_path(raw, reach_rule="total")).exploitability > 5
    assert strategy_table(solved.average_strategy()) == cleaned
    assert strategy_table(solved.average_strategy(), clean=False) == raw == solved.by_line()


def test_the_lines_of_a_solution_show_every_reason_where_poker_expects_it(solved: PreflopStrategy) -> None:
    marks = reasons_by_line(solved.by_line())
    assert set(marks["||p|"].values()) == set(marks["||p|c"].values()) == {None}
    assert marks["||p|b300r900r2250"]["32o"] == "folded"
    assert marks["||p|b300r900"]["T9o"] == "called_closed"
    assert {"folded", "called_closed", "checked_closed", LOW} <= {
        r for m in marks.values() for r in m.values()
    }
    for line, hands in marks.items():
        tokens = re.findall(r"[bcrA]\d*", line[4:])
        if "checked_closed" in hands.values():
            assert len(tokens) % 2 == 1
            assert tokens[0] == "c"


def test_marks_of_a_solution_agree_with_a_walk_hand_by_hand(solved: PreflopStrategy) -> None:
    raw = solved.by_line()
    for rule in ("max", "total"):
        marks = reasons_by_line(raw, reach_rule=rule)
        assert marks == {line: expected_reasons(raw, line, rule) for line in raw}


def test_with_one_size_reach_is_the_reach_of_the_engine() -> None:
    strategy = solve_preflop(GameConfig(), iterations=2000, check_every=2000).strategy
    tree = strategy.game.tree
    cleaned = 0
    for line, hands in reasons_by_line(strategy.by_line()).items():
        reach = strategy.reach(line, int(tree.player[tree.node_at(line)]))
        share = dict(zip(CLASS_NAMES, reach / reach.max()))
        assert all(reason is None for hand, reason in hands.items() if share[hand] > 0.05)
        assert all(reason is not None for hand, reason in hands.items() if share[hand] < 0.005)
        cleaned += sum(reason is not None for reason in hands.values())
    assert cleaned > 500


def test_aces_are_never_folded_by_cleaning_where_they_are_among_the_best_reach(
    solved: PreflopStrategy,
) -> None:
    raw = solved.by_line()
    for line, hands in clean_off_path(raw).items():
        walks = [walk_one_hand(raw, line, hand) for hand in ("AA", *raw[line])]
        reach = np.array([walk[0] for walk in walks if walk])
        if reach[0] > 0.05 * reach.max():
            assert hands["AA"] == raw[line]["AA"]


def test_a_whole_table_is_cleaned_in_milliseconds(solved: PreflopStrategy) -> None:
    raw = solved.by_line()
    assert len(raw) > 40
    times = []
    for _ in range(5):
        start = time.process_time()
        clean_off_path(raw)
        times.append(time.process_time() - start)
    assert min(times) < 0.1
