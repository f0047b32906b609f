"""The runs that MLflow has recorded, ranked by exploitability, as a table and as a plot.

Runs are ranked within one game and one evaluation tier only: figures from different games or tiers measure
different things.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from pipelines.config.named_games import big_blinds
from pipelines.config.schema import Config, Tracking
from pipelines.run.errors import UserError
from pipelines.run.headline import CURVE, CURVE_COST, CurvePoint
from pipelines.run.progress import size
from pipelines.run.tracking import Tracker, quiet_mlflow
from solver.betting.lines import FLOP, STREETS

SPREAD = STREETS[FLOP:]
# Settings of how a run was made, not of what it computed.
_NO_RESULT = ("cluster.", "plan", "preset", "store.", "tracking.")

# Names that figures had while the pipeline's run repeated every figure of every stage.
_OLD_NAMES = {
    "exploitability_raw": "evaluate.exploitability_raw",
    "exploitability_cleaned": "evaluate.exploitability_cleaned",
    "total_core_hours": "core_hours_total",
    **{f"spread_{street}": f"buckets.{street}_sd_mean" for street in SPREAD},
}


@dataclass(frozen=True)
class Measured:
    """A figure in mbb/hand with its 95 % interval, and the number of deals."""

    mean: float
    low: float
    high: float
    hands: int

    @property
    def text(self) -> str:
        """For people."""
        return f"{self.mean:.1f} ({self.low:.1f} to {self.high:.1f})"


@dataclass(frozen=True)
class RunRow:
    """One pipeline run as recorded. Exploitability in mbb/hand, `_se` its standard error; None where not measured.

    `bundle` is the folder name of the exported bundle, empty where the run did not get there; `stacks` in chips.
    `figures` are all single figures of the run. `resolved` is what `pipelines.resolve` measured for that bundle, as
    ``street on tier`` and mbb/hand; `lbr` and `matches` are what `pipelines.lbr` and `pipelines.match` did, by setting
    and by opponent. `gain_mean` is what responders gain on average over the seats, where there are three or more.
    """

    run_id: str
    name: str
    started: str
    status: str
    preset: str
    game: str
    tier: str
    exploitability_raw: float | None
    exploitability_cleaned: float | None
    core_hours: float | None
    peak_memory_bytes: float | None
    bucket_sd: tuple[float | None, ...]
    settings: dict[str, str]
    bundle: str = ""
    stacks: tuple[int, ...] = ()
    exploitability_raw_se: float | None = None
    figures: dict[str, float] = field(default_factory=dict, compare=False)
    resolved: dict[str, float] = field(default_factory=dict)
    lbr: dict[str, Measured] = field(default_factory=dict)
    matches: dict[str, Measured] = field(default_factory=dict)
    gain_mean: float | None = None


#: Start of the name of what `pipelines.resolve` measures; the street follows.
RESOLVED = "exploitability_resolved_"
#: The same against a responder that does not know the flops of the tier before they come.
HELD_OUT = "held_out_"
#: The same with the luck of the tier's flops taken off.
ALL_FLOPS = "all_flops_"


def recorded_runs(tracking: Tracking) -> list[RunRow]:
    """All pipeline runs of the experiment, newest first."""
    quiet_mlflow()
    from mlflow import MlflowClient

    if tracking.uri.startswith("sqlite:///") and not Path(tracking.uri.removeprefix("sqlite:///")).is_file():
        raise UserError(f"tracking.uri: {tracking.uri} does not exist; a pipeline run creates it")
    try:
        client = MlflowClient(tracking.uri)
        experiment = client.get_experiment_by_name(tracking.experiment)
        if experiment is None:
            return []
        rows: list[RunRow] = []
        about = _AboutBundles()
        token: str | None = None
        while True:
            page = client.search_runs([experiment.experiment_id], max_results=1000, page_token=token)
            for run in page:
                if "command" in run.data.tags:
                    about.add(run)
                elif "mlflow.parentRunId" not in run.data.tags:
                    rows.append(_row(run))
            token = page.token
            if not token:
                return [about.complete(row) for row in rows]
    except Exception as error:  # MLflow passes on whatever its database or the driver of it raises
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise UserError(f"tracking.uri: {tracking.uri} does not answer ({reason})") from None


def training_curve(tracking: Tracking, run_id: str) -> list[CurvePoint]:
    """Exploitability over the iterations of a recorded run, with core-hours where they are known."""
    quiet_mlflow()
    from mlflow import MlflowClient

    client = MlflowClient(tracking.uri)
    hours = {point.step: point.value for point in client.get_metric_history(run_id, CURVE_COST)}
    found = {point.step: point.value for point in client.get_metric_history(run_id, CURVE)}
    return [CurvePoint(step, value, hours.get(step)) for step, value in sorted(found.items())]


def find_run(rows: Sequence[RunRow], name: str) -> RunRow:
    """The newest run of a name: the beginning of its id, its name, the name of its bundle, or ``last``."""
    newest = sorted(rows, key=lambda row: row.started, reverse=True)
    for row in newest:
        known_as = ("last", row.name, row.bundle)
        if name and (name in known_as or (len(name) >= 4 and row.run_id.startswith(name))):
            return row
    known = ", ".join(row.run_id[:8] for row in newest[:8]) or "none"
    raise UserError(
        f"run: {name!r} is not recorded; accepted: last, an id ({known}), a run's name or a bundle's name"
    )


def previous_run(rows: Sequence[RunRow], row: RunRow) -> RunRow | None:
    """The last run of the same game and tier that was finished before a run."""
    before = [
        other
        for other in rows
        if (other.game, other.tier, other.status) == (row.game, row.tier, "FINISHED")
        and other.started <= row.started
        and other.run_id != row.run_id
    ]
    return max(before, key=lambda other: other.started, default=None)


def _figure(metrics: Mapping[str, float], name: str) -> float | None:
    """A figure of a run by its name of today or, in older runs, by the one of then."""
    return metrics.get(name, metrics.get(_OLD_NAMES.get(name, "")))


class _AboutBundles:
    """What commands have measured of bundles, by folder name of the bundle.

    Runs come newest first, so what comes first stands.
    """

    def __init__(self) -> None:
        self._resolved: dict[str, dict[str, float]] = {}
        self._lbr: dict[str, dict[str, Measured]] = {}
        self._matches: dict[str, dict[str, Measured]] = {}

    def add(self, run: Any) -> None:
        """Note a run of `resolve`, `lbr` or `match`; others and unfinished ones are left out."""
        tags, metrics = run.data.tags, run.data.metrics
        command = tags["command"]
        if command == "resolve":
            known = self._resolved.setdefault(f"export-{tags['key.export']}", {})
            known |= _resolved(run) | known
        elif command == "lbr" and "lbr" in metrics and "key.export" in tags:
            setting = f"{tags['actions']} on {tags['streets']}"
            if "re-solved" in tags["strategy"]:
                setting += f", {tags['strategy'].partition(' ')[2]}"
            self._lbr.setdefault(f"export-{tags['key.export']}", {}).setdefault(
                setting, _measured(metrics, "lbr")
            )
        elif command == "match" and "match" in metrics:
            found = _measured(metrics, "match")
            turned = Measured(-found.mean, -found.high, -found.low, found.hands)
            for own, other, result in (("a", "b", found), ("b", "a", turned)):
                if f"key.{own}" in tags:
                    what = f"{tags[own].partition(' ')[2]} against {tags[other]}".strip()
                    self._matches.setdefault(f"export-{tags[f'key.{own}']}", {}).setdefault(what, result)

    def complete(self, row: RunRow) -> RunRow:
        """A run with what is known of its bundle."""
        return replace(
            row,
            resolved=self._resolved.get(row.bundle, {}),
            lbr=self._lbr.get(row.bundle, {}),
            matches=self._matches.get(row.bundle, {}),
        )


def _measured(metrics: Mapping[str, float], name: str) -> Measured:
    low, high, hands = (metrics[f"{name}_{part}"] for part in ("low", "high", "hands"))
    return Measured(metrics[name], low, high, int(hands))


def _resolved(run: Any) -> dict[str, float]:
    """What a run of `pipelines.resolve` measured, by street and tier."""
    metrics, found = run.data.metrics, {}
    for name in metrics:
        if name.startswith(RESOLVED):
            street = name.removeprefix(RESOLVED)
            where = f"{street} on {run.data.tags['tier']}"
            found[where] = metrics[name]
            for start, words in ((HELD_OUT, "flops unknown"), (ALL_FLOPS, "over all flops")):
                if f"{start}{street}" in metrics:
                    found[f"{where}, {words}"] = metrics[f"{start}{street}"]
    return found


def _row(run: Any) -> RunRow:
    tags, metrics = run.data.tags, run.data.metrics
    started = datetime.fromtimestamp(run.info.start_time / 1000, tz=UTC)
    return RunRow(
        run_id=run.info.run_id,
        name=run.info.run_name,
        started=started.strftime("%Y-%m-%d %H:%M"),
        status=run.info.status,
        preset=tags.get("preset", ""),
        game=tags.get("game.id", ""),
        tier=tags.get("tier", ""),
        exploitability_raw=_figure(metrics, "exploitability_raw"),
        exploitability_raw_se=metrics.get("exploitability_raw_se"),
        exploitability_cleaned=_figure(metrics, "exploitability_cleaned"),
        core_hours=_figure(metrics, "total_core_hours"),
        peak_memory_bytes=_figure(metrics, "peak_memory_bytes"),
        bucket_sd=tuple(_figure(metrics, f"spread_{street}") for street in SPREAD),
        settings=dict(run.data.params),
        bundle=f"export-{tags['key.export']}" if "key.export" in tags else "",
        stacks=_stacks(run.data.params.get("game.stacks", "")),
        figures=dict(metrics),
        gain_mean=metrics.get("gain_mean"),
    )


def _stacks(text: str) -> tuple[int, ...]:
    """Stacks as a run's parameter writes them, ``[2500, 2500]``; none where it cannot be read."""
    return tuple(map(int, text[1:-1].split(", "))) if re.fullmatch(r"\[\d+(, \d+)*\]", text) else ()


