"""The full list of a function's operations, as text and as plain data for JSON."""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tfperfkit.graph.model import Graph, Node
from tfperfkit.model import Table, make_columns
from tfperfkit.records.plural import plural
from tfperfkit.storage.safe_reader import write_file
from tfperfkit_probes.ops.model import Function

_MAX_ROWS = 60


def nearest(name: str, functions: Iterable[tuple[str, str]]) -> str:
    """Return the message about a name that no function has. ``functions`` are (function, qualified name)."""
    names = sorted({each for pair in functions for each in pair if each})
    if not names:
        return f"no function {name!r} was traced; no tf.function was traced at all"
    near = difflib.get_close_matches(name, names, 1, 0.5)
    hint = f"did you mean {near[0]}?" if near else f"traced were: {', '.join(names[:12])}"
    return f"no function {name!r} was traced; {hint}"


def operations(graphs: Sequence[Graph]) -> list[dict[str, Any]]:
    """List each operation of the function and of its bodies, with all that is known about it."""
    return [_operation(graph, node) for graph in graphs for node in graph.nodes.values()]


def _operation(graph: Graph, node: Node) -> dict[str, Any]:
    place = node.place
    return {
        "graph": graph.name,
        "name": node.name,
        "type": node.type,
        "inputs": [
            {"name": f"{owner}:{number}", "type": str(graph.type_of(owner, number))} for owner, number in node.inputs
        ],
        "control_inputs": node.control_inputs,
        "outputs": [str(each) for each in node.outputs],
        "attributes": node.attributes(),
        "device": node.device,
        "file": place.file if place else None,
        "line": place.line if place else None,
        "function": place.function if place else None,
    }


def text(function: Function, listed: Sequence[dict[str, Any]]) -> str:
    """The list for reading: one paragraph for each operation."""
    lines = [
        f"{function.function} ({os.path.basename(function.file)}:{function.line}){function.signature}",
        f"{plural(len(listed), 'operation')}",
        "",
    ]
    graph = ""
    for number, operation in enumerate(listed, 1):
        if operation["graph"] != graph:
            graph = operation["graph"]
            lines += [f"== {graph}", ""]
        lines.append(f"{number:>6}  {operation['type']}  {operation['name']}")
        lines += [f"          in      {each['name']}  {each['type']}" for each in operation["inputs"]]
        lines += [f"          after   {each}" for each in operation["control_inputs"]]
        lines += [f"          out     {each}" for each in operation["outputs"]]
        attributes = ", ".join(f"{key}={_value(value)}" for key, value in sorted(operation["attributes"].items()))
        if attributes:
            lines.append(f"          with    {attributes}")
        if operation["device"]:
            lines.append(f"          device  {operation['device']}")
        if operation["line"]:
            lines.append(f"          at      {operation['file']}:{operation['line']} in {operation['function']}")
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, dict):
        values = value.get("values")
        shape = "x".join(map(str, value.get("shape") or ())) or "scalar"
        return f"{value.get('dtype')} {shape}{f' {values}' if values else ''}"
    return str(value)


def table(function: Function, listed: Sequence[dict[str, Any]], files: Sequence[str]) -> Table:
    """The head of the list for the console."""
    rows = tuple(
        (
            number,
            each["type"],
            each["name"],
            ", ".join(each["outputs"]) or None,
            f"{os.path.basename(each['file'])}:{each['line']}" if each["line"] else None,
        )
        for number, each in enumerate(listed[:_MAX_ROWS], 1)
    )
    where = f"in {' and '.join(files)} of the run directory" if files else "in the JSON report"
    kept = f"with inputs and attributes {where}"
    return Table(
        title=f"{function.function}: its operations",
        columns=make_columns("number: count", "type", "name", "makes", "line"),
        rows=rows,
        note=f"All {plural(len(listed), 'operation')} are {kept}.",
    )


def write(folder: Path, name: str, contents: str | Sequence[dict[str, Any]]) -> str:
    """Write a file next to the records, and give its name; empty if the folder can't be written."""
    stem, _, ending = re.sub(r"[^\w.-]+", "_", name).lstrip(".").rpartition(".")
    safe = f"{stem[:60] or 'function'}.{ending}"  # a file's name has 255 bytes at most
    text = contents if isinstance(contents, str) else json.dumps(contents, indent=1, default=str)
    try:
        data = text.encode("utf-8", "backslashreplace")
        write_file(folder.parent.parent, f"{folder.parent.name}/{folder.name}/{safe}", data)
    except OSError:
        return ""
    return f"probes/ops/{safe}"
