"""A rule: what the probe's figures mean together with the user's source, which the probe does not see as a whole."""

from __future__ import annotations

from collections.abc import Iterator

from probe_hello.analysis import HelloData
from tfperfkit.model import Finding, Measurement
from tfperfkit.rule import Evidence, Rule


def by_hand(evidence: Evidence) -> Iterator[Finding]:
    """HEL002: each step calls for full collections, so Python hardly makes a cheap one of young objects any more.

    A remark: what the full ones cost, the probe reports (HEL001); what the cheap ones would cost was not measured.
    """
    data = evidence.offer(HelloData)
    calls = evidence.calls("gc.collect")
    if data is None or len(data.generations) < 3 or not calls:
        return
    young, middle, full = (generation.per_step for generation in data.generations)
    if full < 1 or young + middle >= full:
        return
    window = "baseline" if evidence.steps.clean else "run"
    yield Finding(
        code="HEL002",
        family="memory",
        title="Full collections by hand take the place of Python's cheap ones",
        severity="info",
        share_of_step=0.0,
        where=tuple(calls[:3]),
        evidence=(
            Measurement("full collections per step", full, "number", window),
            Measurement("younger collections per step", young + middle, "number", window),
        ),
        advice="Leave it to Python, which looks through new objects first: take gc.collect() out of the loop.",
    )


RULES: tuple[Rule, ...] = (by_hand,)
