"""Captions of stages, and notes about runs that cannot be read."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from artifacts import open_blueprint, open_bundle
from artifacts.bundle_store import BundleStore
from pipelines.config.named_games import named_games
from pipelines.run.bundle_source import RunNote, bundle_caption, note_run, source_of


def test_pictures_of_a_stage_name_its_bundle_and_the_game_where_there_is_one(tmp_path: Path) -> None:
    game = json.loads(json.dumps(asdict(named_games()["hu25"])))
    options: dict[str, Any] = {"stage": "dcfr", "key": "0123456789", "code": "", "inputs": {}, "metrics": {}}
    for config, caption in (
        ({}, "dcfr-012345"),
        ({"training": {"game": game}}, "hu25, 25 bb · dcfr-012345"),
    ):
        bundle = BundleStore(tmp_path / str(len(config))).commit({}, config=config, **options)
        assert bundle_caption(bundle) == caption


def test_pictures_that_several_runs_share_name_no_run(exported: Path) -> None:
    bundle = open_bundle(exported)
    note_run(BundleStore(exported.parent), bundle.manifest.name, RunNote("fast", None))
    try:
        assert bundle_caption(bundle).startswith("custom game, 10 bb · export-global · exploitability")
        assert "preset fast · exploitability" in source_of(open_blueprint(exported)).caption
    finally:
        (exported.parent / ".runs" / f"{bundle.manifest.name}.json").unlink()


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"preset": 7, "run": null}', '{"preset": "fast", "run": 7}', "\xff"]
)
def test_a_note_that_cannot_be_read_is_no_note(exported: Path, text: str) -> None:
    file = exported.parent / ".runs" / f"{open_bundle(exported).manifest.name}.json"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text.encode("latin-1"))
    try:
        assert source_of(open_blueprint(exported)).run is None
    finally:
        file.unlink()


def test_a_store_that_cannot_be_written_costs_the_note_only(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    note_run(BundleStore(tmp_path / "file"), "export-1", RunNote("fast"))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
