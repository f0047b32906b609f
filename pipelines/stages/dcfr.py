"""Stage `dcfr`: the second phase of training, and the blueprint it ends with.

It continues the regrets of `lcfr` with a fresh average. CFR overfits an abstraction when it is run for long,
so the blueprint is the average at the measurement with the lowest exploitability.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from artifacts.bundle import Bundle
from artifacts.format.array_pack import pack_arrays, unpack_arrays
from pipelines.run.engine import Inputs, Output, StageRun
from pipelines.stages.lcfr import read_state
from pipelines.training.hosts import Arrays
from pipelines.training.phase import (
    PhaseConfig,
    Setup,
    Trained,
    TrainingConfig,
    all_bucket_counts,
    game_from_config,
    read_game,
    train_phase,
)
from pipelines.training.trace import trace_metrics, trace_table
from solver.blueprint.boards import SourceBuckets
from solver.blueprint.evaluation import Blueprint
from solver.blueprint.plan import LanePlan
from solver.blueprint.pot_types import pot_types
from solver.blueprint.tables import TableLayout
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

    def begin(trainer: BlueprintTrainer) -> None:
        if epoch > 0:
            trainer.begin_phase(rules[0], samplers[0], after_epoch=0)
        if config.phase.iterations > 0:
            trainer.begin_phase(rules[1], samplers[1], after_epoch=epoch)

    def finish(trained: Trained) -> Output:
        trainer = trained.trainer
        metrics = trace_metrics(trained.trace)
        if config.phase.iterations > 0:
            metrics["exploitability_current"] = trainer.exploitability(setup.flops, "regret")
            trained.go_to_best()
        rows = trainer.fleet.rows("average", trainer.epoch)
        strategy: Arrays = {
            f"average/{kind}/{texture}/{street}": array for (kind, texture, street), array in rows.items()
        }
        strategy["preflop"] = trainer.trunk.average()
        tables = pack_arrays("blueprint", strategy)
        tables["trace"] = trace_table("dcfr", trained.trace, before=inputs["lcfr"]["trace"])
        return Output(tables=tables, metrics=metrics)

    initial = dict(state)
    if config.phase.iterations > 0:
        initial["counters"] = np.array([epoch, 0, epoch])
    return train_phase(setup, config.phase, begin, run, finish, initial=initial)


def read_blueprint(bundle: Bundle, buckets: Bundle, preflop_equity: Bundle) -> Blueprint:
    """The blueprint of a bundle of this stage.

    Parameters
    ----------
    bundle
        Of stage `dcfr`.
    buckets, preflop_equity
        Of the stages that it was trained on.
    """
    training = bundle.config["training"]
    game = read_game(game_from_config(training["game"]), preflop_equity)
    pots = pot_types(game, training["pot_types"])
    strategy = unpack_arrays(bundle, "blueprint")
    rows = {
        tuple(int(part) for part in name.split("/")[1:]): array
        for name, array in strategy.items()
        if name.startswith("average/")
    }
    textures = sorted({texture for _, texture, _ in rows})
    bucketing = SourceBuckets(buckets, all_bucket_counts(buckets))
    layout = TableLayout(LanePlan.build(game.tree, pots.templates), bucketing.num_buckets, len(textures))
    table = np.zeros(layout.size, dtype=np.float32)
    for (kind, texture, street), array in rows.items():
        layout.fill(table, kind, street, array, textures.index(texture))
    return Blueprint(game, np.array(strategy["preflop"]), layout, table, bucketing, pots)
