"""What the text of a history says about one player."""

from __future__ import annotations

import pytest

from artifacts.offpath.history_table import ALL_IN, CALL, CHECK, RAISE, read_history


@pytest.mark.parametrize("history", ["f", "xb50f", "||p|x", "b50k", "b", "x|x", "X"])
def test_folds_prefixes_and_unknown_tokens_are_no_history(history: str) -> None:
    assert read_history(history, hero_is_oop=True) is None


@pytest.mark.parametrize(
    ("history", "last", "group", "streets_ago"),
    [
        ("x", "", CHECK, 0),
        ("b50r150", "", RAISE, 0),
        ("xb50c/", "xb50", CALL, 1),
        ("xb50A", "xb50", ALL_IN, 0),
        ("xx/xx/", "xx/", CHECK, 1),
    ],
)
def test_the_last_own_decision_of_the_player_who_acts_first(
    history: str, last: str, group: int, streets_ago: int
) -> None:
    facts = read_history(history, hero_is_oop=True)
    assert facts is not None
    assert (facts.last_history, facts.last_group, facts.streets_ago) == (last, group, streets_ago)
    assert facts.streets == history.count("/")


def test_a_street_that_goes_on_contradicts_the_action_that_ended_it() -> None:
    called = read_history("b50cr150", hero_is_oop=False)
    assert called is not None
    assert called.against_call
    assert called.street_ended
    check_raise = read_history("xb50r150", hero_is_oop=True)
    assert check_raise is not None
    assert not check_raise.street_ended
    assert check_raise.last_group == RAISE
