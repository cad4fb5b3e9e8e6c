"""The data that the report has from the probe ``ops``; ``stored`` has the records that are streamed to disk."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from tfperfkit.model import SourceSpan
from tfperfkit.offers import FunctionCost
from tfperfkit_probes.function_records import Argument, Owner
from tfperfkit_probes.ops.stored import AutographRecord

Became = Literal["graph", "unrolled", "python", "none"]


class LineCost(msgspec.Struct, frozen=True, kw_only=True):
    """The work of one source line's operations in one call. ``flops`` is None when a size is open."""

    file: str
    line: int
    function: str
    ops: int
    flops: float | None
    backward_flops: float = 0.0
    bytes: float = 0.0


class TypeCost(msgspec.Struct, frozen=True, kw_only=True):
    """All operations of one type in one call."""

    type: str
    ops: int
    flops: float
    bytes: float


class LayerCost(msgspec.Struct, frozen=True, kw_only=True):
    """The operations under one name scope, as layers make them; forward and backward."""

    layer: str
    ops: int
    flops: float
    backward_flops: float
    bytes: float


class Constant(msgspec.Struct, frozen=True, kw_only=True):
    """A constant baked into a graph."""

    name: str
    type: str
    bytes: int
    where: SourceSpan | None = None


class Marked(msgspec.Struct, frozen=True, kw_only=True):
    """Operations of a type that is worth a look, of one line."""

    type: str
    ops: int
    where: SourceSpan | None = None
    types: str = ""  # what they make


class Control(msgspec.Struct, frozen=True, kw_only=True):
    """An ``if``, ``for``, ``while`` or comprehension of the source, and its form after tracing.

    ``graph``: an operation; ``unrolled``: its body stands ``copies`` times in the graph, to its line ``last``;
    ``python``: decided while tracing, once; ``none``: it left no operations that we know of.
    """

    file: str
    line: int
    statement: str
    function: str
    became: Became
    op: str = ""
    copies: int = 0
    ops: int = 0
    per_variable: bool = False  # each copy works on other variables, as a loop over layers does
    apart: bool = False  # no copy needs the result of another: one operation could do for all
    last: int = 0


class GraphLoop(msgspec.Struct, frozen=True, kw_only=True):
    """A While operation. ``name``: the operation's, which the trace has in the names of the operations in it.

    ``turns`` in one go, None where they depend on data; ``goes``: how often a call of the function begins it, None
    if its loop runs an unknown number of iterations. Of one iteration: ``operations`` that run in it, ``flops``, and
    ``elements``: the numbers that they make, or read where an operation reads more than it makes. ``measured`` is False
    where a size is open, or an operation's work does not follow from sizes. ``trains``: it takes from a data set, or
    computes gradients. ``whole_flops``, ``whole_bytes``: its part of the function's ``flops`` and ``moved_bytes``.
    """

    name: str
    where: SourceSpan | None
    turns: int | None
    goes: float | None
    operations: float
    flops: float
    elements: float
    measured: bool
    trains: bool = False
    backward: bool = False
    around: str = ""  # the name of the loop around it
    whole_flops: float = 0.0
    whole_bytes: float = 0.0
    types: dict[str, int] = {}  # of its operations that compute, the most frequent first


