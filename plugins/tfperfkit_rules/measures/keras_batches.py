"""The batches that Keras' ``predict`` and ``evaluate`` go through at a line, and what computing one needs."""

from __future__ import annotations

import statistics
from typing import NamedTuple

from tfperfkit_probes.input.model import InputData
from tfperfkit_probes.ops.model import OpsData

from tfperfkit.clock import ms
from tfperfkit.offers import FunctionCosts
from tfperfkit.records.samples import Place
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import graph_time
from tfperfkit_rules.measures.making import MIN_MADE
from tfperfkit_rules.measures.step_place import sites

_WAYS = ("predict", "evaluate")
#: What Keras compiles for them.
_COMPILED = ("one_step_on_data", "one_step_on_data_distributed", "multi_step_on_iterator")


class Batches(NamedTuple):
    """``number`` of a run; ``each_ms`` from one to the next. ``growing_ms``: of that, what grows with a batch, at most;
    None where that is not known. Python sees no batch of ``evaluate``, which takes them in its compiled function: of
    arrays their size tells how many there are."""

    number: int
    each_ms: float
    growing_ms: float | None = None


def keras_batches(evidence: Evidence, place: Place) -> Batches | None:
    """None where they are few, or can't be told apart."""
    here = {site.id: site.kind for site in sites(evidence) if (site.file, site.line) == place}
    begun = [item.begin_ns for item in evidence.markers() if here.get(item.site) == "next"]
    if begun:
        took = [ms(after - before) for before, after in zip(begun, begun[1:], strict=False)]
        return Batches(len(took), statistics.median(took)) if len(took) >= MIN_MADE.value else None
    calls = [item for item in evidence.markers() if here.get(item.site) in _WAYS and item.end_ns > item.begin_ns]
    data = evidence.offer(InputData)
    given = [
        row.batches or 0
        for row in (data.keras if data is not None else ())
        if (row.file, row.line) == place and row.way in _WAYS and row.kind == "arrays"
    ]
    if not calls or len(given) != 1 or given[0] < MIN_MADE.value:
        return None
    each_ms = statistics.median(ms(item.end_ns - item.begin_ns) for item in calls[1:] or calls) / given[0]
    return Batches(given[0] * len(calls), each_ms, _growing_ms(evidence, place))


def _growing_ms(evidence: Evidence, place: Place) -> float | None:
    """Of the functions that were traced for this line; where it uses those of another, the largest of all."""
    costs, ops = evidence.offer(FunctionCosts), evidence.offer(OpsData)
    found = [item for item in (costs.functions if costs is not None else ()) if item.function in _COMPILED]
    traced = {
        brief.graph
        for brief in (ops.all if ops is not None else ())
        if any((span.file, span.line) == place for span in brief.callers)
    }
    found = [item for item in found if item.graph in traced] or found
    bounds = [graph_time.growing_ms(evidence, item) for item in found]
    known = [bound for bound in bounds if bound is not None]
    return max(known) if known and len(known) == len(bounds) else None
