"""The sections of `conf/` that say how a blueprint is trained; the training stages take them as they are."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, Strict
from pydantic.dataclasses import dataclass

from solver.cfr.schedules import Schedule, schedule
from solver.validation import one_line_init, rejection

_CLOSED = ConfigDict(extra="forbid")
Whole = Annotated[int, Strict()]
Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]


@one_line_init
@dataclass(frozen=True, config=_CLOSED)
class SolverConfig:
    """The section `solver`: the blueprint trainer.

    Attributes
    ----------
    opponent
        What a player is trained against. ``river_best_response``: in a game of its own, an opponent who plays an
        exact best response on the river; ``abstract``: itself, in the abstract game.
    preflop
        With ``river_best_response``, what a player learns against before the flop. ``self_play``: the other player, in
        the plain game of phase `lcfr`, so that charts are what equals play; ``guarded``: the opponent, so that less can
        be won from it.
    showdown
        ``exact`` or ``bucket``.
    boards
        ``members``: real boards; ``medoids``: the small game of typical boards.
    batch, epoch_length
        Boards per iteration (0: all boards of the medoid game); iterations per discount epoch (0: as many as
        cover every texture about once).
    pot_types
        ``per_line`` or ``shared``.
    prune_below
        Regret in chips times deals, negative, under which actions are skipped; None: nothing is pruned.
    checkpoint_minutes
        Time between checkpoints; longer where saving one takes a large share of it.
    max_core_hours, target_exploitability
        End a phase at a measurement when it has cost so much, or when it is this good (mbb/hand).
    stop_above_best
        End a phase when two measurements in a row are above its best one by more than this share of it; None: never.
    postflop
        With three or more seats, whether the game after the flop is trained along or flops are checked down.
    """

    opponent: Literal["river_best_response", "abstract"]
    preflop: Literal["self_play", "guarded"]
    showdown: Literal["exact", "bucket"]
    boards: Literal["members", "medoids"]
    batch: Annotated[Whole, Field(ge=0, le=100_000)]
    epoch_length: Annotated[Whole, Field(ge=0)]
    pot_types: Literal["per_line", "shared"]
    prune_below: Annotated[Number, Field(lt=0)] | None
    checkpoint_minutes: Annotated[Number, Field(gt=0)]
    max_core_hours: Annotated[Number, Field(gt=0)] | None
    target_exploitability: Annotated[Number, Field(gt=0)] | None
    stop_above_best: Annotated[Number, Field(gt=0)] | None = None
    postflop: Literal["joint", "checkdown"] = "joint"

    def __post_init__(self) -> None:
        if self.batch == 0 and self.boards == "members":
            raise rejection("batch", 0, "at least 1; 0, all boards at once, needs solver.boards=medoids")
        if self.responds and self.showdown == "bucket":
            accepted = "exact with solver.opponent=river_best_response, which responds by hand"
            raise rejection("showdown", self.showdown, accepted)

    @property
    def responds(self) -> bool:
        """Whether opponents respond on the river."""
        return self.opponent == "river_best_response"

    @property
    def has_plain_phase(self) -> bool:
        """Whether phase `lcfr` is that of the plain game, in which players learn what to do before the flop."""
        return self.responds and self.preflop == "self_play"


@one_line_init
@dataclass(frozen=True, config=_CLOSED)
class PhaseConfig:
    """The sections `lcfr` and `dcfr`: a discount schedule for a number of iterations.

    Exploitability is measured `measurements` times at equal distances. Exponents that are None are the schedule's own.
    """

    iterations: Annotated[Whole, Field(ge=0, le=100_000_000)]
    # Flooring and predicting schedules lose their meaning when boards are sampled.
    schedule: Literal["vanilla", "lcfr", "dcfr", "dcfr-postflop", "hs-dcfr"]
    # alpha <= 0 silently leaves equilibrium: positive regrets are then forgotten as fast as they come.
    alpha: Annotated[Number, Field(gt=0, le=10)] | None
    beta: Annotated[Number, Field(ge=-10, le=10)] | None
    gamma: Annotated[Number, Field(ge=0, le=20)] | None
    measurements: Annotated[Whole, Field(ge=1)]

    def __post_init__(self) -> None:
        if self.schedule == "vanilla" and (self.alpha is not None or self.beta is not None):
            raise rejection(
                "alpha", self.alpha, "null with schedule vanilla, which does not discount regrets"
            )

    def rule(self, horizon: int) -> Schedule:
        """The schedule; `horizon` is the last epoch."""
        return schedule(self.schedule, self.alpha, self.beta, self.gamma, horizon=max(horizon, 1))

    def marks(self) -> list[int]:
        """Iterations after which exploitability is measured; the last one is among them.

        >>> PhaseConfig(10, "lcfr", None, None, None, 4).marks()
        [3, 5, 8, 10]
        """
        count = min(self.measurements, self.iterations)
        return [-(-self.iterations * k // count) for k in range(1, count + 1)]


@one_line_init
@dataclass(frozen=True, config=_CLOSED)
class MultiwayConfig:
    """The section `multiway`: training and measuring games of three or more seats.

    Attributes
    ----------
    epochs, streams, deals
        Epochs, streams of an epoch and deals of a stream; see `solver.multiway.replica`.
    schedule, alpha, beta, gamma
        Discount by epoch; exponents that are None are the schedule's own.
    measurements
        Measurements of the gains at equal distances on the way; the end is measured by its own stage.
    responder_epochs, responder_deals, measured_deals
        How a responder is trained, and on how many deals it is compared with the strategy.
    """

    epochs: Annotated[Whole, Field(ge=1, le=10_000_000)]
    streams: Annotated[Whole, Field(ge=1, le=1024)]
    deals: Annotated[Whole, Field(ge=1, le=1_000_000)]
    # Flooring and predicting schedules lose their meaning when deals are sampled.
    schedule: Literal["vanilla", "lcfr", "dcfr"]
    alpha: Annotated[Number, Field(gt=0, le=10)] | None
    beta: Annotated[Number, Field(ge=-10, le=10)] | None
    gamma: Annotated[Number, Field(ge=0, le=20)] | None
    measurements: Annotated[Whole, Field(ge=0, le=1000)]
    responder_epochs: Annotated[Whole, Field(ge=1, le=100_000)]
    responder_deals: Annotated[Whole, Field(ge=1, le=1_000_000)]
    measured_deals: Annotated[Whole, Field(ge=100, le=1_000_000_000)]

    def __post_init__(self) -> None:
        if self.schedule == "vanilla" and (self.alpha is not None or self.beta is not None):
            raise rejection(
                "alpha", self.alpha, "null with schedule vanilla, which does not discount regrets"
            )

    def rule(self) -> Schedule:
        """The schedule."""
        return schedule(self.schedule, self.alpha, self.beta, self.gamma, horizon=self.epochs)

    def marks(self) -> list[int]:
        """Epochs after which gains are measured on the way."""
        count = self.measurements + 1
        return sorted({self.epochs * k // count for k in range(1, count)} - {0, self.epochs})
