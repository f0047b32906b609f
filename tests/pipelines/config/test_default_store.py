"""Where results go: inside a checkout as ever, elsewhere where they cannot hide a package."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.config.composition import compose_config
from pipelines.config.default_store import PROJECT, default_store

ROOT = Path(__file__).parents[3]
PACKAGES = ("artifacts", "pipelines", "solver", "abstractions", "conf")


@pytest.mark.parametrize(
    ("project", "package", "store"),
    [
        (f'[project]\nname = "{PROJECT}"', True, "artifacts/store"),
        (f'[project]\nname = "{PROJECT}"', False, "blueprint-store"),
        ('[project]\nname = "another"', True, "blueprint-store"),
        ('project = "a text"', True, "blueprint-store"),
        ("not toml", True, "blueprint-store"),
        (None, True, "blueprint-store"),
    ],
)
def test_a_checkout_is_known_by_its_project_and_its_package(
    tmp_path: Path, project: str | None, package: bool, store: str
) -> None:
    (tmp_path / "artifacts").mkdir()
    if package:
        (tmp_path / "artifacts" / "__init__.py").touch()
    if project is not None:
        (tmp_path / "pyproject.toml").write_text(project)
    assert default_store(tmp_path) == store


def test_the_default_is_that_of_the_folder_where_a_command_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, store in ((ROOT, "artifacts/store"), (tmp_path, "blueprint-store")):
        monkeypatch.chdir(folder)
        config = compose_config([])
        assert config.store.root == store
        assert config.tracking.uri == f"sqlite:///{store}/mlflow.db"
        assert config.tracking.artifacts == f"{store}/mlruns"
        assert compose_config(["store.root=runs"]).tracking.uri == "sqlite:///runs/mlflow.db"


def test_a_store_in_a_folder_does_not_hide_a_package(tmp_path: Path) -> None:
    (tmp_path / default_store(tmp_path) / "export-1").mkdir(parents=True)
    script = f"import {', '.join(PACKAGES)}\nfor package in ({', '.join(PACKAGES)}): print(package.__file__)"
    found = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert found.stdout.split() == [importlib.import_module(name).__file__ for name in PACKAGES]
