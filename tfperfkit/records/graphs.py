"""The graphs of one trace, with every text and stack stored once: as the lines of compiled functions need them.

Runs keep ``graph_contents.GraphContents``, of which ``graph.built`` makes these; runs recorded before 1.0 hold
them as they are.
"""

from __future__ import annotations

import msgspec

#: Stages of a step, one letter per operation of a graph.
FORWARD, BACKWARD, UPDATE = "f", "b", "u"
#: In a stack: a call of a Keras layer stood between the frames around it.
LAYER_CALL = -1


class Layer(msgspec.Struct, frozen=True, array_like=True):
    """A Keras layer or model. ``shape`` is its output's, as far as Keras knows it: "28×28×32", without the batch.
    ``key``: the same for one layer in all graphs of a trace."""

    name: str
    kind: str  # its class
    shape: str = ""
    key: int = 0


class LayerCall(msgspec.Struct, frozen=True, array_like=True):
    """A call of a layer that is called several times in its graph; see ``graph.repeats``."""

    layer: int
    scope: str
    structure: int
    inputs: int
    serves: int  # bits
    random: bool  # random numbers are drawn within: dropout


class Graph(msgspec.Struct, frozen=True, kw_only=True):
    """One graph. Lists are by operation, in the order of building; indexes are into the lists of ``Graphs``."""

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


class Graphs(msgspec.Struct, frozen=True, kw_only=True):
    """The graphs built by one outermost trace. ``functions`` are the runtime's names: ``__inference_step_42``."""

    functions: dict[str, int]
    graphs: list[Graph]
    types: list[str]
    files: list[str]
    frames: list[tuple[int, int, str]]  # file, line, function
    stacks: list[list[int]]  # frames, outermost first, with LAYER_CALL between them
    areas: list[str]  # by stack: the part of Keras that built it ("layers", "losses" ...), "" for none
    layers: list[Layer]
    tensors: list[str] = []  # types: "float32[None,28]"
