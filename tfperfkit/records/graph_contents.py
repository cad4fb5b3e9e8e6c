"""The record of one graph: its operations, what they make, the user's lines behind them, and how it was built."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from tfperfkit.records.pipelines import Padding

#: After so many operations of all graphs together no more graphs are recorded: the disk and the report are finite.
MAX_OPERATIONS = 1_000_000
Place = tuple[str, int, str]  # file, line, function
#: In a traceback, between the frames around it: a call of a Keras layer, a loop or a condition that AutoGraph ran.
LAYER_CALL, CONTROL_FLOW = -1, -2


class Layer(msgspec.Struct, frozen=True, array_like=True):
    """A Keras layer or model. ``shape`` is its output's, as far as Keras knows it: "28×28×32", without the batch.
    ``key``: the same for one layer in all graphs of a trace."""

    name: str
    kind: str  # its class
    shape: str = ""
    key: int = 0


class Traceback(msgspec.Struct, frozen=True, array_like=True):
    """A stack on which operations were built. ``frames``: of the user's code, outermost first, as numbers of
    ``GraphContents.frames``, with LAYER_CALL and CONTROL_FLOW between them. ``area``: the part of Keras that built the
    operation ("layers", "losses" ...), "" for none. ``gradient``: it was built within a call for gradients.
    ``foreign``: the user has no frame on it, and the frames are other packages'."""

    frames: list[int]
    area: str = ""
    gradient: bool = False
    foreign: bool = False


class Added(NamedTuple):
    """The operations ``[begin, end)`` of a graph are the gradient of ``operation`` in the graph named ``graph``; ""
    if that graph is not known."""

    begin: int
    end: int
    graph: str
    operation: str


class GraphContents(msgspec.Struct, frozen=True, kw_only=True):
    """One graph. ``graph`` is a compressed GraphDef; its nodes are in the order of ``outputs`` and ``stacks``.

    The numbers in ``outputs`` ("3;0,0;;", an operation each) stand for ``types``, those in ``stacks`` for
    ``tracebacks``. The last five fields are empty for a graph that was built before it was followed.
    """

    name: str
    graph: bytes
    operations: int
    types: list[str]  # "float32[8,None]"; "float32[?]": of unknown rank
    outputs: str
    stacks: list[int]  # -1: not known
    arguments: list[str]  # the placeholders of the function's inputs
    captures: list[str]  # those of captured tensors and variables
    results: list[str]  # the operations behind the function's results
    result_outputs: list[int] = []  # and which of their outputs; empty: not known
    large_constants: bool = False  # contents of constants were too much to be copied
    zeros: dict[str, float] = {}  # captures and constants that are nearly all zeros: the share of zeros
    separable: list[str] = []  # those that are a column times a row (times a matrix of the channels)
    function: str = ""  # the name that TensorFlow gave the graph when it was begun: of a function's, the function's
    files: list[str] = []
    frames: list[tuple[int, int, str]] = []  # file, line, function
    tracebacks: list[Traceback] = []
    #: For ``stacks`` of runs recorded before 1.0: frames, innermost first. ``tracebacks`` is empty then.
    places: list[list[Place]] = []
    gradients: list[Added] = []
    layers: list[Layer] = []
    scopes: list[tuple[str, int]] = []  # name scope -> layer
    optimizers: list[str] = []  # name scopes


class CallsRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Arguments in the first ``calls`` of the concrete function ``graph``.

    Lists are in the order of the graph's arguments. ``same``: in how many calls an argument was the one of the call
    before; ``grown``: in how many it was the one of the call before with more at its end. ``padding`` describes
    sequences. ``zeros``: the share of zeros of the arguments that were nearly all zeros, by their number. The
    instrument ``graphs.same_arguments`` records it.
    """

    graph: str
    calls: int
    same: list[int] = []
    grown: list[int] = []
    padding: list[Padding | None] = []
    zeros: dict[int, float] = {}


class SessionRun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One ``session.run`` of TensorFlow 1, among the first ones of its place: by the user's line ``file``:``line``.

    ``graph`` names the contents of the session's graph. ``fetched`` are the operations that it asks for. ``feeds``: by
    operation, what tells the values that were fed from others; "" if they are not in the host's memory. ``shapes`` of
    these values, as far as they are known.
    """

    graph: str
    file: str
    line: int
    thread: int
    begin_ns: int
    fetched: list[str]
    feeds: dict[str, str] = {}
    shapes: dict[str, list[int]] = {}


class AutographCode(msgspec.Struct, frozen=True, kw_only=True):
    """The code that AutoGraph made. ``lines``: (line of the source or None, line of the made code)."""

    file: str
    line: int
    source: list[str]
    lines: list[tuple[int | None, str]]
    error: str = ""


class XlaView(msgspec.Struct, frozen=True, kw_only=True):
    """Whether XLA can compile a function. ``error`` is XLA's own words when it can't; ``hlo`` is None then."""

    hlo: str | None = None
    optimized_hlo: str | None = None
    error: str = ""
    ms: float = 0.0
