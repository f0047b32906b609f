"""Discount schedules as data: what every CFR variant does to its sums before it adds to them.

All variants are one recurrence. At iteration t (counted from 1), for an infoset of the player being updated,

    sigma_t = regret matching on max(R, 0)                  (predictive: on max(R * prediction + m, 0))
    R <- R * (positive if R > 0 else negative) + r_t        (then max(R, 0) when floor_negative)
    S <- S * strategy + reach * sigma_t

with r_t the instantaneous regret, m the last one seen, and S the average strategy's numerator. Discounted
CFR (Brown & Sandholm 2019) sets positive = (t-1)^a / ((t-1)^a + 1), negative likewise with b, and
strategy = ((t-1)/t)^g; the other variants are special cases of it or add the floor or the prediction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class DiscountWeights:
    """Factors of one iteration; see the recurrence at the top of the module.

    Attributes
    ----------
    positive, negative : float
        Factors on stored regrets above zero, and at or below zero.
    strategy : float
        Factor on the stored average strategy; 0 where the average restarts.
    prediction : float
        Factor on the regrets when the next iteration's strategy is predicted (`positive` of t + 1).
    floor_negative : bool
        Regrets below zero are set to zero after the addition.
    predictive : bool
        Strategies come from predicted regrets.
    restart : bool
        The average strategy starts afresh at this iteration.
    """

    positive: float
    negative: float
    strategy: float
    prediction: float
    floor_negative: bool
    predictive: bool
    restart: bool


@dataclass(frozen=True)
class Schedule:
    """A CFR variant, described by its exponents.

    Exponents move linearly from `alpha` to `alpha + alpha_change` over `horizon` iterations and stay there
    (likewise `beta` and `gamma`); constant schedules have no change. Infinity means no discount.

    Attributes
    ----------
    alpha, beta, gamma : float
        Exponents for positive regrets, negative regrets and the average strategy.
    floor_negative, predictive : bool
        See `DiscountWeights`.
    restart_base : int
        The average restarts at the powers of this number; 0 for never.
    """

    name: str
    alpha: float
    beta: float
    gamma: float
    alpha_change: float = 0.0
    beta_change: float = 0.0
    gamma_change: float = 0.0
    horizon: int = 1000
    floor_negative: bool = False
    predictive: bool = False
    restart_base: int = 0

    def __post_init__(self) -> None:
        for label, start, change in (
            ("alpha", self.alpha, self.alpha_change),
            ("gamma", self.gamma, self.gamma_change),
        ):
            lowest = min(start, start + change)
            if label == "alpha" and not lowest > 0:
                raise ValueError(
                    f"schedule {self.name!r}: alpha must be above 0, got {lowest:g} "
                    "(at 0 or below CFR silently leaves equilibrium)"
                )
            if label == "gamma" and not 0 <= lowest < math.inf:
                raise ValueError(
                    f"schedule {self.name!r}: gamma must be finite and at least 0, got {lowest:g}"
                )
        if math.isnan(self.beta):
            raise ValueError(f"schedule {self.name!r}: beta must be a number, got nan")
        if self.horizon < 1:
            raise ValueError(f"schedule {self.name!r}: horizon must be at least 1, got {self.horizon}")

    def __str__(self) -> str:
        moves = (("alpha", self.alpha_change), ("beta", self.beta_change), ("gamma", self.gamma_change))
        parts = []
        for label, change in moves:
            start = getattr(self, label)
            if math.isfinite(start):
                parts.append(f"{label} {start:g}" + (f" to {start + change:g}" if change else ""))
        return f"{self.name} ({', '.join(parts)})"

    def weights(self, t: int, *, average_start: int = 1) -> DiscountWeights:
        """Return the factors of iteration `t`.

        Parameters
        ----------
        t : int
            Iteration, counted from 1.
        average_start : int
            First iteration of the average, for a run that continues earlier regrets with a fresh average.

        Examples
        --------
        >>> schedule("lcfr").weights(4).positive
        0.75
        """
        if t < 1:
            raise ValueError(f"iterations count from 1, got {t}")
        if average_start < 1:
            raise ValueError(f"average_start counts from 1, got {average_start}")
        start = min(average_start, t)
        if self.restart_base > 1:
            start = max(start, _power_at_most(self.restart_base, t))
        age = t - start
        gamma = self._moved(self.gamma, self.gamma_change, t)
        return DiscountWeights(
            positive=_regret_factor(t - 1, self._moved(self.alpha, self.alpha_change, t)),
            negative=_regret_factor(t - 1, self._moved(self.beta, self.beta_change, t)),
            strategy=0.0 if age == 0 else (age / (age + 1)) ** gamma,
            prediction=_regret_factor(t, self._moved(self.alpha, self.alpha_change, t + 1)),
            floor_negative=self.floor_negative,
            predictive=self.predictive,
            restart=age == 0,
        )

    def _moved(self, start: float, change: float, t: int) -> float:
        return start if change == 0 else start + change * min((t - 1) / self.horizon, 1.0)


def _regret_factor(age: int, exponent: float) -> float:
    """``age^x / (age^x + 1)``, with its limits at age 0 and infinite exponents."""
    if exponent == math.inf:
        return 1.0
    if age == 0:
        return 0.0 if exponent > 0 else 0.5
    if exponent == -math.inf:
        return 0.0
    return 1.0 / (1.0 + float(age) ** -exponent)


def _power_at_most(base: int, t: int) -> int:
    power = 1
    while power * base <= t:
        power *= base
    return power


_ALL = (
    Schedule("vanilla", math.inf, math.inf, 0.0),
    # Tammelin 2014: regrets floored, linear averaging.
    Schedule("cfr+", math.inf, -math.inf, 1.0, floor_negative=True),
    Schedule("lcfr", 1.0, 1.0, 1.0),
    Schedule("dcfr", 1.5, 0.0, 2.0),
    Schedule("dcfr-postflop", 1.5, 0.0, 3.0, restart_base=4),
    # Farina, Kroer & Sandholm 2021: CFR+ that predicts the last regret again, quadratic averaging.
    Schedule("pcfr+", math.inf, -math.inf, 2.0, floor_negative=True, predictive=True),
    # Xu et al. 2024: the same with discounted regrets; their constants for every game.
    Schedule("pdcfr+", 2.3, -math.inf, 5.0, floor_negative=True, predictive=True),
    # Zhang, McAleer & Sandholm 2024, equation 4: alpha 1 to 4, beta -1 to -3, gamma 30 to 25 over the run.
    Schedule("hs-dcfr", 1.0, -1.0, 30.0, alpha_change=3.0, beta_change=-2.0, gamma_change=-5.0),
)

SCHEDULES: dict[str, Schedule] = {item.name: item for item in _ALL}
_DISCOUNTED = ("lcfr", "dcfr", "dcfr-postflop", "pdcfr+", "hs-dcfr")


def schedule(
    name: str,
    alpha: float | None = None,
    beta: float | None = None,
    gamma: float | None = None,
    *,
    horizon: int | None = None,
) -> Schedule:
    """Return a named schedule, with its exponents replaced where given.

    Parameters
    ----------
    name : str
        One of `SCHEDULES`.
    alpha, beta, gamma : float, optional
        Constant exponents in place of the schedule's own.
    horizon : int, optional
        Number of iterations over which a moving schedule (`hs-dcfr`) moves.

    Examples
    --------
    >>> schedule("dcfr", gamma=3).weights(2).strategy
    0.125
    """
    if name not in SCHEDULES:
        raise ValueError(f"schedule {name!r} is unknown; accepted: {', '.join(SCHEDULES)}")
    if (alpha is not None or beta is not None) and name not in _DISCOUNTED:
        raise ValueError(
            f"schedule {name!r} does not discount regrets; alpha and beta apply to {', '.join(_DISCOUNTED)}"
        )
    result = SCHEDULES[name]
    if alpha is not None:
        result = replace(result, alpha=float(alpha), alpha_change=0.0)
    if beta is not None:
        result = replace(result, beta=float(beta), beta_change=0.0)
    if gamma is not None:
        result = replace(result, gamma=float(gamma), gamma_change=0.0)
    if horizon is not None:
        result = replace(result, horizon=horizon)
    return result
