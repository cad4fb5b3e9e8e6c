"""Find where the source writes the whole of a container that grows."""

from __future__ import annotations

import ast
from typing import NamedTuple

from tfperfkit.syntax.module import Syntax
from tfperfkit.syntax.nodes import get_last_name, get_method, get_receiver

#: Functions that write all they are given, and how one row of it is written as a line.
_LINES = {"json.dump": "json.dumps({row})", "json.dumps": "json.dumps({row})", "yaml.dump": "json.dumps({row})"}
_WRITERS = frozenset(
    (*_LINES, "pickle.dump", "pickle.dumps", "joblib.dump", "numpy.save", "numpy.savez", "numpy.savetxt")
)


class Written(NamedTuple):
    """``text``: the container as the line names it. ``row``: an expression for the new row as a line of text, "" if the
    writer makes no text."""

    text: str
    row: str


def written_whole(syntax: Syntax, line: int, name: str) -> Written | None:
    """What a line writes of a container; None if it writes none of that name."""
    short = name.rpartition(".")[2]
    for call in syntax.calls_at(line):
        writer = syntax.name(call.func)
        given = next((item for item in call.args if get_last_name(item) == short), None)
        if writer in _WRITERS and given is not None:
            row = _LINES[writer].format(row=_write_appended(syntax, short)) if writer in _LINES else ""
            return Written(ast.unparse(given), row)
    return None


def _write_appended(syntax: Syntax, short: str) -> str:
    """What the script appends, if it is always the same name or expression; else "row"."""
    found = {
        ast.unparse(call.args[0])
        for call in syntax.calls
        if get_method(call) == "append" and len(call.args) == 1 and get_last_name(get_receiver(call)) == short
    }
    return found.pop() if len(found) == 1 else "row"
