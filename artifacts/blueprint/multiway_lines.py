"""The lines of a blueprint of three or more seats: those before the flop from a table, later ones from templates."""

from __future__ import annotations

from artifacts.blueprint.betting_lines import BettingLines, Decision
from artifacts.format.arrow_file import ArrowFile
from solver.betting.lines import PREFLOP, STREETS, Letter, street_of
from solver.multiplayer.later_lines import LaterLines, Place


class MultiwayLines(BettingLines):
    """Lines of all streets. After the flop there are too many to list, so they are listed below a given line.

    Parameters
    ----------
    table
        Decisions before the flop.
    later
        Betting after it; None where flops are checked down.
    """

    def __init__(self, table: ArrowFile, later: LaterLines | None) -> None:
        nothing = "the betting is over"
        if later is None:
            nothing += ", or flops are checked down: this blueprint has no play after the flop"
        super().__init__(table, nothing=nothing)
        self.later = later

    def lines(self, street: str | None = None, prefix: str = "") -> list[str]:
        """Lines of all decisions before the flop, or of those on a street that follow `prefix`.

        Raises
        ------
        ValueError
            If lines after the flop are asked for without a line that sees one.
        """
        if Letter.DEAL not in prefix and (street is None or street == STREETS[PREFLOP]):
            return super().lines(street)
        if street is not None and street not in STREETS:
            raise ValueError(f"street {street!r}: accepted are {', '.join(STREETS)}")
        if self.later is None:
            raise ValueError("flops are checked down: this blueprint has no play after the flop")
        if Letter.DEAL not in prefix or self.later.leaf(prefix.partition(Letter.DEAL)[0]) is None:
            example = f"{self.later.flop_lines.line[0]}/" if self.later.flop_lines.line else "none"
            raise ValueError(
                f"prefix {prefix!r}: lines after the flop are listed below one that sees it, such as {example}"
            )
        start = prefix.partition(Letter.DEAL)[0] + Letter.DEAL
        return [
            line
            for line, _ in self.later.below(start)
            if street is None or STREETS[street_of(line)] == street
        ]

    def at(self, key: str) -> Decision | None:
        """Decision of a line without prefix, None where there is none."""
        if Letter.DEAL not in key:
            return super().at(key)
        place = None if self.later is None else self.later.at(key)
        return None if place is None else self._decision(key, place)

    def _decision(self, line: str, place: Place) -> Decision:
        later = self.later
        assert later is not None
        return Decision(
            line=line,
            street=later.street(place),
            player=later.seat(place),
            actions=tuple(later.labels(place)),
            tokens=tuple(later.tokens(place)),
            row=later.entries(place)[0],
            pot=later.pot(place),
            committed=tuple(later.committed(place)),
        )

    def _ends_street(self, key: str) -> bool:
        return self.at(key) is None and self.at(key + Letter.DEAL) is not None
