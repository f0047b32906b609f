"""Tournament chips: Malmuth-Harville against a sum over all finishing orders, and what any sane model keeps."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from numpy.typing import NDArray

from solver.betting.icm import ICM_SETS, _icm, icm, place_payouts


def by_finishing_orders(stacks: list[float], payouts: list[float]) -> NDArray[np.float64]:
    """Mean payout over every finishing order; only for players who all have chips."""
    paid = [*payouts, *[0.0] * len(stacks)]
    equity = np.zeros(len(stacks))
    for order in permutations(range(len(stacks))):
        chance, left = 1.0, sum(stacks)
        for seat in order:
            chance *= stacks[seat] / left
            left -= stacks[seat]
        for place, seat in enumerate(order):
            equity[seat] += chance * paid[place]
    return equity


@st.composite
def tournaments(draw: st.DrawFn, least: int = 1, most_seats: int = 9) -> tuple[list[int], list[float]]:
    """Stacks of at least `least` chips, and payouts that do not rise."""
    stacks = draw(st.lists(st.integers(least, 50_000), min_size=2, max_size=most_seats))
    payouts = draw(st.lists(st.integers(0, 1000), min_size=1, max_size=len(stacks)))
    return stacks, [1.0 + max(payouts), *sorted(map(float, payouts), reverse=True)][: len(stacks)]


def test_the_big_stack_of_the_textbook_has_38_39_percent() -> None:
    equity = icm([5000, 3000, 2000], [50, 30, 20])
    assert equity[0] == pytest.approx(38.39, abs=0.005)
    np.testing.assert_allclose(equity, by_finishing_orders([5000, 3000, 2000], [50, 30, 20]))


def test_winner_takes_all_pays_by_chips() -> None:
    stacks = np.array([100, 200, 300, 400, 1000])
    np.testing.assert_allclose(icm(stacks, [10]), 10 * stacks / stacks.sum())


@settings(deadline=None, max_examples=40)
@given(tournaments(most_seats=6))
def test_any_table_agrees_with_the_sum_over_finishing_orders(table: tuple[list[int], list[float]]) -> None:
    stacks, payouts = table
    np.testing.assert_allclose(
        icm(stacks, payouts), by_finishing_orders(list(map(float, stacks)), payouts), rtol=1e-9, atol=1e-9
    )


@settings(deadline=None)
@given(tournaments(least=0))
def test_all_that_is_paid_is_won_and_more_chips_are_worth_more(table: tuple[list[int], list[float]]) -> None:
    stacks, payouts = table
    stacks[0] += 1  # somebody has chips
    equity = icm(stacks, payouts)
    assert equity.sum() == pytest.approx(sum(payouts))
    order = np.argsort(stacks, kind="stable")
    assert (np.diff(equity[order]) >= -1e-9 * sum(payouts)).all()


@settings(deadline=None)
@given(tournaments(), st.data())
def test_chips_won_from_a_player_never_lower_the_own_equity(
    table: tuple[list[int], list[float]], data: st.DataObject
) -> None:
    stacks, payouts = table
    loser = data.draw(st.integers(1, len(stacks) - 1))
    chips = data.draw(st.integers(1, stacks[loser]))
    before = icm(stacks, payouts)
    stacks[0] += chips
    stacks[loser] -= chips
    after = icm(stacks, payouts)
    assert after[0] >= before[0] - 1e-9 * sum(payouts)
    assert after[loser] <= before[loser] + 1e-9 * sum(payouts)


def test_players_without_chips_share_the_lowest_payouts() -> None:
    equity = icm([0, 700, 0, 300], [50, 30, 14, 6])
    np.testing.assert_allclose(equity[[0, 2]], 10)
    np.testing.assert_allclose(equity[[1, 3]], by_finishing_orders([700, 300], [50, 30]))
    np.testing.assert_allclose(icm([0, 0, 5], [60, 30, 10]), [20, 20, 60])


def test_a_chip_is_worth_less_to_the_big_stack() -> None:
    gain, loss = (icm([5000 + sign * 1000, 3000 - sign * 1000, 2000], [50, 30, 20])[0] for sign in (1, -1))
    now = icm([5000, 3000, 2000], [50, 30, 20])[0]
    assert gain - now < now - loss


def test_many_tables_at_once_are_each_as_alone() -> None:
    tables = np.random.default_rng(1).integers(0, 5000, (50, 9)) + np.arange(9)
    alone = np.array([icm(table, [100, 60, 40, 20]) for table in tables])
    np.testing.assert_array_equal(icm(tables, [100, 60, 40, 20]), alone)


@njit
def _first_seat(stacks: NDArray[np.float64], payouts: NDArray[np.float64]) -> float:
    chance, equity = np.empty(ICM_SETS), np.empty(stacks.shape[0])
    _icm(stacks, payouts, chance, equity)
    return equity[0]


def test_other_kernels_call_the_kernel_with_work_space_for_any_table() -> None:
    stacks = np.array([5000.0, 3000.0, 2000.0])
    assert _first_seat(stacks, place_payouts([50, 30, 20], 3)) == icm(stacks, [50, 30, 20])[0]


@pytest.mark.parametrize(
    ("stacks", "payouts", "message"),
    [
        ([1, 2], [50, 30, 20], "expected a list of 1 to 2 amounts"),
        ([1, 2], [], "expected a list of 1 to 2 amounts"),
        ([1, 2, 3], [30, 50], "a later place is paid more"),
        ([1, 2, 3], [-1], "expected amounts >= 0"),
        ([1, 2, 3], [0], "the first above 0"),
        ([1, 2, 3], [float("nan")], "expected amounts >= 0"),
        ([1, -2, 3], [1], "stacks: expected numbers of chips >= 0"),
        ([0, 0, 0], [1], "nobody at the table has chips"),
        ([1], [1], "payouts for 1 seats"),
        ([1] * 10, [1], "payouts for 10 seats"),
        ([[[1, 2]]], [1], "expected \\[seats\\] or"),
    ],
)
def test_what_is_no_tournament_is_refused(stacks: list[int], payouts: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        icm(stacks, payouts)
