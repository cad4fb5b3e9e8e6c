"""EAG004, for one ``predict`` or ``evaluate`` that goes through its data in small batches.

Batches are timed one by one. The gain assumes that larger batches leave at most half of the overhead.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import NamedTuple

from tfperfkit_probes.input.model import InputData
from tfperfkit_probes.ops.model import OpsData

from tfperfkit.calibration import Measured, Threshold
from tfperfkit.clock import ms
from tfperfkit.gain import MEDIUM
from tfperfkit.model import Finding, Measurement
from tfperfkit.offers import FunctionCosts
from tfperfkit.pricing import Part, costs, price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.records.samples import MIN, Place
from tfperfkit.remedy import BatchSize
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import graph_time, shared
from tfperfkit_rules.measures.called import EVALUATE, find_call_at, name_receiver
from tfperfkit_rules.measures.loop_iterations import where
from tfperfkit_rules.measures.making import MIN_MADE
from tfperfkit_rules.measures.predicting import MIN_SETTING_UP, predicting
from tfperfkit_rules.measures.step_place import sites

PREDICT_BATCH_MS = Threshold(
    2.0,
    "ms",
    "maximum time of a batch of predict outside of its computation",
    Measured("1.6 ms in 400 batches of one row, 1.3 ms in 200 batches of 32 rows", TWO_BUSY_CORES, 5),
)
BATCHES_LEFT_MAX = Threshold(
    0.5,
    "share",
    "maximum share of the time of predict outside of its computation that larger batches leave",
    Measured(
        "400 rows in batches of 1 and of 400: 703 and 64 ms; 6,400 rows in batches of 32 and of 1,024: 392 and 149 ms",
        TWO_BUSY_CORES,
        5,
    ),
)

EACH_BATCH = "Each batch costs one iteration of Keras' loop and one function call, whatever its size."


def larger_batches(model: str, name: str) -> str:
    """Return the advice for a model and a method of Keras by their names in the script."""
    return (
        f"Increase the batch size: {model}.{name}(..., batch_size=1024), or as much as memory allows; the default is "
        "32. For a dataset, set it in batch(); for a PyDataset, in __getitem__."
    )


def batches_too_small(evidence: Evidence) -> Iterable[Finding]:
    """The finding, where what Keras does around a batch, and the call of its function, take most of its time."""
    samples = evidence.samples
    if evidence.work is None or samples.count < MIN:
        return
    found = predicting(evidence, samples.stacks.items())
    whole = found.at.total()
    if not whole or found.setting_up >= MIN_SETTING_UP.value * whole or found.is_repeated(evidence):
        return
    place = found.at.most_common(1)[0][0]
    waits = sum(
        count
        for stack, count in samples.stacks.items()
        if stack.activity == "input" and stack.frames and (stack.frames[-1].file, stack.frames[-1].line) in found.at
    )
    batches = keras_batches(evidence, place)
    if waits >= shared.MOSTLY.value * whole or batches is None or batches.each_ms <= 0:
        return
    each_ms = batches.each_ms
    around = 1 - found.computing / whole
    calling = min(found.computing / whole, costs.FUNCTION_CALL_MIN_MS.value / each_ms)
    own = around + calling
    if batches.growing_ms is not None:  # its function starts as many operations for one row as for all
        own = max(own, 1 - batches.growing_ms / each_ms)
    # A longer batch than that computes, whatever the samples saw the thread do meanwhile.
    own = min(own, PREDICT_BATCH_MS.value / each_ms)
    overhead = own * whole / samples.count
    if own < shared.MOSTLY.value or overhead < MEDIUM:
        return
    gained = price(BatchSize("predict"), Part(overhead * (1 - BATCHES_LEFT_MAX.value), whole / samples.count))
    name = "evaluate" if found.api is EVALUATE else "predict"
    model = name_receiver(find_call_at(evidence, place, found.api))
    yield Finding(
        code="EAG004",
        remedy=BatchSize("predict"),
        title=f"{model}.{name} called with small batches, so overhead dominates",
        share_of_step=min(overhead, 1.0),
        gain=gained,
        where=where(evidence, [place]),
        evidence=(
            Measurement("time in batch overhead", overhead, "share", "samples"),
            Measurement("batches timed", float(batches.number), "count", "run"),
            Measurement("median time per batch", each_ms, "ms", "run"),
        ),
        advice=larger_batches(model, name),
        detail=EACH_BATCH,
        absorbs=("INP001", "INP012"),
        absorbs_here=("LIN001",),
        parts=("evaluate", "graph", "dispatch", "eager_ops", "input"),
    )


_WAYS = ("predict", "evaluate")
#: The functions that Keras compiles for these methods.
_COMPILED = ("one_step_on_data", "one_step_on_data_distributed", "multi_step_on_iterator")


class Batches(NamedTuple):
    """The batches of Keras' ``predict`` or ``evaluate`` at a line. ``number`` in a run; ``each_ms`` from one to the
    next; ``growing_ms``: at most this part of it grows with the batch, None if unknown. ``evaluate`` takes batches in
    its compiled function, where Python sees none: the size of arrays tells how many there are."""

    number: int
    each_ms: float
    growing_ms: float | None = None


def keras_batches(evidence: Evidence, place: Place) -> Batches | None:
    """Measure the batches; None if they are few, or can't be told apart."""
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
    """Estimate it from the functions traced for this line, or, if it uses those of another line, the largest of all."""
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
