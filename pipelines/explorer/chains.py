"""The solves of one hand, street by street: a solve goes on from the ranges of the one before it.

Each street is a bundle of its own that names the solve of the street before. So a walk in either direction is answered
by the solve that belongs to the street, and by the blueprint where nobody solved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from artifacts.subgame_bundle import SubgameBundle
from pipelines.explorer.catalogue import Catalogue
from pipelines.explorer.refusals import Refusal
from solver.betting.lines import PUBLIC_CARDS, STREETS, Letter, split_street, street_of, without_prefix
from solver.subgame.config import FULL
from solver.subgame.subgame import Ranges

Cards = NDArray[np.uint8]


def same_cards(first: Cards, second: Cards) -> bool:
    """Whether two boards are one: the cards of the flop may come in any order."""
    return (
        len(first) == len(second)
        and set(first[:3].tolist()) == set(second[:3].tolist())
        and first[3:].tolist() == second[3:].tolist()
    )


@dataclass(frozen=True)
class Chain:
    """The solves behind and before a solve, along a line and the cards that were dealt."""

    catalogue: Catalogue
    source: SubgameBundle

    def before(self) -> Iterator[SubgameBundle]:
        """The solve itself, then those of the streets before it, as far as they are kept."""
        solve: SubgameBundle | None = self.source
        while solve is not None:
            yield solve
            solve = self.catalogue.parent(solve)

    def along(self, line: str, board: Cards) -> list[SubgameBundle]:
        """The solves of the streets of a line, in order, that are kept and know what was played."""
        earlier = [solve for solve in self.before() if self._fits(solve, line, board)]
        found = earlier[::-1]
        while found and (street := _street(found[-1]) + 1) <= street_of(line):
            later = self._following(found[-1], street, line, board)
            if later is None:
                break
            found.append(later)
        return found

    def answering(self, line: str, board: Cards) -> SubgameBundle | None:
        """The solve that knows the decision at a line; None where the blueprint must answer."""
        line = entered(line, board)
        for solve in reversed(self.along(line, board)):
            if line in solve.solved.by_line and same_cards(solve.root_board, board):
                return solve
        return None

    def goes_on(self, line: str, board: Cards) -> SubgameBundle | None:
        """The solve to the river that the street of a line continues, and that has not been carried on to it yet."""
        line = entered(line, board)
        found = self.along(line, board)
        if not found or found[-1].solved.config.depth != FULL or _street(found[-1]) + 1 != street_of(line):
            return None
        return found[-1]

    def carried(self, line: str, board: Cards) -> tuple[Ranges | None, SubgameBundle | None]:
        """Both ranges at the start of a line's street and the solve that they are from; None for the blueprint's."""
        line = entered(line, board)
        start, street = split_street(line)[0], street_of(line)
        for solve in self.before():
            if solve.solved.root_line == start and same_cards(solve.root_board, board):
                # The same street with other settings starts with the same ranges.
                return solve.solved.ranges, self.catalogue.parent(solve)
        played = start.removesuffix(Letter.DEAL)
        for solve in reversed(self.along(played, board[: PUBLIC_CARDS[street - 1]])):
            if _street(solve) == street - 1:
                return (solve.solved.range(0, played), solve.solved.range(1, played)), solve
        first = list(self.before())[-1]
        if street <= _street(first):
            return None, None
        known = _street(self.source)
        if street > known + 1 and self.source.solved.reaches(_part(line, known)):
            raise Refusal(
                f"line {line!r}: solve the {STREETS[known + 1]} first, so that its ranges are known"
            )
        raise Refusal(
            f"line {line!r} does not follow the street that {self.source.path.name!r} solved, "
            f"{self.source.solved.root_line!r}"
        )

    def _following(self, solve: SubgameBundle, street: int, line: str, board: Cards) -> SubgameBundle | None:
        """The newest solve of the next street that goes on from a solve and knows what was played there."""
        if not self._fits(solve, line, board):
            return None
        for later in self.catalogue.children(solve):
            if _street(later) == street and not later.solved.locked and self._fits(later, line, board):
                return later
        return None

    @staticmethod
    def _fits(solve: SubgameBundle, line: str, board: Cards) -> bool:
        """Whether a line goes through the street of a solve, on its board, with actions that the solve has."""
        cards = solve.root_board
        return same_cards(cards, board[: len(cards)]) and solve.solved.reaches(_part(line, _street(solve)))


def entered(line: str, board: Cards) -> str:
    """A line with the ``/`` behind its last street where the cards of the next one are dealt already."""
    text = without_prefix(line)
    street = street_of(text)
    closed = street + 1 < len(PUBLIC_CARDS) and len(board) == PUBLIC_CARDS[street + 1]
    return text + Letter.DEAL if closed else text


def _street(solve: SubgameBundle) -> int:
    return street_of(solve.solved.root_line)


def _part(line: str, street: int) -> str:
    """A line up to the end of a street, without what follows."""
    return Letter.DEAL.join(without_prefix(line).split(Letter.DEAL)[: street + 1])
