"""A stage's key follows the code it calls, and nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pipelines.run import code_version as cv
from pipelines.stages import flops


def test_the_flops_stage_depends_on_the_cards_and_not_on_the_engine() -> None:
    modules = cv.reachable_modules(flops.compute.__module__)
    assert {"pipelines.stages.flops", "abstractions.cards", "abstractions.isomorphism"} <= modules
    assert not modules & {
        "pipelines.run.engine",
        "pipelines.run.tracking",
        "pipelines.blueprint",
        "artifacts.bundle",
    }


@pytest.fixture
def version_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Hash of a small package `demo` (entry, helper, aside) after edits to its files."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(cv, "PACKAGES", ("demo",))
    files = {
        "__init__": "",
        "entry": "from typing import TYPE_CHECKING\nfrom demo import helper\n"
        "if TYPE_CHECKING:\n    from demo import aside\ndef stage(): return helper.one()\n",
        "helper": "def one(): return 1\n",
        "aside": "def two(): return 2\n",
    }

    def version(**edits: str) -> str:
        (tmp_path / "demo").mkdir(exist_ok=True)
        for name, text in (files | edits).items():
            (tmp_path / "demo" / f"{name}.py").write_text(text)
        for name in [name for name in sys.modules if name.split(".")[0] == "demo"]:
            del sys.modules[name]
        for function in (cv._tree, cv._source_hash, cv._imports):
            function.cache_clear()

        def stage() -> None: ...

        stage.__module__ = "demo.entry"
        return cv.code_version(stage)

    return version


def test_a_change_in_a_called_module_changes_the_version(version_of) -> None:
    assert version_of() != version_of(helper="def one(): return 3\n")


def test_comments_formatting_and_docstrings_do_not(version_of) -> None:
    assert version_of() == version_of(helper='def one():\n    """One."""\n    # why not\n    return (1)\n')


def test_code_that_is_only_named_in_types_does_not(version_of) -> None:
    assert version_of() == version_of(aside="def two(): return 3\n")
