"""Stage `evaluate` of a game of three or more seats: what each seat wins, and what a responder gains in its place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from artifacts.readers import read_multiway_table
from pipelines.config.training import MultiwayConfig
from pipelines.run.engine import Inputs, Output, StageRun
from pipelines.training.multiway import Setup, responding, seat_results
from solver.betting.game import GameConfig
from solver.multiway.strategy import MultiwayStrategy


@dataclass(frozen=True)
class GainsConfig:
    """The game, how responders are trained, and the seed that their deals come from."""

    game: GameConfig
    multiway: MultiwayConfig
    seed: int


def compute(config: GainsConfig, inputs: Inputs, run: StageRun) -> Output:
    """Gains and values with 95 % intervals by seat, in mbb/hand, and first-in frequencies.

    Inputs: `multiway`, and `textures` and `buckets` where it had them.
    """
    setup = Setup.build(config.game, inputs)
    table = read_multiway_table(inputs["multiway"])
    results = seat_results(setup, table, responding(config.multiway, config.seed), run)
    names = list(setup.game.seat_names)
    gains = [results[name].gain for name in names]
    values = [results[name].value for name in names]
    metrics: dict[str, float] = {"gain_mean": float(np.mean([gain.mean for gain in gains]))}
    for name, gain, value in zip(names, gains, values):
        metrics |= {f"gain_{name}": gain.mean, f"gain_{name}_low": gain.low, f"gain_{name}_high": gain.high}
        metrics |= {f"ev_{name}": value.mean, f"ev_{name}_low": value.low, f"ev_{name}_high": value.high}
    raises = MultiwayStrategy(setup.game, table).first_in_raises()
    metrics |= {f"first_in_raise_{name}": share for name, share in raises.items()}
    return Output(
        tables={
            "gains": {
                "seat": names,
                "gain": np.array([gain.mean for gain in gains]),
                "gain_low": np.array([gain.low for gain in gains]),
                "gain_high": np.array([gain.high for gain in gains]),
                "ev": np.array([value.mean for value in values]),
            }
        },
        metrics=metrics,
    )
