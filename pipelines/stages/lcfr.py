"""Stage `lcfr`: the first phase of training, from nothing to regrets worth refining.

Where players learn before the flop as equals do (`solver.preflop=self_play`), this is the phase of the plain game that
they learn it in.
"""

from __future__ import annotations

from dataclasses import dataclass

from artifacts.format.array_pack import pack_arrays
from pipelines.config.training import PhaseConfig
from pipelines.run.engine import Inputs, Output, StageRun
from pipelines.training.phase import Trained, train_phase
from pipelines.training.setup import Setup, TrainingConfig
from pipelines.training.trace import trace_table
from solver.blueprint.trainer import BlueprintTrainer


@dataclass(frozen=True)
class LcfrConfig:
    """The game and how it is trained, and this phase."""

    training: TrainingConfig
    phase: PhaseConfig


def compute(config: LcfrConfig, inputs: Inputs, run: StageRun) -> Output:
    """Tables of trunk and shards after the phase, and exploitability on the way.

    Inputs: `textures`, `buckets`, `bucket_equity`, `preflop_equity`.
    """
    setup = Setup.build(config.training, inputs)
    sampler = setup.sampler(0)
    rule = config.phase.rule(sampler.epoch(config.phase.iterations))

    def start_phases(trainer: BlueprintTrainer) -> None:
        trainer.begin_phase(rule, sampler, after_epoch=0, plain=trainer.has_plain_phase)

    def finish(trained: Trained) -> Output:
        tables = pack_arrays("state", trained.trainer.state())
        tables["trace"] = trace_table("lcfr", trained.trace)
        return Output(tables=tables, metrics=trained.metrics())

    return train_phase(setup, config.phase, start_phases, run, finish)
