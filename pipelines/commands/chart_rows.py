"""A decision as a chart shows it: by hand class, with the rows of its combos after the flop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import CLASS_NAMES, format_combo
from pipelines.figures.charts import ChartValues

if TYPE_CHECKING:
    from artifacts.agents import Agent
    from artifacts.blueprint.bundle import BlueprintBundle
    from artifacts.blueprint.combo_rows import ComboRows
    from artifacts.blueprint.multiway_bundle import MultiwayBundle
    from artifacts.blueprint.preflop_bundle import PreflopBundle, PreflopRows
    from artifacts.spot_bundle import SpotBundle
    from artifacts.subgame_bundle import SubgameBundle

Floats = NDArray[np.float64]
Reasons = Sequence[str | None]

NET = "EV in bb, net of everything since the start of the hand"
RECEIVED = "EV in bb of 100 chips, received from here on with the share of the pot"
#: A spot has chips and no blinds; everywhere else a big blind is so many.
CHIPS_PER_BIG_BLIND = 100
#: Run-outs on which a blueprint's values after the flop are measured.
RUNOUTS = 96


@dataclass(frozen=True, eq=False)
class ChartRows:
    """A decision by hand class, in grid order.

    Attributes
    ----------
    actions
        Labels of the actions.
    shares
        ``[169, action]``, as trained or with off-path hands folded.
    reasons
        Why a hand is drawn as off-path, None where its strategy is drawn.
    marks
        Why a hand is off-path, also where its strategy as trained is drawn.
    reach
        How much of each hand is in the range.
    values
        What hands win, where it was asked for.
    by_combo
        After the flop, the combos that the board leaves, as the bundle gave them.
    combo_values
        What these win with each action, ``[combo, action]``, in big blinds.
    raw
        Whether the strategy as trained is drawn.
    """

    actions: tuple[str, ...]
    shares: Floats
    reasons: Reasons
    marks: Reasons
    reach: Floats
    values: ChartValues | None = None
    by_combo: ComboRows | None = None
    combo_values: Floats | None = None
    raw: bool = False

    @property
    def combo_shares(self) -> Floats:
        """How the combos play after the flop, ``[combo, action]``."""
        assert self.by_combo is not None
        return self.by_combo.raw_probability if self.raw else self.by_combo.probability

    @property
    def combo_ev(self) -> Floats | None:
        """What the combos win after the flop with their strategy."""
        return None if self.combo_values is None else _played(self.combo_shares, self.combo_values)

    def data(self) -> dict[str, Any]:
        """As plain data: `hands`, and after the flop `combos`; EVs in big blinds, null where undefined."""
        hands = {
            hand: _row(
                self.actions,
                self.shares[index],
                self.reach[index],
                self.marks[index],
                None if self.values is None else self.values.by_hand[index],
                None if self.values is None else self.values.by_action[index],
            )
            for index, hand in enumerate(CLASS_NAMES)
        }
        data: dict[str, Any] = {"hands": hands}
        if self.values is not None:
            data["ev"] = self.values.meaning
            errors = self.values.action_errors
            if errors is not None:
                for row, error, by_action in zip(hands.values(), _played(self.shares, errors), errors):
                    row["ev_se"] = _number(error)
                    row["action_ev_se"] = dict(zip(self.actions, map(_number, by_action.tolist())))
        if self.by_combo is not None:
            data["combos"] = self._combos(self.by_combo)
        return data

    def _combos(self, rows: ComboRows) -> dict[str, dict[str, Any]]:
        """What is known of each combo after the flop, by name; combos that are not held are left out."""
        from artifacts.blueprint.combo_rows import NOT_HELD

        shares, ev = self.combo_shares, self.combo_ev
        return {
            format_combo(int(combo)): _row(
                rows.actions,
                shares[k],
                rows.reach[k],
                rows.reasons[k],
                None if ev is None else ev[k],
                None if self.combo_values is None else self.combo_values[k],
            )
            for k, combo in enumerate(rows.combos)
            if rows.reasons[k] != NOT_HELD
        }


def chart_rows(
    bundle: PreflopBundle | SpotBundle | SubgameBundle | Agent,
    line: str,
    board: NDArray[np.uint8],
    *,
    raw: bool,
    ev: bool,
    known: ChartRows | None = None,
) -> ChartRows:
    """The rows of a decision of a bundle.

    Parameters
    ----------
    board
        Public cards of the line's street, none before the flop.
    raw
        Show the strategy as trained instead of the one in which off-path hands fold.
    ev
        Say what hands win, where the bundle knows.
    known
        The rows without that, where they were asked for before: they need not be read again.
    """
    from artifacts.agents import Agent
    from artifacts.blueprint.bundle import BlueprintBundle
    from artifacts.blueprint.multiway_bundle import MultiwayBundle
    from artifacts.blueprint.preflop_bundle import PreflopBundle

    if not isinstance(bundle, PreflopBundle | Agent):
        rows = _combo_rows(bundle, line, board, known)
        chips = bundle.action_values(line, board)[:, rows.combos].T if ev else None
        return _postflop(rows, chips, CHIPS_PER_BIG_BLIND, RECEIVED, raw=raw)
    decision = bundle.decision(line)
    if ev and len(bundle.seats) > 2:
        raise ValueError(
            "--ev: what each hand wins is not kept for three or more seats; known for two seats only"
        )
    if decision.street == 0:
        if len(board):
            raise ValueError(f"board: line {line!r} is before the flop, where no cards are public")
        return _preflop(bundle, line, raw=raw, ev=ev)
    if not len(board):
        raise ValueError(f"line {line!r} is not a preflop decision; give its public cards: --board QsJh2h")
    if isinstance(bundle, Agent):
        return _postflop(bundle.postflop(line, board), None, bundle.game.big_blind, NET, raw=raw)
    assert isinstance(bundle, BlueprintBundle | MultiwayBundle)
    rows = _combo_rows(bundle, line, board, known)
    if isinstance(bundle, MultiwayBundle):
        return _postflop(rows, None, bundle.game.big_blind, NET, raw=raw)
    chips = bundle.action_values(line, board, runouts=RUNOUTS)[:, rows.combos].T if ev else None
    meaning = NET if len(board) == 5 else f"{NET}, on up to {RUNOUTS} run-outs"
    return _postflop(rows, chips, bundle.game.big_blind, meaning, raw=raw)


def _combo_rows(
    bundle: BlueprintBundle | MultiwayBundle | SpotBundle | SubgameBundle,
    line: str,
    board: NDArray[np.uint8],
    known: ChartRows | None,
) -> ComboRows:
    return bundle.postflop(line, board) if known is None or known.by_combo is None else known.by_combo


def _preflop(bundle: PreflopBundle | Agent, line: str, *, raw: bool, ev: bool) -> ChartRows:
    rows = bundle.preflop(line)
    shares = rows.raw_probability if raw else rows.probability
    values = None
    if ev:
        by_action = rows.ev / bundle.game.big_blind
        values = ChartValues(
            _played(shares, by_action), by_action, *_errors(rows, shares, bundle.game.big_blind)
        )
    reasons: Reasons = [None] * len(rows.reasons) if raw else rows.reasons
    return ChartRows(rows.actions, shares, reasons, rows.reasons, rows.reach, values)


def _errors(rows: PreflopRows, shares: Floats, big_blind: float) -> tuple[str, Floats | None]:
    """What the values of a preflop decision mean, and their standard errors in big blinds, where they are known."""
    if np.isnan(rows.ev_se).all():
        return NET, None
    errors = rows.ev_se / big_blind
    # Errors of the actions of a hand may all point the same way, so that their mean is the most the hand can have.
    largest = float(np.nanmax(_played(shares, errors)))
    return f"{NET}; standard error {f'at most {largest:.2g}' if largest > 0 else '0'}", errors


def _postflop(
    rows: ComboRows, chips: Floats | None, big_blind: float, meaning: str, *, raw: bool
) -> ChartRows:
    from artifacts.blueprint.combo_rows import BLOCKED, NOT_HELD

    shares = rows.raw_probability if raw else rows.probability
    values = None
    by_action = None if chips is None else chips / big_blind
    by_hand = None if by_action is None else _played(shares, by_action)
    if by_action is not None and by_hand is not None:
        values = ChartValues(rows.class_mean(by_hand, raw=raw), rows.class_mean(by_action, raw=raw), meaning)
    marks = rows.class_reasons
    reasons = [mark if mark in (BLOCKED, NOT_HELD) or not raw else None for mark in marks]
    return ChartRows(
        rows.actions,
        rows.class_probability(raw=raw),
        reasons,
        marks,
        rows.class_reach,
        values,
        by_combo=rows,
        combo_values=by_action,
        raw=raw,
    )


def _played(shares: Floats, values: Floats) -> Floats:
    """What a strategy wins, from what its actions win; actions that are never taken need no value."""
    return (shares * np.where(shares > 0, values, 0.0)).sum(axis=1)


def _row(
    actions: Sequence[str],
    shares: Floats,
    reach: float,
    reason: str | None,
    value: float | None,
    by_action: Floats | None,
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "strategy": dict(zip(actions, shares.tolist())),
        "reach": float(reach),
        "reason": reason,
    }
    if value is not None and by_action is not None:
        row["ev"] = _number(value)
        row["action_ev"] = dict(zip(actions, map(_number, by_action.tolist())))
    return row


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
