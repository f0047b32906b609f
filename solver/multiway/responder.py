"""How good a strategy is: what one seat gains when it alone improves its play, the others playing on as they are.

With three or more players no strategy is promised to be in equilibrium, so this is the measure. The responder starts
from the strategy that it attacks, because one that starts from nothing is weaker than that. It plays batches of deals
and adds up, for every action of every hand, what the action wins more than its own play. Where another action is ahead
by more than its standard error over the batches, the responder takes it from then on. That is done twice. Where deals
are too few to tell, as they are for rare hands, the strategy's own play is kept.

On deals of their own the better of a bold and a careful responder is chosen. The chosen one is compared with the
strategy on fresh deals, hand by hand on the same deals. A better responder may exist, so a gain is a lower bound of
what can be gained. It is below zero where no responder was found that gains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from solver.multiway.game import MultiwayGame
from solver.multiway.replica import BoardBuckets, Player
from solver.multiway.tables import Table, improve

#: Of a normal distribution, 95 % lies within so many standard errors of the mean.
NORMAL_95 = 1.959964
#: Standard errors by which an action must be ahead to be taken, before and after the flop: a bold and a careful
#: responder. After the flop hands have so many decisions that chance alone would often put an action ahead.
CONFIDENCE = ((1.0, 4.0), (2.0, 3.0))
#: Times that a responder improves its play, each with half of its batches.
ROUNDS = 2
#: Deals that responders are chosen on, as a share of those that the chosen one is measured on.
_CHOSEN_ON = 0.25


@dataclass(frozen=True)
class Responding:
    """How a responder is trained: batches (`epochs`) of so many deals, then so many deals to measure on."""

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
    found = [_improve(game, strategy, seat, config, buckets, confidence) for confidence in CONFIDENCE]
    gains = [measure(game, strategy, own, seat, deals, config.seed + 2, buckets).gain for own in found]
    return found[int(np.argmax(gains))]


def _improve(
    game: MultiwayGame,
    strategy: Table,
    seat: int,
    config: Responding,
    buckets: BoardBuckets | None,
    confidence: tuple[float, float],
) -> Table:
    """Improve the play of a seat, `ROUNDS` times."""
    player = Player(game, buckets)
    own, added = strategy.copy(), np.zeros_like(strategy)
    batches = max(config.epochs // ROUNDS, 2)
    for batch in range(ROUNDS * batches):
        if batch % batches == 0:
            total, squares = np.zeros_like(strategy), np.zeros_like(strategy)
        added[:] = 0
        first = batch * config.deals
        player.play(own, strategy, config.seed, first, config.deals, seats=[seat], added=added)
        total += added
        squares += added * added
        if batch % batches == batches - 1:
            improve(game, own, total, standard_error(total, squares, batches), confidence)
    return own


def standard_error(total: Table, squares: Table, batches: int) -> Table:
    """Standard errors of totals over batches, from the sums of the batches' squares.

    >>> standard_error(np.array([6.0, 6.0], np.float32), np.array([18.0, 36.0], np.float32), 2).tolist()
    [0.0, 6.0]
    """
    spread = np.maximum(squares - total * total / np.float32(batches), 0)
    return np.sqrt(spread * np.float32(batches / (batches - 1)))


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
