"""Pictures of finished bundles, drawn once and kept beside the store for the runs that find them cached."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from artifacts.bundle import Bundle
from pipelines.run.code_version import code_version
from pipelines.run.headline import CurvePoint

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Figures = Callable[[Bundle], "Mapping[str, Figure]"]
CAPTION_COLOUR = "#6f6f6f"
#: File that names the version of the code that drew a folder of pictures; keys do not depend on it.
_VERSION = "code_version"


def png(figure: Figure, caption: str = "") -> bytes:
    """A figure as a PNG file, with a line below it that says what it shows."""
    if caption:
        figure.text(0.5, -0.01, caption, ha="center", va="top", fontsize=7, color=CAPTION_COLOUR)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=100, bbox_inches="tight")
    return picture.getvalue()


def drawn(folder: Path, bundle: Bundle, figures: Figures, caption: str = "") -> dict[str, bytes]:
    """PNG files by name, from `folder` if this code drew them with this caption, else drawn and put there.

    The folder appears whole or not at all; one that cannot be written only costs the next run the drawing.
    """
    version = " ".join(filter(None, (code_version(figures), caption)))
    kept = _kept(folder, version)
    if kept is not None:
        return kept
    pictures = {name: png(figure, caption) for name, figure in figures(bundle).items()}
    temporary = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        temporary.mkdir(parents=True)
        for name, content in pictures.items():
            (temporary / f"{name}.png").write_bytes(content)
        (temporary / _VERSION).write_text(version, encoding="utf-8")
        if folder.exists():
            shutil.rmtree(folder)
        temporary.replace(folder)
    except OSError:
        return pictures
    return pictures


def _kept(folder: Path, version: str) -> dict[str, bytes] | None:
    """The pictures in a folder; None if there are none, or if other code drew them."""
    try:
        if (folder / _VERSION).read_text(encoding="utf-8") != version:
            return None
        return {path.stem: path.read_bytes() for path in sorted(folder.glob("*.png"))}
    except OSError:
        return None


def curve_figure(points: Sequence[CurvePoint], exported_step: int, title: str) -> Figure:
    """Exploitability over the iterations of all phases and, where it is known, over core-hours.

    The point of `exported_step` is marked.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import ScalarFormatter

    figure = Figure(figsize=(11, 4.5))
    left, right = figure.subplots(1, 2, sharey=True)
    known = [point for point in points if point.core_hours is not None]
    for axes, shown, places in (
        (left, points, [point.step for point in points]),
        (right, known, [point.core_hours for point in known]),
    ):
        axes.plot(places, [point.exploitability for point in shown], marker="o")
        for place, point in zip(places, shown):
            if point.step == exported_step:
                axes.plot(place, point.exploitability, "*", markersize=16, color="C1", label="exported")
                axes.legend()
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(ScalarFormatter())
        axes.yaxis.set_minor_formatter(ScalarFormatter())
        axes.grid(alpha=0.3)
    left.set(xlabel="iteration, all phases", ylabel="exploitability (mbb/hand)")
    right.set(xlabel="core-hours of training" if known else "core-hours of training (not recorded)")
    figure.suptitle(title)
    figure.tight_layout()
    return figure
