"""A phase of training: iterations, measurements and checkpoints, and what happens when something dies.

The loop is deterministic: boards come from seeds, measurements from a fixed tier at fixed iterations. Wall
time only decides when a checkpoint is saved, which changes nothing, and when the budget is spent, which
ends the phase at the next measurement. After a crash of the driver the same command continues from the last
checkpoint; after the loss of a host all hosts start again from it and replay the same iterations.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from abstractions.buckets import STREETS
from abstractions.isomorphism import canonical_boards
from abstractions.textures import Textures, medoid_boards
from artifacts.bundle import Bundle
from pipelines.run.engine import NO_EFFECT, Inputs, StageRun
from pipelines.stages.buckets import bucket_counts
from pipelines.stages.textures import read_textures
from pipelines.training.checkpoints import Checkpoint, Checkpoints
from pipelines.training.evaluation_boards import TIER_NAME, evaluation_flops
from pipelines.training.fleet import HostFleet, open_fleet
from pipelines.training.hosts import Arrays, Postflop, ShardsLostError
from pipelines.training.trace import Measurement, best_of
from solver.betting.game import GameConfig, StreetSizes
from solver.blueprint.boards import BatchBuckets, BoardSampler
from solver.blueprint.evaluation import FlopBoards
from solver.blueprint.pot_types import PotTypes, pot_types
from solver.blueprint.trainer import BlueprintTrainer, Pruning
from solver.blueprint.trunk import TrunkGame
from solver.cfr.schedules import Schedule, schedule

Result = TypeVar("Result")
#: Times that hosts may be lost without a new checkpoint in between.
MAX_LOSSES = 10
#: Saving large tables takes this share of the time at most, measurements apart.
SAVING_SHARE = 1 / 20


@dataclass(frozen=True)
class TrainingConfig:
    """What both phases share.

    Attributes
    ----------
    game
        The game.
    pot_types
        ``per_line`` or ``shared``.
    boards
        ``members``: real boards; ``medoids``: the small game of typical boards.
    batch, epoch_length
        Boards per iteration (0: all boards of the medoid game); iterations per discount epoch (0: as many as
        cover every texture about once).
    showdown
        ``exact`` or ``bucket``.
    tier
        Boards that exploitability is measured on.
    prune_below
        Regret in chips times deals, negative, under which actions are skipped; None: nothing is pruned.
    seed
        Of the boards.
    max_core_hours, target_exploitability
        End a phase at a measurement when it has cost so much, or when it is this good (mbb/hand).
    checkpoint_minutes
        Time between checkpoints; longer where saving one would take more than `SAVING_SHARE` of it.
    """

    game: GameConfig
    pot_types: str
    boards: str
    batch: int
    epoch_length: int
    showdown: str
    tier: str = field(metadata=TIER_NAME)
    prune_below: float | None
    seed: int
    max_core_hours: float | None
    target_exploitability: float | None
    checkpoint_minutes: float = field(default=5.0, metadata=NO_EFFECT)


@dataclass(frozen=True)
class PhaseConfig:
    """A discount schedule for a number of iterations, with so many measurements at equal distances.

    Exponents that are None are the schedule's own.
    """

    iterations: int
    schedule: str
    alpha: float | None
    beta: float | None
    gamma: float | None
    measurements: int

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


def game_from_config(record: Mapping[str, Any]) -> GameConfig:
    """The game of a bundle's config."""
    values = dict(record)
    for key in ("stacks", "antes", "raise_sizes"):
        values[key] = tuple(values[key])
    values["postflop"] = tuple(StreetSizes(**street) for street in values["postflop"])
    return GameConfig(**values)


def read_game(game: GameConfig, preflop_equity: Bundle) -> TrunkGame:
    """The game with its exact preflop leaves."""
    table = preflop_equity["equity"]
    wins, ties, totals = (np.array(table[column]) for column in ("wins", "ties", "totals"))
    return TrunkGame.build(game, (wins, ties, totals))


def all_bucket_counts(buckets: Bundle) -> tuple[int, int, int]:
    """Buckets of flop, turn and river (of one texture, where buckets belong to textures)."""
    flop, turn, river = (bucket_counts(buckets, cards) for cards in STREETS)
    return flop, turn, river


