"""Read the source of traced functions: their control flow, and the Python in them that runs only while tracing."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfperfkit.syntax.function import Function
from tfperfkit.syntax.module import Syntax, parse
from tfperfkit.syntax.nodes import find_own_nodes, get_method, get_receiver
from tfperfkit_probes.ops.model import SideEffect

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
_MUTATORS = frozenset({"append", "extend", "insert", "appendleft"})
_TEXT = 80


@dataclasses.dataclass(frozen=True)
class Statement:
    """A control statement. ``first``, ``last``: the lines of its body, both included."""

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
    """A parsed file."""

    lines: Sequence[str]
    syntax: Syntax


def statements(function: Function) -> Iterator[Statement]:
    """Find the control statements of a function, without those of functions inside it."""
    for node in find_own_nodes(function.node, ast.stmt, ast.expr):
        word = _WORDS.get(type(node))
        if word is None:
            continue
        body = getattr(node, "body", None)
        inside: list[Any] = body if isinstance(body, list) else [node]
        if isinstance(node, ast.If):
            inside = [*inside, *node.orelse]
        first, last = min(each.lineno for each in inside), max(each.end_lineno or 0 for each in inside)
        yield Statement(getattr(node, "lineno", 0), word, function.name, first, last)


def side_effects(function: Function, file: str, source: Source) -> Iterator[SideEffect]:
    """Find the Python statements of a traced function that have an effect only when it is traced."""
    local = _list_local_names(function)
    for node in find_own_nodes(function.node, ast.stmt, ast.expr):
        what = _name_effect(node, local, source.syntax)
        if what:
            line = getattr(node, "lineno", 0)
            text = source.lines[line - 1].strip() if 0 < line <= len(source.lines) else ""
            yield SideEffect(file=file, line=line, function=function.name, what=what, text=text[:_TEXT])


def _list_local_names(function: Function) -> set[str]:
    """List the names that the function binds itself; an object under any other name belongs to someone else."""
    declared = [*find_own_nodes(function.node, ast.Global), *find_own_nodes(function.node, ast.Nonlocal)]
    outer = {name for node in declared for name in getattr(node, "names", ())}
    stored = {node.id for node in find_own_nodes(function.node, ast.Name) if isinstance(node.ctx, ast.Store)}
    return (stored - outer) | {*function.parameters, *(item.arg for item in function.node.args.kwonlyargs)}


def _name_effect(node: ast.AST, local: set[str], syntax: Syntax) -> str:
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
    # ``metric.update(...)`` and ``self.pool.add(...)`` may be TensorFlow's: only lists under plain names count.
    owner = get_receiver(node)
    if get_method(node) in _MUTATORS and isinstance(owner, ast.Name) and owner.id not in local:
        return f"{name}()"
    return ""


def _dotted(node: ast.AST) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


class Sources:
    """Parsed files, each once. ``read`` gives a file's lines; empty if they were not kept."""

    def __init__(self, read: Callable[[str], Sequence[str]]) -> None:
        self._read = read
        self._parsed: dict[str, Source | None] = {}

    def of(self, file: str) -> Source | None:
        if file not in self._parsed:
            lines = self._read(file)
            syntax = parse(tuple(lines)) if lines else None
            self._parsed[file] = Source(lines, syntax) if syntax is not None else None
        return self._parsed[file]
