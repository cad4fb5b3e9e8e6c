"""Kinds of events in a trace of TensorFlow, recognised by their names."""

from __future__ import annotations

import enum
import re
from typing import NamedTuple


class Kind(enum.Enum):
    """Kind of an event; other events are of no use here and left unread."""

    EAGER = "eager"  # an operation run one by one, or a call of a compiled function, on the calling thread
    SESSION = "session"  # a run of a session of TensorFlow 1; its stat ``id`` is the executor's
    KERNEL = "kernel"  # the part of an eager operation in which its kernel runs
    OP = "op"  # an operation of a graph: ``name:Type``
    ASYNC = "async"  # an operation of a graph whose kernel returns before it is done; only its start
    EXECUTOR = "executor"  # a stretch of a graph's execution; its stat ``id`` tells which call
    CALL = "call"  # the start of a function's execution; its stat ``id`` is the executor's
    GET_NEXT = "get_next"  # a graph's fetch of an element, until it is there
    ITERATOR = "iterator"  # a stage of a tf.data pipeline working
    REDUCE = "reduce"  # a loop over a dataset inside a compiled function
    TRACING = "tracing"
    FREEING = "freeing"
    MARKER = "marker"  # a step's
    COMPILE = "compile"  # XLA making machine code; its passes come before
    MEMORY = "allocator"  # an allocator giving memory out or taking it back
    MAYBE_THUNK = "thunk"  # an XLA kernel if it carries the stat ``hlo_op``

    __hash__ = object.__hash__  # Enum's is a function of Python's, and kinds are looked up for millions of events


class Named(NamedTuple):
    kind: Kind
    name: str = ""  # of the operation
    type: str = ""


#: Lines that the profiler derives from others on an accelerator's plane; their events would count twice.
DERIVED_LINES = frozenset(
    {
        "Steps",
        "XLA Modules",
        "XLA TraceMe",
        "TensorFlow Name Scope",
        "TensorFlow Ops",
        "Framework Name Scope",
        "Framework Ops",
        "Source code",
        "Launch Stats",
        "Async XLA Ops",
        "Counters",
    }
)
_MATMUL_KERNEL = re.compile(
    r"gemm|sgemm|cijk|cutlass|conv(?:olve|2d|_?fprop|_?dgrad|_?wgrad)|winograd|matmul", re.IGNORECASE
)
#: Prefix of the names of compiled functions: ``__inference_step_60``, ``__forward_...``, ``__backward_...``.
FUNCTION_PREFIX = "__"
STEP_MARKER = "train"
#: A run of a session (``DirectSession::RunInternal`` in tensorflow/core/common_runtime/direct_session.cc).
SESSION_RUN = "SessionRun"
ALLOCATION, DEALLOCATION = "MemoryAllocation", "MemoryDeallocation"
#: The plane of what the profiler saw of the host.
HOST = "/host:CPU"
#: As XProf's ``ParseTfOpFullname`` (tsl/profiler/utils/tf_op_utils.cc) tells an operation from another event.
_OP = re.compile(r"(?P<name>[A-Za-z0-9._][^:]*):(?P<type>_?[A-Za-z_]\w*)")
_FUNCTION = re.compile(r"__(?:inference|forward|backward)_(.+?)_\d+")
_EXACT = {
    STEP_MARKER: Kind.MARKER,
    "FunctionRun": Kind.CALL,
    "ExecutorState::Process": Kind.EXECUTOR,
    "ExecutorState::ProcessAsync::Start": Kind.ASYNC,
    "ReduceDatasetOp::DoCompute": Kind.REDUCE,
    "KernelAndDeviceFunc::Run": Kind.KERNEL,
    "tf.function-graph_building": Kind.TRACING,
    "TFE_DeleteTensorHandle": Kind.FREEING,
    ALLOCATION: Kind.MEMORY,
    DEALLOCATION: Kind.MEMORY,
}
#: A stretch in which XLA's kernels run, and the start of the name of what notes the end of one on another thread.
XLA_EXECUTE, XLA_END = "ThunkExecutor::Execute", "end: "
_EAGER = "EagerLocalExecute: "
#: One for each XLA compilation: ``CpuCompiler::RunBackend``, ``GpuCompiler::RunBackend`` (seen on 2.21).
_BACKEND = "Compiler::RunBackend"


def parse(event: str) -> Named | None:
    """Return the kind of an event of this name; None if it is nothing that we count."""
    if event.startswith(_EAGER):
        return Named(Kind.EAGER, type=event[len(_EAGER) :])
    if event == SESSION_RUN:
        return Named(Kind.SESSION, type=event)
    if event in _EXACT:
        return Named(_EXACT[event])
    if event.endswith(_BACKEND):
        return Named(Kind.COMPILE)
    if event.startswith(("$", "ThreadpoolListener::", XLA_END)):
        return None
    if event.startswith(("Iterator::", "ReduceIterator::")):
        return Named(Kind.ITERATOR, name=event)
    if event.startswith("InstantiatedCapturedFunction::Run"):
        return Named(Kind.CALL)
    if event.startswith("IteratorGetNext") and event.endswith("::DoCompute"):
        return Named(Kind.GET_NEXT, type=event.partition("::")[0].removesuffix("Op"))
    if match := _OP.fullmatch(event):
        return Named(Kind.OP, name=match["name"], type=match["type"])
    if "::" in event:
        return None
    return Named(Kind.MAYBE_THUNK, name=event)


def is_function(operation_type: str) -> bool:
    """Return whether an "operation" is the call of a compiled function."""
    return operation_type.startswith(FUNCTION_PREFIX)


def function_name(operation_type: str) -> str:
    """Return the Python name in the name of a compiled function: ``step`` in ``__inference_step_60``."""
    match = _FUNCTION.fullmatch(operation_type)
    return match[1] if match else operation_type


def is_input(operation_type: str) -> bool:
    """Return whether an operation belongs to the input pipeline: IteratorGetNext, MakeIterator, AnonymousIteratorV3
    ..."""
    return "Iterator" in operation_type


def is_fetch(operation_type: str) -> bool:
    """Return whether an operation asks the input pipeline for its next element."""
    return "IteratorGetNext" in operation_type


def names_matmul(kernel: str) -> bool:
    """Return whether a kernel is a library's matmul or convolution: what tensor cores are for."""
    return _MATMUL_KERNEL.search(kernel) is not None
