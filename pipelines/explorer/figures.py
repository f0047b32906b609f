"""The figures of a decision: strategy, reach, equity, EV and what is realised, by hand.

Hands are the 169 classes before the flop and the 1,326 combos after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import CLASS_OF_COMBO, NUM_CLASSES
from artifacts.agents import Agent
from artifacts.blueprint.bundle import BlueprintBundle
from artifacts.blueprint.combo_rows import NOT_HELD, ComboRows
from artifacts.hand_values import equity_realisation, hand_equities, met_weights
from artifacts.spot_bundle import SpotBundle
from artifacts.subgame_bundle import SubgameBundle
from pipelines.commands.chart_rows import ChartRows, chart_rows
from pipelines.explorer.catalogue import Source
from pipelines.explorer.positions import Position

Floats = NDArray[np.float64]
SEVERAL_SEATS = "No EVs here: what each hand wins is known for games of two seats only."


@dataclass(frozen=True, eq=False)
class Figures:
    """What the grid, the table of combos and the plots are made from.

    Attributes
    ----------
    rows
        The decision as charts draw it; None where another seat than the one to act is shown.
    weights
        How often each hand of the seat shown is held, card removal included.
    reach, equity
        By hand.
    ev, realisation
        By hand, in big blinds and as a share of the equity; None where they are not known.
    meaning
        What the EVs count, or why there are none.
    """

    rows: ChartRows | None
    weights: Floats
    reach: Floats
    equity: Floats
    ev: Floats | None = None
    realisation: Floats | None = None
    meaning: str | None = None


def measure(position: Position, player: int, *, raw: bool) -> Figures:
    """The figures of a seat at a decision, without what hands win."""
    source, decision, board = position.source, position.decision, position.board
    assert decision is not None
    line = decision.line
    own = source.range(line, player, board)
    opponents = [number for number, seat in enumerate(position.seats) if number != player and not seat.folded]
    if len(opponents) == 1:
        equity = hand_equities(source, line, board, opponents[0])
        weights = met_weights(own, source.range(line, opponents[0], board))
    else:
        # Equity against several ranges is not known here.
        equity, weights = np.full(len(own), np.nan), own
    if player != decision.player:
        return Figures(None, weights, own, equity)
    return Figures(chart_rows(source, line, board, raw=raw, ev=False), weights, own, equity)


def with_values(position: Position, player: int, known: Figures, *, raw: bool) -> Figures:
    """The figures of a seat with what its hands win, or with the reason why that is not known."""
    source, decision = position.source, position.decision
    assert decision is not None
    if known.rows is None:
        return known
    rows, meaning = _valued_rows(source, decision.line, position.board, known.rows, raw=raw)
    if rows.values is None:
        return replace(known, meaning=meaning)
    ev = _by_hand(rows)
    net = not isinstance(source, SpotBundle | SubgameBundle)
    put_in = float(decision.committed[player]) if net else 0.0
    received = ev * position.big_blind + put_in
    realisation = equity_realisation(received, known.equity, float(decision.pot))
    return replace(known, rows=rows, ev=ev, realisation=realisation, meaning=meaning)


def waiting_ev(position: Position, player: int) -> Floats | None:
    """EVs of a seat that is not to act, in big blinds; None where the source does not know them."""
    source, decision = position.source, position.decision
    assert decision is not None
    if not isinstance(source, BlueprintBundle) or decision.street == 0:
        return None
    try:
        chips = source.continuation_value(decision.line, position.board, player=player)
    except ValueError:
        return None
    return chips / position.big_blind


def _valued_rows(
    source: Source, line: str, board: NDArray[np.uint8], known: ChartRows, *, raw: bool
) -> tuple[ChartRows, str | None]:
    """The rows of a decision with EVs, and what these count; or the rows without, and why."""
    if isinstance(source, Agent):
        return known, "An agent has no values."
    if len(source.seats) > 2:
        return known, SEVERAL_SEATS
    try:
        rows = chart_rows(source, line, board, raw=raw, ev=True, known=known)
        return rows, None if rows.values is None else rows.values.meaning
    except ValueError as error:
        # A blueprint with buckets on typical boards only plays here, but cannot play the cards to come.
        return known, f"No EVs here: {error}"


@dataclass(frozen=True, eq=False)
class ComboArrays:
    """A decision by combo, before the flop too; `shares` and `action_ev` are ``[combo, action]``."""

    combos: NDArray[np.int64]
    shares: Floats
    reach: Floats
    reasons: Sequence[str | None]
    action_ev: Floats | None


def combo_arrays(rows: ChartRows, raw: bool) -> ComboArrays:
    """The rows of a decision by combo."""
    if rows.by_combo is None:
        classes = CLASS_OF_COMBO.astype(np.int64)
        return ComboArrays(
            combos=np.arange(len(classes)),
            shares=rows.shares[classes],
            reach=rows.reach[classes],
            reasons=[rows.marks[number] for number in classes],
            action_ev=None if rows.values is None else rows.values.by_action[classes],
        )
    found: ComboRows = rows.by_combo
    shares = found.raw_probability if raw else found.probability
    return ComboArrays(found.combos, shares, found.reach, found.reasons, _action_ev(rows))


def _action_ev(rows: ChartRows) -> Floats | None:
    """EVs of the combos by action, in their order; nan for combos that are not held."""
    if rows.combo_values is None or rows.by_combo is None:
        return None
    return np.where(_held(rows.by_combo)[:, None], rows.combo_values, np.nan)


def _by_hand(rows: ChartRows) -> Floats:
    """EVs by class before the flop, by combo (all 1,326) after it."""
    assert rows.values is not None
    if rows.by_combo is None or rows.combo_ev is None:
        return rows.values.by_hand
    table = np.full(len(CLASS_OF_COMBO), np.nan)
    table[rows.by_combo.combos] = np.where(_held(rows.by_combo), rows.combo_ev, np.nan)
    return table


def _held(rows: ComboRows) -> NDArray[np.bool_]:
    return np.array([reason != NOT_HELD for reason in rows.reasons])


def class_means(values: Floats | None, figures: Figures, raw: bool) -> Floats | None:
    """Values by class: means over the combos that the board leaves, by their weight in the range."""
    if values is None or len(values) == NUM_CLASSES:
        return values
    rows = None if figures.rows is None else figures.rows.by_combo
    if rows is None:
        live = np.flatnonzero(np.isfinite(figures.equity))
        rows = ComboRows(live, (), np.zeros((len(live), 0)), (None,) * len(live), figures.reach[live])
    return rows.class_mean(values[rows.combos], raw=raw)
