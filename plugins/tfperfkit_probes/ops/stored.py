"""The records that the probe ``ops`` streams to disk while recording."""

from __future__ import annotations

import msgspec

from tfperfkit.model import SourceSpan
from tfperfkit.records.graph_contents import AutographCode, XlaView
from tfperfkit_probes.function_records import Argument, Owner

#: After so many functions of a run no more are recorded.
MAX_FUNCTIONS = 400


class VariableRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """A variable that a function uses. ``bytes`` is None while its shape is not known. ``key``: the same in all
    functions that use it. ``placeholder``: what stands for it in the function's graph. Both are "" where not known.
    ``server``: the device of the parameter server that holds it, "" for one that lies with this process."""

    name: str
    type: str
    bytes: int | None = None
    trainable: bool = False
    key: str = ""
    placeholder: str = ""
    server: str = ""


class FunctionRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One concrete function, when its trace had ended. Times are ``clock.now_ns``. ``graph`` names its contents."""

    graph: str
    trace_id: int
    outer_id: int | None = None
    begin_ns: int = 0
    end_ns: int = 0
    self_ns: int = 0
    step: int = 0
    function: str = ""
    qualname: str = ""
    file: str = ""
    line: int = 0
    owner: Owner = "user"
    arguments: list[Argument] = []
    results: list[str] = []  # types
    captured: list[str] = []  # types of captured tensors, without variables
    captured_bytes: int = 0
    variables: list[VariableRecord] = []
    created: list[str] = []  # names of the variables made inside
    jit_compile: bool = False
    function_object: int = 0
    frames: list[SourceSpan] = []  # of the call that traced it, innermost first
    in_replica: bool = False


class FirstRunRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The first execution of the concrete function ``graph``."""

    graph: str
    begin_ns: int
    end_ns: int
    shapes: list[list[int] | None] = []  # of the arguments, in the order of the graph's
    optimized: bytes | None = None  # compressed GraphDef
    reason: str = ""  # why there is none
    error: str | None = None


class AutographRecord(msgspec.Struct, frozen=True, kw_only=True):
    """AutoGraph's code of one function, asked for by name."""

    function: str
    qualname: str
    code: AutographCode


class XlaRecord(msgspec.Struct, frozen=True, kw_only=True):
    """XLA's view of the concrete function ``graph``."""

    graph: str
    view: XlaView
