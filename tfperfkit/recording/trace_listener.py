"""The session's listener to each trace of a ``tf.function``: its time, its source, whether calls are steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from tfperfkit.instruments.steps.functions import Functions, own_code


class Appendable(Protocol):
    """A stream."""

    def append(self, record: Any, /) -> object: ...


class TraceWatch:
    """``traced`` is called with each trace (see ``instruments.graphs.tracing``); ``count`` is how many there were,
    ``spent_ns`` what those took that stood in no other."""

    def __init__(
        self,
        stream: Callable[[str], Appendable],
        is_user: Callable[[str], bool],
        keep_source: Callable[[str], None],
        functions: Functions,
    ) -> None:
        self.count = 0
        self.spent_ns = 0
        self._stream = stream
        self._is_user = is_user
        self._keep_source = keep_source
        self._functions = functions

    def traced(self, traced: Any) -> None:
        """Record it; calls of a function whose graph updates weights are observed from now on."""
        self.count += 1
        if traced.outer_id is None:
            self.spent_ns += traced.end_ns - traced.begin_ns
        code = own_code(traced.python_function)
        if code is not None and self._is_user(code.co_filename):
            row = [code.co_filename, code.co_firstlineno, code.co_name, traced.begin_ns, traced.end_ns]
            self._stream("traces").append(row)
            self._keep_source(code.co_filename)
        if traced.function is not None and traced.concrete is not None:
            self._functions.traced(traced.function, traced.python_function, traced.concrete)

    def described(self, traced: Any, finished_ns: int) -> None:
        """Record when it was; ``finished_ns``: until then tfperf described it, while the script waited."""
        if traced.outer_id is None:
            self._stream("tracing").append([traced.begin_ns, traced.end_ns, finished_ns])
