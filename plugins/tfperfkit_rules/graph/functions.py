"""Shared parts of the rules about graphs: the functions, their display names, and a finding without a price."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from tfperfkit_probes.ops.model import Brief, OpsData

from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.pricing import Part, price
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared


def largest_first(evidence: Evidence) -> list[Brief]:
    """All concrete functions, Keras' own included, by their operations."""
    data = evidence.offer(OpsData)
    return sorted(data.all, key=lambda function: -function.operations) if data is not None else []


def once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Return causes that a function shares with its caller once: by its first place."""
    seen: set[tuple[str, int]] = set()
    for finding in findings:
        place = first_place(finding.where)
        if place not in seen:
            seen.add(place)
            yield finding


def first_place(where: Sequence[SourceSpan]) -> tuple[str, int]:
    """File and line of the place to change."""
    return (where[0].file, where[0].line) if where else ("", 0)


def places(where: Iterable[SourceSpan | None]) -> tuple[SourceSpan, ...]:
    """The places that are known, each once; MAX_PLACES at most."""
    return tuple(dict.fromkeys(place for place in where if place is not None))[: shared.MAX_PLACES.value]


def counted(name: str, value: float, unit: str = "count") -> Measurement:
    """Return a figure of the graph itself, which is the same throughout the run."""
    return Measurement(name, value, unit, "run")


def definition(function: Brief) -> SourceSpan | None:
    """Return the place of the function's definition; None for Keras' own functions, which users don't change."""
    if function.owner != "user" or not function.file:
        return None
    return SourceSpan(function.file, function.line, function.function)


def name_function(function: Brief) -> str:
    """Return its name in a sentence."""
    return function.function if function.owner == "user" else f"Keras' {function.function}"


def of_run(evidence: Evidence, finding: Finding, lost_ms: float, name: str) -> Finding:
    """With ``lost_ms``, an estimate, as a share of the whole run: most of it goes, or all."""
    whole = evidence.run.wall_s * 1e3
    share = min(lost_ms / whole, shared.MAX_RUN_SHARE.value) if whole > 0 else 0.0
    return msgspec.structs.replace(
        finding,
        basis="run",
        share_of_step=share,
        gain=price(finding.remedy, Part(shared.MOSTLY.value * share, share)),
        evidence=(
            *finding.evidence,
            Measurement(name, lost_ms, "ms", "run"),
            Measurement("share of the run", share, "share", "run"),
        ),
    )


def of_step(finding: Finding, share: float, saved: Part, name: str, absorbs: tuple[str, ...] = ()) -> Finding:
    """Return the finding with its ``share`` of the step and what of it goes; as it was if nothing was measured."""
    if share <= 0:
        return finding
    return msgspec.structs.replace(
        finding,
        share_of_step=min(share, 1.0),
        gain=price(finding.remedy, saved),
        severity="low",  # it follows from the gain; without one the finding may be a remark
        evidence=(*finding.evidence, Measurement(name, share, "share", "breakdown")),
        absorbs=absorbs,
    )
