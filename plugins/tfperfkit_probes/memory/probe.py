"""The probe ``memory``: how much the process holds, whether it grows with the steps, and what grows."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any, ClassVar

from tfperfkit.model import ProbeResult
from tfperfkit.picture import Picture
from tfperfkit.probe import API_VERSION, Capture, Cost, Recording


class MemoryProbe:
    """Memory of the process: its peak, the lines where it grows with the steps, and the distance to a limit.

    Samples by a thread, and a few looks at the user's containers as steps begin.
    """

    api: ClassVar[int] = API_VERSION
    name: ClassVar[str] = "memory"
    cost: ClassVar[Cost] = Cost.FREE
    claims: ClassVar[frozenset[str]] = frozenset()

    def record(self, recording: Recording, /) -> AbstractContextManager[None]:
        """Raises ``Unavailable`` on a system that does not tell the memory of a process."""
        from tfperfkit_probes.memory.record import recorded

        return recorded(recording)

    def prepare(self, capture: Capture, /) -> None:
        """Import what ``analyze`` needs."""
        from tfperfkit_probes.memory import analysis, tables  # noqa: F401

    def analyze(self, capture: Capture, /) -> ProbeResult:
        """Growth, what grows, peaks. Findings are made elsewhere, across probes."""
        from tfperfkit.records.convert import read
        from tfperfkit_probes.memory import tables
        from tfperfkit_probes.memory.analysis import analyse, offers
        from tfperfkit_probes.memory.model import GC, CollectionRecord

        data, notes = analyse(capture)
        return ProbeResult(
            data=data,
            tables=tables.tables(data),
            summary=tables.summary(data),
            notes=tuple(dict.fromkeys((*capture.notes, *notes))),
            offers=offers(data, read(capture, GC, CollectionRecord)),
        )

    def brief(self, capture: Capture, /) -> tuple[Any, ...]:
        """The collections."""
        from tfperfkit.records.convert import read
        from tfperfkit_probes.memory.analysis import collected
        from tfperfkit_probes.memory.model import GC, CollectionRecord

        return (collected(read(capture, GC, CollectionRecord)),)

    def pictures(self, capture: Capture, result: ProbeResult, /) -> Iterable[Picture]:
        """See ``tfperfkit.picture``."""
        from tfperfkit_probes.memory.pictures import pictures

        return pictures(result.data)
