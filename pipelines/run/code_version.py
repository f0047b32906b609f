"""The code version of a stage: a hash of the source of everything it calls.

Starting from the module of a stage function, all imports within this project are followed, and the syntax
trees (without comments, formatting and docstrings) are hashed. So a key changes when the code that makes
a bundle changes, and not when a comment, the command line or another stage does.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

PACKAGES = ("abstractions", "artifacts", "pipelines", "solver")

# What carries a stage's result without shaping it. The bundle format has a version of its own.
TRANSPORT = (
    "artifacts.format.arrow_file",
    "artifacts.bundle",
    "artifacts.bundle_store",
    "artifacts.errors",
    "artifacts.format.manifest",
    "pipelines.run.cluster",
    "pipelines.run.engine",
    "pipelines.run.errors",
    "pipelines.run.progress",
    "pipelines.config.schema",
    "pipelines.run.tracking",
    "solver.validation",
)


def code_version(function: Callable[..., Any]) -> str:
    """Hash of the project code that `function` can reach."""
    digest = hashlib.sha256()
    for module in sorted(reachable_modules(function.__module__)):
        digest.update(f"{module}\0{_source_hash(module)}\0".encode())
    return digest.hexdigest()[:16]


def reachable_modules(module: str) -> set[str]:
    """`module` and every module of this project it imports, directly or not, transport left out."""
    seen: set[str] = set()
    todo = [module]
    while todo:
        name = todo.pop()
        if name not in seen and name not in TRANSPORT:
            seen.add(name)
            todo.extend(_imports(name))
    return seen


@cache
def _tree(module: str) -> ast.Module:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"no source for {module}")
    return ast.parse(Path(spec.origin).read_text(encoding="utf-8"))


@cache
def _source_hash(module: str) -> str:
    tree = _tree(module)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and ast.get_docstring(node) is not None
        ):
            node.body = node.body[1:]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


@cache
def _imports(module: str) -> frozenset[str]:
    return frozenset(name for name in _imported_names(_tree(module)) if name.split(".")[0] in PACKAGES)


def _imported_names(tree: ast.AST) -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            if _is_package(node.module):
                names = (f"{node.module}.{alias.name}" for alias in node.names)
                yield from (name for name in names if importlib.util.find_spec(name))
        yield from _imported_names(node)


def _is_package(module: str) -> bool:
    if module.split(".")[0] not in PACKAGES:
        return False
    spec = importlib.util.find_spec(module)
    return spec is not None and spec.submodule_search_locations is not None
