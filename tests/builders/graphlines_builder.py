"""Builds the record of a trace's graphs for tests, without TensorFlow."""

from __future__ import annotations

from typing import Any

from tfperfkit_probes.lines.graph.model import BuiltGraphs, Place

from tfperfkit.graph.repeats import LayerCall
from tfperfkit.graph.traced import TracedGraph, TracedGraphs
from tfperfkit.records.graph_contents import LAYER_CALL, Layer

FILE = "train.py"


class GraphsBuilder:
    """Graphs of one trace. A stack is a list of (line, function) in ``FILE``, of (file, line, function), or "layer"."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self.frames: list[tuple[int, int, str]] = []
        self.stacks: list[list[int]] = []
        self.areas: list[str] = []
        self.types: list[str] = []
        self.layers: list[Layer] = []
        self.graphs: list[TracedGraph] = []
        self.functions: dict[str, int] = {}

    def stack(self, *items: Any, area: str = "") -> int:
        kept = []
        for item in items:
            if item == "layer":
                kept.append(LAYER_CALL)
                continue
            file, line, function = item if len(item) == 3 else (FILE, *item)
            if file not in self.files:
                self.files.append(file)
            frame = (self.files.index(file), line, function)
            if frame not in self.frames:
                self.frames.append(frame)
            kept.append(self.frames.index(frame))
        self.stacks.append(kept)
        self.areas.append(area)
        return len(self.stacks) - 1

    def graph(
        self,
        name: str,
        operations: list[tuple[Any, ...]],
        *,
        function: str = "",
        layers: dict[str, Layer] | None = None,
        calls: dict[int, list[str]] | None = None,
        layer_calls: list[LayerCall] | None = None,
    ) -> int:
        """Operations are (name, type, stack, stage) or (name, type, stack, stage, (graph, differentiated name))."""
        number = len(self.graphs)
        rows = []
        for scope, layer in (layers or {}).items():
            if layer not in self.layers:
                self.layers.append(layer)
            rows.append((scope, self.layers.index(layer)))
        for _, kind, *_ in operations:
            if kind not in self.types:
                self.types.append(kind)
        self.graphs.append(
            TracedGraph(
                id=number,
                name=name,
                operations=[item[0] for item in operations],
                types=[self.types.index(item[1]) for item in operations],
                stacks=[item[2] for item in operations],
                stages="".join(item[3] for item in operations),
                forward={i: item[4] for i, item in enumerate(operations) if len(item) > 4},
                calls=calls or {},
                layers=rows,
                layer_calls=layer_calls or [],
            )
        )
        self.functions[function or name] = number
        return number

    def built(self, **described: Any) -> BuiltGraphs:
        described = {
            "number": 1,
            "function": "step",
            "file": FILE,
            "line": 10,
            "owner": "user",
            "called_from": [Place(FILE, 90, "main")],
            **described,
        }
        graphs = TracedGraphs(
            functions=self.functions,
            graphs=self.graphs,
            types=self.types,
            files=self.files,
            frames=self.frames,
            stacks=self.stacks,
            areas=self.areas,
            layers=self.layers,
        )
        return BuiltGraphs(graphs=graphs, **described)
