"""What the session makes of each trace of a ``tf.function``: its time, its source, whether calls of it are steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfperfkit.instruments.batchsize import of_signature
from tfperfkit.instruments.markers import Markers
from tfperfkit.instruments.updates import GraphUpdates, is_keras_own, own_code
from tfperfkit.streams import Streams


class TraceWatch:
    """``traced`` is called with each trace (see ``instruments.tracing``); ``count`` is how many there were."""

    def __init__(
        self, streams: Streams, is_user: Callable[[str], bool], keep_source: Callable[[str], None], markers: Markers
    ) -> None:
        self.count = 0
        self._streams = streams
        self._is_user = is_user
        self._keep_source = keep_source
        self._markers = markers
        self._updates = GraphUpdates()

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
            self._observe(traced.function, traced.python_function, traced.concrete)

    def examine(self, function: Any) -> None:
        """A ``tf.function`` that was traced before the session began is called for the first time since."""
        for concrete in function._list_all_concrete_functions():
            self._observe(function, function.python_function, concrete)

    def applied_in_graph(self, optimizer: Any) -> None:
        """An optimizer is applied while a graph is built."""
        self._updates.applied(optimizer)

    def _observe(self, function: Any, python_function: Any, concrete: Any) -> None:
        updates, loop, optimizers = self._updates.of(concrete.graph)
        if updates and not is_keras_own(python_function):
            name = getattr(python_function, "__name__", "tf.function")
            self._markers.updates_weights(function, name, loop, optimizers, of_signature(concrete))
