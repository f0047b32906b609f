"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("abstractions", "artifacts", "pipelines", "solver")


def modules_with_examples() -> list[str]:
    files = (file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py")))
    found = [file.relative_to(ROOT).with_suffix("") for file in files if ">>> " in file.read_text("utf-8")]
    return [".".join(path.parts) for path in found]


@pytest.mark.parametrize("name", modules_with_examples())
def test_the_examples_of_a_module_run_as_written(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0
