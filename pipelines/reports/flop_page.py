"""The page of a flop report: a table to sort and filter, weighted means, and plots of what is shown."""

from __future__ import annotations

from typing import Any

from artifacts.blueprint.bundle import BlueprintBundle
from pipelines.reports.page import page, part, text
from pipelines.run.bundle_source import bundle_caption

#: Columns by which the page filters.
FILTERS = ("suits", "pairing", "high", "straights", "texture")

SCRIPT = "flop_page.js"


def flop_page(
    title: str,
    bundle: BlueprintBundle,
    line: str,
    tables: dict[str, list[dict[str, Any]]],
    means: dict[str, float],
) -> str:
    """The page of a report; its rows are those of the flops, or of the last street that was asked for."""
    street = list(tables)[-1]
    rows = tables[street]
    names = list(dict.fromkeys(name for row in rows for name in row))
    # What a reader looks for first comes first.
    first = [name for name in ("flop", "card", "board", "weight", *FILTERS) if name in names]
    names = first + [name for name in names if name not in first]
    about = (
        f"{bundle_caption(bundle)} · line {line} · every {street} solved exactly, to "
        f"{means['worst_exploitability_pct']:.2f} % of the pot or better. EV in chips received from here on; equity "
        "and frequencies in percent; eqr is EV over equity times pot; ip frequencies are after a check. Columns that "
        "begin with blueprint are the blueprint's own answer. Click a column to sort."
    )
    body = (
        f'<p class="note">{text(about)}</p><div class="filters" id="filters"></div>'
        '<div class="plots" id="plots"></div><h2>Rows</h2><div class="scroll"><table id="table"></table></div>'
    )
    data = {
        "names": names,
        "filters": list(FILTERS),
        "rows": [[row.get(name) for name in names] for row in rows],
    }
    return page(title, body, data=data, script=part(SCRIPT))
