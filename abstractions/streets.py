"""The streets of a hand: their names, and how many public cards lie on the table."""

from __future__ import annotations

STREETS = ("preflop", "flop", "turn", "river")
PREFLOP, FLOP, TURN, RIVER = range(4)
#: Public cards by street.
PUBLIC_CARDS = (0, 3, 4, 5)
#: Name of the street by its number of public cards, from the flop on.
BOARD_STREETS = dict(zip(PUBLIC_CARDS[FLOP:], STREETS[FLOP:]))
