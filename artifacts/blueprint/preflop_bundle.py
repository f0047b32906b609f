"""What a bundle with a preflop strategy answers: a saved preflop solve, or the preflop part of a blueprint.

Lines are written as in the bundle: tokens ``f x c b<to> r<to> A``, ``/`` between streets; the prefix ``||p|``
of a preflop line may be left out, and so may the ``/`` behind the last action of a street. Probabilities are the
strategy's own (raw) wherever something is computed from them; `clean` only changes what is shown.

This module needs numpy and pyarrow alone, nothing that is compiled.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import CLASS_OF_COMBO, NUM_COMBOS, check_board, format_cards, parse_board, parse_combo
from artifacts.blueprint.betting_lines import BettingLines, Decision, Walk
from artifacts.bundle import Bundle
from solver.betting.lines import HEADS_UP_SEATS, PUBLIC_CARDS, parse_seat
from solver.strategy import by_class, by_combo, reach

if TYPE_CHECKING:
    from solver.betting.game import GameConfig

__all__ = ["Decision", "PreflopBundle", "PreflopRows"]

Floats = NDArray[np.float64]
Table = dict[str, dict[str, dict[str, float]]]
Player = int | str
BoardLike = str | NDArray | list[int] | tuple[int, ...]


@dataclass(frozen=True, eq=False)
class PreflopRows:
    """A preflop decision, hands in grid order.

    Attributes
    ----------
    hands, actions
        Names of the 169 classes and labels of the actions.
    probability, raw_probability, ev
        ``[hand, action]``: with off-path hands folded, as trained, and net chips (nan where undefined).
    ev_se
        ``[hand, action]``: standard error of `ev`, 0 where it is exact; nan where undefined, and in bundles that were
        written before it was measured.
    reasons
        Why a hand is off-path, None where it is in range.
    reach
        Probability by hand that the player to act plays its part of the line.
    """

    hands: tuple[str, ...]
    actions: tuple[str, ...]
    probability: Floats
    raw_probability: Floats
    ev: Floats
    ev_se: Floats
    reasons: tuple[str | None, ...]
    reach: Floats


class PreflopBundle(Bundle):
    """A bundle of stage `preflop_solve`, and what one of stage `export` answers in the same way.

    Attributes
    ----------
    seats
        Names of the players, by number.
    """

    @property
    def seats(self) -> tuple[str, ...]:
        """Names of the players, by number."""
        return HEADS_UP_SEATS

    @property
    def root_board(self) -> NDArray[np.uint8]:
        """Public cards at the start: none."""
        return np.empty(0, dtype=np.uint8)

    def dealt_range(self, player: int) -> Floats:
        """Weight of each combo of a player at the start, [1326]: every hand alike."""
        del player
        return np.ones(NUM_COMBOS)

    @property
    def _tree(self) -> BettingLines:
        self.check(["lines.arrow"])  # what was read from it may be a view of the file
        return self._betting_lines

    @cached_property
    def _betting_lines(self) -> BettingLines:
        return BettingLines(self["lines"])

    def lines(self, street: str | None = None) -> list[str]:
        """Lines of all decisions, or of those on a street, in the order of the tree."""
        return self._tree.lines(street)

    def decision(self, line: str) -> Decision:
        """Who acts at a line, and what is on offer."""
        return self._tree.decision(line)

    def preflop(self, line: str) -> PreflopRows:
        """Everything the bundle says about a preflop decision."""
        decision = self._preflop_decision(line)
        return self._preflop_rows(decision)

    def strategy_table(self, clean: bool = True) -> Table:
        """Preflop strategy ``{line: {hand: {label: probability}}}``.

        Parameters
        ----------
        clean
            Fold hands that are off-path; False gives the strategy as trained.
        """
        table: Table = {}
        for line in self.lines("preflop"):
            rows = self.preflop(line)
            shares = rows.probability if clean else rows.raw_probability
            table[line] = {
                hand: dict(zip(rows.actions, row)) for hand, row in zip(rows.hands, shares.tolist())
            }
        return table

    def strategy(
        self, line: str, hand: str, board: BoardLike = "", *, clean: bool = True
    ) -> dict[str, float]:
        """Strategy of one hand at a preflop decision, ``{label: probability}``.

        Parameters
        ----------
        line
            Line of a decision.
        hand
            A class (``AKs``) or two cards (``AhKh``).
        board
            Public cards: none.
        """
        rows = self.preflop(line)
        self._cards(board, self._tree.walk(line), line)
        shares = rows.probability if clean else rows.raw_probability
        return dict(zip(rows.actions, shares[self._class(hand, rows.hands)].tolist()))

    def range(self, line: str, player: Player | None = None, board: BoardLike = "") -> Floats:
        """How likely each hand of a player plays its part of a line.

        Parameters
        ----------
        player
            Seat by number or by name, such as ``bb``; by default the one to act.
        board
            Public cards as dealt; needed once the line has seen a flop.

        Returns
        -------
        Array of the 169 classes without a board, of the 1,326 combos with one (0 for those it blocks).
        """
        walk = self._tree.walk(line)
        seat = self.decision(line).player if player is None else parse_seat(player, len(self.seats))
        cards = self._cards(board, walk, line)
        weights = reach(self, line, cards, seat)
        return weights if len(cards) else by_class(weights)

    def steps(self, line: str) -> tuple[tuple[Decision, int], ...]:
        """See `solver.strategy.Strategy.steps`."""
        return self._tree.walk(line).steps

    def probabilities(self, decision: Decision, board: NDArray[np.uint8]) -> NDArray[Any]:
        """See `solver.strategy.Strategy.probabilities`; as trained."""
        del board  # before the flop there is none
        return self._preflop_rows(decision).raw_probability.T[:, CLASS_OF_COMBO]

    def ends_hand(self, line: str) -> bool:
        """Whether nothing is bet any more once a line was played: a fold, or a showdown."""
        walk = self._tree.walk(line)
        return self._tree.at(walk.end) is None and not walk.over

    def opponent_reach(self, line: str, board: BoardLike = "") -> Floats:
        """`range` by combo, [1326], of the player who is not to act at the end of a line."""
        other = 1 - self.decision(line).player
        return by_combo(self.range(line, other, board))

    @property
    def has_class_equity(self) -> bool:
        """Whether the bundle holds the equities of class against class."""
        return "equity" in self

    def class_equity(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Wins, ties and deals of class against class over all boards, ``[169, 169]`` each."""
        table = self["equity"]
        return table["wins"], table["ties"], table["totals"]

    @cached_property
    def configuration(self) -> dict[str, Any]:
        """The game and every config slice that shaped the strategy: `config.yaml`."""
        from omegaconf import OmegaConf

        return dict(OmegaConf.to_container(OmegaConf.create(self.text("config.yaml"))))

    @property
    def game(self) -> GameConfig:
        """The game that the strategy is for."""
        from solver.betting.game import GameConfig

        return GameConfig.from_mapping(self.configuration["game"])

    def public_cards(self, line: str, board: BoardLike) -> NDArray[np.uint8]:
        """Cards of a board, refused unless they belong to the last street of a line."""
        return self._cards(board, self._tree.walk(line), line)

    def _cards(self, board: BoardLike, walk: Walk, line: str) -> NDArray[np.uint8]:
        """Cards of a board, refused unless they belong to the line's last street."""
        if len(board) == 0 and walk.street == 0:
            return np.empty(0, dtype=np.uint8)
        cards = parse_board(board) if isinstance(board, str) else check_board(np.asarray(board))
        public = PUBLIC_CARDS[walk.street]
        accepted = [public, PUBLIC_CARDS[walk.street + 1]] if walk.over else [public]
        if len(cards) not in accepted:
            wanted = " or ".join(map(str, accepted))
            raise ValueError(
                f"board {format_cards(cards)!r} has {len(cards)} cards: line {line!r} needs {wanted}"
            )
        return cards

    def _preflop_decision(self, line: str) -> Decision:
        decision = self.decision(line)
        if decision.street:
            raise ValueError(f"line {line!r} is not a preflop decision; accepted: those of lines('preflop')")
        return decision

    @cached_property
    def _preflop_columns(self) -> dict[str, Any]:
        table = self["preflop"]
        columns: dict[str, Any] = {
            name: table[name] for name in ("probability", "raw_probability", "reach", "ev")
        }
        columns["ev_se"] = table["ev_se"] if "ev_se" in table.names else np.full(len(columns["ev"]), np.nan)
        return columns | {name: table.table().column(name).to_pylist() for name in ("hand", "reason")}

    def _preflop_rows(self, decision: Decision) -> PreflopRows:
        self.check(["preflop.arrow"])  # rows that were read before are views of the file
        if decision.line not in self._rows:
            columns, count = self._preflop_columns, len(decision.actions)
            here = slice(decision.row, decision.row + 169 * count)
            self._rows[decision.line] = PreflopRows(
                hands=tuple(columns["hand"][here][::count]),
                actions=decision.actions,
                probability=columns["probability"][here].reshape(169, count),
                raw_probability=columns["raw_probability"][here].reshape(169, count),
                ev=columns["ev"][here].reshape(169, count),
                ev_se=columns["ev_se"][here].reshape(169, count),
                reasons=tuple(columns["reason"][here][::count]),
                reach=columns["reach"][here][::count],
            )
        return self._rows[decision.line]

    @cached_property
    def _rows(self) -> dict[str, PreflopRows]:
        return {}

    def _class(self, hand: str, hands: tuple[str, ...]) -> int:
        if hand in hands:
            return hands.index(hand)
        try:
            return int(CLASS_OF_COMBO[parse_combo(hand)])
        except ValueError:
            raise ValueError(
                f"hand {hand!r}: accepted are the 169 classes, such as AA, AKs or T9o, and two cards, such as AhKh"
            ) from None