def ranked(rows: Sequence[RunRow]) -> dict[tuple[str, str], list[RunRow]]:
    """Rows by (game, tier), each group from the least exploitable up, unmeasured runs last."""
    groups: dict[tuple[str, str], list[RunRow]] = {}
    for row in rows:
        groups.setdefault((row.game, row.tier), []).append(row)

    def order(row: RunRow) -> tuple[bool, float]:
        figure = row.exploitability_raw if row.gain_mean is None else row.gain_mean
        return figure is None, figure or 0.0

    return {key: sorted(group, key=order) for key, group in sorted(groups.items())}


def usual_settings(rows: Sequence[RunRow]) -> dict[str, str]:
    """Settings that change results and in which not all runs agree, with the value that most of them have."""
    keys = sorted({key for row in rows for key in row.settings if not key.startswith(_NO_RESULT)})
    values = {key: [row.settings.get(key, "-") for row in rows] for key in keys}
    return {key: max(found, key=found.count) for key, found in values.items() if len(set(found)) > 1}


def print_table(groups: dict[tuple[str, str], list[RunRow]], console: Console) -> None:
    """One table per game and tier."""
    for (game, tier), rows in groups.items():
        table = Table(title=_title(game, tier, rows), title_justify="left")
        for column in ("run", "preset", "started", "status", "bundle"):
            table.add_column(column)
        columns = ("raw mbb/hand", "cleaned", "core-hours", "peak memory", "bucket sd " + "/".join(SPREAD))
        for column in columns:
            table.add_column(column, justify="right")
        for row in rows:
            spread = "/".join("-" if sd is None else f"{sd:.3f}" for sd in row.bucket_sd)
            table.add_row(
                row.run_id[:8],
                row.preset,
                row.started,
                row.status.lower(),
                row.bundle[:13] or "-",
                f"gain {row.gain_mean:.2f}"
                if row.gain_mean is not None
                else _with_error(row.exploitability_raw, row.exploitability_raw_se),
                _number(row.exploitability_cleaned),
                _number(row.core_hours, 4),
                "-" if row.peak_memory_bytes is None else size(row.peak_memory_bytes),
                spread,
            )
        console.print(table)
        for row in rows:
            if row.resolved:
                found = ", ".join(f"{value:.1f} from the {where}" for where, value in row.resolved.items())
                console.print(f"{row.run_id[:8]} with re-solving: {found}", soft_wrap=True)
            if row.lbr:
                found = ", ".join(f"{value.text} {setting}" for setting, value in row.lbr.items())
                console.print(f"{row.run_id[:8]} loses to a local best response: {found}", soft_wrap=True)
            if row.matches:
                found = ", ".join(f"{value.text} {opponent}" for opponent, value in row.matches.items())
                console.print(f"{row.run_id[:8]} wins in matches: {found}", soft_wrap=True)
        usual = usual_settings(rows)
        for row in rows:
            own = {key: row.settings.get(key, "-") for key in usual}
            others = {key: value for key, value in own.items() if value != usual[key]}
            if others:
                console.print(f"{row.run_id[:8]} with {_settings(others)}", soft_wrap=True)
        if usual:
            console.print(f"the others with {_settings(usual)}", soft_wrap=True)
    if any(row.lbr for rows in groups.values() for row in rows):
        console.print("a local best response is a lower bound of exploitability and can be far below it")
    if len(groups) > 1:
        console.print(f"{len(groups)} groups: runs of different games or tiers are not ranked together")


