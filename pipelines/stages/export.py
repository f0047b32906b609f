"""Stage `export`: one self-contained bundle per run, what users hold in their hands.

Off-path hands are folded before the flop (`artifacts.preflop_offpath`); the strategy as trained is beside it.
`artifacts.blueprint.bundle` reads the bundle, any Arrow reader its tables.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from omegaconf import OmegaConf

from artifacts.format.arrow_file import Column
from artifacts.readers import read_trained_blueprint
from pipelines.run.engine import Inputs, Output, StageRun
from pipelines.stages.export_tables import Columns, lines_table, postflop_table, preflop_table
from pipelines.stages.preflop_spots import SPOTS, spot_line
from solver.betting.lines import FLOP, STREETS
from solver.preflop.solver import PreflopStrategy

#: Figures of stage `evaluate` that travel with the blueprint.
EVALUATED = (
    "exploitability_raw",
    "exploitability_raw_se",
    "exploitability_held_out",
    "exploitability_all_flops",
    "exploitability_all_flops_se",
    "exploitability_cleaned",
    "boards",
)
#: Tables that are taken over as they are, by the stage that made them.
COPIED = {
    "dcfr": ("trace",),
    "textures": ("textures", "texture_summary"),
    "buckets": ("buckets_flop", "buckets_turn", "buckets_river", "centroids", "flop_textures"),
    "preflop_equity": ("equity",),
    "preflop_ev": ("flop_lines",),
    "bucket_equity": ("equity_flop", "equity_turn", "equity_river"),
}


@dataclass(frozen=True)
class ExportConfig:
    """How off-path hands are found before the flop: `reach_rule` is ``max`` or ``total``."""

    reach_rule: str


def compute(config: ExportConfig, inputs: Inputs, run: StageRun) -> Output:
    """Preflop and postflop strategy, the abstraction and the equities behind it, config and figures.

    Inputs: `lcfr` (its config), `dcfr`, `evaluate`, `preflop_ev`, `textures`, `buckets`, `bucket_equity`,
    `preflop_equity`.
    """
    blueprint = read_trained_blueprint(inputs["dcfr"], inputs["buckets"], inputs["preflop_equity"])
    play = PreflopStrategy(blueprint.game.preflop, blueprint.preflop)
    tables: dict[str, Columns] = {
        "preflop": preflop_table(play, inputs["preflop_ev"]["preflop_ev"], config.reach_rule),
        "lines": lines_table(blueprint),
    }
    for street, name in enumerate(STREETS[FLOP:]):
        tables[f"postflop_{name}"] = postflop_table(blueprint, street)
        run.progress(street + 1, 4, f"{name} strategy")
    for stage, names in COPIED.items():
        for name in names:
            if name in inputs[stage]:
                tables[name] = inputs[stage][name].columns()
    measured = inputs["evaluate"].metrics
    metrics = {name: measured[name] for name in EVALUATED if name in measured}
    metrics |= inputs["preflop_ev"].metrics
    metrics |= cleaned_metrics(tables["preflop"]) | frequency_metrics(play)
    metrics["lines"] = float(len(tables["lines"]["line"]))
    metrics["bytes"] = float(sum(column_bytes(c) for table in tables.values() for c in table.values()))
    return Output(tables=tables, metrics=metrics, texts={"config.yaml": config_text(inputs)})


def column_bytes(column: Column) -> int:
    """Bytes of a column as stored."""
    return int(getattr(column, "nbytes", 0) or pa.array(column).nbytes)


def config_text(inputs: Inputs) -> str:
    """The game and every config slice that shaped the blueprint, as YAML."""
    training = dict(inputs["dcfr"].config["training"])
    parts: dict[str, Any] = {
        "game": training.pop("game"),
        "training": training,
        "lcfr": inputs["lcfr"].config["phase"],
        "dcfr": inputs["dcfr"].config["phase"],
        "textures": inputs["textures"].config,
        "buckets": inputs["buckets"].config,
        "evaluate": inputs["evaluate"].config,
        "preflop_ev": inputs["preflop_ev"].config,
    }
    return OmegaConf.to_yaml(OmegaConf.create({key: dict(part) for key, part in parts.items()}))


def cleaned_metrics(preflop: Columns) -> dict[str, float]:
    """Preflop rows (a line and a hand) in all, and those cleaned, by reason."""
    rows = set(zip(*(pa.array(preflop[name]).to_pylist() for name in ("line", "hand", "reason"))))
    reasons = Counter(reason for _, _, reason in rows if reason is not None)
    counts = {f"cleaned_{reason}": float(count) for reason, count in sorted(reasons.items())}
    return {"rows": float(len(rows)), "cleaned_rows": float(sum(reasons.values())), **counts}


def frequency_metrics(play: PreflopStrategy) -> dict[str, float]:
    """How often the range takes each action in the spots that are drawn, before cleaning."""
    metrics: dict[str, float] = {}
    lines = list(play.by_line())
    for spot in SPOTS:
        line = spot_line(lines, spot)
        if line is not None:
            shares = play.frequencies(line)
            metrics |= {f"{spot}_{label}": share for label, share in shares.items()}
    return metrics