class Exchanged(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Collective operations of one type and line, as each device of this process runs them in one call.

    ``bytes``: a device's contribution to all ``ops`` operations, None if a size is open; ``dtype`` of that
    contribution; ``rounds``: the number of operations in sequence, each of which needs the result of another;
    ``replicas``: the number that take part, including other processes, as far as the graph shows it.
    """

    type: str
    dtype: str
    ops: float
    rounds: int
    bytes: float | None
    devices: int
    replicas: int
    where: SourceSpan | None = None


class Table(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A trained table of which one replica looks up ``taken`` rows in a call, and nothing else reads it.

    ``made_dense``: where the gradient of its rows becomes as large as a table before the update; None: nowhere known.
    """

    rows: int
    width: int
    number_bytes: int
    taken: int
    where: SourceSpan | None = None
    made_dense: SourceSpan | None = None


class CopiedLayer(msgspec.Struct, frozen=True, kw_only=True):
    """A Keras layer whose operations are in the graph once for each step of a sequence. ``layer``: the scope of its
    names; ``operations``: all of its copies, gradients among them."""

    layer: str
    copies: int
    operations: int


class SideEffect(msgspec.Struct, frozen=True, kw_only=True):
    """Python in a traced function that runs only while it is traced."""

    file: str
    line: int
    function: str
    what: str
    text: str


class Optimized(msgspec.Struct, frozen=True, kw_only=True):
    """The result of Grappler on a function, by name of the operations.

    ``kernels``: fused kernel -> (count, made of).
    """

    operations: int
    kept: int
    folded: int
    fused: int
    removed: int
    added: int
    kernels: list[FusedKernel]


class FusedKernel(msgspec.Struct, frozen=True):
    type: str
    parts: str
    count: int


class Xla(msgspec.Struct, frozen=True, kw_only=True):
    """``compiles`` is None when XLA was not asked. ``fusions``: kind -> count in the optimised HLO."""

    jit_compile: bool
    compiles: bool | None = None
    reason: str = ""
    blocking: list[Marked] = []
    hlo_instructions: int | None = None
    optimized_instructions: int | None = None
    fusions: dict[str, int] = {}
    files: list[str] = []
    ms: float | None = None


class Function(msgspec.Struct, frozen=True, kw_only=True):
    """One function of ``probes[].data``: a concrete function, with those of the same signature."""

    function: str
    qualname: str
    file: str
    line: int
    owner: Owner
    graph: str
    signature: str
    arguments: list[Argument]
    results: list[str]
    captures: list[str]
    captured_bytes: int
    variables: int
    variable_bytes: int
    parameter_bytes: int  # of the trainable variables
    embedding_bytes: int = 0  # the part in tables of Keras' embeddings
    server_bytes: dict[str, int] = {}  # bytes of variables on parameter servers, by device
    created_variables: list[str]
    parent: str | None
    calls: int | None
    traces: int
    trace_ms: float
    first_execution_ms: float | None
    ops: dict[str, int]
    operations: int
    ops_optimized: dict[str, int] | None
    not_optimized_reason: str
    optimized: Optimized | None
    added_by_tf_function: dict[str, int]
    flops: float | None
    flops_note: str
    flops_unknown: int
    by_type: list[TypeCost]
    by_line: list[LineCost]
    by_layer: list[LayerCost]
    moved_bytes: float
    activation_bytes: float | None
    intensity: float | None
    constants_bytes: int
    constants: list[Constant]
    float64: list[Marked]
    float64_flops_share: float
    float64_sources: list[Marked]
    casts: int
    casts_by_line: list[Marked]
    int32_ops: int
    python_calls: list[Marked]
    prints: list[Marked]
    asserts: list[Marked]
    side_effects: list[SideEffect]
    control: list[Control]
    loops: list[GraphLoop] = []
    outside_measured: bool = True  # sizes of all operations outside of loops are known, and tell their work
    exchanged: list[Exchanged] = []
    tables: list[Table] = []
    copied_layers: list[CopiedLayer] = []
    callers: list[SourceSpan] = []  # of the traces: the line of the user's that called it
    lines_known: float
    half_flops_share: float | None  # of 16-bit operations, 0 to 1
    backward_operations: int = 0  # of a gradient, by their names
    jit_compile: bool
    xla: Xla


class Marks(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The parts of a function that may be worth a change, with their lines: few in most functions.

    ``constants``: of the places that hold 64 KiB and more.
    """

    unrolled: list[Control] = []
    constants: list[Constant] = []
    float64: list[Marked] = []
    float64_sources: list[Marked] = []
    float64_arguments: list[str] = []
    python_calls: list[Marked] = []
    side_effects: list[SideEffect] = []
    prints: list[Marked] = []
    asserts: list[Marked] = []
    loops: list[GraphLoop] = []
    outside_measured: bool = True
    exchanged: list[Exchanged] = []
    tables: list[Table] = []
    copied_layers: list[CopiedLayer] = []


class Brief(FunctionCost, frozen=True, kw_only=True):
    """A concrete function in short, Keras' own included: what it costs, which is offered to all, and what in it may be
    worth a change."""

    traces: int = 1
    lines_known: float = 1.0
    constants_bytes: int = 0
    gradient_operations: int = 0
    parameter_bytes: int = 0  # of the trainable variables that it uses
    embedding_bytes: int = 0  # the part in tables of Keras' embeddings
    server_bytes: dict[str, int] = {}  # bytes of variables on parameter servers, by device
    callers: list[SourceSpan] = []
    marks: Marks = Marks()

    @property
    def ran(self) -> bool:
        """Return whether Python or a session called it by itself, not only as a part of another graph."""
        return self.first_execution_ms is not None


class MappedGraphs(msgspec.Struct, frozen=True, kw_only=True):
    """The functions that tf.data calls, by the names that it gives them: ``Dataset_map_load``. ``callers``: the frames
    below which all of the function was traced, innermost first; one of them makes the stage."""

    functions: tuple[Brief, ...] = ()


class OpsData(msgspec.Struct, frozen=True, kw_only=True):
    """``probes[].data`` of the probe. ``left_out``: Keras' own functions that were not asked for."""

    functions: list[Function]
    left_out: int = 0
    all: tuple[Brief, ...] = ()
    dump: list[dict[str, Any]] | None = None
    dump_function: str = ""
    autograph: AutographRecord | None = None
