"""Lines after the flop of a game of three or more seats: betting templates in the chips of each line.

Lines of one pot type share a template (`solver.multiway.templates`), whose chips are counted in pots at the flop. Here
a template is read for one line: sizes in whole chips, seats instead of positions. Needs numpy alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.betting.lines import FLOP, Letter
from solver.betting.public_tree import LETTER_OF
from solver.betting.rules import Action

Ints = NDArray[np.integer]

_SIZED = {Action.BET: "bet", Action.RAISE: "raise"}


class Place(NamedTuple):
    """A node of a template as one line plays it; ``leaf`` is the number of the line that sees the flop."""

    leaf: int
    node: int


@dataclass(frozen=True, eq=False)
class TemplateNodes:
    """Nodes of all templates.

    Attributes
    ----------
    player, street
        Position among the players who saw the flop (-1 at ends), and street from the flop on (0 .. 2).
    actions, row
        Number of actions, and the first of their rows.
    stake
        What each position has put in after the flop, in pots, ``[node, position]``.
    folded
        Positions that have folded, as a bit mask.
    """

    player: Ints
    street: Ints
    actions: Ints
    row: Ints
    stake: NDArray[np.float64]
    folded: Ints


@dataclass(frozen=True, eq=False)
class TemplateRows:
    """Actions of all templates.

    Attributes
    ----------
    child
        Node that the action leads to.
    entry
        Where the row of the action begins in the table of its pot type.
    action, amount
        What is done, and the street total in pots.
    """

    child: Ints
    entry: Ints
    action: Ints
    amount: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FlopLines:
    """Lines that see a flop.

    Attributes
    ----------
    line
        As text, without prefix.
    root, table
        Root of the line's template, and the first entry of its table.
    seats
        Seat of each position, -1 where there is none, ``[line, position]``.
    pot, committed
        Chips in the pot, and what each seat has put in, ``[line, seat]``.
    """

    line: tuple[str, ...]
    root: Ints
    table: Ints
    seats: Ints
    pot: Ints
    committed: Ints


@dataclass(frozen=True, eq=False)
class LaterLines:
    """The betting after the flop of every line that sees one."""

    nodes: TemplateNodes
    rows: TemplateRows
    flop_lines: FlopLines

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {line: leaf for leaf, line in enumerate(self.flop_lines.line)}

    @cached_property
    def _places(self) -> dict[str, Place | None]:
        return {}

    def leaf(self, line: str) -> int | None:
        """Number of a line that sees a flop, None for any other."""
        return self._numbers.get(line)

    def root(self, leaf: int) -> Place:
        """First decision on the flop."""
        return Place(leaf, int(self.flop_lines.root[leaf]))

    def is_end(self, place: Place) -> bool:
        """Whether nobody acts any more."""
        return bool(self.nodes.player[place.node] < 0)

    def seat(self, place: Place) -> int:
        """Seat that acts."""
        return int(self.flop_lines.seats[place.leaf, self.nodes.player[place.node]])

    def live(self, place: Place) -> frozenset[int]:
        """Seats still in."""
        folded = int(self.nodes.folded[place.node])
        seats = self.flop_lines.seats[place.leaf].tolist()
        return frozenset(
            seat for position, seat in enumerate(seats) if seat >= 0 and not folded >> position & 1
        )

    def street(self, place: Place) -> int:
        """Street, 1 flop .. 3 river."""
        return int(self.nodes.street[place.node]) + FLOP

    def children(self, place: Place) -> list[Place]:
        """Where the actions lead."""
        first = int(self.nodes.row[place.node])
        stop = first + int(self.nodes.actions[place.node])
        return [Place(place.leaf, int(child)) for child in self.rows.child[first:stop]]

    def actions(self, place: Place) -> list[tuple[Action, int]]:
        """Actions with their street totals in chips."""
        first = int(self.nodes.row[place.node])
        rows = slice(first, first + int(self.nodes.actions[place.node]))
        pot = float(self.flop_lines.pot[place.leaf])
        return [
            (Action(int(action)), round(float(amount) * pot))
            for action, amount in zip(self.rows.action[rows], self.rows.amount[rows])
        ]

    def tokens(self, place: Place) -> list[str]:
        """Actions as a line writes them."""
        return [
            LETTER_OF[action] + (str(to) if action in _SIZED else "") for action, to in self.actions(place)
        ]

    def labels(self, place: Place) -> list[str]:
        """Actions as charts name them."""
        names = {Action.ALLIN: "all_in"}
        return [
            f"{_SIZED[action]}_{to}" if action in _SIZED else names.get(action, action.name.lower())
            for action, to in self.actions(place)
        ]

    def committed(self, place: Place) -> list[int]:
        """Chips of each seat since the start of the hand."""
        chips = [int(put_in) for put_in in self.flop_lines.committed[place.leaf]]
        for position, seat in enumerate(self.flop_lines.seats[place.leaf].tolist()):
            if seat >= 0:
                stake = float(self.nodes.stake[place.node, position])
                chips[seat] += round(stake * float(self.flop_lines.pot[place.leaf]))
        return chips

    def pot(self, place: Place) -> int:
        """Chips in the pot."""
        before = int(self.flop_lines.committed[place.leaf].sum())
        return int(self.flop_lines.pot[place.leaf]) + sum(self.committed(place)) - before

    def entries(self, place: Place) -> list[int]:
        """Where the row of each action begins in the table of the strategy."""
        first = int(self.nodes.row[place.node])
        rows = self.rows.entry[first : first + int(self.nodes.actions[place.node])]
        return [int(self.flop_lines.table[place.leaf] + entry) for entry in rows]

    def at(self, line: str) -> Place | None:
        """Decision at the end of a line after the flop, without prefix; None where there is none."""
        if line not in self._places:
            self._places[line] = self._find(line)
        return self._places[line]

    def _find(self, line: str) -> Place | None:
        start, slash, history = line.partition(Letter.DEAL)
        leaf = self.leaf(start)
        if leaf is None or not slash:
            return None
        if not history:
            return self.root(leaf)
        before = _without_last(line)
        above = self.at(before)
        if above is None:
            return None
        token = line[len(before) :]
        tokens = self.tokens(above)
        if token.rstrip(Letter.DEAL) not in tokens:
            return None
        place = self.children(above)[tokens.index(token.rstrip(Letter.DEAL))]
        dealt = self.street(place) > self.street(above)
        return None if self.is_end(place) or dealt != token.endswith(Letter.DEAL) else place

    def below(self, line: str) -> Iterator[tuple[str, Place]]:
        """The decision of a line and all that follow it, depth first, each with its line."""
        place = self.at(line)
        if place is not None:
            yield from self._walk(line, place)

    def _walk(self, line: str, place: Place) -> Iterator[tuple[str, Place]]:
        yield line, place
        for token, child in zip(self.tokens(place), self.children(place)):
            if not self.is_end(child):
                dealt = Letter.DEAL.value if self.street(child) > self.street(place) else ""
                yield from self._walk(line + token + dealt, child)


def _without_last(line: str) -> str:
    """A line without its last action, and without the ``/`` that may follow that."""
    text = line.rstrip(Letter.DEAL)
    at = len(text.rstrip("0123456789")) - 1
    return text[:at]
