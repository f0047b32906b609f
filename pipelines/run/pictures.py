"""Pictures of a finished bundle, drawn once and kept beside the store for the runs that find it cached."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from artifacts.bundle import Bundle

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Figures = Callable[[Bundle], "Mapping[str, Figure]"]


def png(figure: Figure) -> bytes:
    """A figure as a PNG file."""
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=100, bbox_inches="tight")
    return picture.getvalue()


def drawn(folder: Path, bundle: Bundle, figures: Figures) -> dict[str, bytes]:
    """PNG files by name, from `folder` if they are there, else drawn and put there.

    The folder appears whole or not at all; one that cannot be written only costs the next run the drawing.
    """
    if folder.is_dir():
        return {path.stem: path.read_bytes() for path in sorted(folder.glob("*.png"))}
    pictures = {name: png(figure) for name, figure in figures(bundle).items()}
    temporary = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        temporary.mkdir(parents=True)
        for name, content in pictures.items():
            (temporary / f"{name}.png").write_bytes(content)
        temporary.replace(folder)
    except OSError:
        return pictures
    return pictures
