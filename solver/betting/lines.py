"""How lines are written: tokens, streets and seats.

A line lists the actions of a hand, such as ``b250c/xb300r900c/``. Each action is a token, and ``/`` stands
between two streets.

========  ======================================================================
``f``     fold
``x``     check
``c``     call; before the flop also the limp
``b300``  bet to 300 chips in total on this street; a preflop open is a bet too
``r900``  raise to 900 chips in total on this street
``A``     all-in
========  ======================================================================

With two seats a fold ends the hand, so nothing follows it. With three or more seats the others play on, so
folds stand inside a line as well. Preflop keys begin with ``||p|``; this prefix may be left out wherever a
line is read. A line that has ended a street may or may not write the ``/`` behind its last action.

Importing this module is cheap: it needs neither numpy nor numba.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import TypeVar

from abstractions.streets import FLOP, PREFLOP, PUBLIC_CARDS, RIVER, STREETS, TURN

__all__ = [
    "FLOP",
    "HEADS_UP_SEATS",
    "MAX_SEATS",
    "PLAYERS",
    "POSITIONS",
    "PREFLOP",
    "PREFLOP_PREFIX",
    "PUBLIC_CARDS",
    "RIVER",
    "STREETS",
    "STREET_LETTERS",
    "TURN",
    "Letter",
    "action_order",
    "chips",
    "format_line",
    "history_key",
    "is_line",
    "parse_line",
    "parse_seat",
    "postflop_history",
    "scaled",
    "seat_names",
    "split_street",
    "street_of",
    "tokens",
    "walk",
    "with_prefix",
    "without_prefix",
]

PREFLOP_PREFIX = "||p|"
#: How the keys of off-path tables write each street.
STREET_LETTERS = "".join(name[0] for name in STREETS)


class Letter(StrEnum):
    """First letter of a token, by the name of its action; `DEAL` is the next street."""

    FOLD = "f"
    CHECK = "x"
    CALL = "c"
    BET = "b"
    RAISE = "r"
    ALLIN = "A"
    DEAL = "/"


_TOKEN = re.compile(r"[fxcA/]|[br]\d+")
_LINE = re.compile(rf"({re.escape(PREFLOP_PREFIX)})?({_TOKEN.pattern})*")
_ACCEPTED = "f x c b<to> r<to> A /"

# ---- the text of a line --------------------------------------------------------------------------


def without_prefix(line: str) -> str:
    """A line without the prefix of preflop keys.

    >>> without_prefix("||p|b250"), without_prefix("b250")
    ('b250', 'b250')
    """
    return line.removeprefix(PREFLOP_PREFIX)


def with_prefix(line: str) -> str:
    """The key of a preflop line.

    >>> with_prefix("b300r900")
    '||p|b300r900'
    """
    return PREFLOP_PREFIX + without_prefix(line)


def is_line(text: str) -> bool:
    """Whether a text is written like a line; the empty text is the start of the hand.

    >>> is_line("||p|b250c/x"), is_line("run/export")
    (True, False)
    """
    return _LINE.fullmatch(text) is not None


def tokens(line: str) -> list[str]:
    """Tokens of a line, ``/`` included.

    >>> tokens("||p|b250c/x")
    ['b250', 'c', '/', 'x']
    >>> tokens("b250k")
    Traceback (most recent call last):
    ValueError: line 'b250k': no token at 'k'; accepted: f x c b<to> r<to> A /
    """
    return [token for _, token in _read(line)]


def parse_line(line: str) -> list[list[str]]:
    """Tokens of a line by street, those of a street in progress last.

    >>> parse_line("b250c/xb300")
    [['b250', 'c'], ['x', 'b300']]
    >>> parse_line("b250c/")
    [['b250', 'c'], []]
    """
    streets: list[list[str]] = [[]]
    for token in tokens(line):
        if token == Letter.DEAL:
            streets.append([])
        else:
            streets[-1].append(token)
    return streets


def format_line(streets: Iterable[Iterable[str]]) -> str:
    """The line of tokens by street, without prefix: the inverse of `parse_line`.

    >>> format_line([["b250", "c"], ["x", "b300"]])
    'b250c/xb300'
    """
    return Letter.DEAL.join("".join(street) for street in streets)


def _read(line: str, start: int = 0) -> Iterator[tuple[str, str]]:
    """Tokens of a line from a position on, each behind the text that comes before it."""
    text, position = without_prefix(line), start
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"line {line!r}: no token at {text[position:]!r}; accepted: {_ACCEPTED}")
        yield text[:position], match[0]
        position = match.end()


def chips(token: str) -> int:
    """Street total that a token names, 0 where it names none.

    >>> chips("r900"), chips("c")
    (900, 0)
    """
    return int(token[1:] or 0)


def scaled(token: str, scale: float) -> str:
    """A token with its chips times `scale`, rounded to whole chips.

    Lines of one pot type share their betting; the sizes of each are in its own chips.

    >>> scaled("b300", 1.5), scaled("x", 1.5)
    ('b450', 'x')
    """
    return f"{token[0]}{round(chips(token) * scale)}" if len(token) > 1 else token


# ---- walking a line ------------------------------------------------------------------------------

Place = TypeVar("Place")


def walk(
    line: str,
    start: Place,
    offered: Callable[[Place], Mapping[str, Place]],
    *,
    begun: str = "",
    nothing: str = "the line ends there",
) -> list[Place]:
    """The places that a line passes, from `start` to its end, over anything that knows its actions.

    Parameters
    ----------
    line
        A line, with or without prefix.
    offered
        The tokens that are possible at a place, and the place that each leads to.
    begun
        The beginning of the line that leads to `start`.
    nothing
        Why nothing is possible, for the message about a token behind the end.

    Raises
    ------
    ValueError
        If a token cannot be read or is not possible where it stands.

    Examples
    --------
    >>> betting = {"": {"x": "x", "b50": "b50"}, "x": {"x": "xx"}, "b50": {"f": "b50f", "c": "b50c"}}
    >>> walk("b50c", "", lambda place: betting.get(place, {}))
    ['', 'b50', 'b50c']
    >>> walk("xb50", "", lambda place: betting.get(place, {}))
    Traceback (most recent call last):
    ValueError: line 'xb50': 'b50' is not possible after x; accepted: x
    """
    places = [start]
    for before, token in _read(line, len(begun)):
        possible = offered(places[-1])
        if token not in possible:
            raise ValueError(
                f"line {line!r}: {token!r} is not possible after {before or 'the start'}; accepted: "
                + (" ".join(possible) or f"nothing, {nothing}")
            )
        places.append(possible[token])
    return places


# ---- streets -------------------------------------------------------------------------------------


def street_of(line: str) -> int:
    """Street of the last token of a line that begins before the flop, 0 preflop .. 3 river.

    >>> street_of("||p|b250"), street_of("b250c/")
    (0, 1)
    """
    return line.count(Letter.DEAL)


def split_street(line: str) -> tuple[str, str]:
    """The finished streets of a line, and the betting of the street in progress.

    >>> split_street("b250c/xb300")
    ('b250c/', 'xb300')
    """
    before, slash, now = line.rpartition(Letter.DEAL)
    return before + slash, now


def postflop_history(line: str) -> str:
    """The part of a line that comes after the flop.

    >>> postflop_history("b250c/xb300c/x")
    'xb300c/x'
    """
    return line.partition(Letter.DEAL)[2]


def history_key(board: str, street: int, history: str, *, hole: str = "") -> str:
    """Key of a row after the flop, ``<hole>|<board>|<street>|<history>``, cards ascending.

    Without hole cards it is what the rows of all hands at a decision have in common.

    >>> history_key("2d5s7c", FLOP, "xb50", hole="KcAh")
    'KcAh|2d5s7c|f|xb50'
    """
    return f"{hole}|{board}|{STREET_LETTERS[street]}|{history}"


# ---- seats ---------------------------------------------------------------------------------------

MAX_SEATS = 9
#: Names of two seats. The small blind has the button.
HEADS_UP_SEATS = ("sb", "bb")
#: Two players after the flop, by position: out of position and in position.
PLAYERS = ("oop", "ip")
_LATE_POSITIONS = ("HJ", "CO", "BTN")


def seat_names(num_seats: int) -> tuple[str, ...]:
    """Seats by position: the blinds, then the others in order of action before the flop.

    >>> seat_names(2), seat_names(6)
    (('sb', 'bb'), ('SB', 'BB', 'UTG', 'HJ', 'CO', 'BTN'))
    >>> seat_names(8)[2:]
    ('UTG', 'UTG1', 'UTG2', 'HJ', 'CO', 'BTN')
    """
    if not 2 <= num_seats <= MAX_SEATS:
        raise ValueError(f"{num_seats} seats; accepted: 2 to {MAX_SEATS}")
    if num_seats == 2:
        return HEADS_UP_SEATS
    others = num_seats - 2
    late = _LATE_POSITIONS[-others:]
    early = ["UTG" if k == 0 else f"UTG{k}" for k in range(others - len(late))]
    return "SB", "BB", *early, *late


#: Every name that a seat has at a table of three or more.
POSITIONS = tuple(dict.fromkeys(name for seats in range(3, MAX_SEATS + 1) for name in seat_names(seats)))


def action_order(num_seats: int, street: int) -> tuple[int, ...]:
    """Seats in order of action on a street, without straddle.

    >>> action_order(2, PREFLOP), action_order(2, FLOP)
    ((0, 1), (1, 0))
    >>> action_order(4, PREFLOP), action_order(4, FLOP)
    ((2, 3, 0, 1), (0, 1, 2, 3))
    """
    if num_seats == 2:
        return (0, 1) if street == PREFLOP else (1, 0)
    seats = tuple(range(num_seats))
    return seats[2:] + seats[:2] if street == PREFLOP else seats


def parse_seat(player: int | str, num_seats: int = 2) -> int:
    """Number of a seat that is given by number or by name; ``UTG+1`` is read as ``UTG1``.

    >>> parse_seat("bb"), parse_seat(1), parse_seat("co", num_seats=6)
    (1, 1, 4)
    """
    names = seat_names(num_seats)
    if isinstance(player, str):
        upper = [name.upper() for name in names]
        name = player.upper().replace("+", "")
        if name in upper:
            return upper.index(name)
    elif player in range(num_seats):
        return int(player)
    first = action_order(num_seats, PREFLOP)[0]
    accepted = [
        f"{seat} or {name}" + " (acts first before the flop)" * (seat == first)
        for seat, name in enumerate(names)
    ]
    raise ValueError(f"player {player!r}: accepted are {', '.join(accepted)}")
