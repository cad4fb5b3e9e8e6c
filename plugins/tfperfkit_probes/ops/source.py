"""The source of traced functions: their control flow, and the Python in it that runs only while tracing."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfperfkit.syntax import module
from tfperfkit.syntax.module import Syntax
from tfperfkit_probes.ops.model import SideEffect

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_WORDS: dict[type[ast.AST], str] = {
    ast.For: "for",
    ast.While: "while",
    ast.If: "if",
    ast.IfExp: "if",
    ast.ListComp: "comprehension",
    ast.SetComp: "comprehension",
    ast.DictComp: "comprehension",
    ast.GeneratorExp: "comprehension",
}
#: Beginnings of the names of functions whose effect a graph does not have, as ``syntax.names`` gives them.
_EFFECTS = ("random.", "numpy.random.", "time.", "datetime.", "logging.", "absl.logging.", "loguru.")
_BUILTINS = {"builtins.print": "print", "builtins.open": "open()", "builtins.input": "input()"}
_MUTATORS = frozenset({"append", "extend", "insert", "add", "update", "setdefault", "pop", "popleft", "appendleft"})
_TEXT = 80


@dataclasses.dataclass(frozen=True)
class Statement:
    """A control statement: the lines of its body, both ends included."""

    line: int
    word: str  # for, while, if, comprehension
    function: str
    first: int
    last: int

    @property
    def is_loop(self) -> bool:
        return self.word != "if"


@dataclasses.dataclass(frozen=True)
class Source:
    """A parsed file. ``functions`` are (first line with decorators, last line, name, node), outer before inner."""

    lines: Sequence[str]
    syntax: Syntax
    functions: tuple[tuple[int, int, str, Function], ...]

    def function_at(self, line: int) -> tuple[int, int, str, Function] | None:
        """The innermost function that holds a line."""
        found = [each for each in self.functions if each[0] <= line <= each[1]]
        return max(found, key=lambda each: each[0], default=None)


def parse(lines: Sequence[str]) -> Source | None:
    """None for what is not Python that we can read."""
    syntax = module.parse(tuple(lines))
    if syntax is None:
        return None
    functions = [
        (
            min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))]),
            node.end_lineno or node.lineno,
            getattr(node, "name", "<lambda>"),
            node,
        )
        for node in ast.walk(syntax.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    ]
    return Source(lines, syntax, tuple(sorted(functions, key=lambda each: (each[0], -each[1]))))


def statements(function: tuple[int, int, str, Function]) -> Iterator[Statement]:
    """The control statements of a function, without those of functions inside it."""
    for node in _own(function[3]):
        word = _WORDS.get(type(node))
        if word is None:
            continue
        line = getattr(node, "lineno", 0)
        body = getattr(node, "body", None)
        inside: list[Any] = body if isinstance(body, list) else [node]
        if isinstance(node, ast.If):
            inside = [*inside, *node.orelse]
        yield Statement(
            line, word, function[2], min(each.lineno for each in inside), max(each.end_lineno or 0 for each in inside)
        )


def side_effects(function: tuple[int, int, str, Function], file: str, source: Source) -> Iterator[SideEffect]:
    """Python statements of a traced function that have an effect only when it is traced."""
    local = _local_names(function[3])
    for node in _own(function[3]):
        what = _effect(node, local, source.syntax)
        if what:
            line = getattr(node, "lineno", 0)
            text = source.lines[line - 1].strip() if 0 < line <= len(source.lines) else ""
            yield SideEffect(file=file, line=line, function=function[2], what=what, text=text[:_TEXT])


def _own(function: Function) -> Iterator[ast.AST]:
    """The nodes of a function's body, in order, without the insides of functions and classes in it."""
    body: Sequence[ast.AST] = function.body if isinstance(function.body, list) else [function.body]
    pending = list(reversed(body))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            pending += reversed(list(ast.iter_child_nodes(node)))


def _local_names(function: Function) -> set[str]:
    """Names that the function binds itself; what it mutates else is someone else's."""
    arguments = function.args
    outer: set[str] = set()
    names: set[str] = set()
    for node in _own(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            outer.update(node.names)
    given = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    return (names - outer) | given


def _effect(node: ast.AST, local: set[str], syntax: Syntax) -> str:
    if isinstance(node, ast.Global):
        return f"global {', '.join(node.names)}"
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute):
        return f"{_dotted(node.target)} is changed" if syntax.is_self(syntax.root(node.target)) else ""
    if not isinstance(node, ast.Call):
        return ""
    name = _dotted(node.func)
    api = syntax.name(node.func)
    if api in _BUILTINS:
        return _BUILTINS[api]
    if api.startswith(_EFFECTS):
        return f"{name or api}()"
    module, _, method = name.rpartition(".")
    root = _root(node.func)
    if method in _MUTATORS and module and root not in local and _is_statement_like(node):
        return f"{name}()"
    return ""


def _is_statement_like(node: ast.Call) -> bool:
    """``metric.update(...)`` and ``self.pool.add(...)`` may be TensorFlow's: only plain names count."""
    return (
        isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.attr in ("append", "extend", "insert", "appendleft")
    )


def _dotted(node: ast.AST) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


class Sources:
    """Parsed files, each once. ``read`` gives a file's lines; empty if they were not kept."""

    def __init__(self, read: Callable[[str], Sequence[str]]) -> None:
        self._read = read
        self._parsed: dict[str, Source | None] = {}

    def of(self, file: str) -> Source | None:
        if file not in self._parsed:
            lines = self._read(file)
            self._parsed[file] = parse(lines) if lines else None
        return self._parsed[file]
