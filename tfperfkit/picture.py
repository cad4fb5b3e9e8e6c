"""Pictures that a probe may add to a report. Optional: see ``PictureProbe``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from tfperfkit.model import ProbeResult
from tfperfkit.probe import Capture, Probe
from tfperfkit.records.pictures import Entry, Flow, Ledger, Line, Node, Picture, Series, Stage, Tree

__all__ = ["Entry", "Flow", "Ledger", "Line", "Node", "Picture", "PictureProbe", "Series", "Stage", "Tree"]


@runtime_checkable
class PictureProbe(Probe, Protocol):
    """A probe of which something can be drawn."""

    def pictures(self, capture: Capture, result: ProbeResult, /) -> Iterable[Picture]:
        """Pictures of what ``analyze`` gave, called where they are wanted only. Reads files at most, in bounded memory;
        of more than ``records.pictures`` allows the largest."""
