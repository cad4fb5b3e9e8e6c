"""Where the person's source writes the whole of a container that grows: by the syntax tree."""

from __future__ import annotations

import ast
from typing import NamedTuple

from tfperfkit.syntax.module import Syntax

#: What writes all that it is given, and how one row of it is written as a line.
_LINES = {"json.dump": "json.dumps({row})", "json.dumps": "json.dumps({row})", "yaml.dump": "json.dumps({row})"}
_WRITERS = frozenset(
    (*_LINES, "pickle.dump", "pickle.dumps", "joblib.dump", "numpy.save", "numpy.savez", "numpy.savetxt")
)


class Written(NamedTuple):
    """``text``: the container as the line writes it. ``row``: an expression for what is new as a line of text, "" where
    the writer makes no text."""

    text: str
    row: str


def written_whole(syntax: Syntax, line: int, name: str) -> Written | None:
    """What a line writes of a container; None where it writes none of that name."""
    for call in syntax.calls_at(line):
        writer = syntax.name(call.func)
        short = name.rpartition(".")[2]
        given = next((item for item in call.args if _is(item, short)), None)
        if writer in _WRITERS and given is not None:
            row = _LINES[writer].format(row=_appended(syntax, short)) if writer in _LINES else ""
            return Written(ast.unparse(given), row)
    return None


def _appended(syntax: Syntax, short: str) -> str:
    """What the script appends, where it is one name or expression; else "row"."""
    found = {
        ast.unparse(node.args[0])
        for node in ast.walk(syntax.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "append"
        and len(node.args) == 1
        and _is(node.func.value, short)
    }
    return found.pop() if len(found) == 1 else "row"


def _is(node: ast.AST, short: str) -> bool:
    return (isinstance(node, ast.Name) and node.id == short) or (isinstance(node, ast.Attribute) and node.attr == short)
