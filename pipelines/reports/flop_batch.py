"""The flops of a preflop line as a batch: each solved flop is kept, and the report is one more bundle."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from artifacts.blueprint.bundle import BlueprintBundle
from artifacts.bundle import Bundle
from artifacts.bundle_store import BundleStore
from pipelines.reports.flop_page import SCRIPT, flop_page
from pipelines.reports.flop_spots import (
    IP_SEAT,
    OOP_SEAT,
    FlopSettings,
    FlopTask,
    Row,
    blueprint_row,
    later_rows,
    scaled,
    solve_flop,
)
from pipelines.reports.flop_subset import NUM_FLOPS, FlopSubset
from pipelines.reports.page import STYLE, parts_version
from pipelines.run.cluster import Cluster, OnDemand
from pipelines.run.code_version import code_version
from pipelines.run.engine import stage_key
from pipelines.run.errors import UserError
from solver.betting.game import GameConfig, StreetSizes
from solver.betting.lines import FLOP, PLAYERS, STREETS, Letter

STAGE, REPORT = "flop_spot", "flop_report"
PAGE = "report.html"


@dataclass(frozen=True, eq=False)
class FlopBatch:
    """What is solved.

    Attributes
    ----------
    bundle, line
        The blueprint, and the preflop line whose flops are solved.
    subset
        The flops and their weights.
    settings
        How each is solved.
    with_blueprint
        Whether the blueprint's own answer stands beside: it needs buckets on all boards.
    """

    bundle: BlueprintBundle
    line: str
    subset: FlopSubset
    settings: FlopSettings
    with_blueprint: bool

    def key(self, number: int) -> str:
        """Content address of a solved flop."""
        return stage_key(STAGE, _code(), self.record(number), {"export": self.bundle.key})

    def record(self, number: int) -> dict[str, Any]:
        """All that a solved flop depends on besides the bundle."""
        settings = json.loads(json.dumps(asdict(self.settings)))
        return {"line": self.line, "flop": number, "blueprint": self.with_blueprint, **settings}


def _solved(task: FlopTask, settings: FlopSettings) -> dict[str, list[Row]] | str:
    """The task of a worker."""
    return solve_flop(task, settings)


def _answer(batch: FlopBatch, number: int) -> FlopTask:
    """A flop with its ranges and with what the blueprint says, looked up by the driver."""
    flop = batch.subset.flops[list(batch.subset.numbers).index(number)]
    first, second = (scaled(batch.bundle.range(batch.line, seat, flop)) for seat in (OOP_SEAT, IP_SEAT))
    if not batch.with_blueprint:
        return FlopTask(flop, (first, second), {})
    return FlopTask(
        flop,
        (first, second),
        blueprint_row(batch.bundle, batch.line, flop),
        later_rows(batch.bundle, batch.line, flop, batch.settings.history),
    )


def _code() -> str:
    """Version of what computes the rows of a flop: the solve by a worker, the blueprint's answer by the driver."""
    return f"{code_version(_solved)}-{code_version(_answer)}"


def menu_of_game(game: GameConfig) -> dict[str, Any]:
    """The postflop sizes of a game as spot files write them."""

    def street(sizes: StreetSizes) -> dict[str, Any]:
        return {
            player: {"bet": getattr(sizes, f"{player}_bet"), "raise": getattr(sizes, f"{player}_raise")}
            for player in PLAYERS
        }

    return {name: street(sizes) for name, sizes in zip(STREETS[FLOP:], game.postflop)}


def solve_flops(
    batch: FlopBatch,
    store: BundleStore,
    cluster: Callable[[], Cluster],
    progress: Callable[[int, int, str], None],
) -> Bundle:
    """Solve what is not in the store yet, and write the report."""
    numbers = batch.subset.numbers.tolist()
    keys = {number: batch.key(number) for number in numbers}
    waiting = [number for number in numbers if not store.has(STAGE, keys[number])]
    done = len(numbers) - len(waiting)
    if waiting:
        tasks = OnDemand(len(waiting), lambda k: _answer(batch, waiting[k]))
        for position, rows in cluster().stream(_solved, tasks, shared=batch.settings):
            if isinstance(rows, str):
                raise UserError(f"spots: the solver refuses the line {batch.line!r}: {rows}")
            number = waiting[position]
            store.commit(
                {street: columns(found) for street, found in rows.items()},
                stage=STAGE,
                key=keys[number],
                code=_code(),
                config=batch.record(number),
                inputs={"export": batch.bundle.key},
                metrics={"exploitability_pct": rows["flop"][0]["exploitability_pct"]},
            )
            done += 1
            progress(done, len(numbers), rows["flop"][0]["flop"])
    return _report(batch, store, keys)


def columns(rows: list[Row]) -> dict[str, Any]:
    """Rows as columns; a column that some row does not have is empty there."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = pa.Table.from_pylist([{name: row.get(name) for name in names} for row in rows])
    return {name: table.column(name).combine_chunks() for name in names}


def _report(batch: FlopBatch, store: BundleStore, keys: dict[int, str]) -> Bundle:
    code = code_version(_report)
    config = {
        "line": batch.line,
        "flops": len(keys),
        "weights": batch.subset.weights.tolist(),
        "page": parts_version(STYLE, SCRIPT),
    }
    key = stage_key(REPORT, code, config, {str(number): key for number, key in keys.items()})
    if store.has(REPORT, key):
        return store.open(REPORT, key)
    tables: dict[str, list[Row]] = {}
    textures = batch.bundle.flop_textures()
    for (number, flop_key), weight in zip(keys.items(), batch.subset.weights.tolist()):
        bundle = store.open(STAGE, flop_key)
        for street in bundle.tables:
            held = pa.table(bundle[street].columns()).to_pylist()
            for row in held:
                first = {"weight": weight / len(held)}
                texture = {} if textures is None else {"texture": int(textures[number])}
                tables.setdefault(street, []).append(first | texture | row)
    tables = {street: tables[street] for street in STREETS if street in tables}
    flops = tables[STREETS[FLOP]]
    metrics = means(flops)
    title = f"{batch.line} on {len(keys):,} of {NUM_FLOPS:,} flops"
    return store.commit(
        {f"{street}s" if street != "flop" else "flops": columns(rows) for street, rows in tables.items()},
        texts={PAGE: flop_page(title, batch.bundle, batch.line, tables, metrics)},
        stage=REPORT,
        key=key,
        code=code,
        config=config,
        inputs={"export": batch.bundle.key},
        metrics=metrics,
    )


def means(rows: list[Row]) -> dict[str, float]:
    """Weighted means over the flops of everything that is a number, and the worst solve."""
    weights = np.array([row["weight"] for row in rows])
    found = {}
    for name in rows[0]:
        figures = [row.get(name) for row in rows]
        if name not in ("weight", "texture", "iterations") and all(isinstance(f, float) for f in figures):
            found[name] = float(weights @ np.array(figures) / weights.sum())
    found["worst_exploitability_pct"] = max(row["exploitability_pct"] for row in rows)
    return found | {"flops": float(len(rows))}


def check_line(bundle: BlueprintBundle, line: str) -> str:
    """A preflop line that sees a flop, without prefix; anything else is refused with what is accepted."""
    names = bundle.blueprint.game.names
    plain = line.removesuffix(Letter.DEAL)
    if plain not in names:
        raise UserError(f"line: {line!r} sees no flop in this blueprint; accepted: {', '.join(names)}")
    return plain
