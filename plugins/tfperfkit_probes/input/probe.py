"""The probe ``input``: where batches come from, what bounds them, and what is loaded by hand."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.model import ProbeResult
from tfperfkit.picture import Picture
from tfperfkit.probe import API_VERSION, Capture, Cost, Recording


class InputProbe:
    """Input pipelines: the slowest stage, and data that is loaded or computed again in each step."""

    api: ClassVar[int] = API_VERSION
    name: ClassVar[str] = "input"
    cost: ClassVar[Cost] = Cost.FREE
    claims: ClassVar[frozenset[str]] = frozenset()

    def record(self, recording: Recording, /) -> AbstractContextManager[None]:
        """Follow the making of datasets and iterators, and read their models as steps begin."""
        from tfperfkit_probes.input.record import recorded

        return recorded(recording)

    def prepare(self, capture: Capture, /) -> None:
        """Import what ``analyze`` needs."""
        from tfperfkit_probes.input import analysis, tables  # noqa: F401

    def analyze(self, capture: Capture, /) -> ProbeResult:
        """Stages, loaders, and what feeds the steps."""
        from tfperfkit_probes.input.analysis import analyse, offers
        from tfperfkit_probes.input.tables import summary, tables

        data = analyse(capture)
        return ProbeResult(
            data=data,
            tables=tables(data),
            summary=summary(data),
            notes=tuple(dict.fromkeys((*capture.notes, *data.notes))),
            offers=offers(data),
        )

    def pictures(self, capture: Capture, result: ProbeResult, /) -> Iterable[Picture]:
        """See ``tfperfkit.picture``."""
        from tfperfkit_probes.input.pictures import pictures

        return pictures(result.data)
