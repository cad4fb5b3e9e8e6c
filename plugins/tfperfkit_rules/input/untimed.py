"""A pipeline that one call of a compiled function goes through, of which no stage was timed: no window opens within a
call, and TensorFlow keeps no times of datasets there. The kinds of its stages still show its problem."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from tfperfkit_probes.input.model import InputData, Pipeline

from tfperfkit.model import Finding, Measurement
from tfperfkit.offers import FunctionCosts
from tfperfkit.pricing import bound
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.feed import feeding, place, places


def gone_through(evidence: Evidence) -> Pipeline | None:
    """The pipeline, where most of a work passes in compiled functions and one of these goes through it."""
    data = evidence.offer(InputData)
    if data is None or evidence.work is None or evidence.share("graph") < shared.MOSTLY.value:
        return None
    pipeline = next((item for item in feeding(evidence, data) if item.stages), None)
    return pipeline if pipeline is not None and pipeline.in_graph and not pipeline.measured else None


def multiplies(evidence: Evidence, pipeline: Pipeline) -> bool:
    """Whether the compiled function has products of matrices, convolutions or the like: these may take the time."""
    costs = evidence.offer(FunctionCosts)
    mine = [each for each in (costs.functions if costs is not None else ()) if each.function == pipeline.in_graph]
    return not mine or any(each.heavy for each in mine)


def without_gain(evidence: Evidence, made: Finding, pipeline: Pipeline, stages: Iterable[int]) -> Finding:
    """Return a finding about these stages (their numbers). No cost is claimed, for nothing tells their part of the
    function's time: all of it is the most."""
    share = evidence.share("graph")
    own = Measurement(f"share of {evidence.unit.the} in the compiled function", share, "share", "samples")
    lines = [place(pipeline.stages[number], pipeline) for number in stages]
    return msgspec.structs.replace(
        made,
        severity="low",
        share_of_step=0.0,
        gain=bound(share),
        detail=f"{made.detail} Its part of {evidence.unit.the} was not timed.",
        where=tuple(dict.fromkeys((*places(evidence, *lines), *made.where))),
        evidence=(*made.evidence, own),
        parts=("graph",),
    )
