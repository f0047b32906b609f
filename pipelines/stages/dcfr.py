"""Stage `dcfr`: the second phase of training, and the blueprint it ends with.

It continues the regrets of `lcfr` with a fresh average. CFR overfits an abstraction when it is run for long,
so the blueprint is the average at the measurement with the lowest exploitability.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from artifacts.format.array_pack import pack_arrays
from artifacts.readers import read_state
from pipelines.config.training import PhaseConfig
from pipelines.run.engine import Inputs, Output, StageRun
from pipelines.training.phase import Trained, train_phase
from pipelines.training.setup import Setup, TrainingConfig
from pipelines.training.trace import trace_table
from solver.blueprint.rows import named_rows
from solver.blueprint.trainer import BlueprintTrainer


@dataclass(frozen=True)
class DcfrConfig:
    """The game and how it is trained, and this phase."""

    training: TrainingConfig
    phase: PhaseConfig


def compute(config: DcfrConfig, inputs: Inputs, run: StageRun) -> Output:
    """The blueprint at the best measurement, and exploitability on the way.

    Inputs: `lcfr`, `textures`, `buckets`, `bucket_equity`, `preflop_equity`. Without iterations of its own
    the stage passes on the average of `lcfr`.
    """
    setup = Setup.build(config.training, inputs)
    first = PhaseConfig(**inputs["lcfr"].config["phase"])
    state = read_state(inputs["lcfr"])
    epoch = int(state["counters"][0])
    samplers = setup.sampler(0), setup.sampler(1)
    rules = (
        first.rule(samplers[0].epoch(first.iterations)),
        config.phase.rule(epoch + samplers[1].epoch(config.phase.iterations)),
    )

    def start_phases(trainer: BlueprintTrainer) -> None:
        if epoch > 0:
            trainer.begin_phase(rules[0], samplers[0], after_epoch=0, plain=trainer.has_plain_phase)
        if config.phase.iterations > 0:
            trainer.begin_phase(rules[1], samplers[1], after_epoch=epoch)

    def finish(trained: Trained) -> Output:
        trainer = trained.trainer
        metrics = trained.metrics()
        if config.phase.iterations > 0:
            metrics["exploitability_current"] = trainer.exploitability(setup.flops, "regret")
            trained.go_to_best()
        rows = trainer.fleet.rows("average", trainer.epoch)
        strategy = {**named_rows("average", rows), "preflop": trainer.preflop()}
        tables = pack_arrays("blueprint", strategy)
        tables["trace"] = trace_table("dcfr", trained.trace, before=inputs["lcfr"]["trace"])
        return Output(tables=tables, metrics=metrics)

    initial = dict(state)
    if config.phase.iterations > 0:
        initial["counters"] = np.array([epoch, 0, epoch])
    return train_phase(setup, config.phase, start_phases, run, finish, initial=initial)
