"""`python -m pipelines.blueprint +preset=fast`: train a blueprint. Read it top to bottom."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import hydra
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from artifacts.bundle_store import BundleStore
from pipelines.config.composition import (
    CONFIG_MODULE,
    CONFIG_NAME,
    check_sweep,
    compose_config,
    config_from,
    printed_resolved,
    split_flags,
)
from pipelines.config.schema import Config
from pipelines.config.trainable import check_trainable, fitted_to_seats, is_multiway
from pipelines.figures.bucket_equity import bucket_equity_figures
from pipelines.figures.buckets import bucket_figures
from pipelines.figures.evaluate import evaluation_figures
from pipelines.figures.export import bundle_figures
from pipelines.figures.flops import flop_figures
from pipelines.figures.multiway import gain_figures, multiway_figures
from pipelines.figures.preflop_equity import preflop_equity_figures
from pipelines.figures.textures import texture_figures
from pipelines.figures.trace import trace_figures
from pipelines.run.bundle_source import RunNote, note_run
from pipelines.run.command import failure_line, run_command
from pipelines.run.engine import PlanRow, Ref, Stages
from pipelines.run.errors import UserError
from pipelines.run.headline import description, gain_words, result_words
from pipelines.run.planned_run import run_planned
from pipelines.run.progress import Reporter, duration, size
from pipelines.run.revision import git_revision
from pipelines.run.tracking import Tracker, flatten
from pipelines.stages import (
    bucket_equity,
    buckets,
    dcfr,
    evaluate,
    export,
    flops,
    lcfr,
    multiway,
    multiway_evaluate,
    multiway_export,
    preflop_equity,
    preflop_ev,
    textures,
)
from pipelines.stages.estimates import core_seconds, disk_bytes
from pipelines.training.evaluation_boards import tier_label
from pipelines.training.setup import TrainingConfig


def pipeline(config: Config, run: Stages) -> Ref:
    """The stages in order. Returns the bundle to export."""
    return multiway_pipeline(config, run) if is_multiway(config) else heads_up_pipeline(config, run)


def heads_up_pipeline(config: Config, run: Stages) -> Ref:
    """The stages of a game of two seats in order, each a call."""
    cards = flop_list(run)
    equity = run.stage(
        "preflop_equity",
        preflop_equity.compute,
        preflop_equity.PreflopEquityConfig(),
        {},
        figures=preflop_equity_figures,
    )
    boards, hands = abstraction(config, run, cards)
    pairs = run.stage(
        "bucket_equity",
        bucket_equity.compute,
        bucket_equity.BucketEquityConfig(),
        {"textures": boards, "buckets": hands},
        figures=bucket_equity_figures,
    )
    game = {"textures": boards, "buckets": hands, "bucket_equity": pairs, "preflop_equity": equity}
    trained = game
    seen = config.abstraction.seen_by_opponents
    if config.solver.responds and seen is not None:
        finer = run.stage(
            "opponent_buckets",
            buckets.compute,
            buckets_config(config, flop=seen[0], turn=seen[1], river=0),
            {"textures": boards},
        )
        trained = game | {"opponent_buckets": finer}
    start = run.stage(
        "lcfr",
        lcfr.compute,
        lcfr.LcfrConfig(training_config(config), config.lcfr),
        trained,
        figures=trace_figures,
    )
    finish = run.stage(
        "dcfr",
        dcfr.compute,
        dcfr.DcfrConfig(training_config(config), config.dcfr),
        trained | {"lcfr": start},
        figures=trace_figures,
    )
    played = {"dcfr": finish, "textures": boards, "buckets": hands, "preflop_equity": equity}
    values = run.stage(
        "preflop_ev",
        preflop_ev.compute,
        preflop_ev.PreflopEvConfig(
            error=config.evaluate.ev_error, max_boards=config.evaluate.ev_max_boards, seed=config.seed
        ),
        played,
    )
    measured = run.stage(
        "evaluate",
        evaluate.compute,
        evaluate.EvaluateConfig(
            tier=config.evaluate.final_tier,
            street_tier=config.evaluate.street_tier,
            medoids=config.evaluate.medoids,
            reach_rule=config.evaluate.reach_rule,
        ),
        played | {"preflop_ev": values},
        figures=evaluation_figures,
    )
    return run.stage(
        "export",
        export.compute,
        export.ExportConfig(reach_rule=config.evaluate.reach_rule),
        game | {"lcfr": start, "dcfr": finish, "evaluate": measured, "preflop_ev": values},
        figures=bundle_figures,
    )


def multiway_pipeline(config: Config, run: Stages) -> Ref:
    """The stages of a game of three or more seats in order, each a call."""
    game = config.game.game_config()
    inputs: dict[str, Ref] = {}
    if config.solver.postflop == "joint":
        boards, hands = abstraction(config, run, flop_list(run))
        inputs = {"textures": boards, "buckets": hands}
    trained = run.stage(
        "multiway",
        multiway.compute,
        multiway.TrainConfig(game, config.multiway, config.seed, config.solver.checkpoint_minutes),
        inputs,
    )
    measured = run.stage(
        "evaluate",
        multiway_evaluate.compute,
        multiway_evaluate.GainsConfig(game, config.multiway, config.seed),
        inputs | {"multiway": trained},
        figures=gain_figures,
    )
    return run.stage(
        "export",
        multiway_export.compute,
        multiway_export.MultiwayExportConfig(game, game.num_seats, config.evaluate.reach_rule),
        inputs | {"multiway": trained, "evaluate": measured},
        figures=multiway_figures,
    )


def flop_list(run: Stages) -> Ref:
    """The flops up to suits, which all games share."""
    return run.stage(
        "flops",
        flops.compute,
        flops.FlopsConfig(),
        {},
        figures=flop_figures,
    )


def abstraction(config: Config, run: Stages, cards: Ref) -> tuple[Ref, Ref]:
    """Textures of the flops, and buckets of hands."""
    boards = run.stage(
        "textures",
        textures.compute,
        textures.TexturesConfig(
            config.abstraction.textures,
            config.abstraction.turn_transitions,
            config.abstraction.river_transitions,
            config.seed,
        ),
        {"flops": cards},
        figures=texture_figures,
    )
    hands = run.stage(
        "buckets",
        buckets.compute,
        buckets_config(config, **config.abstraction.buckets.model_dump()),
        {"textures": boards},
        figures=bucket_figures,
    )
    return boards, hands


def buckets_config(config: Config, *, flop: int, turn: int, river: int) -> buckets.BucketsConfig:
    """So many buckets, on the features of the configuration."""
    abstraction = config.abstraction
    return buckets.BucketsConfig(
        features=abstraction.features,
        scope=abstraction.scope,
        boards=abstraction.boards,
        flop=flop,
        turn=turn,
        river=river,
        histogram_bins=abstraction.histogram_bins,
        ochs_clusters=abstraction.ochs_clusters,
        sample=abstraction.sample,
        seed=config.seed,
    )


def training_config(config: Config) -> TrainingConfig:
    """What both training phases share."""
    return TrainingConfig(
        **vars(config.solver),
        game=config.game.game_config(),
        tier=config.evaluate.checkpoint_tier,
        seed=config.seed,
    )


def run_pipeline(config: Config) -> Path | None:
    """Plan, run what is missing, record it; return the folder of the exported bundle (None: plan only)."""
    reporter = Reporter()
    asked, config = config, fitted_to_seats(config)
    if config != asked:
        shared = ", ".join(str(count) for count in config.abstraction.buckets.model_dump().values())
        reporter.say(f"several seats: all textures share {shared} buckets on flop, turn and river")

    def record(tracker: Tracker, rows: list[PlanRow]) -> None:
        # Runs of the same name have the same result.
        name = f"{config.preset or 'custom'}-{config.game.name}-{rows[-1].key[:6]}"
        tracker.start(name, run_tags(config), flatten(config.model_dump()))
        tracker.file("config.yaml", OmegaConf.to_yaml(OmegaConf.create(config.model_dump())).encode())

    finished = run_planned(
        partial(pipeline, config),
        config,
        reporter,
        core_seconds=partial(core_seconds, config=config),
        disk_bytes=partial(disk_bytes, config=config),
        record=record,
        recorded=lambda tracker, runner, result: tracker.result(result.name, runner.cost()),
    )
    if finished is None:
        return None
    result, runner, store = finished.result, finished.runner, BundleStore(config.store.root)
    note_run(store, result.name, RunNote(config.preset or "custom", finished.run_id))
    path = store.path(result.stage, result.key)
    metrics = store.open(result.stage, result.key).metrics
    reporter.say(
        gain_words(metrics) if is_multiway(config) else result_words(metrics, config.evaluate.final_tier)
    )
    if runner.computed:
        reporter.say(
            f"computed {', '.join(runner.computed)}; peak memory {size(runner.peak_bytes)}, "
            f"{duration(runner.core_seconds)} of core time"
        )
    else:
        reporter.say("everything was cached; nothing computed")
    reporter.say(f"look at it: poker-solver chart {shlex.quote(os.path.relpath(path))}")
    reporter.say(f"compare runs: python -m pipelines.compare store.root={shlex.quote(config.store.root)}")
    return path


def run_tags(config: Config) -> dict[str, str]:
    """What `pipelines.compare` groups and labels runs by, and what MLflow's page says about them."""
    game = config.game.game_config()
    stacks = " and ".join(f"{stack / game.big_blind:g}" for stack in game.stacks) + " bb"
    return {
        "preset": config.preset or "custom",
        "game.id": config.game.id,
        "tier": multiway_export.TIER if is_multiway(config) else tier_label(config.evaluate.final_tier),
        "mlflow.note.content": description(
            config.game.id, stacks, (config.evaluate.checkpoint_tier, config.evaluate.final_tier)
        ),
        **git_revision(),
    }


