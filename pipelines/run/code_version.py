"""The code version of a stage: a hash of the code that computes its bundle, and of nothing else.

Starting from the stage's `compute` function, the names that code uses are followed to the functions, classes and
assignments of this project that they stand for, through imports and from module to module. The syntax trees
of all definitions reached are hashed, without comments, formatting, docstrings and unused annotations. So a key
changes when the code that makes a bundle changes, and not when a picture, a command or another stage does.

Objects are followed by the code that makes them. A stage gets only its config from elsewhere, so the annotations of
the parameters of `compute`, and of the fields of classes, are followed too.
"""

from __future__ import annotations

import hashlib
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from pipelines.run.module_symbols import ModuleSymbols, Symbol, module_symbols
from pipelines.run.names_used import Use

PACKAGES = ("abstractions", "artifacts", "pipelines", "solver")

#: Modules, or packages, that carry results without shaping them: the walk ends there.
TRANSPORT = (
    # Reading and writing bundles: what a table holds is the stage's doing, and the format has a version of its own.
    "artifacts.bundle",
    "artifacts.bundle_store",
    "artifacts.errors",
    "artifacts.format.arrow_file",
    "artifacts.format.manifest",
    # Running stages: the engine, the cluster, progress and tracking give the same bytes wherever a stage runs.
    "pipelines.run",
    # Checking the configuration: a stage's key has the values that come out.
    "pipelines.config.composition",
    "pipelines.config.schema",
    # The wording of errors: a value that is refused has no key.
    "solver.validation",
    # Flops of all tiers: a stage's key has those of the tiers that it uses.
    "pipelines.training.tier_flops",
)

#: Modules that move tables between processes and disk. Their own text does not count, but what they call does.
CARRIERS = (
    # The hosts of the shards, wherever they are: any number of them gives the same bytes.
    "pipelines.training.fleet",
    "pipelines.training.hosts",
    # States of the trainer as it made them.
    "pipelines.training.checkpoints",
)

_READING = threading.Lock()
#: Stands for the statements of a module that belong to no name.
STATEMENTS = "<statements>"
#: Module and name of a definition.
Place = tuple[str, str]


def code_version(function: Callable[..., Any]) -> str:
    """Hash of the project code that computes what `function` returns."""
    # Python 3.11 fails when two threads read syntax trees at the same time.
    with _READING:
        return PROJECT.version(*_place(function))


def reached_symbols(function: Callable[..., Any]) -> set[Place]:
    """Every definition that `code_version` hashes."""
    return PROJECT.reached(*_place(function))


def _place(function: Callable[..., Any]) -> Place:
    # A function inside another is part of it, and a method is part of its class.
    return function.__module__, function.__qualname__.split(".")[0]


class Sources:
    """The source of the project's packages, side by side in a folder."""

    def __init__(self, root: Path, packages: Iterable[str] = PACKAGES) -> None:
        self._root = root
        self._packages = frozenset(packages)
        self._modules: dict[str, ModuleSymbols | None] = {}
        self._versions: dict[Place, str] = {}

    def version(self, module: str, name: str) -> str:
        """Hash of a definition and all that it reaches."""
        place = module, name
        if place not in self._versions:
            digest = hashlib.sha256()
            for reached in sorted(self.reached(module, name)):
                digest.update(f"{':'.join(reached)}\0{self._symbol(reached).digest}\0".encode())
            self._versions[place] = digest.hexdigest()[:16]
        return self._versions[place]

    def reached(self, module: str, name: str) -> set[Place]:
        """A definition and all that it reaches; the whole module where it has no such name."""
        start = self._module(module)
        if start is None:
            raise ModuleNotFoundError(f"no source for {module}")
        todo = [Use(module, (name,) if name in start.definitions else ())]
        todo += self._uses(module, start.parameters.get(name, ()))
        seen: set[Use] = set()
        places: set[Place] = set()
        while todo:
            use = todo.pop()
            assert use.module is not None
            if use in seen or not (use.module == module or self._followed(use.module)):
                continue
            seen.add(use)
            found, elsewhere = self._resolved(use.module, use.path)
            todo += elsewhere
            for place in found - places:
                places.add(place)
                todo += self._uses(place[0], self._symbol(place).uses)
        return {place for place in places if place[0] == module or not _within(place[0], CARRIERS)}

    def _uses(self, module: str, uses: Iterable[Use]) -> Iterator[Use]:
        """What code of a module uses, by the module that has it; builtins are left out."""
        symbols = self._module(module)
        assert symbols is not None
        for use in uses:
            if use.module is not None:
                yield use
            elif use.path[0] in symbols.definitions or use.path[0] in symbols.imports:
                yield Use(module, use.path)

    def _resolved(self, module: str, path: tuple[str, ...]) -> tuple[set[Place], list[Use]]:
        """Definitions that a dotted name of a module stands for, and names of other modules that it leads to."""
        symbols = self._module(module)
        if symbols is None:
            return set(), []
        statements = (module, STATEMENTS)
        if not path:
            # A module as an object: anything in it may be used.
            return {statements}, [Use(module, (name,)) for name in (*symbols.definitions, *symbols.imports)]
        name, attributes = path[0], path[1:]
        found = {(module, name), statements} if name in symbols.definitions else set()
        # `from package import part` in the package itself is its module `part`.
        targets = [target for target in symbols.imports.get(name, ()) if target != Use(module, (name,))]
        leads = [Use(target.module, (*target.path, *attributes)) for target in targets]
        if not found and not leads:
            part = f"{module}.{name}"
            leads = [Use(module, ()) if self._module(part) is None else Use(part, attributes)]
        return found, leads

    def _followed(self, module: str) -> bool:
        return module.split(".")[0] in self._packages and not _within(module, TRANSPORT)

    def _symbol(self, place: Place) -> Symbol:
        symbols = self._module(place[0])
        assert symbols is not None
        return symbols.statements if place[1] == STATEMENTS else symbols.definitions[place[1]]

    def _module(self, module: str) -> ModuleSymbols | None:
        """A module of the project, or one that is loaded; None if there is no such source."""
        if module not in self._modules:
            file = self._file(module)
            is_package = file is not None and file.name == "__init__.py"
            package = module if is_package else module.rpartition(".")[0]
            text = None if file is None else file.read_text(encoding="utf-8")
            self._modules[module] = None if text is None else module_symbols(package, text)
        return self._modules[module]

    def _file(self, module: str) -> Path | None:
        if module.split(".")[0] not in self._packages:
            file = getattr(sys.modules.get(module), "__file__", None)
            return None if file is None else Path(file)
        path = self._root.joinpath(*module.split("."))
        files = (path / "__init__.py", path.with_suffix(".py"))
        return next((file for file in files if file.is_file()), None)


PROJECT = Sources(Path(__file__).parents[2])


def _within(module: str, modules: Iterable[str]) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in modules)
