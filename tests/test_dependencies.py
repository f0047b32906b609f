"""pyproject.toml declares what the code imports, and nothing else."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("abstractions", "artifacts", "conf", "pipelines", "solver")
#: Installed for their commands or as plugins, and imported by nobody.
TOOLS = {
    "ruff": "make lint",
    "mypy": "make lint",
    "import-linter": "make lint",
    "pre-commit": "make hooks",
    "pytest-timeout": "plugin of pytest: the timeout in pyproject.toml",
    "pytest-xdist": "plugin of pytest: make test runs on two workers",
}


def declared(requirements: Iterable[str]) -> set[str]:
    """Names of distributions, without extras and versions."""
    return {_normal(re.match(r"[\w.-]+", text).group()) for text in requirements}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def parsed(folders: Iterable[str]) -> Iterator[tuple[Path, ast.Module]]:
    """Every Python file of some folders that git would see."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path.relative_to(ROOT).parts[:2] != ("artifacts", "store"):
                yield path, ast.parse(path.read_text(encoding="utf-8"))


@cache
def owners() -> dict[str, set[str]]:
    """Distributions that install each module; several may share one, as those of mlflow do."""
    return {module: {_normal(name) for name in names} for module, names in packages_distributions().items()}


def imported(folders: Iterable[str]) -> set[str]:
    """Modules of others that some folders import, wherever in a file."""
    modules: set[str] = set()
    for _, tree in parsed(folders):
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                modules |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                modules.add(node.module.partition(".")[0])
    return modules - set(sys.stdlib_module_names) - {*PACKAGES, "scripts", "tests"}


def undeclared(modules: Iterable[str], names: set[str]) -> list[str]:
    """Modules that none of the distributions installs."""
    return sorted(module for module in modules if not owners().get(module, set()) & names)


def unused(modules: Iterable[str], names: set[str]) -> set[str]:
    """Distributions that install none of the modules."""
    return names - {name for module in modules for name in owners().get(module, set())}


def project() -> tuple[set[str], set[str]]:
    """Distributions that the project needs, and those that its developers need besides."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return declared(data["dependencies"]), declared(data["optional-dependencies"]["dev"])


def test_the_packages_import_what_is_declared_and_nothing_else_is_declared() -> None:
    needed, _ = project()
    modules = imported(PACKAGES)
    assert undeclared(modules, needed) == []
    assert unused(modules, needed) == set()


def test_scripts_and_tests_import_what_is_declared_and_nothing_else_is_declared() -> None:
    needed, dev = project()
    modules = imported(["scripts", "tests"])
    assert undeclared(modules, needed | dev) == []
    assert unused(modules, dev) == set(TOOLS)


def test_every_requirement_has_a_lower_and_an_upper_bound() -> None:
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for requirement in [*data["dependencies"], *data["optional-dependencies"]["dev"]]:
        assert re.search(r">=[\d.]+,<[\d.]+$", requirement), requirement


def test_arrow_tables_are_read_without_pandas() -> None:
    # pyarrow imports pandas by itself, which no import statement of ours shows.
    for path, tree in parsed(PACKAGES):
        names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert "to_pandas" not in names, path
