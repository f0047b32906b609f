"""Pictures are drawn once per bundle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from pipelines.run.pictures import drawn


def test_a_bundle_is_drawn_once_and_a_lost_drawing_again(tmp_path: Path) -> None:
    bundle: Any = object()
    asked = []

    def figures(given: Any) -> dict[str, Figure]:
        asked.append(given)
        return {"chart": Figure(), "loss": Figure()}

    folder = tmp_path / "pictures" / "flops-1"
    first = drawn(folder, bundle, figures)
    assert drawn(folder, bundle, figures) == first
    assert sorted(first) == ["chart", "loss"]
    assert asked == [bundle]
    assert [path.name for path in folder.parent.iterdir()] == ["flops-1"]
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    assert drawn(folder, bundle, figures) == first
    assert asked == [bundle, bundle]


def two_figures(bundle: Any) -> dict[str, Figure]:
    return {"loss": Figure(), "first": Figure()}


def one_figure(bundle: Any) -> dict[str, Figure]:
    return {"loss": Figure()}


def test_when_the_drawing_code_changes_a_bundle_is_drawn_again(tmp_path: Path) -> None:
    bundle: Any = object()
    folder = tmp_path / "pictures" / "flops-1"
    assert sorted(drawn(folder, bundle, two_figures)) == ["first", "loss"]
    assert sorted(drawn(folder, bundle, one_figure)) == ["loss"]
    assert sorted(path.name for path in folder.glob("*.png")) == ["loss.png"]


def test_a_picture_has_a_caption_and_is_drawn_again_when_it_changes(tmp_path: Path) -> None:
    figures = []

    def draw(bundle: Any) -> dict[str, Figure]:
        figures.append(Figure())
        return {"chart": figures[-1]}

    for caption in ("flops-1", "flops-1", "hu25, 25 bb · flops-1"):
        drawn(tmp_path / "flops-1", object(), draw, caption)  # type: ignore[arg-type]
    assert [[text.get_text() for text in figure.texts] for figure in figures] == [
        ["flops-1"],
        ["hu25, 25 bb · flops-1"],
    ]


def test_a_store_that_cannot_be_written_still_gives_pictures(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    pictures = drawn(tmp_path / "file" / "flops-1", object(), lambda _: {"chart": Figure()})  # type: ignore[arg-type]
    assert list(pictures) == ["chart"]
