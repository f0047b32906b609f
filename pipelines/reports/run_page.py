"""The page of a run: what a person wants to know of it in the morning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipelines.config.named_games import big_blinds
from pipelines.reports.page import figures, page, picture, table, text
from pipelines.run.progress import size
from pipelines.run.recorded_runs import SPREAD, RunRow
from solver.betting.lines import POSITIONS, STREETS

#: Settings that say how a run was made, not what it computed.
_HOW = ("cluster.", "plan", "store.", "tracking.")
LBR_WARNING = "A local best response is a lower bound of exploitability and can be far below it."


@dataclass(frozen=True, eq=False)
class RunPictures:
    """PNG files by title."""

    curve: bytes | None
    charts: Mapping[str, bytes]


def run_page(row: RunRow, before: RunRow | None, pictures: RunPictures) -> str:
    """A page about a run, with what changed since `before`, the last run of the same game."""
    parts = [
        f'<p class="note">{text(_about(row))}</p>',
        figures(_headline(row)),
        _measured(row),
        "<h2>What changed since the last run of this game</h2>",
        _changes(row, before),
        "<h2>Where it loses</h2>",
        _losses(row),
        "<h2>While it trained</h2>",
        '<p class="note">No curve is recorded.</p>'
        if pictures.curve is None
        else picture(pictures.curve, "exploitability while training"),
        "<h2>What it plays</h2>",
        "".join(f"<p>{picture(png, name)}</p>" for name, png in pictures.charts.items())
        or '<p class="note">The bundle is not in this store, so there are no charts.</p>',
        "<h2>Settings</h2>",
        "<details><summary>all of them</summary>",
        table(("setting", "value"), sorted(row.settings.items())),
        "</details>",
    ]
    return page(row.name, "".join(parts))


def _about(row: RunRow) -> str:
    words = [f"run {row.run_id[:8]}", row.status.lower(), f"started {row.started} UTC", f"game {row.game}"]
    if row.stacks:
        words.append(big_blinds(row.stacks))
    words += [f"preset {row.preset}"] if row.preset else []
    words += [row.bundle] if row.bundle else ["no bundle"]
    return " · ".join(words)


def _number(value: float | None, digits: int = 1) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def _headline(row: RunRow) -> list[tuple[str, str]]:
    if row.gain_mean is None:
        error = "" if row.exploitability_raw_se is None else f" ± {row.exploitability_raw_se:.1f}"
        shown = [
            (f"exploitability, mbb/hand, tier {row.tier}", _number(row.exploitability_raw) + error),
            ("cleaned", _number(row.exploitability_cleaned)),
        ]
    else:
        shown = [("a responder gains, mean of the seats, mbb/hand", _number(row.gain_mean)), *_gains(row)]
    shown += [(f"re-solved from the {where}", _number(value)) for where, value in row.resolved.items()]
    memory = row.peak_memory_bytes
    exported = row.figures.get("exported_bytes")
    shown += [
        ("core-hours", _number(row.core_hours, 2)),
        ("peak memory", "-" if memory is None else size(memory)),
        ("exported", "-" if exported is None else size(exported)),
        (
            f"equity sd in buckets, {'/'.join(SPREAD)}",
            "/".join("-" if sd is None else f"{sd:.3f}" for sd in row.bucket_sd),
        ),
    ]
    return shown


def _gains(row: RunRow) -> list[tuple[str, str]]:
    """What a responder gains in each seat of a game of three or more, with its 95 % interval."""
    seats = [seat for seat in POSITIONS if f"gain_{seat}" in row.figures]
    return [
        (
            f"gain in seat {seat}",
            f"{_number(row.figures[f'gain_{seat}'])} "
            f"({_number(row.figures.get(f'gain_{seat}_low'))} to {_number(row.figures.get(f'gain_{seat}_high'))})",
        )
        for seat in seats
    ]


def _measured(row: RunRow) -> str:
    """Local best responses and matches."""
    if not row.lbr and not row.matches:
        return ""
    rows = [
        (kind, what, f"{found.mean:,.1f}", f"{found.low:,.1f} to {found.high:,.1f}", f"{found.hands:,}")
        for kind, known in (("local best response wins", row.lbr), ("match, wins", row.matches))
        for what, found in known.items()
    ]
    names = ("measured", "how", "mbb/hand", "95 % interval", "deals")
    warning = f'<p class="note">{text(LBR_WARNING)}</p>' if row.lbr else ""
    return f"<h2>Against others</h2>{warning}{table(names, rows)}"


def _changes(row: RunRow, before: RunRow | None) -> str:
    if before is None:
        return '<p class="note">It is the first finished run of this game on this tier.</p>'
    names = sorted({*row.settings, *before.settings})
    settings = [
        (name, before.settings.get(name, "-"), row.settings.get(name, "-"))
        for name in names
        if not name.startswith(_HOW) and before.settings.get(name) != row.settings.get(name)
    ]
    single = [
        (name, f"{before.figures[name]:,.4g}", f"{now:,.4g}", f"{now - before.figures[name]:+,.4g}")
        for name, now in sorted(row.figures.items())
        if name in before.figures and before.figures[name] != now
    ]
    return (
        f'<p class="note">{text(_about(before))}</p>'
        + (table(("setting", "then", "now"), settings) if settings else "<p>No setting has changed.</p>")
        + (table(("figure", "then", "now", "change"), single) if single else "<p>No figure has changed.</p>")
    )


def _losses(row: RunRow) -> str:
    known: Sequence[tuple[str, str]] = [
        (street, _number(row.figures[f"loss_{street}"]))
        for street in STREETS
        if f"loss_{street}" in row.figures
    ]
    if not known:
        return '<p class="note">Not measured by street.</p>'
    return table(("street", "mbb/hand that the street adds to what a responder gains"), known)
