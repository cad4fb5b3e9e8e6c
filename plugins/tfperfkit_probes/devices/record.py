"""Recording: each concrete function at its first execution, and a window of steps for what a step does."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from tfperfkit.clock import now_ns
from tfperfkit.errors import Unavailable
from tfperfkit.instruments.devices import runtime
from tfperfkit.instruments.devices.eager import EagerDevices
from tfperfkit.instruments.devices.host_syncs import HostSyncs
from tfperfkit.instruments.devices.placement import placement_of, variables_only
from tfperfkit.instruments.graphs import first_run, tracing
from tfperfkit.instruments.graphs.call_counts import GraphCalls
from tfperfkit.instruments.graphs.tracing import Traced
from tfperfkit.probe import Recording
from tfperfkit.records.placement import Placement
from tfperfkit_probes.devices.model import FACTS, FUNCTIONS, SLICES, FunctionRecord, Slice
from tfperfkit_probes.traced_function import definition

MAX_FUNCTIONS = 400
_JIT = "XLA compiles the whole function: there are no graphs of its parts"


class Recorder:
    """The listener of the tracing instrument, and what ``record`` shares with it. Holds functions weakly."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._lock = threading.Lock()
        self._listeners: list[first_run.Listener] = []
        self._said: set[str] = set()
        self._seen = 0
        self._reported = False
        self.concretes: dict[str, weakref.ref[Any]] = {}

    def __call__(self, traced: Traced) -> None:
        try:
            if traced.limits:
                self._say(f"{traced.limits}; where their operations run is not recorded")
            elif traced.concrete is not None and not traced.exporting:
                self._await(traced)
        except Exception as error:
            self._say(f"a function could not be followed ({type(error).__name__}: {error})")

    def _await(self, traced: Traced) -> None:
        options = traced.tracing_options
        python_function = traced.python_function
        if traced.function is not None:
            python_function = getattr(traced.function, "python_function", python_function)
        found = definition(python_function, str(getattr(options, "name", "")))
        if found.owner not in ("user", "keras"):
            return
        with self._lock:
            self._seen += 1
            if self._seen > MAX_FUNCTIONS:
                self._say(f"only the first {MAX_FUNCTIONS} concrete functions were recorded")
                return
        jit = first_run.jit_compiled(traced)
        base = FunctionRecord(
            graph=str(traced.concrete.name),
            function=found.function,
            file=found.file,
            line=found.line,
            owner=found.owner,
            step=self._recording.step,
        )

        def listener(run: first_run.FirstRun) -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)
            self._ran(run, base, jit)

        self._listeners.append(listener)
        try:
            first_run.on_first_run(traced.concrete, listener, collect=not jit)
        except Unavailable as error:
            self._listeners.remove(listener)
            self._say(str(error))

    def _ran(self, run: first_run.FirstRun, base: FunctionRecord, jit: bool) -> None:
        began = now_ns()
        self.tell_facts()
        placement, reason = None, _JIT if jit else run.reason
        try:
            if run.graphs is not None:
                placement = placement_of(run.concrete, run.graphs, run.arguments, runtime.logical_names())
            else:
                placement = variables_only(run.concrete)
        except Exception as error:
            reason = f"its graphs could not be read ({type(error).__name__}: {error})"
        with self._lock:
            self.concretes[base.graph] = weakref.ref(run.concrete)
        self._keep(base, placement)
        self._recording.append(
            FUNCTIONS,
            FunctionRecord(
                graph=base.graph,
                function=base.function,
                file=base.file,
                line=base.line,
                owner=base.owner,
                step=self._recording.step,
                placement=placement,
                reason=reason,
                error=run.error,
                first_ns=run.end_ns - run.begin_ns,
                own_ns=now_ns() - began,
            ),
        )

    def _keep(self, base: FunctionRecord, placement: Placement | None) -> None:
        files = {base.file}
        if placement is not None:
            files.update(row.where.file for row in placement.fallbacks if row.where)
            files.update(span.file for row in placement.copies for span in (row.made, row.used) if span)
        for file in files:
            if file and self._recording.is_user_code(file):
                self._recording.keep_source(file)

    def tell_facts(self) -> None:
        """Once, as soon as the script has woken TensorFlow."""
        with self._lock:
            if self._reported or not runtime.initialised():
                return
            self._reported = True
        try:
            self._recording.append(FACTS, runtime.facts())
        except Exception as error:
            self._say(f"TensorFlow's devices could not be listed ({type(error).__name__}: {error})")

    def close(self) -> None:
        """Take what waits for a first execution off the functions that had none."""
        for listener in list(self._listeners):
            first_run.forget(listener)
        self._listeners.clear()

    def _say(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._recording.note(text)


@contextlib.contextmanager
def following_traces(recorder: Recorder) -> Iterator[None]:
    """Follow traces to their first execution. Raises ``Unavailable`` without a known seam."""
    unsubscribe = tracing.subscribe(recorder)
    try:
        yield
    finally:
        unsubscribe()
        recorder.close()
        recorder.tell_facts()


@contextlib.contextmanager
def window(recording: Recording, recorder: Recorder | None) -> Iterator[None]:
    """Count reads of tensors and calls of compiled functions, and append a slice at the end of each step."""
    syncs, calls, eager = HostSyncs(recording.is_user_code), GraphCalls(), EagerDevices(recording.is_user_code)
    with contextlib.ExitStack() as undo:
        for instrument in (syncs, eager):
            try:
                instrument.install()
                undo.callback(instrument.restore)
            except Unavailable as error:
                recording.note(str(error))
        undo.callback(calls.restore)
        if recorder is not None:
            recorder.tell_facts()
            for name, reference in list(recorder.concretes.items()):
                concrete = reference()
                if concrete is not None:
                    calls.watch(concrete, name)
        write = _writer(recording, syncs, calls, eager)
        recording.on_step(lambda number: write(True))
        try:
            yield
        finally:
            write(False)


def _writer(recording: Recording, syncs: HostSyncs, calls: GraphCalls, eager: EagerDevices) -> Callable[[bool], None]:
    kept: set[str] = set()

    def write(complete: bool) -> None:
        found, counted = syncs.take(), calls.take()
        ops, copies, fallbacks = eager.take()
        files = {sync.file for sync in found} | {copy.file for copy in copies} | {row.file for row in fallbacks}
        for file in files - kept - {""}:
            kept.add(file)
            recording.keep_source(file)
        if complete or found or counted or ops:
            recording.append(
                SLICES,
                Slice(
                    complete=complete,
                    syncs=found,
                    calls=counted,
                    eager_ops=ops,
                    eager_copies=copies,
                    eager_fallbacks=fallbacks,
                ),
            )

    return write
