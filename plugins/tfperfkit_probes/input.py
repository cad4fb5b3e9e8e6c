"""The probe ``input``: where batches come from, what bounds them, and what is loaded by hand."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import ClassVar

from tfperfkit.model import ProbeResult
from tfperfkit.probe import API_VERSION, Capture, Cost, Recording
from tfperfkit_probes.input_record import Recorder


class InputProbe:
    """tf.data pipelines stage by stage, data passed to Keras, hand-made loaders, functions that return the same."""

    api: ClassVar[int] = API_VERSION
    name: ClassVar[str] = "input"
    cost: ClassVar[Cost] = Cost.FREE
    claims: ClassVar[frozenset[str]] = frozenset()

    @contextlib.contextmanager
    def record(self, recording: Recording, /) -> Iterator[None]:
        """Follow the making of datasets and iterators, and read their models as steps begin."""
        recorder = Recorder(recording)
        recorder.open()
        recording.on_step(recorder.step, rarely=True)
        try:
            yield
        finally:
            recorder.close()

    def analyze(self, capture: Capture, /) -> ProbeResult:
        """Stages, loaders, and what feeds the steps."""
        from tfperfkit_probes.input_analysis import analyse
        from tfperfkit_probes.input_tables import summary, tables

        data = analyse(capture)
        return ProbeResult(
            data=data, tables=tables(data), summary=summary(data),
            notes=tuple(dict.fromkeys((*capture.notes, *data.notes))),
        )
