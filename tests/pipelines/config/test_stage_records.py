"""What a training stage is hashed by and writes into its manifest: the sections of `conf/`, flat."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from pipelines.blueprint import training_config
from pipelines.config.composition import compose_config
from pipelines.config.training import PhaseConfig
from pipelines.run.engine import _slice
from solver.betting.game import GameConfig


def record(*overrides: str) -> dict[str, Any]:
    return _slice(training_config(compose_config(["+preset=smoke", *overrides])))


def test_the_record_holds_the_solver_section_beside_game_tier_and_seed() -> None:
    config = compose_config(["+preset=smoke"])
    no_effect = ("checkpoint_minutes", "postflop")
    shared = {key: value for key, value in vars(config.solver).items() if key not in no_effect}
    game = dataclasses.asdict(config.game.game_config())
    assert record().keys() == shared.keys() | {"game", "tier", "seed"}
    assert {key: record()[key] for key in shared} == shared
    assert record()["game"].keys() == game.keys()
    assert GameConfig.from_mapping(record()["game"]) == config.game.game_config()


def test_what_changes_no_result_is_left_out() -> None:
    assert record("solver.checkpoint_minutes=1") == record()
    assert record("solver.batch=3") != record()


def test_a_phase_is_the_section_itself() -> None:
    phase = compose_config(["+preset=smoke"]).lcfr
    assert isinstance(phase, PhaseConfig)
    assert PhaseConfig(**_slice(phase)) == phase
    with pytest.raises(ValueError, match=r"^alpha: 0 is not accepted: greater than 0$"):
        PhaseConfig(10, "dcfr", 0, None, None, 2)
