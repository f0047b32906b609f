"""Bet-size notation: what each token means in chips, and what is refused."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.betting.sizes import Thresholds, parse_menu, parse_preflop_menu, resolve_menu, round_chips

OFF = Thresholds.of(0, 0, 0)
REFERENCE = Thresholds.of(1.5, 0.15, 0.1)


def bets(text: str, thresholds: Thresholds = OFF, **spot: int) -> list[int]:
    given = {"pot": 200, "previous": 0, "minimum": 1, "maximum": 100_000} | spot
    return resolve_menu(parse_menu(text, raising=given["previous"] > 0), thresholds, **given)


def test_pot_sizes_are_of_the_pot_after_calling() -> None:
    assert bets("50%,100%") == [100, 200]
    # Facing 100 into 200 the pot after calling is 400, and the raise comes on top of the call.
    assert bets("60%", pot=400, previous=100, minimum=200) == [340]


def test_multiples_are_of_the_bet_level() -> None:
    assert bets("2.5x", pot=400, previous=100, minimum=200) == [250]
    assert bets("3x", pot=700, previous=250, minimum=400) == [750]


def test_chips_come_on_top_of_the_bet_level() -> None:
    assert bets("75c") == [75]
    assert bets("200c", pot=400, previous=100, minimum=200) == [300]


@pytest.mark.parametrize(("text", "pot", "to"), [("50%", 101, 51), ("14.5%", 100, 15), ("12.5%", 100, 13)])
def test_halves_round_away_from_zero_even_where_binary_floats_fall_short(
    text: str, pot: int, to: int
) -> None:
    assert bets(text, pot=pot) == [to]


@pytest.mark.parametrize("streets", [1, 2, 3])
def test_a_geometric_size_is_all_in_after_the_streets_left(streets: int) -> None:
    pot, stack = 200, 900
    for left in range(streets, 0, -1):
        (to,) = bets("e", pot=pot, maximum=stack, streets_left=left)
        pot, stack = pot + 2 * to, stack - to
    assert stack == 0


def test_a_geometric_size_may_fix_its_streets_and_its_largest_fraction() -> None:
    assert bets("2e", maximum=900, streets_left=3) == bets("e", maximum=900, streets_left=2)
    assert bets("e40%", maximum=900, streets_left=1) == [80]


def test_each_re_raise_spends_one_step_of_a_geometric_raise() -> None:
    spot = {"pot": 400, "previous": 100, "minimum": 200, "maximum": 5000, "streets_left": 3}
    assert bets("e", bets=1, **spot) == bets("3e", bets=1, **spot)
    assert bets("e", bets=2, **spot) == bets("2e", bets=1, **spot)
    assert bets("e", bets=9, **spot) == [5000]


def test_all_in_is_the_maximum_and_nothing_exceeds_it() -> None:
    assert bets("a", maximum=900) == [900]
    assert bets("50%,600%", maximum=900) == [100, 900]


def test_a_size_below_the_minimum_raise_becomes_the_minimum_raise() -> None:
    assert bets("10%", pot=400, previous=100, minimum=200) == [200]


def test_all_in_is_added_when_the_stack_is_small_against_the_pot() -> None:
    add = Thresholds.of(1.5, 0, 0)
    assert bets("50%", add, maximum=300) == [100, 300]
    assert bets("50%", add, maximum=301) == [100]


def test_a_size_that_leaves_little_behind_becomes_all_in() -> None:
    force = Thresholds.of(0, 0.15, 0)
    # After a bet of 200 into 200 the pot is 600 when called, and 15 % of it is 90.
    assert bets("100%", force, maximum=290) == [290]
    assert bets("100%", force, maximum=291) == [200]


def test_close_sizes_merge_into_the_larger() -> None:
    merge = Thresholds.of(0, 0, 0.1)
    # (1 + 1) / (1 + .8) = 1.11 is kept, (1 + 1) / (1 + .85) = 1.08 is not.
    assert bets("80%,100%", merge) == [160, 200]
    assert bets("85%,100%", merge) == [200]


def test_the_reference_raise_menu_against_a_raise_to_250() -> None:
    assert bets("60%,2.5x", REFERENCE, pot=700, previous=250, minimum=400, maximum=900) == [625, 900]


@given(
    st.lists(st.integers(1, 400), min_size=1, max_size=6),
    st.integers(1, 5000),
    st.integers(0, 2000),
    st.integers(1, 20_000),
    st.tuples(*[st.integers(0, 200)] * 3),
)
def test_resolved_menus_are_legal_sorted_and_apart(
    percents: list[int], pot: int, previous: int, room: int, cents: tuple[int, int, int]
) -> None:
    thresholds = Thresholds.of(*(value / 100 for value in cents))
    maximum = previous + room
    minimum = min(previous + max(previous // 2, 1), maximum)
    menu = parse_menu(",".join(f"{p}%" for p in percents), raising=True)
    amounts = resolve_menu(
        menu, thresholds, pot=pot, previous=previous, minimum=minimum, maximum=maximum, streets_left=2
    )
    assert amounts
    assert all(minimum <= to <= maximum for to in amounts)
    for smaller, larger in pairwise(amounts):
        gap = (1 + Fraction(larger - previous, pot)) / (1 + Fraction(smaller - previous, pot))
        assert gap > 1 + Fraction(cents[2], 100)
    if maximum - previous <= cents[0] / 100 * pot:
        assert amounts[-1] == maximum
    for to in amounts[:-1]:
        assert maximum > to + (pot + 2 * (to - previous)) * cents[1] / 100 - 0.5


@given(st.integers(0, 10**6), st.integers(1, 10**4))
def test_rounding_is_to_the_nearest_chip(numerator: int, denominator: int) -> None:
    amount = Fraction(numerator, denominator)
    error = round_chips(amount) - amount
    assert -Fraction(1, 2) < error <= Fraction(1, 2)


def test_preflop_menus_read_bare_numbers_as_blinds_first_in_and_as_multiples_later() -> None:
    opens = parse_preflop_menu("2.5", depth=0, blind=100)
    spot = {"pot": 300, "previous": 100, "minimum": 200, "maximum": 10_000}
    assert resolve_menu(opens, OFF, **spot) == [250]
    again = {"pot": 500, "previous": 250, "minimum": 400, "maximum": 10_000}
    for text in ("3", "3x", "7.5bb"):
        assert resolve_menu(parse_preflop_menu(text, depth=1, blind=100), OFF, **again) == [750]


@pytest.mark.parametrize(
    ("text", "raising", "message"),
    [
        ("", False, "empty size"),
        (",", False, "empty size"),
        ("50%,", True, "empty size"),
        ("half", False, "'half' is not understood"),
        ("50", False, "'50' is not understood"),
        ("0%", False, "'0%' is not positive"),
        ("2.5x", False, "'2.5x' needs a previous bet"),
        ("1x", True, "'1x' is not above the previous bet"),
        ("2.5c", True, "'2.5c' is not a whole number"),
        ("0e", False, "'0e' counts no street"),
        ("-50%", False, "'-50%' is not understood"),
    ],
)
def test_bad_sizes_are_named(text: str, raising: bool, message: str) -> None:
    with pytest.raises(ValueError, match=r"^bet_sizes\.river: ") as error:
        parse_menu(text, raising=raising, where="bet_sizes.river")
    assert message in str(error.value)


def test_no_sizes_must_be_said() -> None:
    assert parse_menu(None, raising=False) == parse_menu("none", raising=False) == ()
    assert parse_menu("", raising=True) == ()


@pytest.mark.parametrize("bad", ["1", "0.5bb"])
def test_an_open_must_exceed_the_big_blind(bad: str) -> None:
    with pytest.raises(ValueError, match="not above the big blind"):
        parse_preflop_menu(bad, depth=0, blind=100)


@pytest.mark.parametrize("value", [-0.1, float("nan"), "1", True])
def test_thresholds_are_numbers(value: float) -> None:
    with pytest.raises(ValueError, match="force_allin_threshold"):
        Thresholds.of(1.5, value, 0.1)
