"""What an exported bundle of three or more seats answers: play before the flop, as heads-up."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import CLASS_COMBOS, CLASS_NAMES, NUM_CLASSES, NUM_COMBOS
from artifacts.blueprint.betting_lines import Decision
from artifacts.blueprint.preflop_bundle import BoardLike, Floats, PreflopBundle, PreflopRows
from artifacts.offpath.marks import REASONS
from solver.betting.lines import seat_names, without_prefix


class MultiwayBundle(PreflopBundle):
    """A bundle of stage `export` of a game of three or more seats.

    Lines include folds (``ffb250``). Reach is by each seat's own decisions; that of a whole line multiplies the seats'
    shares of hands, without regard to the cards that they take from each other.
    """

    @property
    def seats(self) -> tuple[str, ...]:
        """Names of the seats, by number."""
        return seat_names(int(self.config["seats"]))

    def opponent_reach(self, line: str, board: BoardLike = "") -> Floats:
        """Refused: there are several opponents."""
        del line, board
        raise ValueError(f"{self.path}: a game of {len(self.seats)} seats; ask for the range of a seat")

    def line_reach(self, decision: Decision) -> Floats:
        """Probability by class that a line is played and the seat to act holds the hand."""
        place = self._places[without_prefix(decision.line)]
        others = float(self._reach["others"][place])
        return self._reach["reach"][place].astype(np.float64) * CLASS_COMBOS / NUM_COMBOS * others

    @cached_property
    def _places(self) -> dict[str, int]:
        return {without_prefix(line): number for number, line in enumerate(self.lines())}

    @cached_property
    def _reach(self) -> dict[str, NDArray[Any]]:
        table = self["reach"]
        return {name: table[name] for name in ("reach", "reason", "others")}

    @cached_property
    def _shares(self) -> dict[str, NDArray[Any]]:
        table = self["preflop"]
        return {name: table[name] for name in ("probability", "raw_probability")}

    def _preflop_rows(self, decision: Decision) -> PreflopRows:
        self.check(["preflop.arrow", "reach.arrow"])  # rows that were read before are views of the files
        if decision.line not in self._rows:
            count = len(decision.actions)
            here = slice(decision.row, decision.row + count)
            place = self._places[without_prefix(decision.line)]
            unknown = np.full((NUM_CLASSES, count), np.nan)
            self._rows[decision.line] = PreflopRows(
                hands=tuple(CLASS_NAMES),
                actions=decision.actions,
                probability=self._shares["probability"][here].T.astype(np.float64),
                raw_probability=self._shares["raw_probability"][here].T.astype(np.float64),
                ev=unknown,
                ev_se=unknown,
                reasons=tuple(REASONS[code] for code in self._reach["reason"][place].tolist()),
                reach=self._reach["reach"][place].astype(np.float64),
            )
        return self._rows[decision.line]
