"""Bet-size notation and the rules that turn a menu into legal amounts.

A menu is a comma-separated text such as ``"50%,100%,a"``:

========  ==========================================================================
``p%``    ``p`` percent of the pot after calling (a raise adds that to the bet level)
``kx``    ``k`` times the current bet level (raises only)
``Nc``    ``N`` chips more than the current bet level
``e``     the same fraction of the pot on every street left, all-in on the river;
          ``2e`` counts two streets, ``e150%`` bounds the fraction
``a``     all-in
``Nbb``   to ``N`` big blinds (preflop; a bare number there means the same first in,
          and a multiple of the previous bet afterwards)
``none``  explicitly no size
========  ==========================================================================

Amounts are street totals ("to") in whole chips, halves rounded away from zero. Ratios are
kept as exact fractions, so that rounding never depends on binary floating point.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction


class SizeKind(IntEnum):
    """What the number of a bet size multiplies."""

    POT = 0
    PREVIOUS = 1
    CHIPS = 2
    GEOMETRIC = 3
    ALL_IN = 4
    TO = 5


@dataclass(frozen=True)
class BetSize:
    """One entry of a menu.

    Attributes
    ----------
    kind
        What ``value`` multiplies.
    value
        Fraction of the pot, multiple of the bet level, chips, or the cap on the pot fraction
        of a geometric size (0 = no cap).
    streets
        Number of streets of a geometric size, 0 = the streets left.
    """

    kind: SizeKind
    value: Fraction = Fraction(0)
    streets: int = 0


Menu = tuple[BetSize, ...]
NO_SIZES: Menu = ()

# No amount of chips has more digits, and Python refuses to convert thousands of them.
_NUMBER = r"(\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})"
_TOKEN = re.compile(rf"^{_NUMBER}(%|x|c|bb)?$")
#: What a menu before the flop accepts, for error messages.
_PREFLOP_SIZES = "a plain number (big blinds first in, times the bet later), Nbb, p%, kx, Nc, e, a"
_GEOMETRIC = re.compile(rf"^(\d{{0,18}})e(?:{_NUMBER}%)?$")


@dataclass(frozen=True)
class Thresholds:
    """All-in and merging thresholds, as exact fractions of the pot.

    Examples
    --------
    >>> Thresholds.of(1.5, 0.15, 0.1).force_allin
    Fraction(3, 20)
    """

    add_allin: Fraction
    force_allin: Fraction
    merging: Fraction

    @classmethod
    def of(cls, add_allin: float, force_allin: float, merging: float) -> Thresholds:
        """Read the thresholds as the decimals that the user wrote."""
        named = {
            "add_allin_threshold": add_allin,
            "force_allin_threshold": force_allin,
            "merging_threshold": merging,
        }
        for key, value in named.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e6:
                raise ValueError(f"{key}: {value!r} is not a number >= 0")
        return cls(*(Fraction(str(value)) for value in named.values()))


def parse_menu(text: str | None, *, raising: bool, where: str = "sizes") -> Menu:
    """Parse a postflop menu.

    Parameters
    ----------
    text
        The menu; ``None`` or ``"none"`` is a menu without sizes.
    raising
        Whether the menu answers a bet (then ``kx`` is allowed, and ``""`` means no raises).
    where
        Name of the setting, for error messages.

    Examples
    --------
    >>> [size.kind.name for size in parse_menu("50%, a", raising=False)]
    ['POT', 'ALL_IN']
    """
    if text is None:
        return NO_SIZES
    if not isinstance(text, str):
        raise ValueError(f"{where}: {text!r} is not a text such as '50%,100%,a'")
    tokens = [token.strip().lower() for token in text.split(",")]
    if tokens == ["none"] or (raising and tokens == [""]):
        return NO_SIZES
    return tuple(_parse_size(token, text, raising, where) for token in tokens)


def parse_preflop_menu(text: str | float, *, depth: int, blind: int, where: str = "raise_sizes") -> Menu:
    """Parse the preflop menu of one raise depth (0 = first in).

    Parameters
    ----------
    text
        The menu. A bare number is in big blinds first in and a multiple of the bet level later.
    depth
        Number of raises before this one.
    blind
        Chips of one big blind (of the straddle, when there is one).

    Examples
    --------
    >>> parse_preflop_menu("2.5,a", depth=0, blind=100)[0]
    BetSize(kind=<SizeKind.TO: 5>, value=Fraction(250, 1), streets=0)
    """
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        raise ValueError(f"{where}: {text!r} is not a size such as '2.5', '3x' or 'a'")
    tokens = [token.strip().lower() for token in str(text).split(",")]
    if tokens == ["none"]:
        return NO_SIZES
    menu = []
    for token in tokens:
        match = _TOKEN.match(token)
        if match and (match[2] == "bb" or (match[2] is None and depth == 0)):
            to = Fraction(match[1]) * blind
            if to <= blind:
                raise ValueError(f"{where}: {token!r} is not above the big blind")
            menu.append(BetSize(SizeKind.TO, to))
        else:
            bare = match is not None and match[2] is None
            size = f"{token}x" if bare else token
            menu.append(_parse_size(size, str(text), True, where, accepted=_PREFLOP_SIZES))
    return tuple(menu)


def _parse_size(token: str, text: str, raising: bool, where: str, *, accepted: str | None = None) -> BetSize:
    accepted = accepted or ("p%, kx, Nc, e, a" if raising else "p%, Nc, e, a")
    if not token:
        raise ValueError(f"{where}: {text!r} holds an empty size; accepted: {accepted}, none")
    if token == "a":
        return BetSize(SizeKind.ALL_IN)
    if geometric := _GEOMETRIC.match(token):
        if geometric[1] and int(geometric[1]) == 0:
            raise ValueError(f"{where}: size {token!r} counts no street")
        cap = Fraction(geometric[2]) / 100 if geometric[2] else Fraction(0)
        return BetSize(SizeKind.GEOMETRIC, cap, int(geometric[1] or 0))
    match = _TOKEN.match(token)
    if match is None or match[2] is None or match[2] == "bb":
        raise ValueError(f"{where}: size {token!r} is not understood; accepted: {accepted}")
    value = Fraction(match[1])
    if match[2] == "x":
        if not raising:
            raise ValueError(f"{where}: size {token!r} needs a previous bet; accepted: {accepted}")
        if value <= 1:
            raise ValueError(f"{where}: size {token!r} is not above the previous bet")
        return BetSize(SizeKind.PREVIOUS, value)
    if value <= 0:
        raise ValueError(f"{where}: size {token!r} is not positive")
    if match[2] == "%":
        return BetSize(SizeKind.POT, value / 100)
    if value.denominator != 1:
        raise ValueError(f"{where}: size {token!r} is not a whole number of chips")
    return BetSize(SizeKind.CHIPS, value)


def round_chips(amount: Fraction) -> int:
    """Round a non-negative amount to whole chips, halves up.

    Examples
    --------
    >>> round_chips(Fraction(5, 2)), round_chips(Fraction(49, 100))
    (3, 0)
    """
    return (2 * amount.numerator + amount.denominator) // (2 * amount.denominator)


def resolve_menu(
    menu: Menu,
    thresholds: Thresholds,
    *,
    pot: int,
    previous: int,
    minimum: int,
    maximum: int,
    streets_left: int = 1,
    bets: int = 0,
) -> list[int]:
    """Amounts that a menu offers, ascending; the last one is all-in when it equals `maximum`.

    Parameters
    ----------
    pot
        Pot after calling.
    previous
        Bet level of the street.
    minimum, maximum
        Smallest legal amount and the all-in amount; a size below or above is moved onto them.
    streets_left
        Streets left including this one.
    bets
        Bets and raises made on this street.

    Examples
    --------
    >>> menu = parse_menu("60%,2.5x", raising=True)
    >>> resolve_menu(menu, Thresholds.of(1.5, 0.15, 0.1), pot=700, previous=250, minimum=400, maximum=900)
    [625, 900]
    """
    amounts = set()
    for size in menu:
        to = _amount(size, pot, previous, maximum, streets_left, bets)
        to = min(max(to, minimum), maximum)
        forced = round_chips(thresholds.force_allin * (pot + 2 * (to - previous)))
        amounts.add(maximum if maximum <= to + forced else to)
    if maximum <= previous + round_chips(thresholds.add_allin * pot):
        amounts.add(maximum)
    return _merge(sorted(amounts), thresholds.merging, pot, previous)


def _amount(size: BetSize, pot: int, previous: int, maximum: int, streets_left: int, bets: int) -> int:
    if size.kind == SizeKind.POT:
        return previous + round_chips(size.value * pot)
    if size.kind == SizeKind.PREVIOUS:
        return round_chips(size.value * previous)
    if size.kind == SizeKind.CHIPS:
        return previous + int(size.value)
    if size.kind == SizeKind.TO:
        return round_chips(size.value)
    if size.kind == SizeKind.ALL_IN:
        return maximum
    # A bet of fraction f multiplies the pot by 1 + 2f, and the pot must reach pot + 2 * (stack behind).
    # Each re-raise already spends one of the equal steps.
    steps = max((size.streets or streets_left) - max(bets - 1, 0), 1)
    ratio = ((1 + 2 * (maximum - previous) / pot) ** (1 / steps) - 1) / 2
    if size.value:
        ratio = min(ratio, float(size.value))
    return previous + int(pot * ratio + 0.5)


def _merge(amounts: list[int], merging: Fraction, pot: int, previous: int) -> list[int]:
    """Keep a size only if (1 + X) / (1 + Y) > 1 + merging against the next larger kept X."""
    kept: list[int] = []
    for to in reversed(amounts):
        if not kept or pot + kept[-1] - previous > (1 + merging) * (pot + to - previous):
            kept.append(to)
    return kept[::-1]
