"""The page of a flop report: a table to sort and filter, weighted means, and plots of what is shown."""

from __future__ import annotations

from typing import Any

from artifacts.blueprint.bundle import BlueprintBundle
from pipelines.reports.page import page, part, text
from pipelines.run.bundle_source import bundle_caption

#: Columns by which the page filters.
FILTERS = ("suits", "pairing", "high", "straights", "texture")

SCRIPT = "flop_page.js"
#: Rows of a table that a page can still sort at once.
MOST_ROWS = 20_000


def flop_page(
    title: str,
    bundle: BlueprintBundle,
    line: str,
    tables: dict[str, list[dict[str, Any]]],
    means: dict[str, float],
) -> str:
    """The page of a report over tables by street; a table too large for a page is in the bundle alone."""
    about = (
        f"{bundle_caption(bundle)} · line {line} · solved exactly, to {means['worst_exploitability_pct']:.2f} % of "
        "the pot or better. EV in chips received from here on; equity and frequencies in percent; eqr is EV over "
        "equity times pot; ip frequencies are after a check. Columns that begin with blueprint are the blueprint's "
        "own answer, with EVs over sampled run-outs; differences are blueprint less exact, of EV and of how often each "
        "bets. Click a column to sort."
    )
    body = (
        f'<p class="note">{text(about)}</p><div class="filters" id="filters"></div>'
        '<div class="plots" id="plots"></div><h2>Rows</h2><div class="scroll"><table id="table"></table></div>'
    )
    shown = {street: _columns(rows) for street, rows in tables.items() if len(rows) <= MOST_ROWS}
    return page(title, body, data={"filters": list(FILTERS), "tables": shown}, script=part(SCRIPT))


def _columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Names and rows of a table; what a reader looks for first comes first."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    first = [name for name in ("flop", "card", "board", "weight", *FILTERS) if name in names]
    names = first + [name for name in names if name not in first]
    return {"names": names, "rows": [[row.get(name) for name in names] for row in rows]}
