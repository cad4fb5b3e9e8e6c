"""The graphs of one trace as the lines of compiled functions need them, with every text and stack once.

``graph.built`` makes them of the recorded graphs (``records.graph_contents``). Nothing records them any more; runs from
before 1.0 hold them.
"""

from __future__ import annotations

import msgspec

from tfperfkit.graph.repeats import LayerCall
from tfperfkit.records.graph_contents import Layer


class TracedGraph(msgspec.Struct, frozen=True, kw_only=True):
    """One graph. Lists are by operation, in the order of building; indexes are into the lists of ``TracedGraphs``."""

    id: int
    name: str
    operations: list[str]
    types: list[int]
    stacks: list[int]  # -1: none is known
    stages: str
    forward: dict[int, tuple[int, str]] = {}  # gradient operation -> (graph, operation) that it differentiates
    calls: dict[int, list[str]] = {}  # operation -> functions that it calls
    layers: list[tuple[str, int]] = []  # name scope -> layer
    layer_calls: list[LayerCall] = []
    work: dict[int, tuple[float, int]] = {}  # operation -> coefficient, power of the batch size
    takes: dict[int, list[int]] = {}  # operation -> the types of its inputs, of those that move data
    makes: dict[int, list[int]] = {}  # and of its outputs


class TracedGraphs(msgspec.Struct, frozen=True, kw_only=True):
    """The graphs built by one outermost trace. ``functions`` are the runtime's names: ``__inference_step_42``."""

    functions: dict[str, int]
    graphs: list[TracedGraph]
    types: list[str]
    files: list[str]
    frames: list[tuple[int, int, str]]  # file, line, function
    stacks: list[list[int]]  # frames, outermost first, with LAYER_CALL between them
    areas: list[str]  # by stack: the part of Keras that built it ("layers", "losses" ...), "" for none
    layers: list[Layer]
    tensors: list[str] = []  # types: "float32[None,28]"
