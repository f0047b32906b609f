"""A line of a source as the page shows it: the grid, the combos, the plots, and two sources side by side."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import (
    CLASS_COMBOS,
    CLASS_NAMES,
    CLASS_OF_COMBO,
    NUM_CLASSES,
    format_cards,
    format_combo,
    live_combos,
)
from abstractions.hand_categories import DRAWS, MADE_HANDS, draws, made_hands
from abstractions.ranges import format_range
from artifacts.blueprint.bucketed_bundle import BucketedBundle
from artifacts.blueprint.bundle import BlueprintBundle
from artifacts.blueprint.difference import strategy_distance
from artifacts.blueprint.known_boards import known_boards, knows_all_boards
from artifacts.hand_values import mean_over, range_curve
from artifacts.range_categories import category_rows
from artifacts.subgame_bundle import SubgameBundle
from pipelines.explorer.catalogue import Source
from pipelines.explorer.figures import (
    ComboArrays,
    Figures,
    class_means,
    combo_arrays,
    measure,
    waiting_ev,
    with_values,
)
from pipelines.explorer.models import (
    CategoryModel,
    CellModel,
    ComboModel,
    CombosModel,
    CompareModel,
    CurveModel,
    DistributionModel,
    NodeModel,
)
from pipelines.explorer.positions import Position, Positions
from pipelines.explorer.refusals import Refusal
from pipelines.figures.charts import reason_text
from solver.betting.lines import STREETS
from solver.strategy import by_combo

Floats = NDArray[np.float64]
#: Decisions whose figures are remembered: the grid, the combos and the plots of one decision share them.
_REMEMBERED = 32


class Views:
    """Answers to the questions of the page."""

    def __init__(self, positions: Positions) -> None:
        self.positions = positions
        self._known: OrderedDict[tuple[str, str, bytes, int, bool, bool], Figures] = OrderedDict()

    def node(
        self, name: str, line: str, board: NDArray[np.uint8], *, seat: str = "", raw: bool, values: bool
    ) -> NodeModel:
        """A line of a source on a board."""
        position = self.positions.at(name, line, board)
        decision = position.decision
        model = NodeModel(
            source=name,
            answered_by=position.answered_by,
            kind=position.kind,
            line=position.line,
            board=format_cards(position.board),
            street=STREETS[position.street],
            note=position.note,
            seats=list(position.seats),
            pot=position.pot,
            big_blind=position.big_blind,
            cards_needed=position.cards_needed,
            actions=self.positions.actions(position),
            raw=raw,
            history=self.positions.history(name, position),
            can_solve=self._can_solve(position),
            goes_on=position.goes_on,
        )
        if decision is None:
            model.known_boards = _known_boards(position)
            return model
        model.seat = position.source.seats[decision.player]
        player = _seat_number(position.source, seat, decision.player)
        model.viewing = position.source.seats[player]
        figures = self._figures(position, player, raw=raw, values=values)
        model.grid = _grid(position, figures, raw)
        model.reasons = {cell.reason: reason_text(cell.reason) for cell in model.grid if cell.reason}
        model.equity = mean_over(figures.weights, figures.equity)
        model.ev = None if figures.ev is None else mean_over(figures.weights, figures.ev)
        model.ev_meaning = figures.meaning
        return model

    def combos(
        self, name: str, line: str, board: NDArray[np.uint8], *, hand: str, raw: bool, values: bool
    ) -> CombosModel:
        """The combos of a decision, or of one class."""
        if hand and hand not in CLASS_NAMES:
            raise Refusal(f"hand {hand!r}: accepted are the 169 classes, such as AA, AKs or T9o")
        position = self._decision(name, line, board)
        decision = position.decision
        assert decision is not None
        figures = self._figures(position, decision.player, raw=raw, values=values)
        rows = figures.rows
        assert rows is not None
        table = combo_arrays(rows, raw)
        cards = position.board
        made, drawn = (made_hands(cards), draws(cards)) if len(cards) else (None, None)
        found, shares = [], _rounded(table.shares)
        for place, combo in enumerate(table.combos.tolist()):
            if hand and CLASS_NAMES[CLASS_OF_COMBO[combo]] != hand:
                continue
            key = combo if len(cards) else int(CLASS_OF_COMBO[combo])
            found.append(
                ComboModel(
                    combo=format_combo(combo),
                    hand=CLASS_NAMES[CLASS_OF_COMBO[combo]],
                    made=None if made is None else MADE_HANDS[made[combo]],
                    draw=None if drawn is None else DRAWS[drawn[combo]],
                    strategy=shares[place],
                    reach=round(float(table.reach[place]), 6),
                    ev=_number(None if figures.ev is None else figures.ev[key]),
                    action_ev=None
                    if table.action_ev is None
                    else [_number(value) for value in table.action_ev[place]],
                    equity=_number(figures.equity[key]),
                    realisation=_number(None if figures.realisation is None else figures.realisation[key]),
                    reason=table.reasons[place],
                )
            )
        weights = by_combo(figures.reach)
        held = figures.weights[table.combos] if len(cards) else weights[table.combos]
        return CombosModel(
            seat=position.source.seats[decision.player],
            actions=list(decision.actions),
            combos=found,
            made=_categories(made, MADE_HANDS, table, held),
            draws=_categories(drawn, DRAWS, table, held),
            range=format_range(np.minimum(weights, 1.0).round(3)) or "nothing",
            ev_meaning=figures.meaning,
        )

    def distribution(self, name: str, line: str, board: NDArray[np.uint8]) -> DistributionModel:
        """Equity and EV over both ranges at a decision."""
        position = self._decision(name, line, board)
        decision = position.decision
        assert decision is not None
        model = DistributionModel(equity=[], ev=[])
        for player, seat in enumerate(position.source.seats):
            acts = player == decision.player
            figures = self._figures(position, player, raw=True, values=acts)
            equity = range_curve(figures.weights, figures.equity)
            if equity is not None:
                model.equity.append(
                    CurveModel(seat=seat, shares=_rounded(equity.shares), values=_rounded(equity.values))
                )
            ev = figures.ev if acts else waiting_ev(position, player)
            curve = None if ev is None else range_curve(figures.weights, ev)
            if curve is not None:
                model.ev.append(
                    CurveModel(seat=seat, shares=_rounded(curve.shares), values=_rounded(curve.values))
                )
            if acts:
                model.ev_meaning = figures.meaning
        return model

    def compare(
        self, first: str, second: str, line: str, board: NDArray[np.uint8], *, raw: bool, values: bool
    ) -> CompareModel:
        """Two sources at one line."""
        one, two = (self.node(name, line, board, raw=raw, values=values) for name in (first, second))
        if len(one.seats) != len(two.seats):
            raise Refusal(
                f"source {second!r} has {len(two.seats)} seats and {first!r} {len(one.seats)}; "
                "only games of as many seats can be compared"
            )
        for name, node in ((first, one), (second, two)):
            if node.kind != "decision":
                raise Refusal(f"source {name!r}: nobody acts at line {line!r} on this board")
        labels = [[action.label for action in node.actions] for node in (one, two)]
        shares = [np.array([cell.strategy for cell in node.grid]) for node in (one, two)]
        reach = [np.array([cell.reach for cell in node.grid]) for node in (one, two)]
        distance, by = strategy_distance(labels[0], shares[0], labels[1], shares[1])
        shown = np.array(
            [a.reason is None and b.reason is None and a.combos > 0 for a, b in zip(one.grid, two.grid)]
        )
        live = np.array([cell.combos for cell in one.grid])
        weights = 0.5 * (reach[0] + reach[1]) * live
        distance = np.where(shown, distance, np.nan)
        return CompareModel(
            first=one,
            second=two,
            distance=[_number(value) for value in distance],
            mean=mean_over(weights, distance),
            by=by,
        )

    def _decision(self, name: str, line: str, board: NDArray[np.uint8]) -> Position:
        position = self.positions.at(name, line, board)
        if position.decision is None:
            raise Refusal(f"line {line!r}: nobody acts there; give the line and the board of a decision")
        return position

    def _figures(self, position: Position, player: int, *, raw: bool, values: bool) -> Figures:
        """The figures of a seat at a decision; those asked for last are remembered."""
        assert position.decision is not None
        key = (position.answered_by, position.decision.line, position.board.tobytes(), player, raw, values)
        if key not in self._known:
            if values:
                # The strategy was mostly asked for before: only what hands win is new.
                known = self._figures(position, player, raw=raw, values=False)
                self._known[key] = with_values(position, player, known, raw=raw)
            else:
                self._known[key] = measure(position, player, raw=raw)
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return self._known[key]

    def _can_solve(self, position: Position) -> bool:
        solvable = isinstance(position.source, BlueprintBundle | SubgameBundle)
        return solvable and position.kind in ("decision", "unsolved") and position.street > 0


def _known_boards(position: Position) -> list[str] | None:
    """The boards that a source of typical boards can go on to; None where it knows all."""
    source = position.source
    if position.kind != "deal" or not isinstance(source, BucketedBundle) or knows_all_boards(source):
        return None
    return [format_cards(board) for board in known_boards(source, position.board)]


def _grid(position: Position, figures: Figures, raw: bool) -> list[CellModel]:
    """The 169 cells."""
    rows, board = figures.rows, position.board
    live = (
        np.bincount(CLASS_OF_COMBO[live_combos(board)], minlength=NUM_CLASSES) if len(board) else CLASS_COMBOS
    )
    equity, ev, realisation = (
        class_means(values, figures, raw) for values in (figures.equity, figures.ev, figures.realisation)
    )
    if rows is None:
        reach = class_means(figures.reach, figures, True)
        reach = np.nan_to_num(np.full(NUM_CLASSES, np.nan) if reach is None else reach)
    else:
        # After the flop the reach of a class counts the combos that the board leaves.
        reach = rows.reach * np.divide(CLASS_COMBOS, live, out=np.zeros(NUM_CLASSES), where=live > 0)
    shares = [[]] * NUM_CLASSES if rows is None else _rounded(rows.shares)
    return [
        CellModel(
            hand=hand,
            strategy=shares[number],
            reach=round(min(float(reach[number]), 1.0), 6),
            ev=_number(None if ev is None else ev[number]),
            equity=_number(None if equity is None else equity[number]),
            realisation=_number(None if realisation is None else realisation[number]),
            reason=(None if live[number] else "blocked") if rows is None else rows.reasons[number],
            combos=int(live[number]),
        )
        for number, hand in enumerate(CLASS_NAMES)
    ]


def _categories(
    numbers: NDArray[np.int64] | None, names: Sequence[str], table: ComboArrays, weights: Floats
) -> list[CategoryModel]:
    if numbers is None:
        return []
    return [
        CategoryModel(name=row.name, share=round(row.share, 6), strategy=_rounded(row.strategy))
        for row in category_rows(numbers[table.combos], names, weights, table.shares)
    ]


def _seat_number(source: Source, seat: str, acting: int) -> int:
    if not seat:
        return acting
    if seat not in source.seats:
        raise Refusal(f"seat {seat[:20]!r}: accepted are {', '.join(source.seats)}")
    return source.seats.index(seat)


def _rounded(values: Floats) -> list[Any]:
    """Values as JSON, of as many dimensions as the array has; 0 for what is not known."""
    listed: list[Any] = np.nan_to_num(np.asarray(values, dtype=np.float64)).round(6).tolist()
    return listed


def _number(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else round(float(value), 6)
