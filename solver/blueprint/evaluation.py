"""How good a blueprint is: best responses to it, and its own expected values, over the boards of a game.

The flops are valued one by one (`flop_values`); the trunk is evaluated on their sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from solver.betting.lines import FLOP, PREFLOP, STREETS
from solver.blueprint.flop_values import RESPONSES, FlopBoards, FlopEvaluator, Response
from solver.blueprint.strategy import Blueprint
from solver.blueprint.trunk import Floats, TrunkGame
from solver.preflop.solver import NUM_DEALS


@dataclass(frozen=True)
class BlueprintValue:
    """How a blueprint fares; everything in mbb/hand, pairs by seat.

    Attributes
    ----------
    exploitability
        What best responses gain over the blueprint's own play, averaged over the seats.
    best_response, expected
        Value of the best response, and of the blueprint against itself.
    preflop_response
        Value of the best response that chooses before the flop only and plays the blueprint after it.
    by_street
        Gain that each street adds for a responder who responds from that street on, averaged over the
        seats: they sum to the exploitability. Flop, turn and river together as ``postflop`` when the
        streets were not asked for.
    by_line
        Gain on each flop line at the blueprint's own reach, averaged over the seats.
    preflop_values
        Counterfactual value of the blueprint against itself, ``[seat, preflop node, class]``, in chips times
        deals.
    standard_error
        Of the exploitability, where the flops are a sample (`gain_error`).
    held_out
        What is gained by a responder that does not know the flops of the sample (`held_out_gain`).
    """

    exploitability: float
    best_response: tuple[float, float]
    expected: tuple[float, float]
    preflop_response: tuple[float, float]
    by_street: dict[str, float]
    by_line: dict[str, float]
    preflop_values: Floats = field(compare=False, repr=False)
    standard_error: float | None = field(default=None, compare=False)
    held_out: float | None = field(default=None, compare=False)


class Evaluation:
    """Evaluates a blueprint: flop by flop, then the trunk on the sum.

    The flops are independent of each other, so their values may be computed anywhere; added in a fixed
    order they give the same result.

    Parameters
    ----------
    blueprint
        Strategy to evaluate.
    by_street
        Whether to split the loss after the flop by street, which doubles the work.
    """

    def __init__(self, blueprint: Blueprint, *, by_street: bool = False) -> None:
        self.blueprint = blueprint
        self.responses = RESPONSES if by_street else (RESPONSES[0], RESPONSES[-1])
        self.evaluator = FlopEvaluator(
            blueprint.layout, blueprint.pots, blueprint.bucketing, blueprint.table.dtype
        )
        game = blueprint.game
        self.reach = [game.reach(blueprint.preflop, seat) for seat in range(2)]

    def flop_values(self, flop: FlopBoards) -> Floats:
        """Value of every flop line, ``[seat, response, line, class]``."""
        return self.evaluator.flop_values(self.blueprint.table, flop, self.reach, self.responses)

    def result(self, flop_values: Floats) -> BlueprintValue:
        """Result for the whole game from the sum of `flop_values` over all flops."""
        blueprint, game = self.blueprint, self.blueprint.game
        unit = 1000.0 / game.preflop.config.big_blind / NUM_DEALS
        plain = np.empty((2, len(self.responses)))
        best = np.empty((2, len(self.responses)))
        lines = np.zeros(len(game.lines))
        own = np.empty((2, *blueprint.preflop.shape))
        for seat in range(2):
            for k, values in enumerate(flop_values[seat]):
                nodes = game.values(blueprint.preflop, seat, values)
                plain[seat, k] = nodes[0].sum() * unit
                if k == 0:
                    own[seat] = nodes
                best[seat, k] = game.values(blueprint.preflop, seat, values, best=True)[0].sum() * unit
            gain = self.reach[seat] * (flop_values[seat][-1] - flop_values[seat][0])
            lines += 0.5 * unit * gain.sum(axis=1)
        mean = plain.mean(axis=0)
        names = tuple(reversed(STREETS[FLOP:])) if len(self.responses) == len(RESPONSES) else ("postflop",)
        streets = {name: float(mean[k + 1] - mean[k]) for k, name in enumerate(names)}
        streets[STREETS[PREFLOP]] = float(best[:, -1].mean() - mean[-1])
        gain = float((best[:, -1] - plain[:, 0]).mean())
        return BlueprintValue(
            exploitability=gain,
            best_response=(float(best[0, -1]), float(best[1, -1])),
            expected=(float(plain[0, 0]), float(plain[1, 0])),
            preflop_response=(float(best[0, 0]), float(best[1, 0])),
            by_street=streets,
            by_line=dict(zip(game.names, lines.tolist())),
            preflop_values=own,
        )

    def evaluate(self, flops: Sequence[FlopBoards]) -> BlueprintValue:
        """Evaluate over all flops of a game, in this process."""
        total = self.flop_values(flops[0])
        for flop in flops[1:]:
            total = total + self.flop_values(flop)
        return self.result(total)


def gain_responses(game: TrunkGame) -> tuple[Response, ...]:
    """The responses that `mean_gain` needs the values of.

    Without rake the expected values of both players cancel, so the best responses alone are enough.
    """
    return RESPONSES[-1:] if game.preflop.config.rake == 0 else (RESPONSES[0], RESPONSES[-1])


def mean_gain(game: TrunkGame, preflop: Floats, flop_values: Floats) -> float:
    """What best responses gain in mbb/hand, averaged over the seats: the exploitability.

    Parameters
    ----------
    preflop
        As in `Blueprint`.
    flop_values
        Value of every flop line under `gain_responses`, ``[seat, response, line, class]``, summed over all
        flops.
    """
    won = 0.0
    for seat, values in enumerate(flop_values):
        won += float(game.values(preflop, seat, values[-1], best=True)[0].sum())
        if len(values) > 1:
            won -= float(game.values(preflop, seat, values[0])[0].sum())
    return won / 2 * 1000 / game.preflop.config.big_blind / NUM_DEALS


def held_out_gain(game: TrunkGame, preflop: Floats, flop_values: Floats, weights: Floats) -> float:
    """What best responses gain in mbb/hand if they choose before the flop without the flop that comes.

    On a sample of flops the best responder knows before the flop which ones may come. Here its play before the flop is
    chosen on all flops but one, and meets that one. It is free on the later streets, as in `mean_gain`. Over all flops
    the gain is somewhere between this one and `mean_gain`: a choice made on too few flops is not the best one.

    Parameters
    ----------
    flop_values, weights
        As in `gain_error`, with the value of the blueprint's own play as the first response.
    """
    total = flop_values.sum(axis=0)
    won = 0.0
    for seat in range(2):
        won -= float(game.values(preflop, seat, total[seat, 0])[0].sum())
        for weight, values in zip(weights.tolist(), flop_values[:, seat, -1]):
            play = game.response(preflop, seat, (total[seat, -1] - values) / (1 - weight))
            won += weight * float(game.values(play, seat, values / weight)[0].sum())
    return won / 2 * 1000 / game.preflop.config.big_blind / NUM_DEALS


def without_flop_luck(flop_values: Floats, own_play: Floats, weights: Floats, all_flops: Floats) -> Floats:
    """Values on a sample of flops, each with the luck of its flop taken off.

    Which hands a flop favours decides most of what they win on it. A responder that knows the sample chooses its hands
    before the flop by that. What the blueprint's own play wins is known on each flop and over all flops, so the
    difference of the two is luck. Without it a responder foresees nothing but the small rest: how much more than
    its own play a response gains on these flops than on others.

    Parameters
    ----------
    flop_values, weights
        As in `gain_error`.
    own_play
        What the blueprint against itself wins on the same boards, times the weight of the flop:
        ``[flop, seat, line, class]``.
    all_flops
        What it wins over all flops: ``[seat, line, class]``.
    """
    luck = own_play - weights[:, None, None, None] * all_flops
    return flop_values - luck[:, :, None]


def gain_error(
    game: TrunkGame, preflop: Floats, flop_values: Floats, weights: Floats, balanced: Floats
) -> float:
    """Standard error of `mean_gain` over a sample of flops, linearised by the jackknife.

    The responder chooses before the flop on the sum over all flops, so the gain is no mean over flops. Each flop is
    left out in turn and the whole gain computed again; the difference says what the flop contributes. Features of flops
    that the weights balance cannot be off by chance, so only what a regression on them leaves unexplained counts:
    with w the weights, r the residuals of n flops and k features, the variance is n / (n - k) sum of w^2 r^2. With a
    constant as the only feature and equal weights this is the textbook's error of a mean.

    Parameters
    ----------
    flop_values
        As in `mean_gain` but of each flop, times its weight: ``[flop, seat, response, line, class]``.
    weights
        Of the flops, with sum 1.
    balanced
        Features whose weighted means are those of all flops, the constant among their combinations:
        ``[flop, feature]``.

    Returns
    -------
    mbb/hand; nan where there are no more flops than features.
    """
    count, features = len(weights), int(np.linalg.matrix_rank(balanced))
    if count <= features:
        return float("nan")
    total = flop_values.sum(axis=0)
    gain = mean_gain(game, preflop, total)
    contributions = np.empty(count)
    for flop, weight in enumerate(weights.tolist()):
        without = mean_gain(game, preflop, (total - flop_values[flop]) / (1 - weight))
        contributions[flop] = gain + (gain - without) * (1 - weight) / weight
    root = np.sqrt(weights)
    slopes = np.linalg.lstsq(balanced * root[:, None], contributions * root, rcond=None)[0]
    unexplained = contributions - balanced @ slopes
    return float(np.sqrt(count / (count - features) * (weights**2 * unexplained**2).sum()))
