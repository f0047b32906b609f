"""The lines of an exported blueprint: its decisions, and the way to each of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from artifacts.format.arrow_file import ArrowFile
from solver.betting.lines import PREFLOP, PUBLIC_CARDS, STREETS, Letter, street_of, walk, without_prefix


@dataclass(frozen=True)
class Decision:
    """A decision of the game.

    Attributes
    ----------
    line
        As the bundle writes it, with the prefix before the flop.
    street, player
        Street (0 preflop .. 3 river) and the seat to act.
    actions, tokens
        Label and token of each action.
    row
        First row of its strategy in the table of its street.
    pot, committed
        Chips in the pot, and what each seat has put in since the start of the hand.
    """

    line: str
    street: int
    player: int
    actions: tuple[str, ...]
    tokens: tuple[str, ...]
    row: int
    pot: int
    committed: tuple[int, ...]


@dataclass(frozen=True)
class Walk:
    """The way along a line.

    Attributes
    ----------
    steps
        The decisions on the way, each with the number of the action taken.
    end
        The line without prefix.
    over
        Whether the line ends the betting of a street and does not write the ``/`` of the next one.
    """

    steps: tuple[tuple[Decision, int], ...]
    end: str
    over: bool

    @property
    def street(self) -> int:
        """Street of the last token, 0 preflop .. 3 river."""
        return street_of(self.end)

    def entered(self, num_cards: int) -> Walk:
        """The way to the next street, if the betting is over and the board has that street's cards."""
        if self.over and num_cards == PUBLIC_CARDS[self.street + 1]:
            return Walk(self.steps, self.end + Letter.DEAL, False)
        return self


class BettingLines:
    """The table `lines.arrow`, read by line; `nothing` says why nothing follows the end of a line."""

    def __init__(self, table: ArrowFile, *, nothing: str = "the betting is over") -> None:
        self._nothing = nothing
        self._table = table.table()
        self._lines: list[str] = self._table.column("line").to_pylist()
        self._numbers = {without_prefix(line): number for number, line in enumerate(self._lines)}
        self._decisions: dict[int, Decision] = {}

    def lines(self, street: str | None = None) -> list[str]:
        """Lines of all decisions, or of those on a street, in the order of the table."""
        if street is None:
            return list(self._lines)
        if street not in STREETS:
            raise ValueError(f"street {street!r}: accepted are {', '.join(STREETS)}")
        streets = self._table.column("street").to_pylist()
        return [line for line, name in zip(self._lines, streets) if name == street]

    def at(self, key: str) -> Decision | None:
        """Decision of a line without prefix, None where there is none."""
        number = self._numbers.get(key)
        if number is None:
            return None
        if number not in self._decisions:
            row = self._table.slice(number, 1).to_pylist()[0]
            self._decisions[number] = Decision(
                line=row["line"],
                street=STREETS.index(row["street"]),
                player=row["player"],
                actions=tuple(row["actions"]),
                tokens=tuple(row["tokens"]),
                row=row["row"],
                pot=row["pot"],
                committed=tuple(row["committed"]),
            )
        return self._decisions[number]

    def decision(self, line: str) -> Decision:
        """Decision at the end of a line; where the line ends a street, the first one of the next street."""
        end = self.walk(line).end
        found = self.at(end) or self.at(end + Letter.DEAL)
        if found is None:
            raise ValueError(f"line {line!r}: nobody acts there, {self._nothing}")
        return found

    def walk(self, line: str) -> Walk:
        """Walk a line from the start of the hand; a token that is not possible is refused."""
        keys = walk(line, "", self._offered, nothing=self._nothing)
        steps = []
        for key, following in pairwise(keys):
            decision = self.at(key)
            if decision is not None:
                steps.append((decision, decision.tokens.index(following[len(key) :])))
        return Walk(tuple(steps), keys[-1], self._ends_street(keys[-1]))

    def _offered(self, key: str) -> dict[str, str]:
        """Tokens that are possible at a line, and the lines they lead to; lines without prefix."""
        decision = self.at(key)
        if decision is not None:
            return {token: key + token for token in decision.tokens}
        return {Letter.DEAL.value: key + Letter.DEAL} if self._ends_street(key) else {}

    def _ends_street(self, key: str) -> bool:
        return key not in self._numbers and key + Letter.DEAL in self._numbers

    def seen(self, walk: Walk, *, below: bool) -> Iterator[Decision]:
        """The decisions after the flop that a view of a line shows.

        These are the decisions on the way, the one at the end and, with `below`, all that follow it on its
        street. Where a decision on the way offers an all-in that was not taken, the answer to that all-in
        comes too: off-path cleaning learns from it that there is one.
        """
        for decision, action in walk.steps:
            if decision.street > PREFLOP:
                yield decision
                facing = self.at(decision.line + Letter.ALLIN)
                if facing is not None and decision.tokens[action] != Letter.ALLIN:
                    yield facing
        for key in self._numbers:
            if key.startswith(walk.end) and street_of(key) == walk.street:
                # A digit here would continue a number: b500 does not follow b50.
                next_letter = key[len(walk.end) : len(walk.end) + 1]
                if not next_letter or (below and not next_letter.isdigit()):
                    found = self.at(key)
                    assert found is not None
                    yield found
