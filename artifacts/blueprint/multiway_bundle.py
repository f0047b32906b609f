"""What an exported bundle of three or more seats answers: play on every street, as heads-up.

Lines after the flop are those of the templates that pot types share, in the chips of each line.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import CLASS_COMBOS, CLASS_NAMES, NUM_CLASSES, NUM_COMBOS, live_combos, parse_combo
from artifacts.blueprint.betting_lines import Decision
from artifacts.blueprint.bucketed_bundle import BucketedBundle
from artifacts.blueprint.combo_rows import ComboRows
from artifacts.blueprint.multiway_lines import MultiwayLines
from artifacts.blueprint.preflop_bundle import BoardLike, Floats, PreflopRows
from artifacts.errors import BundleError
from artifacts.offpath.marks import REASONS
from artifacts.offpath.seat_rows import seat_codes
from solver.betting.lines import PUBLIC_CARDS, seat_names, without_prefix
from solver.multiplayer.later_lines import FlopLines, LaterLines, TemplateNodes, TemplateRows

if TYPE_CHECKING:
    from solver.multiplayer.blueprint import MultiwayBlueprint

_AFTER_FLOP = ("flop_lines", "templates", "template_rows", "postflop")


class MultiwayBundle(BucketedBundle):
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

    @property
    def plays_after_flop(self) -> bool:
        """Whether the game after the flop was trained along; otherwise flops are checked down."""
        return "postflop" in self

    @cached_property
    def later_lines(self) -> LaterLines | None:
        """Betting after the flop; None where flops are checked down.

        Raises
        ------
        BundleError
            If the bundle was exported before play after the flop could be read.
        """
        if not self.plays_after_flop:
            return None
        lines, nodes, rows = (self[name] for name in _AFTER_FLOP[:3])
        if "seats" not in lines.names or "buckets_flop" not in self:
            raise BundleError(
                f"{self.path}: exported before play after the flop could be read; run its pipeline again"
            )
        kinds = self["pot_types"]
        number = lines["pot_type"]
        return LaterLines(
            TemplateNodes(**{name: nodes[name] for name in nodes.names}),
            TemplateRows(**{name: rows[name] for name in rows.names}),
            FlopLines(
                line=tuple(lines.table().column("line").to_pylist()),
                root=kinds["first_node"][number],
                table=kinds["first_entry"][number],
                **{name: lines[name] for name in ("seats", "pot", "committed")},
            ),
        )

    @property
    def _tree(self) -> MultiwayLines:
        self.check(["lines.arrow"])  # what was read from it may be a view of the file
        return self._betting_lines

    @cached_property
    def _betting_lines(self) -> MultiwayLines:
        return MultiwayLines(self["lines"], self.later_lines)

    def lines(self, street: str | None = None, prefix: str = "") -> list[str]:
        """Lines of all decisions before the flop; after it, of those on a street that follow `prefix`."""
        return self._tree.lines(street, without_prefix(prefix))

    def strategy(
        self, line: str, hand: str, board: BoardLike = "", *, clean: bool = True
    ) -> dict[str, float]:
        """Strategy of one hand, ``{label: probability}``.

        Parameters
        ----------
        line
            Line of a decision.
        hand
            A class (``AKs``) or, after the flop always, two cards (``AhKh``).
        board
            Public cards of the line's street, flop first.
        """
        if self.decision(line).street == 0:
            return super().strategy(line, hand, board, clean=clean)
        rows = self.postflop(line, board)
        place = np.flatnonzero(rows.combos == parse_combo(hand))
        if not len(place):
            raise ValueError(f"hand {hand!r} shares a card with the board {board!r}")
        shares = rows.probability if clean else rows.raw_probability
        return dict(zip(rows.actions, shares[place[0]].tolist()))

    def probabilities(self, decision: Decision, board: NDArray[np.uint8]) -> NDArray[Any]:
        """See `solver.strategy.Strategy.probabilities`; as trained."""
        if decision.street == 0:
            return super().probabilities(decision, board)
        later = self.later_lines
        assert later is not None
        place = later.at(decision.line)
        assert place is not None
        cards = board[: PUBLIC_CARDS[decision.street]]
        buckets = np.where(live_combos(cards), self.combo_buckets(cards), 0).astype(np.int64)
        buckets += self.texture(cards) * self.bucket_counts[decision.street - 1]
        table = self["postflop"]["probability"]
        return np.stack([table[entry + buckets] for entry in later.entries(place)])

    @cached_property
    def bucket_counts(self) -> tuple[int, int, int]:
        """Buckets of flop, turn and river, of one texture where buckets belong to textures."""
        counts = self.configuration["buckets"]
        return int(counts["flop"]), int(counts["turn"]), int(counts["river"])

    @cached_property
    def blueprint(self) -> MultiwayBlueprint:
        """The strategy as trained, with everything that subgames need.

        Raises
        ------
        ValueError
            If flops are checked down.
        """
        from solver.multiplayer.blueprint import BoardColumns, MultiwayBlueprint, PreflopPlay

        later = self.later_lines
        if later is None:
            raise ValueError(
                f"{self.path}: flops are checked down: this blueprint has no play after the flop"
            )

        def preflop(line: str) -> PreflopPlay | None:
            decision = self._tree.at(line)
            if decision is None or decision.street:
                return None
            return PreflopPlay(decision.tokens, self._preflop_rows(decision).raw_probability.T)

        table = self["postflop"]["probability"]
        return MultiwayBlueprint(self.game, preflop, later, table, BoardColumns(self, self.bucket_counts))

    def postflop(self, line: str, board: BoardLike) -> ComboRows:
        """Everything the bundle says about a decision after the flop on a board."""
        decision, walk = self.decision(line), self._tree.walk(line)
        cards = self._cards(board, walk, line)
        if not len(cards):
            raise ValueError(f"line {line!r} has seen no flop: `preflop` holds its rows")
        live = np.flatnonzero(live_combos(cards))
        reach = self.range(line, decision.player, cards)[live]
        own = [
            (step.tokens, taken, self.probabilities(step, cards)[:, live])
            for step, taken in walk.steps
            if step.player == decision.player
        ]
        codes = seat_codes(own, reach, str(self.config["reach_rule"]))
        return ComboRows(
            combos=live,
            actions=decision.actions,
            raw_probability=self.probabilities(decision, cards)[:, live].T.astype(np.float64),
            reasons=tuple(REASONS[code] for code in codes.tolist()),
            reach=reach,
        )

    def line_reach(self, decision: Decision, board: NDArray[np.uint8] | None = None) -> Floats:
        """Probability that a line is played and the seat to act holds the hand: by class, by combo on a board."""
        if decision.street > 0:
            assert board is not None
            dealt = float(live_combos(board).sum())
            line = decision.line
            shares = [self.range(line, seat, board) / dealt for seat in range(len(self.seats))]
            own = shares.pop(decision.player)
            return own * float(np.prod([share.sum() for share in shares]))
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
