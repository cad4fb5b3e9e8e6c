"""What the session makes of each trace of a ``tf.function``: its time, its source, whether calls of it are steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfperfkit.instruments.steps.functions import Functions
from tfperfkit.instruments.steps.updates import own_code
from tfperfkit.storage.stream_set import Streams


class TraceWatch:
    """``traced`` is called with each trace (see ``instruments.graphs.tracing``); ``count`` is how many there were."""

    def __init__(
        self, streams: Streams, is_user: Callable[[str], bool], keep_source: Callable[[str], None], functions: Functions
    ) -> None:
        self.count = 0
        self._streams = streams
        self._is_user = is_user
        self._keep_source = keep_source
        self._functions = functions

    def traced(self, traced: Any) -> None:
        """Record it; calls of a function whose graph updates weights are observed from now on."""
        self.count += 1
        if traced.outer_id is None:
            self._streams.session("tracing").append([traced.begin_ns, traced.end_ns])
        code = own_code(traced.python_function)
        if code is not None and self._is_user(code.co_filename):
            row = [code.co_filename, code.co_firstlineno, code.co_name, traced.begin_ns, traced.end_ns]
            self._streams.session("traces").append(row)
            self._keep_source(code.co_filename)
        if traced.function is not None and traced.concrete is not None:
            self._functions.traced(traced.function, traced.python_function, traced.concrete)
