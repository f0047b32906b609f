"""Finding a browser: the variable first, then PATH, and one line where there is none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scripts import chromium


def program(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_the_variable_comes_before_the_path(tmp_path: Path) -> None:
    named = program(tmp_path, "my-browser")
    on_path = program(tmp_path, "chromium")
    environment = {"PATH": str(tmp_path), "CHROMIUM": str(named)}
    assert chromium.find_chromium(environment) == str(named)
    assert chromium.find_chromium({"PATH": str(tmp_path)}) == str(on_path)


def test_a_variable_that_names_nothing_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="CHROMIUM=/nowhere: no program"):
        chromium.find_chromium({"PATH": str(tmp_path), "CHROMIUM": "/nowhere"})


def test_without_a_browser_one_line_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(SystemExit) as stopped:
        chromium.require_chromium()
    message = str(stopped.value)
    assert message.startswith("error: no Chromium")
    assert "\n" not in message
    assert "not browser" in message
