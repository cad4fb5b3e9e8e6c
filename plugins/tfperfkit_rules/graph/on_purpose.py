"""Deliberate work next to the update: a finding if it takes much time, headroom if it takes some."""

from __future__ import annotations

from typing import Any

import msgspec

from tfperfkit import calibration
from tfperfkit.calibration import Derived, Threshold
from tfperfkit.model import Finding, SourceSpan
from tfperfkit_rules.graph.pricing import Part
from tfperfkit_rules.measures import shared

MUCH_BESIDE = Threshold(
    calibration.SEVERITY_HIGH.value,
    "share",
    "minimum share of the step in clipping by a norm or in averages of weights, for a finding instead of headroom",
    Derived("both are done on purpose; XProf's high share of one part of a step"),
)


def weighed(made: Finding, part: Part[Any], *places: SourceSpan) -> Finding:
    """The finding with what asks for it first; headroom below the share from which it is a fault, of what may go at
    least and at most the middle: many small operations take as long to start as to run."""
    where = tuple(dict.fromkeys((*places, *made.where)))[: shared.MAX_PLACES.value]
    much = (part.goes.low + part.goes.high) / 2 >= MUCH_BESIDE.value
    return msgspec.structs.replace(
        made,
        where=where,
        headroom=not much,
        severity=made.severity if much else "info",
        absorbs=made.absorbs if much else (),
    )
