"""A preflop solve as a bundle: its game, its strategy with values and reasons, and the equities behind it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from omegaconf import OmegaConf

from abstractions.cards import CLASS_NAMES
from abstractions.equity import preflop_table as equity_table
from artifacts.format.arrow_file import Column
from pipelines.commands.saved_folder import write_folder
from pipelines.run.code_version import code_version
from pipelines.run.engine import stage_key
from pipelines.stages.export_tables import preflop_lines_table, preflop_table
from pipelines.stages.preflop_ev import preflop_evs
from solver.betting.lines import HEADS_UP_SEATS
from solver.preflop.solver import PreflopResult, solve_preflop

STAGE = "preflop_solve"
REACH_RULE = "max"


def save_preflop(folder: Path, result: PreflopResult, *, iterations: int, target: float) -> None:
    """Write a solve to a new folder.

    Parameters
    ----------
    iterations, target
        What was asked for.
    """
    game = json.loads(json.dumps(asdict(result.strategy.game.config)))
    solve = {"iterations": iterations, "schedule": result.schedule, "target": target}
    config = {"game": game, "solve": solve, "reach_rule": REACH_RULE}
    code = code_version(solve_preflop)
    write_folder(
        folder,
        preflop_solve_tables(result),
        texts={"config.yaml": OmegaConf.to_yaml(OmegaConf.create({"game": game, "solve": solve}))},
        stage=STAGE,
        key=stage_key(STAGE, code, config, {}),
        code=code,
        config=config,
        metrics={
            "exploitability_raw": result.exploitability,
            "iterations": result.iterations,
            **{f"ev_{seat}": 1000 * value for seat, value in zip(HEADS_UP_SEATS, result.values)},
        },
    )


def preflop_solve_tables(result: PreflopResult) -> dict[str, dict[str, Column]]:
    """Tables of a saved solve, `preflop` and `lines` as in an exported blueprint."""
    play = result.strategy
    values = np.stack([play.node_values(seat) for seat in range(2)])
    table = preflop_evs(play, values, np.zeros_like(values))
    evs: dict[str, Any] = {name: np.array(column) for name, column in table.items()}
    return {
        "preflop": preflop_table(play, evs, REACH_RULE),
        "lines": preflop_lines_table(play.game.tree),
        "equity": {"hand": list(CLASS_NAMES), **dict(zip(("wins", "ties", "totals"), equity_table()))},
        "trace": {
            "iteration": np.array([point[0] for point in result.trace], dtype=np.int64),
            "exploitability": np.array([point[2] for point in result.trace]),
        },
    }
