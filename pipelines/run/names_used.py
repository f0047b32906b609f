"""Names that code binds and names that it uses, by Python's rules of scope, read from its syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Use:
    """A dotted name in code.

    Attributes
    ----------
    module
        The module that a function's own import takes it from; None: a name of the module the code is in.
    path
        The name and the attributes read from it; empty for a module as such.
    """

    module: str | None
    path: tuple[str, ...]


Uses = frozenset[Use]
#: Names bound in a scope: with the imports they stand for, with () when they are values, with None when the
#: scope declares them global.
Scope = dict[str, "tuple[Use, ...] | None"]


def names_used(nodes: Iterable[ast.AST], package: str) -> Uses:
    """Names that code reads and does not bind itself."""
    visitor = _UseVisitor(package)
    for node in nodes:
        visitor.visit(node)
    return frozenset(visitor.found)


def names_bound(nodes: Iterable[ast.AST], package: str) -> Scope:
    """Names that code binds in the scope it stands in."""
    visitor = _BindingVisitor(package)
    for node in nodes:
        visitor.visit(node)
    return {name: targets for name, targets in visitor.scope.items() if name not in visitor.nonlocal_names}


def dotted_name(node: ast.AST) -> tuple[str, ...] | None:
    """`("a", "b", "c")` of the expression ``a.b.c``; None of any other."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    return (node.id, *reversed(attributes)) if isinstance(node, ast.Name) else None


def parameters_of(arguments: ast.arguments) -> list[ast.arg]:
    """Every parameter of a function."""
    every = [
        *arguments.posonlyargs,
        *arguments.args,
        arguments.vararg,
        *arguments.kwonlyargs,
        arguments.kwarg,
    ]
    return [parameter for parameter in every if parameter is not None]


def _import_source(node: ast.ImportFrom, package: str) -> str:
    """Absolute name of the module that names are imported from."""
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    base = parts[: len(parts) - node.level + 1]
    return ".".join([*base, node.module] if node.module else base)


class _BindingVisitor(ast.NodeVisitor):
    """Collects the names bound in one scope, and does not enter the scopes inside it."""

    def __init__(self, package: str) -> None:
        self.scope: Scope = {}
        self.nonlocal_names: set[str] = set()
        self._package = package

    def _bind(self, name: str | None, *targets: Use) -> None:
        if name is not None and self.scope.get(name, ()) is not None:
            self.scope[name] = (self.scope.get(name) or ()) + targets

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._bind(node.id)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            top = alias.name.split(".")[0]
            self._bind(alias.asname or top, Use(alias.name if alias.asname else top, ()))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        source = _import_source(node, self._package)
        for alias in node.names:
            path = () if alias.name == "*" else (alias.name,)
            self._bind(alias.asname or alias.name, Use(source, path))

    def _definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        self._bind(node.name)

    visit_FunctionDef = _definition
    visit_AsyncFunctionDef = _definition
    visit_ClassDef = _definition

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """A scope of its own."""

    def _comprehension(self, node: ast.AST) -> None:
        for inside in ast.walk(node):
            if isinstance(inside, ast.NamedExpr):
                self._bind(inside.target.id)

    visit_ListComp = _comprehension
    visit_SetComp = _comprehension
    visit_DictComp = _comprehension
    visit_GeneratorExp = _comprehension

    def _named(self, node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar) -> None:
        self._bind(node.name)
        self.generic_visit(node)

    visit_ExceptHandler = _named
    visit_MatchAs = _named
    visit_MatchStar = _named

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self._bind(node.rest)
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> None:
        self.scope |= dict.fromkeys(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.nonlocal_names |= set(node.names)


class _UseVisitor(ast.NodeVisitor):
    """Collects the names that are not bound in the scopes around them."""

    def __init__(self, package: str) -> None:
        self.found: set[Use] = set()
        self._package = package
        self._scopes: list[Scope] = []

    def _use(self, name: str, attributes: tuple[str, ...] = ()) -> None:
        for scope in reversed(self._scopes):
            targets = scope.get(name, ())
            if targets is None:
                break
            if name in scope:
                self.found |= {Use(target.module, (*target.path, *attributes)) for target in targets}
                return
        self.found.add(Use(None, (name, *attributes)))

    def visit_Name(self, node: ast.Name) -> None:
        stored = isinstance(node.ctx, ast.Store)
        if not stored or (self._scopes and self._scopes[-1].get(node.id, ()) is None):
            self._use(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path = dotted_name(node)
        if path is None:
            self.generic_visit(node)
        else:
            self._use(path[0], path[1:])

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        # Decorators, defaults and annotations are evaluated outside the function.
        for part in (*node.decorator_list, node.args, *([node.returns] if node.returns else [])):
            self.visit(part)
        self._inside(node.args, node.body)

    visit_FunctionDef = _function
    visit_AsyncFunctionDef = _function

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit(node.args)
        self._inside(node.args, [node.body])

    def _inside(self, arguments: ast.arguments, body: Sequence[ast.AST]) -> None:
        scope: Scope = {parameter.arg: () for parameter in parameters_of(arguments)}
        self._scoped(scope | names_bound(body, self._package), body)

    def _scoped(self, scope: Scope, nodes: Iterable[ast.AST]) -> None:
        self._scopes.append(scope)
        for node in nodes:
            self.visit(node)
        self._scopes.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)
        # Methods do not see the names of the class body, so these hide nothing. Its imports become attributes.
        for targets in names_bound(node.body, self._package).values():
            self.found |= set(targets or ())
        for statement in node.body:
            self.visit(statement)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        first = node.generators[0].iter
        self.visit(first)
        scope = names_bound([part.target for part in node.generators], self._package)
        inside = [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.comprehension)]
        for part in node.generators:
            inside += [part.target, *part.ifs, *([part.iter] if part.iter is not first else [])]
        self._scoped(scope, inside)

    visit_ListComp = _comprehension
    visit_SetComp = _comprehension
    visit_DictComp = _comprehension
    visit_GeneratorExp = _comprehension
