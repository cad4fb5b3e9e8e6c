"""Makes recorded graphs for the tests of the probe ``ops``, without TensorFlow."""

from __future__ import annotations

import zlib
from typing import Any

from tfperfkit_probes.ops.stored import FunctionRecord

from tfperfkit.graph.graphdef import message_class
from tfperfkit.graph.model import Graph, Node
from tfperfkit.records.graph_contents import GraphContents, Place


class Builder:
    """Collects operations; ``contents`` is what the instrument would have recorded."""

    def __init__(self, name: str = "__inference_step_1") -> None:
        self.name = name
        self.definition = message_class("GraphDef")()
        self.types: list[str] = []
        self.outputs: list[str] = []
        self.places: list[list[Place]] = []
        self.stacks: list[int] = []
        self.arguments: list[str] = []
        self.captures: list[str] = []
        self.results: list[str] = []

    def add(
        self,
        kind: str,
        name: str,
        inputs: tuple[str, ...] = (),
        makes: str = "",
        stack: tuple[Place, ...] = (),
        **attributes: Any,
    ) -> str:
        node = self.definition.node.add(name=name.encode(), op=kind.encode())
        node.input.extend(each.encode() for each in inputs)
        for key, value in attributes.items():
            held = node.attr.add(key=key.encode()).value
            if isinstance(value, bool):
                held.b = value
            elif isinstance(value, list):
                held.list.i.extend(value)
            elif key in ("f", "body", "cond", "then_branch", "else_branch"):
                held.func.name = value.encode()
            elif isinstance(value, int):  # a constant's value
                held.tensor.int_val.append(value)
            else:
                held.s = value.encode()
        numbers = []
        for text in makes.split(";") if makes else ():
            if text not in self.types:
                self.types.append(text)
            numbers.append(str(self.types.index(text)))
        self.outputs.append(",".join(numbers))
        if stack and list(stack) not in self.places:
            self.places.append(list(stack))
        self.stacks.append(self.places.index(list(stack)) if stack else -1)
        if kind == "Placeholder":
            self.arguments.append(name)
        return name

    def contents(self) -> GraphContents:
        return GraphContents(
            name=self.name,
            graph=zlib.compress(self.definition.SerializeToString()),
            operations=len(self.definition.node),
            types=self.types,
            outputs=";".join(self.outputs),
            places=self.places,
            stacks=self.stacks,
            arguments=self.arguments,
            captures=self.captures,
            results=self.results,
        )

    def graph(self, *bodies: Builder) -> Graph:
        """Build the graph; it and the bodies call the bodies by their names."""
        graphs: dict[str, Graph] = {}
        graphs.update({each.name: Graph(each.contents(), graphs.get) for each in bodies})
        return Graph(self.contents(), graphs.get)

    def record(self, **fields: Any) -> FunctionRecord:
        return FunctionRecord(
            graph=self.name, trace_id=1, function="step", qualname="step", file="train.py", line=1, **fields
        )


def only(kind: str, takes: tuple[str, ...], makes: str, **attributes: Any) -> tuple[Graph, Node]:
    """Return a graph of one operation behind placeholders of the given types."""
    builder = Builder()
    inputs = tuple(builder.add("Placeholder", f"x{number}", makes=text) for number, text in enumerate(takes))
    builder.add(kind, "operation", inputs, makes, **attributes)
    graph = builder.graph()
    return graph, graph.nodes["operation"]
