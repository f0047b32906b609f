"""Records that could not be sent are kept whole, or it is said that they are not."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest

from pipelines.config.schema import Tracking
from pipelines.run import tracking
from pipelines.run.tracking import Tracker

NOWHERE = Tracking(uri="http://127.0.0.1:9", artifacts=None, experiment="blueprint")


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ConnectionError("nobody there")

    monkeypatch.setattr(Tracker, "_send", refuse)
    monkeypatch.setattr(tracking, "_CLOSE_SECONDS", 0.1)
    monkeypatch.setattr(tracking, "_RETRY_SECONDS", 0.05)


@pytest.mark.usefixtures("offline")
def test_a_journal_that_does_not_fit_on_the_disk_names_the_file_and_is_not_left_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half_written(path: Path, text: str, *_: Any, **__: Any) -> None:
        path.write_bytes(text[: len(text) // 2].encode())
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(Path, "write_text", half_written)
    tracker = Tracker(NOWHERE, tmp_path, lambda _: None)
    tracker.start("run", {}, {})
    with pytest.raises(OSError, match="No space left on device") as failure:
        tracker.close()
    assert failure.value.errno == errno.ENOSPC
    assert failure.value.filename.startswith(f"{tmp_path}/")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("content", ["", '{"uri": "http://127', "[]\nx"])
def test_a_damaged_journal_does_not_stop_the_next_run(tmp_path: Path, content: str) -> None:
    (tmp_path / "old.jsonl").write_text(content)
    warnings: list[str] = []
    tracker = Tracker(NOWHERE, tmp_path, warnings.append)
    tracker.start("run", {}, {})
    tracker.close()
    assert "old.jsonl is damaged; its records are not sent" in warnings[0]
    assert len(list(tmp_path.glob("*.jsonl"))) == 2
