"""Context managers for users' tests: which functions are traced inside, and which operations Python dispatches."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.errors import Unavailable
from tfperfkit.user_code import Origin

_SHOWN = 5


class Traces:
    """Result of ``watch_traces``: traces by function, ``NAME (FILE:LINE)``, without the traces that making variables
    takes.

    ``again``: the functions among them that were traced again, by Python code; what happened before the block counts.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.again: Counter[str] = Counter()
        self.reasons: dict[str, str] = {}
        self._origin = Origin()
        self._codes: dict[Any, Any] = {}

    def seen(self, traced: Any) -> None:
        """Note that a trace has ended; see ``instruments.graphs.tracing.Traced``."""
        function = traced.python_function
        while hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        code = getattr(getattr(function, "__func__", function), "__code__", None)
        if traced.limits or traced.exporting or code is None or _is_tensorflow(code.co_filename):
            return
        # A function that makes variables is traced a second time for the same arguments: not anybody's fault.
        if any(entry.function_type == traced.lookup_type for entry in traced.cached):
            return
        name = f"{getattr(function, '__name__', 'a function')} ({code.co_filename}:{code.co_firstlineno})"
        self.counts[name] += 1
        known = self._codes.setdefault(code, traced.identity)
        if traced.cached:
            self._note(name, f"from {traced.cached[-1].function_type} to {traced.lookup_type}")
        elif known is not traced.identity and not hasattr(function, "__self__") and self._is_user(code):
            self._note(name, "a new tf.function object of the same code")

    def _is_user(self, code: Any) -> bool:
        return self._origin.is_user(code.co_filename)

    def _note(self, name: str, reason: str) -> None:
        self.again[name] += 1
        self.reasons[name] = " ".join(reason.split())


class Operations:
    """Result of ``max_ops`` and ``assert_compiled``: ``found`` by type, file and line; ``function_calls`` of compiled
    functions.
    """

    def __init__(self, counter: OperationCounter) -> None:
        self._counter = counter

    @property
    def found(self) -> Counter[tuple[str, str, int]]:
        return self._counter.found

    @property
    def function_calls(self) -> int:
        return self._counter.function_calls

    @property
    def count(self) -> int:
        """Operations that Python called one by one, those of the input left out."""
        return self._counter.found.total()


@contextmanager
def watch_traces() -> Iterator[Traces]:
    """Count what is traced inside, and assert nothing. Raises Unavailable where this TensorFlow shows no traces."""
    import tensorflow  # noqa: F401  (a test's first import of it may come inside)

    from tfperfkit.instruments.graphs import tracing

    traces = Traces()
    unsubscribe: Callable[[], None] = tracing.subscribe(traces.seen)
    try:
        yield traces
    finally:
        unsubscribe()


@contextmanager
def assert_no_retrace() -> Iterator[Traces]:
    """Raises AssertionError at its end if a function that had a trace was traced again inside, or if a tf.function was
    created again from the same code; each function with what changed.

    First traces are fine. Exceptions of the block come through.
    """
    with watch_traces() as traces:
        yield traces
    if traces.again:
        lines = [f"  {name}: {count} more, {traces.reasons[name]}" for name, count in traces.again.most_common(_SHOWN)]
        raise AssertionError("\n".join(["traced again inside:", *lines]))


@contextmanager
def max_ops(limit: int) -> Iterator[Operations]:
    """Raises AssertionError at its end if Python called more than ``limit`` operations one by one inside. A call of a
    compiled function is none of them, whatever is in it, nor is what the input takes."""
    with counted() as operations:
        yield operations
    if operations.count > limit:
        found = described(operations)
        raise AssertionError(f"{say_called(operations)}, allowed are {limit}:{found}")


@contextmanager
def assert_compiled() -> Iterator[Operations]:
    """Raises AssertionError at its end unless all that TensorFlow did inside it did in compiled functions: at least one
    was called, and no operation by itself, but those of the input."""
    with counted() as operations:
        yield operations
    if operations.count:
        found = described(operations)
        raise AssertionError(f"not compiled: {say_called(operations)}:{found}")
    if not operations.function_calls:
        raise AssertionError("not compiled: no compiled function was called")


@contextmanager
def counted() -> Iterator[Operations]:
    """Count operations inside, and assert nothing."""
    import tensorflow  # noqa: F401

    counter = OperationCounter()
    counter.start()
    try:
        yield Operations(counter)
    finally:
        counter.stop()


def say_called(operations: Operations) -> str:
    """ "1 operation was called by itself", "40 operations were called one by one"."""
    count = operations.count
    return "1 operation was called by itself" if count == 1 else f"{count} operations were called one by one"


def often(count: int) -> str:
    """ "once", "3 times"."""
    return "once" if count == 1 else f"{count} times"


def described(operations: Operations) -> str:
    """Return the most frequent operations with their lines, each on a line of its own."""
    rows = operations.found.most_common(_SHOWN)
    text = ""
    for (kind, file, line), count in rows:
        text += f"\n  {kind} {often(count)} at {f'{file}:{line}' if file else 'no line of yours'}"
    return text + (f"\n  and {len(operations.found) - _SHOWN} more" if len(operations.found) > _SHOWN else "")


def _is_tensorflow(file: str) -> bool:
    return "/tensorflow/" in file.replace("\\", "/") and "-packages/" in file.replace("\\", "/")


#: Names under which compiled functions are called.
_FUNCTIONS = ("__inference_", "__forward_", "__backward_", "PartitionedCall", "StatefulPartitionedCall")
#: Operations of datasets belong to the input: each batch is one.
_INPUT = ("Dataset", "Iterator")


class OperationCounter:
    """Counts operations that Python dispatches from ``start`` to ``stop``, on all threads. ``found``: the count by type
    and user line."""

    def __init__(self) -> None:
        self.found: Counter[tuple[str, str, int]] = Counter()
        self.function_calls = 0
        self._origin = Origin()

    def start(self) -> None:
        """Begin. Raises Unavailable if TensorFlow is not imported or has no such callback."""
        if "tensorflow" not in sys.modules:
            raise Unavailable("TensorFlow is not imported, so there are no operations to count")
        try:
            from tensorflow.python.framework import op_callbacks

            op_callbacks.add_op_callback(self._seen)
        except (ImportError, AttributeError, TypeError) as error:
            raise Unavailable(f"operations can't be seen in this TensorFlow: {error}") from error

    def stop(self) -> None:
        """End; also correct if the script has cleared all callbacks."""
        from tensorflow.python.framework import op_callbacks

        try:
            op_callbacks.remove_op_callback(self._seen)
        except (KeyError, ValueError):
            pass

    def _seen(
        self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None
    ) -> None:
        if graph is not None:  # an operation of a graph that is being built
            return
        name = op_type.decode() if isinstance(op_type, bytes) else str(op_type)
        if name.startswith(_FUNCTIONS):
            self.function_calls += 1
        elif not any(word in name for word in _INPUT):
            from tfperfkit.instruments.stacks.call_site import user_line

            (file, line, _), _ = user_line(sys._getframe(1), self._origin.is_user)
            self.found[name, file, line] += 1
