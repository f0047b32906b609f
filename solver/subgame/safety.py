"""Gadgets at the root of a subgame that keep its solution from being worse than what it replaces.

A subgame that is solved for fixed ranges (`unsafe`) forgets that the opponent chose to come here. A gadget gives every
hand of the opponent something to compare with: its **opt-out**, what it would get without the subgame.

``resolve``
    Each hand chooses at the root: take the opt-out, or enter (Burch, Johanson & Bowling 2014).
``maxmargin``
    The opponent enters with the hand that gains most over its opt-out, so our strategy makes the smallest margin as
    large as possible (Moravcik et al. 2016).
``reach``
    The same with opt-outs raised by the gifts of the opponent: what a hand gave away by coming here may be given back
    to it (Brown & Sandholm 2017).

The gadget is the opponent's first decision and learns like every other one. The rest of the subgame sees only the
weight with which each hand enters. Values are per deal: chips of a hand against the hands that it can meet.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Gadget(Protocol):
    """The opponent's decision at the root."""

    @property
    def weights(self) -> Floats:
        """Weight with which each hand of the opponent enters now."""

    def observe(self, values: Floats) -> None:
        """Learn from what entering is worth to each hand, as a counterfactual value."""


class Resolve:
    """Every hand takes its opt-out or enters.

    Parameters
    ----------
    opt_outs
        Value of each hand without the subgame, in chips per deal. Plus infinity never enters, minus infinity always.
    met
        Weight of our hands that each hand can meet: turns values per deal into counterfactual ones.
    prior
        Weight of each hand before it chooses; by default all alike. With the opponent's range and opt-outs of minus
        infinity, the subgame is solved unsafely.
    """

    def __init__(self, opt_outs: Floats, met: Floats, prior: Floats | None = None) -> None:
        self.least, self.most = np.isneginf(opt_outs).astype(float), 1.0 - np.isposinf(opt_outs)
        self.opt_outs = np.where(np.isfinite(opt_outs), opt_outs, 0.0) * met
        self.prior = np.ones_like(self.opt_outs) if prior is None else prior
        self.regret = np.zeros((2, len(self.opt_outs)))

    @property
    def enters(self) -> Floats:
        """Probability that each hand enters."""
        found = np.empty_like(self.opt_outs)
        _enter_shares(self.regret, self.least, self.most, found)
        return found

    @property
    def weights(self) -> Floats:
        """Weight with which each hand enters now."""
        return self.prior * self.enters

    def observe(self, values: Floats) -> None:
        """Regret matching plus on the two choices of each hand."""
        _learn_to_enter(self.regret, self.enters, self.opt_outs, values)


class Maxmargin:
    """The opponent enters with the hand that gains most over its opt-out.

    Parameters
    ----------
    opt_outs, met
        As in `Resolve`, opt-outs finite. Hands that meet nobody are left out.
    """

    def __init__(self, opt_outs: Floats, met: Floats) -> None:
        if not np.isfinite(opt_outs).all():
            raise ValueError("opt_outs: maxmargin needs a finite number for every hand")
        self.opt_outs, self.met = opt_outs, met
        self.plays = met > 0.0
        self.regret = np.zeros(len(opt_outs))

    @property
    def enters(self) -> Floats:
        """Probability that the opponent enters with each hand."""
        total = self.regret.sum()
        return self.regret / total if total > 0.0 else self.plays / self.plays.sum()

    @property
    def weights(self) -> Floats:
        """Weight with which each hand enters now: entering deals our hands in proportion to what it can meet."""
        return self._per_deal(self.enters) * float(self.met[self.plays].mean())

    def observe(self, values: Floats) -> None:
        """Regret matching plus on the choice of a hand, by its margin."""
        gains = self._per_deal(values) - np.where(self.plays, self.opt_outs, 0.0)
        mean = float(self.enters @ gains)
        self.regret = np.where(self.plays, np.maximum(self.regret + gains - mean, 0.0), 0.0)

    def _per_deal(self, values: Floats) -> Floats:
        return np.divide(values, self.met, out=np.zeros_like(values), where=self.plays)


#: Added to both regrets of a choice, so that a hand without any enters half of the time.
_TINY = 1e-300


@njit(cache=True, nogil=True)
def _enter_shares(regret: Any, least: Any, most: Any, out: Any) -> None:
    """Probability that each hand enters, by regret matching, within its bounds. No branches: loops run in vectors."""
    enter, stay = regret[0], regret[1]
    for h in range(len(out)):
        share = (enter[h] + _TINY) / (enter[h] + stay[h] + 2 * _TINY)
        share = share if share > least[h] else least[h]
        out[h] = share if share < most[h] else most[h]


@njit(cache=True, nogil=True)
def _learn_to_enter(regret: Any, enters: Any, opt_outs: Any, values: Any) -> None:
    """Regret matching plus: add what entering and staying out are worth over what the hand does now."""
    enter, stay = regret[0], regret[1]
    for h in range(len(opt_outs)):
        mean = enters[h] * values[h] + (1.0 - enters[h]) * opt_outs[h]
        first, second = enter[h] + values[h] - mean, stay[h] + opt_outs[h] - mean
        enter[h] = first if first > 0.0 else 0.0
        stay[h] = second if second > 0.0 else 0.0


def gadget(
    kind: str, opt_outs: Floats, met: Floats, *, gifts: Floats | None = None, prior: Floats | None = None
) -> Gadget:
    """The gadget of a kind of safety (`resolve`, `maxmargin` or `reach`).

    Parameters
    ----------
    gifts
        What each hand gave away on the way to the subgame, at least; needed by `reach`.
    """
    if kind == "resolve":
        return Resolve(opt_outs, met, prior)
    if kind == "maxmargin":
        return Maxmargin(opt_outs, met)
    if kind == "reach":
        if gifts is None:
            raise ValueError("gifts: reach needs what each hand gave away on the way")
        return Maxmargin(opt_outs + gifts, met)
    raise ValueError(f"safety: {kind!r} has no gadget; accepted: resolve, maxmargin, reach")