@dataclass(frozen=True, eq=False)
class Setup:
    """A game on an abstraction, ready to be trained."""

    config: TrainingConfig
    game: TrunkGame
    pots: PotTypes
    postflop: Postflop
    textures: Textures
    buckets: Bundle
    flops: list[FlopBoards]

    @classmethod
    def build(cls, config: TrainingConfig, inputs: Inputs) -> Setup:
        """Put the inputs of a stage together."""
        textures, buckets = read_textures(inputs["textures"]), inputs["buckets"]
        game = read_game(config.game, inputs["preflop_equity"])
        pots = pot_types(game, config.pot_types)
        counts = all_bucket_counts(buckets)
        equity = None
        if config.showdown == "bucket":
            shape = (-1, counts[2], counts[2]) if buckets.config["scope"] == "texture" else (counts[2],) * 2
            equity = np.array(inputs["bucket_equity"]["equity_river"]["equity"]).reshape(shape)
        postflop = Postflop(game.tree, pots, counts, equity)
        flops = evaluation_flops(config.tier, textures, buckets.config["boards"])
        return cls(config, game, pots, postflop, textures, buckets, flops)

    def sampler(self, number: int) -> BoardSampler:
        """Boards of a phase; each number has boards of its own."""
        config = self.config
        sequence = np.random.SeedSequence(config.seed, spawn_key=(4, number))
        seed = int(sequence.generate_state(1, np.uint64)[0])
        if config.boards == "medoids":
            cards, weights, owners = medoid_boards(self.textures)
        else:
            flops = canonical_boards(3)
            cards, weights, owners = flops.boards, flops.weights, self.textures.texture_of_flop
        return BoardSampler(cards, weights, owners, config.batch, seed, config.epoch_length)

    def open_fleet(self, run: StageRun) -> HostFleet:
        """Fresh shards on the run's cluster."""
        by_texture = self.buckets.config["scope"] == "texture"
        weights = self.textures.weights if by_texture else None
        return open_fleet(self.postflop, weights, self.buckets, run.cluster)

    def trainer(self, fleet: HostFleet) -> BlueprintTrainer:
        """A trainer on these shards, before any phase."""
        below = self.config.prune_below
        pruning = None if below is None else Pruning(below)
        bucketing = BatchBuckets(self.postflop.num_buckets)
        return BlueprintTrainer(self.game, self.pots, bucketing, fleet=fleet, pruning=pruning)


@dataclass(frozen=True, eq=False)
class Trained:
    """A phase that has ended, and its trainer at the last iteration."""

    trainer: BlueprintTrainer
    trace: tuple[Measurement, ...]
    checkpoints: Checkpoints

    def go_to_best(self) -> int:
        """Bring the trainer to the measurement with the lowest exploitability and return its iteration."""
        for iteration in best_of(self.trace):
            if iteration != self.trainer.iteration:
                self.trainer.restore(self.checkpoints.load(iteration).state)
        return self.trainer.iteration


Begin = Callable[[BlueprintTrainer], None]


def train_phase(
    setup: Setup,
    phase: PhaseConfig,
    begin: Begin,
    run: StageRun,
    finish: Callable[[Trained], Result],
    *,
    initial: Arrays | None = None,
) -> Result:
    """Run a phase to its end, whatever dies on the way, and return what `finish` makes of it.

    Parameters
    ----------
    begin
        Begins this phase, and those before it, on a fresh trainer.
    finish
        Called while the hosts are there; called again if they are lost under it.
    initial
        State to start from when there is no checkpoint.
    """
    checkpoints = Checkpoints(run.checkpoints)
    losses, last = 0, -1
    while True:
        fleet = None
        try:
            fleet = setup.open_fleet(run)
            return finish(_train(setup, phase, begin, run, fleet, checkpoints, initial))
        except ShardsLostError:
            saved = checkpoints.newest()
            now = -1 if saved is None else saved.iteration
            losses, last = (1 if now > last else losses + 1), now
            if losses > MAX_LOSSES:
                raise
        finally:
            if fleet is not None:
                fleet.close()
        # A node's death is noticed late, and a new node needs time to come up.
        time.sleep(min(5 * (losses - 1), 30))


def _train(
    setup: Setup,
    phase: PhaseConfig,
    begin: Begin,
    run: StageRun,
    fleet: HostFleet,
    checkpoints: Checkpoints,
    initial: Arrays | None,
) -> Trained:
    config = setup.config
    trainer = setup.trainer(fleet)
    begin(trainer)
    saved = checkpoints.newest()
    trace: tuple[Measurement, ...] = ()
    spent = 0.0
    if saved is not None:
        trainer.restore(saved.state)
        trace, spent = saved.trace, saved.seconds
    elif initial is not None:
        trainer.restore(initial)
    began = time.monotonic() - spent
    saved_at, saving = time.monotonic(), 0.0
    first = trainer.iteration
    run.begin(first)
    marks = set(phase.marks())
    while trainer.iteration < phase.iterations:
        measured = bool(trace) and trace[-1].iteration == trainer.iteration
        if measured and _ended(config, trace[-1], (time.monotonic() - began) * run.cluster.num_cpus):
            break
        trainer.run(1)
        due = time.monotonic() - saved_at > max(60 * config.checkpoint_minutes, saving / SAVING_SHARE)
        if trainer.iteration in marks:
            value = trainer.exploitability(setup.flops)
            trace = (*trace, Measurement(trainer.iteration, value))
            due = True
            pace = (trainer.iteration - first) / (time.monotonic() - began - spent)
            figures = {"exploitability": value, "iterations_per_second": pace, **fleet.traffic.figures()}
            run.log(figures, step=trainer.iteration)
        if due:
            begun = time.monotonic()
            checkpoints.save(Checkpoint(trainer.state(), trace, begun - began))
            saved_at = time.monotonic()
            saving = saved_at - begun
        run.progress(trainer.iteration, phase.iterations, _status(trace))
    return Trained(trainer, trace, checkpoints)


def _ended(config: TrainingConfig, last: Measurement, core_seconds: float) -> bool:
    """Whether the phase is good enough or has cost enough."""
    good = config.target_exploitability is not None and last.exploitability <= config.target_exploitability
    dear = config.max_core_hours is not None and core_seconds >= 3600 * config.max_core_hours
    return good or dear


def _status(trace: tuple[Measurement, ...]) -> str:
    return f"exploitability {trace[-1].exploitability:.1f} mbb/hand" if trace else ""
