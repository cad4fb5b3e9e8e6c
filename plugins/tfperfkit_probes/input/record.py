"""Recording: what builds pipelines, readings of their models, what is passed to Keras, what functions return."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Iterator
from typing import Any

from tfperfkit.clock import NS_PER_S, now_ns
from tfperfkit.errors import Unavailable
from tfperfkit.instruments.input import iterator_model
from tfperfkit.instruments.input.answers import Answers
from tfperfkit.instruments.input.callback_moments import EvaluatedBatches
from tfperfkit.instruments.input.datasets import Pipelines
from tfperfkit.instruments.input.keras import KerasDatasets
from tfperfkit.instruments.input.returns import Returns
from tfperfkit.probe import Recording
from tfperfkit.records.pipelines import Answer, KerasData, MadeDataset, MadeIterator, RanOut
from tfperfkit_probes.input.streams import (
    ANSWERS,
    COUNTS,
    DATASETS,
    ITERATORS,
    KERAS,
    RAN_OUT,
    READINGS,
    RETURNED,
    Reading,
    Watched,
)

#: The first iterators of one line are all recorded; later ones when their number is a power of two.
_ALL_ITERATORS = 16
#: At one moment this many iterators are read, the newest first, and so many readings are made in a run.
_MAX_READ, _MAX_READINGS = 4, 400
#: Later readings are at least this far apart, sooner after the making of an iterator.
_APART_NS, _SOON_NS = NS_PER_S, NS_PER_S // 20
_FRESH = 3
#: In these methods of Keras no step begins: their iterators are read between batches.
_STEPLESS = ("evaluate", "predict")
_COST_APART = 100
#: The first readings, of which the first two, the costly ones, fall into the warm-up.
_READ = (2, 3, 9)
#: Returned values are watched in the second step, which belongs to the warm-up, and, only where it showed functions
#: that return data, in the third: no window opens before the fifth. Later if no function was hot by then, as with short
#: steps: the windows of a run of short steps are over.
_WATCHED, _WATCHED_LATE = (2, 3), (150, 151)
_HOT = 0.01


class Recorder:
    """Listens to the instruments. Holds iterators weakly."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._pipelines = Pipelines(self, recording.is_user_code)
        self._keras = KerasDatasets(self._reported, recording.is_user_code, self._pipelines.number, self._ended)
        self._within = EvaluatedBatches(self._evaluates)
        self._answers = Answers(self._answered, recording.is_user_code, self._pipelines.number)
        self._reader = iterator_model.Reader(recording.directory / "model.pb")
        self._live: list[tuple[int, weakref.ref[Any]]] = []
        self._lock = threading.RLock()
        self._said: set[str] = set()
        self._evaluated = self._batches = 0  # the newest iterator of such a call, and its batches
        self._last_ns = self._readings = self._last_step = self._fresh = self._cost_ns = 0
        self._watching: Returns | None = None
        self._candidates: set[tuple[str, int]] | None = None  # None: not looked yet
        self._thread = self._out = 0

    def open(self) -> None:
        """Raises Unavailable when tf.data is not there."""
        self._pipelines.install()
        self._recording.when_keras(self._keras.install)
        self._recording.when_keras(self._within.install)
        self._recording.when_keras(self._answers.install)
        if limit := iterator_model.limits():
            self._say(limit)
            self._readings = _MAX_READINGS

    def close(self) -> None:
        """Restore everything; one more reading of the iterators that had too few."""
        self._end_watch()
        self._pipelines.restore()
        self._keras.restore()
        self._within.restore()
        self._answers.restore()
        if self._live and self._readings < 2 and self._readings < _MAX_READINGS:
            self._read(0, now_ns())
        try:
            self._reader.close()
        except Exception as error:  # the script has taken TensorFlow's context down
            self._say(f"a function of tfperf stayed in TensorFlow ({type(error).__name__})")
        for reason in (*self._keras.reasons, *self._within.reasons, *self._answers.reasons):
            self._say(reason)
        if self._pipelines.made:
            self._recording.append(
                COUNTS,
                {"datasets": dict(self._pipelines.made), "own_ns": self._pipelines.cost_ns + self._answers.cost_ns},
            )

    # --- the instruments ----------------------------------------------------------------------------------------

    def dataset(self, made: MadeDataset) -> None:
        self._keras.install()
        self._keep(made.origin.file)
        if made.about.mapped is not None:
            self._keep(made.about.mapped.file)
        self._recording.append(DATASETS, made)

    def iterator(self, made: MadeIterator, iterator: Any) -> None:
        self._keras.install()
        self._keep(made.origin.file)
        if made.made <= _ALL_ITERATORS or made.made & (made.made - 1) == 0:
            self._recording.append(ITERATORS, [made, self._recording.step])
        if not made.in_graph:
            if made.origin.way in _STEPLESS:
                self._evaluated, self._batches = made.number, 0
            with self._lock:
                self._live = [item for item in self._live if item[1]() is not None][-32:]
                self._live.append((made.number, weakref.ref(iterator)))
                self._fresh = _FRESH

    def _reported(self, data: KerasData) -> None:
        for file in (data.file, data.place.file if data.place else ""):
            self._keep(file)
        self._recording.append(KERAS, data)

    def _answered(self, answer: Answer) -> None:
        self._keep(answer.file)
        self._recording.append(ANSWERS, answer)

    def _ended(self, data: RanOut) -> None:
        self._out += 1
        if self._out <= _MAX_READINGS:
            self._keep(data.file)
            self._recording.append(RAN_OUT, data)

    # --- steps --------------------------------------------------------------------------------------------------

    def step(self, number: int) -> bool:
        """Note that a step begins, on the training thread; whether the next one matters too."""
        self._step(number)
        return self._watching is not None or number < _WATCHED_LATE[-1]

    def _step(self, number: int) -> None:
        self._keras.install()
        self._end_watch()
        if number in _WATCHED or number in _WATCHED_LATE:
            self._maybe_watch(number)
        if not self._live or self._readings >= _MAX_READINGS:
            return
        now = now_ns()
        # Two readings one step apart tell which iterator feeds the step; after that now and then, sooner for an
        # iterator that is new (those of short epochs are gone soon), and never for more than a hundredth of the time.
        wait = max(_APART_NS if self._fresh <= 0 else _SOON_NS, _COST_APART * self._cost_ns)
        if number in _READ or (number > _READ[-1] and now - self._last_ns >= wait):
            self._fresh -= 1
            self._read(number, now)

    def _evaluates(self) -> None:
        """Note that a batch of ``evaluate`` or ``predict`` begins: no step does, and the iterator is gone as the call
        returns."""
        if not self._evaluated or self._readings >= _MAX_READINGS:
            return
        self._batches += 1
        now = now_ns()
        apart = max(_APART_NS if self._batches > _READ[-1] else _SOON_NS, _COST_APART * self._cost_ns)
        if self._batches in _READ[:2] or now - self._last_ns >= apart:
            self._read(0, now, self._evaluated)

    def _read(self, step: int, now: int, only: int = 0) -> None:
        self._last_ns = now
        with self._lock:
            live = [
                (number, found)
                for number, ref in reversed(self._live)
                if (not only or number == only) and (found := ref()) is not None
            ]
        for number, iterator in live[:_MAX_READ]:
            begin = now_ns()
            try:
                root, nodes = self._reader.read(iterator)
            except Unavailable as reason:
                self._say(str(reason))
                self._forget(number)
                continue
            except Exception as error:
                self._say(f"a pipeline could not be read ({type(error).__name__}: {error})")
                self._forget(number)
                continue
            self._readings += 1
            self._cost_ns = now_ns() - self._last_ns  # of all that were read now
            self._recording.append(
                READINGS,
                Reading(
                    iterator=number,
                    step=step,
                    ns=begin,
                    root=root,
                    nodes=nodes,
                    own_ns=now_ns() - begin,
                ),
            )

    def _forget(self, number: int) -> None:
        with self._lock:
            self._live = [item for item in self._live if item[0] != number]

    # --- returned values ----------------------------------------------------------------------------------------

    def _maybe_watch(self, number: int) -> None:
        if self._candidates is not None and (not self._candidates or number != self._last_step + 1):
            return
        codes = []
        for function in self._recording.hot_functions():
            code = self._recording.code(function)
            wanted = self._candidates is None or (function.file, function.line) in self._candidates
            if code is not None and wanted and (function.share >= _HOT or function.share == 0):
                codes.append(code)
        if not codes:
            return
        watching = Returns(codes)
        try:
            watching.start()
        except Unavailable:
            return  # a window of lines, or the script's own
        self._thread = threading.get_ident()
        self._watching, self._last_step = watching, number

    def _end_watch(self) -> None:
        watching = self._watching
        if watching is None or threading.get_ident() != self._thread:
            return
        self._watching = None
        found = watching.stop()
        self._recording.append(RETURNED, Watched(step=self._last_step, functions=found, own_ns=watching.cost_ns))
        # With short steps no sample may have fallen on what each of them calls: look again later.
        if self._candidates is None and (found or self._last_step > _WATCHED[-1]):
            self._candidates = {
                (row.file, row.line) for row in found if row.size and len(row.values) == 1 and not row.unknown
            }

    def _keep(self, file: str) -> None:
        if file and self._recording.is_user_code(file):
            self._recording.keep_source(file)

    def _say(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._recording.note(text)


@contextlib.contextmanager
def recorded(recording: Recording) -> Iterator[None]:
    """Follow the making of datasets and iterators, and read their models as steps begin."""
    recorder = Recorder(recording)
    recorder.open()
    recording.on_step(recorder.step, rarely=True)
    try:
        yield
    finally:
        recorder.close()
