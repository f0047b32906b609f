"""Stage `multiway`: training for three or more seats, from nothing to an average strategy."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from artifacts.format.arrow_file import Column
from pipelines.config.training import MultiwayConfig
from pipelines.run.engine import NO_EFFECT, Inputs, Output, StageRun
from pipelines.training.multiway import Setup, train
from solver.betting.game import GameConfig
from solver.multiway.strategy import MultiwayStrategy


@dataclass(frozen=True)
class TrainConfig:
    """The game and how it is trained.

    Attributes
    ----------
    game
        The game; with the bundles `textures` and `buckets` as inputs it is played after the flop too.
    multiway
        Section `multiway` of the configuration.
    seed
        Of the deals.
    checkpoint_minutes
        Time between checkpoints.
    """

    game: GameConfig
    multiway: MultiwayConfig
    seed: int
    checkpoint_minutes: float = field(metadata=NO_EFFECT)


def compute(config: TrainConfig, inputs: Inputs, run: StageRun) -> Output:
    """The average strategy as a flat table of probabilities, and the gains measured on the way.

    Inputs: `textures` and `buckets`, or none where flops are checked down.
    """
    setup = Setup.build(config.game, inputs)
    table, gains = train(setup, config.multiway, config.seed, config.checkpoint_minutes, run)
    names = setup.game.seat_names
    epochs = sorted(gains)
    trace: dict[str, Column] = {
        "epoch": np.array(epochs, np.int64),
        **{f"gain_{name}": np.array([gains[k][f"gain_{name}"] for k in epochs]) for name in names},
    }
    play = MultiwayStrategy(setup.game, table)
    streams = config.multiway.streams * config.multiway.deals
    metrics = {
        "epochs": float(config.multiway.epochs),
        "deals": float(config.multiway.epochs * streams),
        "entries": float(setup.game.entries),
        **{f"first_in_raise_{name}": share for name, share in play.first_in_raises().items()},
    }
    return Output(tables={"strategy": {"probability": table}, "gains": trace}, metrics=metrics)
