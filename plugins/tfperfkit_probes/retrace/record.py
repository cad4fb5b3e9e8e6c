"""From an event of the tracing instrument to a record on disk. Runs in the user's process, once per trace."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Iterator
from typing import Any

from tfperfkit.instruments.graphs import tracing
from tfperfkit.instruments.graphs.tracing import Traced
from tfperfkit.model import SourceSpan
from tfperfkit.probe import Recording
from tfperfkit_probes.function_records import Argument
from tfperfkit_probes.retrace import cause
from tfperfkit_probes.retrace.model import STREAM, TraceRecord
from tfperfkit_probes.tensor_types import Names, leaves
from tfperfkit_probes.traced_function import Definition, definition

_KEPT_FRAMES = 8
_KEPT_ARGUMENTS = 60


class _Function:
    """Facts about one tf.function object."""

    __slots__ = ("failed", "number")

    def __init__(self, number: int) -> None:
        self.number = number
        self.failed = 0


class Recorder:
    """The listener. Holds TensorFlow's objects weakly, so that what the script drops is freed as without us."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._lock = threading.Lock()
        self._functions: weakref.WeakKeyDictionary[Any, _Function] = weakref.WeakKeyDictionary()
        self._traces: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._made = 0
        self._broken = False
        self._limited = False

    def __call__(self, traced: Traced) -> None:
        try:
            record = self._record(traced)
        except Exception as error:
            if not self._broken:
                self._broken = True
                self._recording.note(f"a trace could not be described ({type(error).__name__}: {error})")
            record = TraceRecord(
                id=traced.id,
                outer_id=traced.outer_id,
                begin_ns=traced.begin_ns,
                end_ns=traced.end_ns,
                self_ns=traced.self_ns,
                step=self._recording.step,
                error=traced.error,
                function=str(getattr(traced.tracing_options, "name", "")),
                limits="could not be described",
            )
        self._recording.append(STREAM, record)

    def _record(self, traced: Traced) -> TraceRecord:
        if traced.limits:
            return self._limited_record(traced)
        options = traced.tracing_options
        python_function = traced.python_function
        if traced.function is not None:
            python_function = getattr(traced.function, "python_function", python_function)
        found = definition(python_function, str(getattr(options, "name", "")))
        names = Names(getattr(options, "polymorphic_type", None), found.parameters)
        comparison = cause.compare(traced.lookup_type, traced.context, traced.cached, names)
        closest = None
        with self._lock:
            function = self._find_function(traced.identity)
            if comparison is not None:
                closest = self._traces.get(traced.cached[comparison.index].concrete)
            if traced.concrete is not None:
                self._traces[traced.concrete] = traced.id
            failed_before = function.failed if function else 0
            if function is not None and traced.error is not None:
                function.failed += 1
        attributes = getattr(options, "attributes", None) or {}
        call_site = self._call_site(traced.frames, found)
        self._keep(found.file, call_site)
        return TraceRecord(
            id=traced.id,
            outer_id=traced.outer_id,
            begin_ns=traced.begin_ns,
            end_ns=traced.end_ns,
            self_ns=traced.self_ns,
            step=self._recording.step,
            function_object=function.number if function else None,
            function=found.function,
            qualname=found.qualname,
            file=found.file,
            line=found.line,
            code=found.code,
            owner=found.owner,
            library=found.owner in ("user", "tf.data") and not self._recording.is_user_code(found.file),
            instance_of=found.instance_of,
            nested=found.nested,
            cached=len(traced.cached),
            closest=closest,
            differences=comparison.differences if comparison else [],
            scope_only=comparison.scope_only if comparison else False,
            generalized=cause.generalized(traced.lookup_type, traced.function_type, names),
            arguments=_arguments(traced.lookup_type, names),
            error=traced.error,
            failed_before=failed_before,
            frames=list(traced.frames[:_KEPT_FRAMES]),
            call_site=call_site,
            in_replica=traced.in_replica,
            exporting=traced.exporting,
            jit_compile=bool(attributes.get("_XlaMustCompile", False)),
            input_signature=getattr(options, "input_signature", None) is not None,
        )

    def _limited_record(self, traced: Traced) -> TraceRecord:
        if not self._limited:
            self._limited = True
            self._recording.note(traced.limits)
        return TraceRecord(
            id=traced.id,
            begin_ns=traced.begin_ns,
            end_ns=traced.end_ns,
            self_ns=0,
            step=self._recording.step,
            function=str(getattr(traced.func_graph, "name", "")),
            frames=list(traced.frames[:_KEPT_FRAMES]),
            call_site=self._call_site(traced.frames, None),
            limits=traced.limits,
        )

    def _find_function(self, identity: Any) -> _Function | None:
        if identity is None:
            return None
        known = self._functions.get(identity)
        if known is None:
            self._made += 1
            known = self._functions[identity] = _Function(self._made)
        return known

    def _call_site(self, frames: tuple[SourceSpan, ...], found: Definition | None) -> SourceSpan | None:
        """The innermost frame of the user's own code; of any other package's where there is none."""
        for frame in frames:
            if self._recording.is_user_code(frame.file):
                return frame
        return frames[0] if frames else None

    def _keep(self, file: str, call_site: SourceSpan | None) -> None:
        for name in (file, call_site.file if call_site else ""):
            if name and self._recording.is_user_code(name):
                self._recording.keep_source(name)


def _arguments(function_type: Any, names: Names) -> list[Argument]:
    return [leaf.argument for leaf in leaves(function_type, names).values()][:_KEPT_ARGUMENTS]


@contextlib.contextmanager
def recorded(recording: Recording) -> Iterator[None]:
    """Append a record for each trace. Raises ``Unavailable`` without a known seam."""
    unsubscribe = tracing.subscribe(Recorder(recording))
    try:
        if tracing.limits():
            recording.note(tracing.limits())
        yield
    finally:
        unsubscribe()