def _title(game: str, tier: str, rows: Sequence[RunRow]) -> str:
    stacks = next((row.stacks for row in rows if row.stacks), ())
    return f"game {game}, {big_blinds(stacks) + ', ' if stacks else ''}evaluation tier {tier}"


def _settings(settings: dict[str, str]) -> str:
    return " ".join(f"{key}={value}" for key, value in settings.items())


def _number(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _with_error(value: float | None, error: float | None) -> str:
    """A figure with its standard error, where it has one.

    >>> _with_error(904.31, 21.7), _with_error(904.31, None)
    ('904.31 ± 21.70', '904.31')
    """
    return _number(value) + ("" if value is None or error is None else f" ± {_number(error)}")


def plot(groups: dict[tuple[str, str], list[RunRow]], path: Path) -> bool:
    """Exploitability against core-hours, one panel per game and tier; False when there is nothing to draw."""
    from matplotlib.figure import Figure

    measured: dict[tuple[str, str], list[tuple[float, float, RunRow]]] = {}
    for key, rows in groups.items():
        for row in rows:
            if row.exploitability_raw is not None and row.core_hours is not None:
                measured.setdefault(key, []).append((row.core_hours, row.exploitability_raw, row))
    if not measured:
        return False
    figure = Figure(figsize=(6, 4 * len(measured)))
    for position, ((game, tier), points) in enumerate(measured.items()):
        axes = figure.add_subplot(len(measured), 1, position + 1)
        for hours, exploitability, row in points:
            axes.errorbar(hours, exploitability, yerr=row.exploitability_raw_se or 0.0, fmt="o", capsize=2)
            axes.annotate(f"{row.preset} {row.run_id[:6]}", (hours, exploitability), fontsize=8)
        axes.set(xscale="log", yscale="log", xlabel="core-hours", ylabel="exploitability (mbb/hand)")
        axes.set_title(_title(game, tier, [row for _, _, row in points]), fontsize=10)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    return True


def compared_runs(config: Config) -> dict[tuple[str, str], list[RunRow]]:
    """The recorded runs by game and tier, those included that could not be sent to the tracker so far."""
    waiting = Path(config.store.root) / ".tracking"
    if any(waiting.glob("*.jsonl")):
        Tracker(config.tracking, waiting, lambda text: print(text, file=sys.stderr)).close()
    return ranked(recorded_runs(config.tracking))


def as_data(groups: dict[tuple[str, str], list[RunRow]]) -> list[dict[str, Any]]:
    """The tables for machines."""
    return [{"game": g, "tier": t, "runs": [asdict(row) for row in rows]} for (g, t), rows in groups.items()]
