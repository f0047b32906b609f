"""What a module defines, imports and uses, symbol by symbol, read from its source without running it."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from pipelines.run.names_used import Use, Uses, dotted_name, names_bound, names_used, parameters_of

#: Decorators that hand their function back and do not keep it. Any other may register it somewhere, as numba's
#: `overload` does, so that it is called without being named.
PLAIN_DECORATORS = {
    "cache",
    "cached_property",
    "contextmanager",
    "dataclass",
    "intrinsic",
    "kernel",
    "lru_cache",
    "njit",
}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)


@dataclass(frozen=True, eq=False)
class Symbol:
    """The statements that make a name of a module what it is."""

    statements: tuple[ast.stmt, ...]
    package: str
    extra_uses: Uses = frozenset()

    @cached_property
    def digest(self) -> str:
        """Hash of the statements, wherever they stand and whatever is written about them."""
        text = "\n".join(ast.dump(statement) for statement in self.statements)
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def uses(self) -> Uses:
        """The names of the module, and of other modules, that the statements use."""
        return names_used(self.statements, self.package) | self.extra_uses


@dataclass(frozen=True, eq=False)
class ModuleSymbols:
    """A module by symbol.

    Attributes
    ----------
    definitions
        Functions, classes and assigned names, each with all statements that define or change it.
    imports
        Imported names with what they stand for.
    statements
        What runs whenever the module is imported and belongs to no single name.
    parameters
        Names used in the annotations of each function's parameters.
    """

    definitions: Mapping[str, Symbol]
    imports: Mapping[str, tuple[Use, ...]]
    statements: Symbol
    parameters: Mapping[str, Uses]


@cache
def module_symbols(package: str, text: str) -> ModuleSymbols:
    """Read a module's source; `package` is the one that its relative imports start from."""
    tree = ast.parse(text)
    functions = [node for node in tree.body if isinstance(node, _FUNCTIONS)]
    parameters = {node.name: names_used(_annotations(node), package) for node in functions}
    body = _without_remarks(tree).body
    bindings = [names_bound([statement], package) for statement in body]
    defined = {name for found in bindings for name, imports in found.items() if not imports}
    owned: dict[str, list[ast.stmt]] = {}
    imported: dict[str, tuple[Use, ...]] = {}
    loose: list[ast.stmt] = []
    for statement, found in zip(body, bindings):
        for name, imports in found.items():
            if imports:
                imported[name] = imported.get(name, ()) + imports
        if isinstance(statement, ast.Import | ast.ImportFrom):
            continue
        owners = {name for name, imports in found.items() if not imports} | _changed(statement) & defined
        for name in owners:
            owned.setdefault(name, []).append(statement)
        if not owners or _acts(statement) or _changed(statement) - defined:
            loose.append(statement)
    definitions = {name: Symbol(tuple(parts), package) for name, parts in owned.items()}
    # Any name may come from `from module import *`, so such a module always counts.
    stars = frozenset(imported.pop("*", ()))
    return ModuleSymbols(definitions, imported, Symbol(tuple(loose), package, stars), parameters)


def _annotations(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    return [part.annotation for part in parameters_of(function.args) if part.annotation is not None]


def _acts(statement: ast.stmt) -> bool:
    """Whether a statement may do more than give names their values."""
    if not isinstance(statement, _DEFINITIONS):
        return not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr))
    for decorator in statement.decorator_list:
        path = dotted_name(decorator.func if isinstance(decorator, ast.Call) else decorator)
        if path is None or path[-1] not in PLAIN_DECORATORS:
            return True
    return False


def _changed(statement: ast.stmt) -> set[str]:
    """Names whose values a statement changes in place: ``x[k] = ..``, ``x.y = ..``, ``x.append(..)``."""
    places: Sequence[ast.AST] = ()
    if isinstance(statement, ast.Assign):
        places = [node for target in statement.targets for node in _targets(target)]
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
        places = [statement.target]
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        places = [statement.value.func]
    changed = set()
    for place in places:
        inside = place
        while isinstance(inside, ast.Attribute | ast.Subscript):
            inside = inside.value
        if inside is not place:
            # A call's result, say, is no name: the statement belongs to nobody then.
            changed.add(inside.id if isinstance(inside, ast.Name) else "")
    return changed


def _targets(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            yield from _targets(part)
    else:
        yield target.value if isinstance(target, ast.Starred) else target


def _without_remarks(tree: ast.Module) -> ast.Module:
    """The tree without what does not run: docstrings, code for type checkers, annotations never evaluated."""
    future = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    postponed = any(alias.name == "annotations" for node in future for alias in node.names)
    stripped = _Stripper(postponed).visit(tree)
    assert isinstance(stripped, ast.Module)
    return stripped


class _Stripper(ast.NodeTransformer):
    def __init__(self, postponed: bool) -> None:
        self._postponed = postponed
        self._inside: list[ast.AST] = []

    def visit(self, node: ast.AST) -> ast.AST | list[ast.stmt] | None:
        # Expressions hold nothing that is removed.
        if isinstance(node, ast.expr):
            return node
        visited: ast.AST | list[ast.stmt] | None = super().visit(node)
        return visited

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if is_text else node

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        path = dotted_name(node.test)
        return node.orelse if path is not None and path[-1] == "TYPE_CHECKING" else node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        # Fields of a class are read by its decorator. Annotations of local variables are never evaluated.
        scope = self._inside[-1] if self._inside else None
        if isinstance(scope, _FUNCTIONS) or (scope is None and self._postponed):
            node.annotation = ast.Constant(None)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self._inside.append(node)
        self.generic_visit(node)
        self._inside.pop()
        return node

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        self._inside.append(node)
        self.generic_visit(node)
        self._inside.pop()
        # A decorator may read the annotations of its function.
        if self._postponed and not node.decorator_list:
            node.returns = None
            for parameter in parameters_of(node.args):
                parameter.annotation = None
        return node

    visit_FunctionDef = _function
    visit_AsyncFunctionDef = _function
