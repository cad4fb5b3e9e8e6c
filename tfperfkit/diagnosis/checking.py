"""A finding as it may go into the report, whoever made it: a rule, or a probe that has no rules."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tfperfkit.model import Finding


def is_proven(finding: Finding) -> bool:
    """Return whether it rests on a measurement and its share of the step is a number."""
    return bool(finding.evidence) and math.isfinite(finding.share_of_step)


def with_whole_numbers(findings: Sequence[Finding], raw: Sequence[Mapping[str, Any]]) -> tuple[Finding, ...]:
    """Return the findings with counts as in ``raw``: conversion turned them into floats, and 7 retraces are not 7.0."""
    found = []
    for finding, given in zip(findings, raw, strict=True):
        pairs = zip(finding.evidence, given["evidence"], strict=True)
        evidence = tuple(msgspec.structs.replace(item, value=pair["value"]) for item, pair in pairs)
        found.append(msgspec.structs.replace(finding, evidence=evidence))
    return tuple(found)
