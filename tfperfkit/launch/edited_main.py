"""Runs a script of which a few functions are changed as they are compiled: a trial's process begins here instead.

``python edited_main.py EDIT... -- [-m] SCRIPT ARGUMENTS``. An edit is the name of a function (``train_step``,
``Model.call``), which gets a decorator of an experiment's, or ``FILE:LINE``, whose statement is left out. Files keep
their names and line numbers; nothing is written.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import os
import runpy
import sys
import types
from collections.abc import Callable, Sequence
from importlib.machinery import SourceFileLoader
from typing import Any

#: They end as they begin: other names with two underscores are changed in classes.
_HOOK, _LEFT_OUT, _AGAIN = "__tfperf_edit__", "__tfperf_left_out__", "__tfperf_again__"
_FOREIGN = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


class Editor(ast.NodeTransformer):
    """Edits the syntax tree of one file. ``count``: how many edits found their place.

    Among the statements that are left out, a call of its own is removed; an assignment that a loop repeats is made
    twice, then its last result is kept.
    """

    def __init__(self, names: frozenset[str], lines: frozenset[int]) -> None:
        self._names, self._lines = names, lines
        self._outer: list[str] = []
        self._loops = 0
        self.count = 0
        #: First line, column and last line of each statement that is left out.
        self.left_out: list[tuple[int, int, int]] = []

    def visit(self, node: ast.AST) -> Any:
        """Change a statement that begins on one of the lines."""
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.lineno in self._lines:
            self.count += 1
            self.left_out.append((node.lineno, node.col_offset, node.end_lineno or node.lineno))
            call = ast.Expr(ast.Call(ast.Name(_LEFT_OUT, ast.Load()), [], []))
            return ast.fix_missing_locations(ast.copy_location(call, node))
        if isinstance(node, (ast.Assign, ast.AugAssign)) and node.lineno in self._lines and self._loops:
            self.count += 1
            again = ast.Call(ast.Name(_AGAIN, ast.Load()), [ast.Constant(node.lineno)], [])
            return ast.fix_missing_locations(ast.copy_location(ast.If(again, [node], []), node))
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            self._loops += 1
            made = super().visit(node)
            self._loops -= 1
            return made
        return super().visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        """Its methods are called after it."""
        return self._visit_body(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """Gets the decorator, outside of its own."""
        qualified = ".".join([*self._outer, node.name])
        for name in self._names & {node.name, qualified}:
            first = node.decorator_list[0] if node.decorator_list else node
            hook = ast.Call(ast.Name(_HOOK, ast.Load()), [ast.Constant(name)], [])
            node.decorator_list.insert(0, ast.fix_missing_locations(ast.copy_location(hook, first)))
            self.count += 1
        return self._visit_body(node)

    def _visit_body(self, node: Any) -> Any:
        """Visit what is inside a function or class."""
        self._outer.append(node.name)
        loops, self._loops = self._loops, 0  # local counts start again with each call
        self.generic_visit(node)
        self._loops = loops
        self._outer.pop()
        return node


def compiled(source: bytes, filename: str, edits: Sequence[str]) -> types.CodeType:
    """Return the code of a file with the edits that concern it; raises SyntaxError as Python would."""
    names = frozenset(edit for edit in edits if ":" not in edit)
    tree = ast.parse(source, filename)
    editor = Editor(names, lines_of(filename, edits))
    tree = editor.visit(tree)
    if editor.left_out:
        _show(filename, source.decode("utf-8", "replace").splitlines(keepends=True), editor.left_out)
    return compile(tree, filename, "exec", dont_inherit=True)


def _show(filename: str, lines: list[str], left_out: Sequence[tuple[int, int, int]]) -> None:
    """AutoGraph reads a function's source again, through ``linecache``: it finds there what was compiled."""
    for first, column, last in left_out:
        begin = lines[first - 1].encode()[:column].decode("utf-8", "replace")
        lines[first - 1 : last] = [f"{begin}{_LEFT_OUT}()\n", *["\n"] * (last - first)]
    linecache.cache[filename] = (sum(map(len, lines)), None, lines, filename)


def lines_of(filename: str, edits: Sequence[str]) -> frozenset[int]:
    """Return the lines of this file that edits name."""
    found = set()
    for edit in edits:
        name, colon, line = edit.rpartition(":")
        parts = filename.replace("\\", "/").split("/")
        wanted = name.replace("\\", "/").split("/")
        if colon and line.isdecimal() and parts[-len(wanted) :] == wanted:
            found.add(int(line))
    return frozenset(found)


def _hook(name: str) -> Callable[[Any], Any]:
    from tfperfkit.instruments.changes.edited import decorate

    return lambda function: decorate(name, function)


def _left_out() -> None:
    from tfperfkit.instruments.changes.edited import left_out

    left_out()


def _is_assignment_made(line: int) -> bool:
    """Return whether the assignment in a line is made."""
    from tfperfkit.instruments.changes.edited import is_assignment_made

    return is_assignment_made(line)


def _edit_imports(edits: Sequence[str]) -> None:
    """The user's own modules, too."""
    original = SourceFileLoader.get_code
    words = [edit.rpartition(".")[2].encode() for edit in edits if ":" not in edit]

    def get_code(loader: Any, fullname: str) -> Any:
        path = loader.get_filename(fullname)
        library = os.path.dirname(os.__file__) + os.sep
        if not path.startswith(library) and not any(part in path for part in _FOREIGN):
            source = loader.get_data(path)
            if lines_of(path, edits) or any(word in source for word in words):
                return compiled(source, path, edits)
        return original(loader, fullname)

    setattr(SourceFileLoader, "get_code", get_code)  # noqa: B010


def main(arguments: Sequence[str]) -> None:
    """Become the script."""
    end = list(arguments).index("--")
    edits, words = arguments[:end], list(arguments[end + 1 :])
    setattr(builtins, _HOOK, _hook)
    setattr(builtins, _LEFT_OUT, _left_out)
    setattr(builtins, _AGAIN, _is_assignment_made)
    _edit_imports(edits)
    if words[0] == "-m":
        sys.argv = words[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        return
    target = words[0]
    sys.argv = words
    if os.path.isdir(target) or not target.endswith(".py"):
        runpy.run_path(target, run_name="__main__")
        return
    sys.path[0] = os.path.dirname(os.path.abspath(target))
    with open(target, "rb") as file:
        code = compiled(file.read(), target, edits)
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=target, __builtins__=builtins, __spec__=None)
    sys.modules["__main__"] = module
    exec(code, module.__dict__)


if __name__ == "__main__":
    main(sys.argv[1:])
