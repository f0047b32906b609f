"""Stage `export` of a game of three or more seats: one self-contained bundle, read by `artifacts.blueprint`.

Before the flop every line has a row for each action with the 169 hand classes side by side. After the flop the tables
of the pot types are stored as trained, with the betting of each template and the buckets that their columns stand for.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

import numpy as np
import pyarrow as pa
from omegaconf import OmegaConf

from abstractions.cards import CLASS_COMBOS, CLASS_NAMES
from artifacts.format.arrow_file import Column
from artifacts.offpath.marks import ON_PATH, REASONS
from artifacts.offpath.seat_marks import seat_marks
from artifacts.readers import read_multiway_table
from pipelines.run.engine import Inputs, Output, StageRun
from pipelines.stages.export import COPIED, column_bytes
from pipelines.stages.export_tables import preflop_lines_table
from pipelines.training.multiway import Setup
from solver.betting.game import GameConfig
from solver.betting.tree_text import action_labels
from solver.multiplayer.trained_lines import trained_lines
from solver.multiway.game import MultiwayGame
from solver.multiway.strategy import MultiwayStrategy

Columns = dict[str, Column]
#: What is measured instead of exploitability on a tier of boards.
TIER = "responder"


@dataclass(frozen=True)
class MultiwayExportConfig:
    """The game, its number of seats, and how off-path hands are found: `reach_rule` is ``max`` or ``total``."""

    game: GameConfig
    seats: int
    reach_rule: str


def compute(config: MultiwayExportConfig, inputs: Inputs, run: StageRun) -> Output:
    """Strategy before the flop with reach and reasons, the tables after it, config and figures.

    Inputs: `multiway`, `evaluate`, and `textures` and `buckets` where it had them.
    """
    setup = Setup.build(config.game, inputs)
    play = MultiwayStrategy(setup.game, read_multiway_table(inputs["multiway"]))
    tables = preflop_tables(play, config.reach_rule)
    run.progress(1, 2, "preflop tables")
    tables["gains_by_epoch"] = inputs["multiway"]["gains"].columns()
    tables["gains"] = inputs["evaluate"]["gains"].columns()
    if setup.game.postflop is not None:
        tables |= postflop_tables(play)
        for stage in ("textures", "buckets"):
            tables |= {name: inputs[stage][name].columns() for name in COPIED[stage] if name in inputs[stage]}
    metrics = dict(inputs["evaluate"].metrics)
    metrics["lines"] = float(len(tables["lines"]["line"]))
    metrics["cleaned_rows"] = float(np.count_nonzero(np.asarray(tables["reach"]["reason"])))
    metrics["bytes"] = float(sum(column_bytes(c) for table in tables.values() for c in table.values()))
    return Output(tables=tables, metrics=metrics, texts={"config.yaml": _config_text(config, inputs)})


def preflop_tables(play: MultiwayStrategy, reach_rule: str) -> dict[str, Columns]:
    """Tables `preflop` (a row for each line and action), `lines` and `reach` (a row for each line), and `hands`."""
    game = play.game
    tree, shares = game.tree, play.preflop
    marks = seat_marks(tree, shares, CLASS_COMBOS, reach_rule=reach_rule)
    cleaned = shares.copy()
    lines: list[str] = []
    actions: list[str] = []
    seats: list[str] = []
    order: list[int] = []
    names = game.seat_names
    for place, node in enumerate(marks.nodes.tolist()):
        labels = action_labels(tree, node)
        start = int(tree.child_start[node])
        off = marks.codes[place] != ON_PATH
        out = labels.index("fold" if "fold" in labels else "check")
        cleaned[start : start + len(labels), off] = 0.0
        cleaned[start + out, off] = 1.0
        lines += [tree.lines[node]] * len(labels)
        actions += labels
        seats += [names[int(tree.player[node])]] * len(labels)
        order += range(start, start + len(labels))
    decisions = preflop_lines_table(tree)
    starts = np.cumsum([0, *(int(tree.num_children[node]) for node in marks.nodes)])[:-1]
    decisions["row"] = starts.astype(np.int64)
    decisions["seat"] = pa.array([names[int(tree.player[node])] for node in marks.nodes], pa.string())
    return {
        "preflop": {
            "line": pa.array(lines, pa.string()),
            "seat": pa.array(seats, pa.string()),
            "action": pa.array(actions, pa.string()),
            "probability": np.ascontiguousarray(cleaned[order]),
            "raw_probability": np.ascontiguousarray(shares[order]),
        },
        "lines": decisions,
        "reach": {
            "reach": marks.reach.astype(np.float32),
            "reason": marks.codes,
            "others": marks.others,
        },
        "hands": {"hand": list(CLASS_NAMES), "combos": np.asarray(CLASS_COMBOS)},
        "reasons": {"code": np.arange(len(REASONS)), "reason": [reason or "" for reason in REASONS]},
    }


def postflop_tables(play: MultiwayStrategy) -> dict[str, Columns]:
    """The flat table after the flop, its pot types, the lines that play each of them, and their betting."""
    game: MultiwayGame = play.game
    postflop = game.postflop
    assert postflop is not None
    start_of = {start: number for number, (start, _, _) in enumerate(postflop.tables)}
    names = game.seat_names
    kinds = postflop.pot_types
    players = [
        "-".join(names[seat] for seat in kind.players)
        if isinstance(kind.players, tuple)
        else f"{kind.players} players"
        for kind in kinds
    ]
    later = trained_lines(game)
    lines = later.flop_lines
    return {
        "postflop": {"probability": play.table[game.arrays.preflop_entries :]},
        "pot_types": {
            "first_entry": np.array([start for start, _, _ in postflop.tables], np.int64),
            "first_node": np.array([root for _, root, _ in postflop.tables], np.int64),
            "end_node": np.array([stop for _, _, stop in postflop.tables], np.int64),
            "players": players,
            "raises": np.array([kind.raises for kind in kinds], np.int64),
            "aggressor": np.array([kind.aggressor for kind in kinds], np.int64),
        },
        "flop_lines": {
            "line": list(lines.line),
            "pot_type": np.array([start_of[int(start)] for start in lines.table], np.int64),
            "pot_bb": postflop.leaves.pot,
            "pot": lines.pot,
            "seats": lines.seats,
            "committed": lines.committed,
        },
        "templates": {field.name: getattr(later.nodes, field.name) for field in fields(later.nodes)},
        "template_rows": {field.name: getattr(later.rows, field.name) for field in fields(later.rows)},
    }


def _config_text(config: MultiwayExportConfig, inputs: Inputs) -> str:
    parts = {
        "game": asdict(config.game),
        "multiway": inputs["multiway"].config["multiway"],
        "evaluate": dict(inputs["evaluate"].config["multiway"]) | {"tier": TIER},
        **{name: dict(inputs[name].config) for name in ("textures", "buckets") if name in inputs},
    }
    plain = {key: _plain(part) for key, part in parts.items()}
    return OmegaConf.to_yaml(OmegaConf.create(plain))


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
