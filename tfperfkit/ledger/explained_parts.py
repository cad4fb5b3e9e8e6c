"""Which parts of an account a finding explains."""

from __future__ import annotations

from tfperfkit.model import Family, Finding
from tfperfkit.records.parts import PartName

_PARTS_OF_FAMILY: dict[Family, tuple[PartName, ...]] = {
    "input": ("input", "python", "other", "tracing"),
    "eager": ("eager_ops", "dispatch", "python", "host_sync", "evaluate", "tracing", "graph", "input"),
    "retrace": ("tracing", "dispatch", "graph"),
    "compile": ("tracing", "graph", "dispatch", "eager_ops"),
    "batch": ("dispatch", "graph", "python", "input", "eager_ops"),
    "precision": ("graph", "eager_ops"),
    "device": ("graph", "eager_ops", "copies"),
    "sync": ("host_sync", "copies"),
    "memory": ("gc", "other", "dispatch"),
    "graph": ("graph", "dispatch", "eager_ops"),
    "step": ("python", "saving", "evaluate", "host_sync", "gc", "dispatch", "eager_ops", "other", "tracing", "input"),
    "distribution": ("collectives",),
}


def explained_parts(finding: Finding) -> tuple[PartName, ...]:
    """Return the parts of an account that a finding may explain: those that it names, or those of its family."""
    return finding.parts or _PARTS_OF_FAMILY.get(finding.family, ())
