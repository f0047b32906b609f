"""What tournament chips are worth: the independent chip model of Malmuth and Harville.

The winner is drawn in proportion to the stacks; so is the second place among the players who are left, and so on.
The chance that a set of players takes the first places does not depend on the order inside the set, so that a sum
over sets (512 for nine seats) does the work of a sum over orders (362,880).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from solver.betting.lines import MAX_SEATS

#: Length of the work array of `_icm`.
ICM_SETS = 1 << MAX_SEATS


@njit(cache=True, nogil=True)
def _icm(stacks: Any, payouts: Any, chance: Any, equity: Any) -> None:
    """Write to ``equity[i]`` what seat i wins on average.

    `stacks`, `payouts` and `equity` are float64 of one length: a payout for every place, zeros where nothing is
    paid. `chance` is float64 work space of at least ``2 ** seats``, `ICM_SETS` for any table.
    """
    seats = stacks.shape[0]
    busted = 0
    num_busted = 0
    for seat in range(seats):
        equity[seat] = 0.0
        if stacks[seat] <= 0.0:
            busted |= 1 << seat
            num_busted += 1
    paid = seats
    while paid > 0 and payouts[paid - 1] == 0.0:
        paid -= 1
    for ahead in range(1 << seats):
        chance[ahead] = 0.0
    chance[0] = 1.0
    # chance[ahead]: the players of the set `ahead` take the first places, in whatever order.
    for ahead in range(1 << seats):
        if chance[ahead] == 0.0:
            continue
        place = 0
        chips_left = 0.0
        for seat in range(seats):
            if ahead >> seat & 1:
                place += 1
            else:
                chips_left += stacks[seat]
        if place >= paid or place >= seats - num_busted:
            continue
        by_chip = chance[ahead] / chips_left
        for seat in range(seats):
            if not (ahead | busted) >> seat & 1:
                share = by_chip * stacks[seat]
                chance[ahead | 1 << seat] += share
                equity[seat] += share * payouts[place]
    if num_busted > 0:
        rest = 0.0
        for place in range(seats - num_busted, paid):
            rest += payouts[place]
        for seat in range(seats):
            if busted >> seat & 1:
                equity[seat] = rest / num_busted


@njit(cache=True, nogil=True)
def _icm_rows(stacks: Any, payouts: Any, equity: Any) -> None:
    chance = np.empty(1 << payouts.shape[0])
    for row in range(stacks.shape[0]):
        _icm(stacks[row], payouts, chance, equity[row])


def place_payouts(payouts: Sequence[float], seats: int) -> NDArray[np.float64]:
    """A payout for each of `seats` places, zeros after the last that is paid.

    Payouts that are no list of falling amounts, or more of them than seats, are refused.

    >>> place_payouts([50, 30], 4).tolist()
    [50.0, 30.0, 0.0, 0.0]
    """
    if not 2 <= seats <= MAX_SEATS:
        raise ValueError(f"payouts for {seats} seats: expected 2 to {MAX_SEATS}")
    paid = np.asarray(payouts, dtype=np.float64)
    if paid.ndim != 1 or not 1 <= paid.size <= seats:
        raise ValueError(
            f"payouts of shape {paid.shape}: expected a list of 1 to {seats} amounts, one per place"
        )
    if not np.isfinite(paid).all() or paid.min() < 0 or paid[0] == 0:
        raise ValueError(f"payouts {paid.tolist()}: expected amounts >= 0, the first above 0")
    if (np.diff(paid) > 0).any():
        raise ValueError(f"payouts {paid.tolist()}: a later place is paid more than an earlier one")
    return np.concatenate([paid, np.zeros(seats - paid.size)])


def icm(stacks: ArrayLike, payouts: Sequence[float]) -> NDArray[np.float64]:
    """Equity of every seat in a tournament's payouts, by Malmuth and Harville.

    Parameters
    ----------
    stacks
        Chips by seat, ``[seats]``, or many tables at once, ``[tables, seats]``; 2 to 9 seats. Seats without chips
        are out: they share the lowest payouts equally.
    payouts
        Amount of each place from the first, not rising; places left out are paid nothing.

    Returns
    -------
    equity
        In units of the payouts, with the shape of `stacks`. Each table's equities sum to the payouts.

    Examples
    --------
    >>> icm([5000, 3000, 2000], [50, 30, 20]).round(2).tolist()
    [38.39, 32.75, 28.86]
    """
    chips = np.ascontiguousarray(stacks, dtype=np.float64)
    if chips.ndim not in (1, 2):
        raise ValueError(f"stacks of shape {chips.shape}: expected [seats] or [tables, seats]")
    paid = place_payouts(payouts, chips.shape[-1])
    if not np.isfinite(chips).all() or (chips < 0).any():
        raise ValueError("stacks: expected numbers of chips >= 0")
    tables = np.atleast_2d(chips)
    if not (tables > 0).any(axis=1).all():
        raise ValueError("stacks: nobody at the table has chips")
    equity = np.empty_like(tables)
    _icm_rows(tables, paid, equity)
    return equity.reshape(chips.shape)