def main() -> None:
    """Check the command line first, so that a mistake costs one line and nothing is written."""
    sys.argv[1:] = printed_resolved(sys.argv[1:])
    flags, overrides = split_flags(sys.argv[1:])
    if flags & {"--multirun", "-m"}:
        check_sweep(overrides)
    else:
        check_trainable(compose_config(overrides))
    failures: list[Exception] = []

    def job(hydra_config: DictConfig) -> None:
        try:
            path = run_pipeline(config_from(hydra_config))
            if path is not None:
                print(f"bundle: {os.path.relpath(path)}", flush=True)
        except Exception as error:
            failures.append(error)

    run_hydra(job)
    for error in failures[1:]:
        print(f"error: {(failure_line(error) or (repr(error),))[0]}", file=sys.stderr)
    if failures:
        raise failures[0]


def run_hydra(job: Callable[[DictConfig], None]) -> None:
    """Give Hydra the command line, and `job` each configuration that it makes of it.

    Hydra reports whatever is raised in a job by a page of its own and exit code 1. So a job keeps its failure to
    itself, and what Hydra raises is raised here.
    """
    os.environ["HYDRA_FULL_ERROR"] = "1"
    main = hydra.main(config_path=f"pkg://{CONFIG_MODULE}", config_name=CONFIG_NAME, version_base="1.3")
    try:
        main(job)()
    except (HydraException, OmegaConfBaseException) as error:
        raise UserError(next(iter(str(error).splitlines()), type(error).__name__)) from None
    except OSError as error:
        # The jobs keep theirs, so this is about the notes of a sweep, which lie in the store.
        raise UserError(f"store.root: {error.filename} cannot be written ({error.strerror})") from None


if __name__ == "__main__":
    again = shlex.join([os.path.basename(sys.executable), "-m", "pipelines.blueprint", *sys.argv[1:]])
    run_command(main, resume=f"finished stages and checkpoints are kept. Resume with: {again}")
