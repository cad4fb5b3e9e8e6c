"""The records of the retrace probe: what is streamed to disk while recording, and what the report's data holds."""

from __future__ import annotations

from typing import Literal

import msgspec

from tfperfkit.model import SourceSpan
from tfperfkit_probes.function_records import Argument, Owner

#: The stream of ``TraceRecord``s.
STREAM = "traces"

Kind = Literal["first", "variable_creation", "retrace", "new_function_object", "expected"]
#: How two cached types differ in one place. ``context``: same arguments, other circumstances.
Way = Literal[
    "value",
    "shape",
    "rank",
    "dtype",
    "type",
    "structure",
    "keyword",
    "object",
    "alias",
    "context",
    "failed",
    "function_object",
    "unknown",
]


#: Why a trace could have been avoided; "": it could not.
Blame = Literal[
    "",
    "python_value",
    "varying_batch",
    "varying_length",
    "varying_rank",
    "varying_dtype",
    "varying_structure",
    "object_identity",
    "made_in_loop",
    "per_instance",
    "context",
    "failing",
    "pipeline_rebuilt",
    "other",
]


class Difference(msgspec.Struct, frozen=True):
    """One difference from the closest cached trace, in the words that are printed.

    ``path`` is an argument (``x``, ``batch["image"]``, ``args[1]``) or, for ``context``, a circumstance
    (``context.replica_device``).
    """

    path: str
    before: str
    after: str
    way: Way = "unknown"


class TraceRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One trace, as recorded. Times are ``clock.now_ns``."""

    id: int
    begin_ns: int
    end_ns: int
    self_ns: int
    outer_id: int | None = None
    step: int = 0
    function_object: int | None = None  # numbers the Function objects in order of appearance
    function: str = ""
    qualname: str = ""
    file: str = ""
    line: int = 0
    code: str = ""  # tells two functions on one line apart
    owner: Owner = "tensorflow"
    library: bool = False  # of an installed package; for tf.data: the map function's file
    instance_of: str = ""  # the class of the bound instance, for a method
    nested: bool = False  # defined inside another function
    cached: int = 0
    closest: int | None = None  # id of the closest cached trace; None also when it was made before we watched
    differences: list[Difference] = []
    generalized: list[Difference] = []  # what reduce_retracing made of the arguments
    scope_only: bool = False  # differs from the closest trace only in whether variables may be created
    arguments: list[Argument] = []
    error: str | None = None
    failed_before: int = 0  # failed traces of this Function so far
    frames: list[SourceSpan] = []
    call_site: SourceSpan | None = None
    in_replica: bool = False
    exporting: bool = False
    jit_compile: bool = False
    input_signature: bool = False
    limits: str = ""


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """One trace in the report. ``ms`` is the whole trace, ``self_ms`` without the traces nested in it. ``arguments``:
    the leaves of their types, of one that could have been avoided."""

    number: int
    kind: Kind
    step: int
    ms: float
    self_ms: float
    cause: list[Difference]
    call_site: SourceSpan | None
    closest: int | None = None  # the number of the trace that ``cause`` compares with
    reason: str = ""  # why an expected trace is expected
    avoidable: bool = False
    error: str | None = None
    generalized: list[Difference] = []
    function_object: int | None = None
    signature: str = ""
    blame: Blame = ""
    arguments: list[Argument] = []


class TracedFunction(msgspec.Struct, frozen=True, kw_only=True):
    """All traces of one definition, over all Function objects made from it. ``earlier``: traces that it held before we
    watched; ``instance_of``: the class whose method it is; ``nested``: it is defined inside another function."""

    function: str
    file: str
    line: int
    owner: Owner
    traces: list[Trace]
    qualname: str = ""
    function_objects: int = 1
    retraces: int = 0
    avoidable: int = 0
    avoidable_ms: float = 0.0
    pattern: str = ""
    earlier: int = 0
    instance_of: str = ""
    nested: bool = False
    jit_compile: bool = False


class RetraceData(msgspec.Struct, frozen=True, kw_only=True):
    """``probes[].data`` of the retrace probe."""

    functions: list[TracedFunction]
    traces: int = 0
    retraces: int = 0
    tracing_ms: float = 0.0
    avoidable_ms: float = 0.0
    limits: list[str] = []  # what could not be recorded: where there is something, nobody can be blamed
