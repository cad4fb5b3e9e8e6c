"""Facts that exist only while a graph is built: which operation a gradient belongs to, which Keras layer runs.

The hooks are in place only while a tf.function is being traced:

- ``execute.record_gradient`` sees each operation that a gradient tape records, with a tuple of attributes that the
  tape later hands to the gradient function: the tuple's identity tells whose gradient it is.
- The gradient function that the runtime calls back and the Python functions given to ``record.record_operation``
  (custom gradients, calls of a tf.function): what they add to the graph is the gradient.
- The threads of a strategy's replicas, as they are made: the stacks of what they build begin in them.
- ``name_scope`` of Keras' backend, which each layer enters under its name.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tfperfkit.instruments.stacks import call_site
from tfperfkit.model import SourceSpan

_KERAS_SCOPES = "keras.src.backend.tensorflow.core"
_KERAS_OPTIMIZERS = "keras.src.optimizers.base_optimizer"


class Added(NamedTuple):
    """The operations ``[begin, end)`` of a graph that are the gradient of ``operation`` in graph ``of``."""

    begin: int
    end: int
    of: int
    operation: str


class Started(NamedTuple):
    """Replicas of a strategy began when a graph had ``begin`` operations. ``frames``: of the user's code that called
    ``strategy.run``, innermost first: the replicas' threads don't have them."""

    begin: int
    frames: tuple[SourceSpan, ...]


def started_before(started: Sequence[Started], index: int) -> Started:
    """Return the call that an operation of this number in its graph was built under, if a replica built it."""
    return next((each for each in reversed(started) if each.begin <= index), started[0])


class Building:
    """Notes of the traces that are under way. Graphs go by ``id()``: they live until the outermost trace ends."""

    def __init__(self) -> None:
        self.gradients: dict[int, list[Added]] = {}
        #: graph -> name scope -> the Keras layer or optimizer that entered it. A scope is entered once: each name is
        #: made unique in its graph.
        self.scopes: dict[int, dict[str, Any]] = {}
        #: graph -> where replicas began, in order
        self.replicas: dict[int, list[Started]] = {}
        self._recorded: dict[int, tuple[int, str]] = {}  # id of the attributes -> graph and operation
        self._undo: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self.reasons: list[str] = []  # what this TensorFlow does not show, each once

    def start(self) -> None:
        """Install the hooks if they are not in place; a part of TensorFlow that is not as known is left alone."""
        with self._lock:
            if self._undo:
                return
            self._undo.append(lambda: None)
            for what, install in (
                ("gradients are recognised by the call for them, not by what they differentiate", self._hook_gradients),
                ("custom gradients are not told from what they differentiate", self._hook_custom),
                ("operations are not recognised by the Keras layer that built them", self._hook_keras),
                ("lines of replicas are not listed below strategy.run", self._hook_replicas),
            ):
                try:
                    install()
                except Exception as error:
                    reason = f"{what} ({type(error).__name__}: {error})"
                    if reason not in self.reasons:
                        self.reasons.append(reason)

    def stop(self) -> None:
        """Remove the hooks and forget everything."""
        with self._lock:
            while self._undo:
                self._undo.pop()()
            self.gradients, self.scopes, self.replicas = {}, {}, {}
            self._recorded = {}

    def _hook_gradients(self) -> None:
        from tensorflow.python import pywrap_tfe
        from tensorflow.python.eager import backprop, execute
        from tensorflow.python.framework import ops

        record, differentiate = execute.record_gradient, backprop._gradient_function
        recorded, current = self._recorded, ops.get_default_graph

        def record_gradient(name: Any, inputs: Any, attributes: Any, results: Any) -> Any:
            try:
                operation = results[0].op
                recorded[id(attributes)] = (id(operation.graph), operation.name)
            except Exception:
                recorded.pop(id(attributes), None)
            return record(name, inputs, attributes, results)

        def gradient_function(name: Any, attributes: Any, *arguments: Any) -> Any:
            of = recorded.get(id(attributes))
            graph = current()
            begin = graph.version if of else 0
            result = differentiate(name, attributes, *arguments)
            if of and current() is graph:
                self._add(graph, begin, *of)
            return result

        register = pywrap_tfe.TFE_Py_RegisterGradientFunction
        execute.record_gradient = record_gradient
        self._undo.append(lambda: _restore(execute, "record_gradient", record_gradient, record))
        register(gradient_function)
        self._undo.append(lambda: register(differentiate))

    def _hook_replicas(self) -> None:
        """Hook a replica's thread, which is made by the one that calls ``strategy.run``; it has done nothing when this
        returns."""
        module = sys.modules.get("tensorflow.python.distribute.mirrored_run")
        if module is None:
            return
        thread = module._MirroredReplicaThread
        original = thread.__init__

        def made(self_: Any, *arguments: Any, **named: Any) -> None:
            original(self_, *arguments, **named)
            try:
                started = Started(self_.graph.version, call_site.user_frames(sys._getframe(1)))
                kept = self.replicas.setdefault(id(self_.graph), [])
                if kept[-1:] != [started]:  # one for all replicas
                    kept.append(started)
            except Exception:  # its lines then stand by themselves, as they did
                return

        thread.__init__ = made
        self._undo.append(lambda: _restore(thread, "__init__", made, original))

    def _hook_custom(self) -> None:
        from tensorflow.python.eager import record
        from tensorflow.python.framework import ops

        original, current = record.record_operation, ops.get_default_graph

        def record_operation(
            name: Any, outputs: Any, inputs: Any, backward_function: Any, forward_function: Any = None
        ) -> Any:
            try:
                operation = outputs[0].op
                of = (id(operation.graph), operation.name)
            except Exception:
                return original(name, outputs, inputs, backward_function, forward_function)

            def gradient(*arguments: Any, **named: Any) -> Any:
                graph = current()
                begin = getattr(graph, "version", 0)
                result = backward_function(*arguments, **named)
                if current() is graph:
                    self._add(graph, begin, *of)
                return result

            return original(name, outputs, inputs, gradient, forward_function)

        record.record_operation = record_operation
        self._undo.append(lambda: _restore(record, "record_operation", record_operation, original))

    def _add(self, graph: Any, begin: int, of: int, operation: str) -> None:
        end = getattr(graph, "version", 0)
        if isinstance(end, int) and end > begin:
            self.gradients.setdefault(id(graph), []).append(Added(begin, end, of, operation))

    def _hook_keras(self) -> None:
        module = sys.modules.get(_KERAS_SCOPES)
        if module is None:
            return
        from tensorflow.python.framework import ops

        owners = (*_class("keras.src.layers.layer", "Layer"), *_class(_KERAS_OPTIMIZERS, "BaseOptimizer"))
        scope_class = module.name_scope
        original, current = scope_class.__enter__, ops.get_default_graph

        def __enter__(scope: Any) -> Any:
            entered = original(scope)
            try:
                if isinstance(scope.caller, owners):
                    graph = current()
                    self.scopes.setdefault(id(graph), {})[graph.get_name_scope()] = scope.caller
            except Exception:
                pass
            return entered

        scope_class.__enter__ = __enter__
        self._undo.append(lambda: _restore(scope_class, "__enter__", __enter__, original))


def _class(module: str, name: str) -> tuple[type, ...]:
    found = getattr(sys.modules.get(module), name, None)
    return (found,) if isinstance(found, type) else ()


def _restore(owner: Any, name: str, ours: Any, original: Any) -> None:
    # Another tool may have wrapped ours meanwhile: then it stays beneath, and only passes calls on.
    if getattr(owner, name) is ours:
        setattr(owner, name, original)
