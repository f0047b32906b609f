"""The lines of an exported blueprint: every decision by its tokens, and lines walked decision by decision."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from artifacts.format.arrow_file import ArrowFile

PREFIX = "||p|"
STREET_NAMES = ("preflop", "flop", "turn", "river")
_TOKEN = re.compile(r"[fxcA/]|[br]\d+")


@dataclass(frozen=True)
class Decision:
    """A decision of the game: where it is, who acts, and the row where its strategy begins."""

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
    """A line walked from the start: its decisions with the action taken at each, and where it ends.

    `end` is a decision's key, or what was written where nobody acts: `over` says that a street has ended.
    """

    steps: tuple[tuple[Decision, int], ...]
    end: str
    over: bool

    @property
    def street(self) -> int:
        """Street of the last token, 0 preflop .. 3 river."""
        return self.end.count("/")

    def entered(self, num_cards: int) -> Walk:
        """The walk at the first decision of the next street, if the board has that street's cards."""
        if self.over and num_cards == self.street + 3:
            return Walk(self.steps, f"{self.end}/", False)
        return self


class BettingLines:
    """Table `lines.arrow` by line."""

    def __init__(self, table: ArrowFile) -> None:
        self._table = table.table()
        self._lines: list[str] = self._table.column("line").to_pylist()
        self._numbers = {line.removeprefix(PREFIX): number for number, line in enumerate(self._lines)}
        self._decisions: dict[int, Decision] = {}

    def lines(self, street: str | None = None) -> list[str]:
        """Lines of all decisions, or of those on a street, in the order of the table."""
        if street is None:
            return list(self._lines)
        if street not in STREET_NAMES:
            raise ValueError(f"street {street!r}: accepted are {', '.join(STREET_NAMES)}")
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
                street=STREET_NAMES.index(row["street"]),
                player=row["player"],
                actions=tuple(row["actions"]),
                tokens=tuple(row["tokens"]),
                row=row["row"],
                pot=row["pot"],
                committed=tuple(row["committed"]),
            )
        return self._decisions[number]

    def decision(self, line: str) -> Decision:
        """Decision at the end of a line, the next street's first where the line ends its street."""
        end = self.walk(line).end
        found = self.at(end) or self.at(f"{end}/")
        if found is None:
            raise ValueError(f"line {line!r}: nobody acts there, the betting is over")
        return found

    def walk(self, line: str) -> Walk:
        """Walk a line from the start; a token that is not on offer is refused."""
        rest = line.removeprefix(PREFIX)
        steps: list[tuple[Decision, int]] = []
        key, position = "", 0
        while position < len(rest):
            match = _TOKEN.match(rest, position)
            if match is None:
                raise ValueError(
                    f"line {line!r}: no token at {rest[position:]!r}; accepted: f x c b<to> r<to> A /"
                )
            decision = self.at(key)
            offered = decision.tokens if decision else ("/",) if f"{key}/" in self._numbers else ()
            if match[0] not in offered:
                accepted = " ".join(offered) or "nothing, the betting is over"
                raise ValueError(
                    f"line {line!r}: {match[0]!r} is not possible after {key or 'the start'}; "
                    f"accepted: {accepted}"
                )
            if decision is not None:
                steps.append((decision, offered.index(match[0])))
            key += match[0]
            position = match.end()
        return Walk(tuple(steps), key, key not in self._numbers and f"{key}/" in self._numbers)

    def seen(self, walk: Walk, *, below: bool) -> Iterator[Decision]:
        """Decisions after the flop on the way (and facing an all-in there), at the end, below on its street."""
        for decision, action in walk.steps:
            if decision.street > 0:
                yield decision
                facing = self.at(f"{decision.line}A")
                if facing is not None and decision.tokens[action] != "A":
                    yield facing
        for key in self._numbers:
            if key.startswith(walk.end) and key.count("/") == walk.street:
                # Not a longer number: b50 is not the beginning of b500.
                follows = key[len(walk.end) : len(walk.end) + 1]
                if not follows or (below and not follows.isdigit()):
                    found = self.at(key)
                    assert found is not None
                    yield found
