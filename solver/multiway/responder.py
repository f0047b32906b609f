"""How good a strategy is: what one seat gains when it alone learns to respond, the others playing on as they are.

With three or more players no strategy is promised to be in equilibrium, so this is the measure. The responder starts
from the strategy that it attacks, because one that starts from nothing is weaker than that. Even so it may learn noise,
above all after the flop, where every hand has many decisions. So there are two of them, one of which plays on as the
strategy does after the flop. On deals of their own the better one is chosen, or the strategy itself if neither gains.
What is chosen is compared with the strategy on fresh deals, hand by hand on the same deals. A better responder may
exist, so a gain is a lower bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from solver.cfr.schedules import schedule
from solver.multiway.deals import WIDTH
from solver.multiway.game import MultiwayGame
from solver.multiway.replica import BoardBuckets, Player
from solver.multiway.tables import Table, add_average, discount, normalised

#: Of a normal distribution, 95 % lies within so many standard errors of the mean.
NORMAL_95 = 1.959964
#: Regret by which the strategy's own play is ahead at the start, in big blinds for each deal of an epoch.
_HEAD_START = 0.02
#: The same after the flop for a responder that does not learn there: too much to be caught up with.
_OUT_OF_REACH = 1e7
#: Deals that responders are chosen on, as a share of those that the chosen one is measured on.
_CHOSEN_ON = 0.25


@dataclass(frozen=True)
class Responding:
    """How a responder is trained: epochs of so many deals, then so many deals to measure on."""

    epochs: int
    deals: int
    measured: int
    seed: int


@dataclass(frozen=True)
class Sums:
    """Sums over measured deals of a seat: gain, its square, value of the strategy, its square; in big blinds."""

    deals: int
    gain: float
    gain_squared: float
    value: float
    value_squared: float

    def __add__(self, other: Sums) -> Sums:
        return Sums(*(a + b for a, b in zip(vars(self).values(), vars(other).values())))


@dataclass(frozen=True)
class Measured:
    """A mean with the bounds of its 95 % interval, in mbb/hand."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, total: float, squares: float, count: int) -> Measured:
        """From sums in big blinds."""
        mean = total / count
        error = NORMAL_95 * float(np.sqrt(max(squares / count - mean * mean, 0.0) / count))
        return cls(1000 * mean, 1000 * (mean - error), 1000 * (mean + error))


@dataclass(frozen=True)
class SeatResult:
    """What a seat wins with the strategy, and what a responder gains in its place."""

    value: Measured
    gain: Measured


def train_responder(
    game: MultiwayGame,
    strategy: Table,
    seat: int,
    config: Responding,
    buckets: BoardBuckets | None = None,
) -> Table:
    """Table of the best responder found in one seat against the strategy of the others: probabilities."""
    deals = 0, max(int(_CHOSEN_ON * config.measured), 1)
    best, most = strategy, 0.0
    for learns_later in (False, True) if game.postflop is not None else (True,):
        response = _learn(game, strategy, seat, config, buckets, learns_later=learns_later)
        gain = measure(game, strategy, response, seat, deals, config.seed + 2, buckets).gain
        if gain > most:
            best, most = response, gain
    return best


def _learn(
    game: MultiwayGame,
    strategy: Table,
    seat: int,
    config: Responding,
    buckets: BoardBuckets | None,
    *,
    learns_later: bool,
) -> Table:
    """Train a responder, which `learns_later` after the flop too or not at all there."""
    player = Player(game, buckets)
    rule = schedule("lcfr")
    # Regrets that play the strategy as it is, until a few epochs of regrets outweigh them.
    own = strategy * np.float32(_HEAD_START * config.deals)
    if not learns_later:
        own[game.rows * WIDTH :] *= np.float32(_OUT_OF_REACH)
    average = np.zeros_like(own)
    reach = np.zeros((game.rows, WIDTH), np.float32)
    for epoch in range(1, config.epochs + 1):
        if epoch > 1:
            discount(own, rule.weights(epoch))
        player.play(own, strategy, config.seed, (epoch - 1) * config.deals, config.deals, seats=[seat])
        add_average(game, own, average, rule.weights(epoch).strategy, reach)
    return normalised(game, average)


def measure(
    game: MultiwayGame,
    strategy: Table,
    response: Table,
    seat: int,
    deals: Sequence[int],
    seed: int,
    buckets: BoardBuckets | None = None,
) -> Sums:
    """Play the deals from ``deals[0]`` up to ``deals[1]`` with the response and with the strategy."""
    player = Player(game, buckets)
    first, stop = deals

    def won(own: Table) -> NDArray[np.float64]:
        values = player.play(own, strategy, seed, first, stop - first, seats=[seat], learn=False)
        return values[:, seat].astype(np.float64)

    base = won(strategy)
    gain = won(response) - base
    return Sums(
        stop - first,
        float(gain.sum()),
        float((gain * gain).sum()),
        float(base.sum()),
        float((base * base).sum()),
    )


def seat_result(sums: Sums) -> SeatResult:
    """Means and intervals of some sums."""
    return SeatResult(
        Measured.of(sums.value, sums.value_squared, sums.deals),
        Measured.of(sums.gain, sums.gain_squared, sums.deals),
    )


def evaluate_seat(
    game: MultiwayGame,
    strategy: Table,
    seat: int,
    config: Responding,
    buckets: BoardBuckets | None = None,
) -> SeatResult:
    """Train a responder and measure it on fresh deals."""
    response = train_responder(game, strategy, seat, config, buckets)
    return seat_result(
        measure(game, strategy, response, seat, (0, config.measured), config.seed + 1, buckets)
    )
