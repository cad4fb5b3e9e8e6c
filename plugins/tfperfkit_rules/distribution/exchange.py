"""Exchanges for several rules of this family: the compiled functions of the steps that exchange, and their share."""

from __future__ import annotations

from tfperfkit_probes.ops.model import Brief, Exchanged, OpsData

from tfperfkit.model import SourceSpan
from tfperfkit.offers import FunctionCalls
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.step_place import reached
from tfperfkit_rules.measures.step_shares import span

GATHERS = "CollectiveGather"


def exchanging(evidence: Evidence) -> Brief | None:
    """The largest compiled function with collective operations; of those that the traced steps called, if any did."""
    data, calls = evidence.offer(OpsData), evidence.offer(FunctionCalls)
    found = [each for each in data.all if each.marks.exchanged] if data is not None else []
    called = [each for each in found if calls is not None and each.graph in calls.per_step]
    return max(called or found, key=lambda each: each.operations, default=None)


def is_gather(row: Exchanged) -> bool:
    """Whether each replica is given what all have, instead of their sum."""
    return row.type.startswith(GATHERS)


def of_numbers(row: Exchanged) -> bool:
    """Whether it carries gradients or values, not indices or sizes."""
    return row.dtype.startswith(("float", "bfloat", "half"))


def replicas(rows: list[Exchanged]) -> int:
    """How many take part."""
    return max((row.replicas for row in rows), default=1)


def workers(rows: list[Exchanged]) -> int:
    """Processes that take part, each with as many devices as this one."""
    devices = max((row.devices for row in rows), default=1)
    return max(1, replicas(rows) // max(devices, 1))


def applied(evidence: Evidence) -> list[SourceSpan]:
    """The user's lines that give gradients to an optimizer.

    A strategy makes their exchange on the main thread, so that its own place is the call of ``strategy.run``.
    """
    return [span(evidence, site.file, site.line) for site in reached(evidence, "apply") if site.file]


def size(number: float) -> str:
    """Bytes for a sentence."""
    for limit, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "KB")):
        if number >= limit:
            return f"{number / limit:,.1f} {unit}"
    return f"{number:,.0f} bytes"
