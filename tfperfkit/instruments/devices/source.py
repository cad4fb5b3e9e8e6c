"""From the name of an operation in a partition graph back to the operation that the user's code built."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tfperfkit.graph import optable
from tfperfkit.instruments.devices.runtime import short
from tfperfkit.instruments.stacks import call_site
from tfperfkit.model import SourceSpan

#: How inlining names a body below its node.
_BODY = re.compile(r"/(body|cond|then|else)/_\d+/")
#: The attributes that name bodies, and the words for these bodies, by the kind of operation.
_BODIES = {
    "call": (("f", ""),),
    "loop": (("body", "body"), ("cond", "cond")),
    "branch": (("then_branch", "then"), ("else_branch", "else")),
}
_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (.+)')
_DEVICE = re.compile(r"(?:device:)?(CPU|GPU|TPU|XLA_CPU|XLA_GPU)(?::(\d+|\*))?$", re.IGNORECASE)
_MAX_NODES = 500_000


def merged(device: str) -> str:
    """Return a requested device in short: "GPU:0", "GPU" when no number was asked for."""
    return short(device).removesuffix(":*")


def satisfies(assigned: str, requested: str) -> bool:
    """Return whether a device in short form is the requested one, by the fields that the request sets."""
    want, have = _DEVICE.search(requested), _DEVICE.search(assigned)
    if want is None or have is None:
        return True  # only a job or a task was asked for
    if want.group(1).upper() != have.group(1).upper():
        return False
    return want.group(2) in (None, "*") or want.group(2) == have.group(2)


class SourceIndex:
    """The nodes before optimisation under the names that they have after inlining; made when first asked."""

    def __init__(self, concrete: Any, before: Any) -> None:
        self._graph = concrete.graph
        self._before = before
        self._nodes: dict[str, tuple[str, str, str]] | None = None  # name -> (function, its own name, device)
        self._arguments: dict[str, int] = {}
        self._graphs: dict[str, Any] | None = None
        self._places: dict[str, SourceSpan | None] = {}

    def requested(self, name: str) -> str:
        """Return the device asked for; "" if none was or the operation is TensorFlow's own."""
        entry = self._entry(name)
        return entry[2] if entry else ""

    def known(self, name: str) -> bool:
        return self._entry(name) is not None

    def operation(self, name: str) -> Any:
        """Return the operation in the function's own graph or in a body; None if there is none."""
        entry = self._entry(name)
        if entry is None:
            return None
        if not entry[0] and entry[1] in self._arguments:  # the runtime writes their names in its own way
            inputs = self._graph.inputs
            number = self._arguments[entry[1]]
            return inputs[number].op if number < len(inputs) else None
        graph = self._graph_of(entry[0])
        try:
            return graph.get_operation_by_name(entry[1]) if graph is not None else None
        except (KeyError, ValueError):
            return None

    def place(self, name: str) -> SourceSpan | None:
        """Return the innermost line of code that built the operation, frameworks left out."""
        if name not in self._places:
            self._places[name] = _line(self.operation(name))
        return self._places[name]

    def _entry(self, name: str) -> tuple[str, str, str] | None:
        if self._nodes is None:
            self._nodes = {}
            self._arguments = {
                node.name: node.attr["index"].i for node in self._before.node if node.op in ("_Arg", "_DeviceArg")
            }
            bodies = {function.signature.name: function.node_def for function in self._before.library.function}
            for full, entry in _expand("", "", self._before.node, "", bodies, ()):
                self._nodes[full] = entry
                if len(self._nodes) >= _MAX_NODES:
                    break
        return self._nodes.get(_BODY.sub(r"/\1/", name) if "/_" in name else name)

    def _graph_of(self, function: str) -> Any:
        if not function:
            return self._graph
        if self._graphs is None:
            self._graphs = {}
            pending = [self._graph]
            while pending:
                for name, inner in getattr(pending.pop(), "_functions", {}).items():
                    graph = getattr(inner, "graph", None)
                    key = name.decode() if isinstance(name, bytes) else str(name)
                    if graph is not None and key not in self._graphs:
                        self._graphs[key] = graph
                        pending.append(graph)
        return self._graphs.get(function)


def _expand(
    prefix: str, function: str, nodes: Any, device: str, bodies: dict[str, Any], outer: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, str, str]]]:
    for node in nodes:
        name, kind = node.name, node.op
        # An eager constant's device says where it lies, not what was asked for.
        own = (node.device or device) if kind != "_EagerConst" else ""
        full = prefix + name
        yield full, (function, name, own)
        inner = [
            (node.attr[key].func.name, f"{full}/{word}/" if word else f"{full}/")
            for key, word in _BODIES.get(optable.row(kind).kind, ())
        ]
        for body, below in inner:
            if body in bodies and body not in outer:
                yield from _expand(below, body, bodies[body], own, bodies, (*outer, body))


def _line(operation: Any) -> SourceSpan | None:
    try:
        text = str(operation.traceback.get_user_frames())
    except (AttributeError, TypeError):
        return None
    for file, line, function in reversed(_FRAME.findall(text)):
        if not call_site.is_machinery(file) and "__autograph_generated_file" not in file:
            return SourceSpan(file, int(line), function.removeprefix("tf__"))
    return None
