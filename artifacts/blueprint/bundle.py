"""The exported blueprint as users read it: strategies by line and hand, ranges, reach, values.

Lines are written as in the bundle: tokens ``f x c b<to> r<to> A``, ``/`` between streets; the prefix ``||p|``
of a preflop line may be left out, and so may the ``/`` behind the last action of a street. Probabilities are
the blueprint's own (raw) wherever something is computed from them; `clean` only changes what is shown.

Questions before the flop need numpy and pyarrow alone. Whatever is compiled is imported when it is first needed:
the bucket lookup by questions after the flop, the solver by `blueprint` and `continuation_value`.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import format_cards, hole_names, live_combos, parse_combo
from artifacts.blueprint.betting_lines import Decision, Walk
from artifacts.blueprint.bucketed_bundle import BucketedBundle
from artifacts.blueprint.combo_rows import ComboRows
from artifacts.blueprint.preflop_bundle import BoardLike, Floats, Player, PreflopRows
from artifacts.bundle import Verify, open_bundle
from artifacts.errors import BundleError
from solver.betting.lines import PUBLIC_CARDS, STREETS, history_key, parse_seat, postflop_history
from solver.blueprint.rows import texture_row

if TYPE_CHECKING:
    from solver.blueprint.continuation import Continuations
    from solver.blueprint.strategy import Blueprint

__all__ = ["BlueprintBundle", "Decision", "PreflopRows", "open_blueprint"]


class BlueprintBundle(BucketedBundle):
    """A bundle of stage `export`."""

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
            return super().strategy(line, hand, board, clean=clean)
        walk = self._tree.walk(line)
        cards = self._cards(board, walk, line)
        walk = walk.entered(len(cards))
        view = self._view(cards, walk, below=False)
        if clean:
            view = self._cleaned(view, walk, cards, (decision.player,))
        hole = hole_names()[parse_combo(hand)]
        history = postflop_history(decision.line)
        key = history_key(_sorted_text(cards), decision.street, history, hole=hole)
        if key not in view:
            raise ValueError(f"hand {hand!r} shares a card with board {format_cards(cards)}")
        return dict(zip(decision.actions, view[key]))

    def probabilities(self, decision: Decision, board: NDArray[np.uint8]) -> NDArray[Any]:
        """See `solver.strategy.Strategy.probabilities`; as trained."""
        if decision.street == 0:
            return super().probabilities(decision, board)
        buckets, shares = self._shares(decision, board)
        live = live_combos(board[: PUBLIC_CARDS[decision.street]])
        return shares[:, np.where(live, buckets, 0)]

    def postflop(self, line: str, board: BoardLike) -> ComboRows:
        """Everything the bundle says about a decision after the flop on a board."""
        decision, walk = self.decision(line), self._tree.walk(line)
        cards = self._cards(board, walk, line)
        if not len(cards):
            raise ValueError(f"line {line!r} has seen no flop: `preflop` holds its rows")
        live = np.flatnonzero(live_combos(cards))
        suffix = history_key(_sorted_text(cards), decision.street, postflop_history(decision.line))
        reasons = self._reasons(cards, walk.entered(len(cards)), decision.player)
        names = hole_names()
        return ComboRows(
            combos=live,
            actions=decision.actions,
            raw_probability=self.probabilities(decision, cards)[:, live].T.astype(np.float64),
            reasons=tuple(reasons[names[combo] + suffix] for combo in live.tolist()),
            reach=self.range(line, decision.player, cards)[live],
        )

    def action_values(
        self, line: str, board: BoardLike, *, runouts: int | None = 96, seed: int = 0
    ) -> NDArray[np.float64]:
        """Net chips that each combo wins on average with each action at a line, ``[action, 1326]``.

        Parameters are those of `continuation_value`.
        """
        from artifacts.blueprint.action_values import action_values

        return action_values(self, line, board, runouts=runouts, seed=seed)

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
        return self.continuations.value(
            walk.entered(len(cards)).end, cards, ranges, seat, biases=bias, runouts=runouts, seed=seed
        )

    @cached_property
    def continuations(self) -> Continuations:
        """What hands are worth from a line on, as the solver computes it."""
        from solver.blueprint.continuation import Continuations

        return Continuations(self.blueprint)

    @cached_property
    def blueprint(self) -> Blueprint:
        """The strategy as trained, with everything the solver needs to play and to evaluate it."""
        from artifacts.readers import read_exported_blueprint

        return read_exported_blueprint(self)

    def _shares(self, decision: Decision, cards: NDArray[np.uint8]) -> tuple[NDArray[np.uint16], NDArray]:
        """Bucket of every combo on the street's board, and the decision's strategy ``[action, bucket]``."""
        table = self.postflop_probabilities(decision.street - 1)
        first = texture_row(decision.row, self.texture(cards), len(table), self.num_textures)
        shares = table[first : first + len(decision.actions)]
        return self.combo_buckets(cards[: PUBLIC_CARDS[decision.street]]), shares

    def postflop_probabilities(self, street: int) -> NDArray[np.float32]:
        """The strategy of a street (0 flop .. 2 river) as trained, ``[row, bucket]``."""
        return self[f"postflop_{STREETS[street + 1]}"]["probability"]

    def _view(self, cards: NDArray[np.uint8], walk: Walk, *, below: bool) -> dict[str, list[float]]:
        view: dict[str, list[float]] = {}
        names = hole_names()
        for decision in self._tree.seen(walk, below=below):
            board = cards[: PUBLIC_CARDS[decision.street]]
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

        for seat in seats:
            view = clean_off_path(view, **self._flop_range(walk, cards, seat))
        return view

    def _reasons(self, cards: NDArray[np.uint8], walk: Walk, seat: int) -> dict[str, str | None]:
        """Why each combo of a seat is off-path on the way along a line, by key of the view."""
        from artifacts.postflop_offpath import reasons_by_key

        view = self._view(cards, walk, below=False)
        return reasons_by_key(view, **self._flop_range(walk, cards, seat))

    def _flop_range(self, walk: Walk, cards: NDArray[np.uint8], seat: int) -> dict[str, Any]:
        """What off-path cleaning needs to know of a seat: its range at the flop, its position, and the rule."""
        start = walk.end.partition("/")[0]
        first = self._tree.at(f"{start}/")
        assert first is not None
        weights = self.range(start, seat, cards[:3])
        names = hole_names()
        return {
            "hero_range": {names[combo]: float(weights[combo]) for combo in np.flatnonzero(weights).tolist()},
            "hero_is_oop": seat == first.player,
            "reach_rule": str(self.config["reach_rule"]),
        }


def open_blueprint(path: str | Path, *, verify: Verify = "first") -> BlueprintBundle:
    """`artifacts.open_bundle` of an exported blueprint; a bundle of another stage is refused."""
    bundle = open_bundle(path, verify=verify)
    if not isinstance(bundle, BlueprintBundle):
        raise BundleError(
            f"{path}: a bundle of stage {bundle.manifest.stage}; expected one of stage export, of two seats"
        )
    return bundle


def _sorted_text(cards: NDArray[np.uint8]) -> str:
    return format_cards(np.sort(cards))
