"""The exported blueprint as users read it: strategies by line and hand, ranges, reach, values.

Lines are written as in the bundle: tokens ``f x c b<to> r<to> A``, ``/`` between streets; the prefix ``||p|``
of a preflop line may be left out, and so may the ``/`` behind the last action of a street. Probabilities are
the blueprint's own (raw) wherever something is computed from them; `clean` only changes what is shown.

Questions before the flop need numpy and pyarrow alone. Whatever is compiled is imported when it is first needed:
the bucket lookup by questions after the flop, the solver by `blueprint` and `continuation_value`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import (
    CLASS_OF_COMBO,
    COMBO_CARDS,
    check_board,
    format_cards,
    live_combos,
    parse_board,
    parse_combo,
)
from artifacts.blueprint.betting_lines import BettingLines, Decision, Walk
from artifacts.bundle import Bundle, Verify, open_bundle
from artifacts.errors import BundleError
from solver.betting.lines import STREETS, history_key, parse_seat, postflop_history
from solver.blueprint.rows import texture_row
from solver.strategy import by_class, by_combo, reach

if TYPE_CHECKING:
    from solver.betting.game import GameConfig
    from solver.blueprint.continuation import Continuations
    from solver.blueprint.strategy import Blueprint

__all__ = ["BlueprintBundle", "Decision", "PreflopRows", "open_blueprint"]

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
    reasons: tuple[str | None, ...]
    reach: Floats


class BlueprintBundle(Bundle):
    """A bundle of stage `export`."""

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
        decision = self.decision(line)
        if decision.street == 0:
            self._cards(board, self._tree.walk(line), line)
            rows = self._preflop_rows(decision)
            shares = rows.probability if clean else rows.raw_probability
            return dict(zip(decision.actions, shares[self._class(hand, rows.hands)].tolist()))
        walk = self._tree.walk(line)
        cards = self._cards(board, walk, line)
        walk = walk.entered(len(cards))
        view = self._view(cards, walk, below=False)
        if clean:
            view = self._cleaned(view, walk, cards, (decision.player,))
        hole = format_cards(COMBO_CARDS[parse_combo(hand)])
        history = postflop_history(decision.line)
        key = history_key(_sorted_text(cards), decision.street, history, hole=hole)
        if key not in view:
            raise ValueError(f"hand {hand!r} shares a card with board {format_cards(cards)}")
        return dict(zip(decision.actions, view[key]))

    def range(self, line: str, player: Player | None = None, board: BoardLike = "") -> Floats:
        """How likely each hand of a player plays its part of a line.

        Parameters
        ----------
        player
            Seat (0, 1) or ``sb``, ``bb``; by default the one to act.
        board
            Public cards as dealt; needed once the line has seen a flop.

        Returns
        -------
        Array of the 169 classes without a board, of the 1,326 combos with one (0 for those it blocks).
        """
        walk = self._tree.walk(line)
        seat = self.decision(line).player if player is None else parse_seat(player)
        cards = self._cards(board, walk, line)
        weights = reach(self, line, cards, seat)
        return weights if len(cards) else by_class(weights)

    def steps(self, line: str) -> tuple[tuple[Decision, int], ...]:
        """See `solver.strategy.Strategy.steps`."""
        return self._tree.walk(line).steps

    def probabilities(self, decision: Decision, board: NDArray[np.uint8]) -> NDArray[Any]:
        """See `solver.strategy.Strategy.probabilities`; as trained."""
        if decision.street == 0:
            return self._preflop_rows(decision).raw_probability.T[:, CLASS_OF_COMBO]
        buckets, shares = self._shares(decision, board)
        live = live_combos(board[: decision.street + 2])
        return shares[:, np.where(live, buckets, 0)]

    def opponent_reach(self, line: str, board: BoardLike = "") -> Floats:
        """`range` by combo, [1326], of the player who is not to act at the end of a line."""
        other = 1 - self.decision(line).player
        return by_combo(self.range(line, other, board))

    def per_history_strategy_view(
        self, board: BoardLike, line: str, *, clean: bool = True
    ) -> dict[str, list[float]]:
        """Strategy of every combo on a board, ``{"<hole>|<board>|<street>|<history>": [probabilities]}``.

        The rows are those of the decisions after the flop on the way to the line, of the line itself, and of
        all decisions of its street that follow it; also those that face an all-in made on the way, from which
        `artifacts.postflop_offpath` knows that there is one. It takes the view as it is.

        Parameters
        ----------
        board
            Public cards of the line's last street as dealt, flop first.
        line
            A decision after the flop, or the end of a street's betting.
        clean
            Let combos give up where they are off-path; False gives the strategy as trained.
        """
        walk = self._tree.walk(line)
        cards = self._cards(board, walk, line)
        if not len(cards):
            raise ValueError(f"line {line!r} has seen no flop: `strategy_table` holds the preflop strategy")
        walk = walk.entered(len(cards))
        view = self._view(cards, walk, below=True)
        return self._cleaned(view, walk, cards, (0, 1)) if clean else view

    def continuation_value(
        self,
        line: str,
        board: BoardLike,
        ranges: tuple[NDArray, NDArray] | None = None,
        player: Player | None = None,
        *,
        bias: str | tuple[str, str] = "blueprint",
        runouts: int | None = 96,
        seed: int = 0,
    ) -> Floats:
        """Net chips that each combo of a player wins on average from a line on, [1326].

        Parameters
        ----------
        ranges
            Weight of each combo for seat 0 and seat 1, [1326] each; by default how likely each plays the line.
        player
            Seat (0, 1) or ``sb``, ``bb`` whose values are asked for; by default the one to act.
        bias
            Continuation strategy of the opponent, or of seat 0 and seat 1: ``blueprint``, ``fold``, ``call``
            or ``raise``.
        runouts, seed
            Largest number of run-outs that are played (None: all, exact), and the seed of their choice.

        Returns
        -------
        Array of the 1,326 combos, nan for those that meet nobody.
        """
        walk = self._tree.walk(line)
        cards = self._cards(board, walk, line)
        seat = self.decision(line).player if player is None else parse_seat(player)
        if ranges is None:
            ranges = (self.range(line, 0, cards), self.range(line, 1, cards))
        if isinstance(bias, str):
            bias = ("blueprint", bias) if seat == 0 else (bias, "blueprint")
        return self._continuations.value(
            walk.entered(len(cards)).end, cards, ranges, seat, biases=bias, runouts=runouts, seed=seed
        )

    @cached_property
    def _continuations(self) -> Continuations:
        from solver.blueprint.continuation import Continuations

        return Continuations(self.blueprint)

    @cached_property
    def configuration(self) -> dict[str, Any]:
        """The game and every config slice that shaped the blueprint: `config.yaml`."""
        from omegaconf import OmegaConf

        return dict(OmegaConf.to_container(OmegaConf.create(self.text("config.yaml"))))

    @property
    def game(self) -> GameConfig:
        """The game that the blueprint was trained for."""
        from solver.betting.game import GameConfig

        return GameConfig.from_mapping(self.configuration["game"])

    @cached_property
    def blueprint(self) -> Blueprint:
        """The strategy as trained, with everything the solver needs to play and to evaluate it."""
        from artifacts.readers import read_exported_blueprint

        return read_exported_blueprint(self)

    def _cards(self, board: BoardLike, walk: Walk, line: str) -> NDArray[np.uint8]:
        """Cards of a board, refused unless they belong to the line's last street."""
        if len(board) == 0 and walk.street == 0:
            return np.empty(0, dtype=np.uint8)
        cards = parse_board(board) if isinstance(board, str) else check_board(np.asarray(board))
        public = walk.street + 2 if walk.street else 0
        accepted = [public, walk.street + 3] if walk.over else [public]
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

    def _shares(self, decision: Decision, cards: NDArray[np.uint8]) -> tuple[NDArray[np.uint16], NDArray]:
        """Bucket of every combo on the street's board, and the decision's strategy ``[action, bucket]``."""
        from abstractions.buckets import board_buckets

        board = cards[: decision.street + 2]
        key = board.tobytes()
        if key not in self._buckets:
            self._buckets[key] = board_buckets(self, board[None])[0]
        table = self.postflop_probabilities(decision.street - 1)
        first = texture_row(decision.row, self._texture(cards), len(table), self.num_textures)
        shares = table[first : first + len(decision.actions)]
        return self._buckets[key], shares

    @cached_property
    def _buckets(self) -> dict[bytes, NDArray[np.uint16]]:
        return {}

    def postflop_probabilities(self, street: int) -> NDArray[np.float32]:
        """The strategy of a street (0 flop .. 2 river) as trained, ``[row, bucket]``."""
        return self[f"postflop_{STREETS[street + 1]}"]["probability"]

    @cached_property
    def num_textures(self) -> int:
        """Sets of buckets and of postflop rows: 1 where all textures share theirs."""
        textures = self.flop_textures()
        return 1 if textures is None else int(textures.max()) + 1

    def _texture(self, cards: NDArray[np.uint8]) -> int:
        textures = self.flop_textures()
        if textures is None:
            return 0
        from abstractions.isomorphism import board_index

        return int(textures[board_index(cards[None, :3])[0][0]])

    def _view(self, cards: NDArray[np.uint8], walk: Walk, *, below: bool) -> dict[str, list[float]]:
        view: dict[str, list[float]] = {}
        names = _combo_names()
        for decision in self._tree.seen(walk, below=below):
            board = cards[: decision.street + 2]
            buckets, shares = self._shares(decision, cards)
            live = np.flatnonzero(live_combos(board))
            rows = shares[:, buckets[live]].T.astype(np.float64).tolist()
            suffix = history_key(_sorted_text(board), decision.street, postflop_history(decision.line))
            view.update(zip([names[combo] + suffix for combo in live.tolist()], rows))
        return view

    def _cleaned(
        self, view: dict[str, list[float]], walk: Walk, cards: NDArray[np.uint8], seats: tuple[int, ...]
    ) -> dict[str, list[float]]:
        """The view with the off-path combos of some seats giving up, given their ranges at the flop."""
        from artifacts.postflop_offpath import clean_off_path

        start = walk.end.partition("/")[0]
        first = self._tree.at(f"{start}/")
        assert first is not None
        names = _combo_names()
        for seat in seats:
            weights = self.range(start, seat, cards[:3])
            held = np.flatnonzero(weights).tolist()
            view = clean_off_path(
                view,
                {names[combo]: float(weights[combo]) for combo in held},
                hero_is_oop=seat == first.player,
                reach_rule=str(self.config["reach_rule"]),
            )
        return view


def open_blueprint(path: str | Path, *, verify: Verify = "first") -> BlueprintBundle:
    """`artifacts.open_bundle` of an exported blueprint; a bundle of another stage is refused."""
    bundle = open_bundle(path, verify=verify)
    if not isinstance(bundle, BlueprintBundle):
        raise BundleError(f"{path}: a bundle of stage {bundle.manifest.stage}; expected one of stage export")
    return bundle


def _sorted_text(cards: NDArray[np.uint8]) -> str:
    return format_cards(np.sort(cards))


def _combo_names() -> tuple[str, ...]:
    """Names of the combos as keys write them, lower card first."""
    if not _NAMES:
        _NAMES.extend(format_cards(pair) for pair in COMBO_CARDS)
    return tuple(_NAMES)


_NAMES: list[str] = []
