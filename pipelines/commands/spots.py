"""Postflop spots as bundles: solve one, write it, and report over many."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from artifacts.bundle import Bundle
from artifacts.bundle_store import BundleStore
from pipelines.run.code_version import code_version
from pipelines.run.engine import stage_key
from solver.betting.lines import PLAYERS
from solver.postflop.spot import Spot, solve_spot

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def solve_task(spot: Spot) -> dict[str, Any]:
    """Solve one spot on one core; times are left out, so that equal spots give equal results."""
    return without_times(solve_spot(spot.model_copy(update={"threads": 1})))


def without_times(result: Mapping[str, Any]) -> dict[str, Any]:
    """A result without the seconds that it took."""
    kept = {key: value for key, value in result.items() if key != "seconds"}
    trace = [{key: value for key, value in point.items() if key != "seconds"} for point in kept["trace"]]
    return kept | {"trace": trace}


def spot_key(spot: Spot) -> str:
    """Content address of a solved spot; the number of threads does not change it."""
    return stage_key("spot", code_version(solve_task), spot.model_dump(exclude={"threads"}), {})


def commit_spot(store: BundleStore, spot: Spot, result: Mapping[str, Any]) -> Bundle:
    """Write a solved spot: the root by hand as a table, the whole result as JSON."""
    root = result["root"]
    hands = root["hands"]
    table = {"hand": list(hands)} | {
        name: np.array([hand[name] for hand in hands.values()]) for name in ("weight", "ev", "equity")
    }
    for name in ("strategy", "action_ev"):
        table[name] = np.array([hand[name] for hand in hands.values()], dtype=np.float32)
    return store.commit(
        {"root": table, "actions": {"action": root["actions"], "frequency": np.array(root["frequencies"])}},
        texts={"result.json": json.dumps(result) + "\n"},
        stage="spot",
        key=spot_key(spot),
        code=code_version(solve_task),
        config=spot.model_dump(),
        inputs={},
        metrics={
            "exploitability_pct": result["exploitability_pct"],
            "iterations": result["iterations"],
            **{f"ev_{player}": result["ev"][player] for player in PLAYERS},
        },
    )


def report_columns(spots: Mapping[str, Spot], bundles: Mapping[str, Bundle]) -> dict[str, Any]:
    """One row per spot: board, exploitability, root frequencies, EV, equity and EQR of both players.

    EQR, equity realisation, is EV over what raw equity would take of the pot.
    """
    rows = []
    for name, bundle in bundles.items():
        result = json.loads(bundle.text("result.json"))
        row: dict[str, Any] = {"spot": name, "board": spots[name].board, "pot": spots[name].pot}
        row |= {key: result[key] for key in ("exploitability_pct", "iterations")}
        for player in PLAYERS:
            ev, equity = result["ev"][player], result["equity"][player]
            realised = ev / (equity * spots[name].pot) if equity > 0 else None
            row |= {f"ev_{player}": ev, f"equity_{player}": equity, f"eqr_{player}": realised}
        shares = dict(zip(result["root"]["actions"], result["root"]["frequencies"]))
        row |= {
            "check": shares.pop("x", 0.0),
            "bet": sum(shares.values()),
            "actions": result["root"]["actions"],
            "frequencies": result["root"]["frequencies"],
        }
        rows.append(row)
    table = pa.Table.from_pylist(rows)
    return {name: table.column(name).combine_chunks() for name in table.column_names}


def report_figure(columns: Mapping[str, Any]) -> Figure:
    """Root betting frequency and realised equity by spot."""
    from matplotlib.figure import Figure

    names = columns["spot"].to_pylist()
    place = np.arange(len(names))
    figure = Figure(figsize=(8, 1.5 + 0.3 * len(names)))
    left, right = figure.subplots(1, 2, sharey=True)
    left.barh(place, columns["bet"].to_numpy(zero_copy_only=False))
    left.set(yticks=place, yticklabels=names, xlabel="bets at the root", xlim=(0, 1))
    for shift, player in zip((-0.2, 0.2), PLAYERS):
        values = columns[f"eqr_{player}"].to_numpy(zero_copy_only=False)
        right.barh(place + shift, values, height=0.4, label=player)
    right.axvline(1.0, color="black", linewidth=0.8)
    right.set(xlabel="EV / (equity x pot)")
    right.legend()
    figure.tight_layout()
    return figure
