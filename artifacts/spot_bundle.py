"""A saved postflop solve: every decision that was kept, on every board, hand by hand.

Lines start at the root of the spot, so ``xb100c/x`` of a spot on the turn ends on the river. Players are numbered as
in the solver: 0 is out of position. Boards are the cards as dealt, those of the spot first.
"""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import (
    NUM_COMBOS,
    check_board,
    format_cards,
    hole_names,
    live_combos,
    parse_board,
    parse_combo,
)
from abstractions.ranges import parse_range
from artifacts.blueprint.betting_lines import BettingLines, Decision
from artifacts.blueprint.combo_rows import NOT_HELD, ComboRows
from artifacts.blueprint.preflop_bundle import BoardLike, Floats, Player
from artifacts.bundle import Bundle
from artifacts.postflop_offpath import reasons_by_key
from solver.betting.lines import PLAYERS, PUBLIC_CARDS, Letter, history_key, street_of
from solver.strategy import reach

if TYPE_CHECKING:
    from solver.exact.folded_hands import FoldedHands


class SpotBundle(Bundle):
    """A bundle of stage `postflop_solve`.

    Attributes
    ----------
    seats
        Names of the two players, by number.
    """

    seats = PLAYERS

    @cached_property
    def spot(self) -> dict[str, Any]:
        """The spot file, every key filled in."""
        return dict(json.loads(self.text("spot.json")))

    @cached_property
    def root_board(self) -> NDArray[np.uint8]:
        """Public cards of the spot."""
        return parse_board(self.spot["board"])

    @cached_property
    def folded(self) -> FoldedHands | None:
        """What the players who folded before the spot may have held; None without any."""
        from solver.postflop.holdem import read_folded

        return read_folded(self.spot.get("folded_ranges"))

    @cached_property
    def _tree(self) -> BettingLines:
        return BettingLines(self["lines"], nothing="the betting is over, or was not saved")

    def lines(self, street: str | None = None) -> list[str]:
        """Lines of all decisions that were saved, or of those on a street, in the order of the tree."""
        return self._tree.lines(street)

    def decision(self, line: str) -> Decision:
        """Who acts at a line, and what is on offer."""
        return self._tree.decision(line)

    def dealt_range(self, player: int) -> Floats:
        """Weight of each combo of a player at the root, [1326]; 0 where the board blocks it."""
        weights = parse_range(self.spot[f"{PLAYERS[player]}_range"])
        return np.asarray(weights, dtype=np.float64) * live_combos(self.root_board)

    def range(self, line: str, player: Player | None = None, board: BoardLike = "") -> Floats:
        """Weight of each combo of a player at a line, [1326]: its range at the root times what it plays.

        Parameters
        ----------
        player
            0 or ``oop``, 1 or ``ip``; by default the one to act.
        board
            Public cards as dealt; those of the spot by default.
        """
        cards = self._cards(board, line)
        number = self.decision(line).player if player is None else _player(player)
        return self.dealt_range(number) * reach(self, line, cards, number)

    def steps(self, line: str) -> tuple[tuple[Decision, int], ...]:
        """See `solver.strategy.Strategy.steps`."""
        return self._tree.walk(line).steps

    def probabilities(self, decision: Decision, board: NDArray[np.uint8]) -> Floats:
        """See `solver.strategy.Strategy.probabilities`; as solved, 0 for combos that the player cannot hold."""
        combos, strategy, _ = self._rows(decision, board)
        table = np.zeros((len(decision.actions), NUM_COMBOS))
        table[:, combos] = strategy.T
        return table

    def action_values(self, line: str, board: BoardLike = "") -> Floats:
        """Chips that each combo receives from a line on with each action, ``[action, 1326]``; nan if not held.

        The share of the pot is included, as in the result of a solve.
        """
        decision = self.decision(line)
        combos, _, values = self._rows(decision, self._cards(board, line))
        table = np.full((len(decision.actions), NUM_COMBOS), np.nan)
        table[:, combos] = values.T
        return table

    def postflop(self, line: str, board: BoardLike = "") -> ComboRows:
        """Everything the bundle says about a decision on a board, by combo."""
        decision, cards = self.decision(line), self._cards(board, line)
        live = np.flatnonzero(live_combos(cards))
        combos, strategy, _ = self._rows(decision, cards)
        shares = np.full((NUM_COMBOS, len(decision.actions)), np.nan)
        shares[combos] = strategy
        reasons = dict.fromkeys(live.tolist(), NOT_HELD) | self._reasons(decision, cards)
        return ComboRows(
            combos=live,
            actions=decision.actions,
            raw_probability=shares[live],
            reasons=tuple(reasons[combo] for combo in live.tolist()),
            reach=self.range(decision.line, decision.player, cards)[live],
        )

    def _reasons(self, decision: Decision, cards: NDArray[np.uint8]) -> dict[int, str | None]:
        """Why each combo that the player can hold is off-path, by its number."""
        view: dict[str, list[float]] = {}
        for place in [step for step, _ in self.steps(decision.line)] + [decision]:
            public = cards[: PUBLIC_CARDS[place.street]]
            suffix = history_key(format_cards(np.sort(public)), place.street, place.line)
            if place.player != decision.player:
                continue
            combos, strategy, _ = self._rows(place, public)
            view.update(zip([hole_names()[combo] + suffix for combo in combos], strategy.tolist()))
            if Letter.ALLIN in place.tokens:
                # Cleaning learns that an all-in is on offer from a row of the opponent behind it.
                view[hole_names()[0] + suffix + Letter.ALLIN] = [1.0, 0.0]
        weights = self.dealt_range(decision.player)
        held = {hole_names()[combo]: float(weights[combo]) for combo in np.flatnonzero(weights).tolist()}
        found = reasons_by_key(view, held, hero_is_oop=decision.player == 0)
        # The last suffix is that of the decision itself.
        combos, _, _ = self._rows(decision, cards)
        return {int(combo): found[hole_names()[combo] + suffix] for combo in combos}

    def _rows(self, decision: Decision, cards: NDArray[np.uint8]) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Combos of the player to act with their strategy and the values of their actions, ``[combo, action]``."""
        board = self._dealt_text(cards[: PUBLIC_CARDS[decision.street]])
        number = self._nodes.get((decision.line, board))
        if number is None:
            raise ValueError(f"board {board}: not dealt at line {decision.line!r} of {self.path}")
        nodes, hands = self["nodes"], self["hands"].table()
        start, count = int(nodes["first_hand"][number]), int(nodes["num_hands"][number])
        part = hands.slice(start, count)
        combos = np.array([parse_combo(name) for name in part.column("hand").to_pylist()], dtype=np.int64)
        strategy, values = (
            np.array(part.column(name).to_pylist(), dtype=np.float64).reshape(count, len(decision.actions))
            for name in ("strategy", "action_ev")
        )
        return combos, strategy, values

    @cached_property
    def _nodes(self) -> dict[tuple[str, str], int]:
        table = self["nodes"].table()
        names = zip(table.column("line").to_pylist(), table.column("board").to_pylist())
        return {name: number for number, name in enumerate(names)}

    def _dealt_text(self, cards: NDArray[np.uint8]) -> str:
        """A board as the tables write it: the cards of the spot in the order of its file, then those dealt."""
        return format_cards([*self.root_board, *cards[len(self.root_board) :]])

    def _cards(self, board: BoardLike, line: str) -> NDArray[np.uint8]:
        """Cards of a board, refused unless they are those of the spot and one for each street of the line."""
        if len(board) == 0:
            cards = self.root_board
        else:
            cards = parse_board(board) if isinstance(board, str) else check_board(np.asarray(board))
        root = self.root_board
        if set(cards[: len(root)].tolist()) != set(root.tolist()):
            raise ValueError(
                f"board {format_cards(cards)!r} does not start with that of the spot, {format_cards(root)}"
            )
        walk = self._tree.walk(line)
        public = len(root) + street_of(walk.end)
        accepted = [public, public + 1] if walk.over else [public]
        if len(cards) not in accepted:
            wanted = " or ".join(map(str, accepted))
            raise ValueError(
                f"board {format_cards(cards)!r} has {len(cards)} cards: line {line!r} needs {wanted}"
            )
        return cards


def _player(player: Player) -> int:
    if player in PLAYERS:
        return PLAYERS.index(str(player))
    if player in (0, 1):
        return int(player)
    raise ValueError(f"player {player!r}: accepted are 0 or oop, 1 or ip")
