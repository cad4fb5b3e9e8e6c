"""The rules asked of the run and of each work outside of its training steps; what they find, merged and ranked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from tfperfkit import gain
from tfperfkit.clock import MS_PER_S, NS_PER_S
from tfperfkit.diagnosis.freeing import freeing_s, shorter_s
from tfperfkit.diagnosis.merging import merge
from tfperfkit.diagnosis.ranking import rank
from tfperfkit.diagnosis.residual import residual
from tfperfkit.diagnosis.rules import apply
from tfperfkit.diagnosis.work_words import in_words_of
from tfperfkit.model import Basis, Finding
from tfperfkit.rule import Evidence


def findings(
    run: Evidence, work: Sequence[Evidence], of_probes: Iterable[Finding], wall_s: float
) -> tuple[tuple[Finding, ...], list[str]]:
    """All findings, the costliest first, and a sentence for each rule that failed. ``wall_s``: of the run."""
    given, troubles = apply(run)
    found = [*of_probes, *given]
    shares = _of_training(run, wall_s)
    for evidence in work:
        if evidence.work is None:
            continue
        name = evidence.work.name
        shares[name, "step"] = shares[name, "turn"] = evidence.work.share_of_run
        more, _ = apply(evidence)  # a rule that failed here failed above
        of_work = [in_words_of(item, evidence.unit) for item in more if _concerns(item, found)]
        found += [msgspec.structs.replace(item, work=name, work_kind=evidence.work.kind) for item in of_work]
    merged = merge(found, shares)
    # What was found twice, at a line that two works reach, explains a part of both.
    left = [*residual(run, found)]
    for evidence in work:
        if evidence.work is None:
            continue
        rest = [in_words_of(item, evidence.unit) for item in residual(evidence, found)]
        named = {"work": evidence.work.name, "work_kind": evidence.work.kind}
        left += [msgspec.structs.replace(item, **named) for item in rest]
    freed_s = freeing_s(run)
    told = [_of_the_run(item, shares, wall_s, {} if item.work else freed_s) for item in (*merged, *left)]
    return rank(told, shares), troubles


def _of_training(run: Evidence, wall_s: float) -> dict[tuple[str, Basis], float]:
    """The shares of the run that training steps take, and steps with what passes between them."""
    if wall_s <= 0:
        return {("", "step"): 0.0, ("", "turn"): 0.0}
    steps = sum(step.end_ns - step.begin_ns for step in run.steps.steps) / NS_PER_S
    # By how many they are, not by how long: the first, which is traced and compiled, has no longer pause behind it.
    pauses = run.account.between_total_ms if run.account is not None else 0.0
    between = sum(step.count for step in run.steps.steps) * pauses / MS_PER_S
    return {("", "step"): min(steps / wall_s, 1.0), ("", "turn"): min((steps + between) / wall_s, 1.0)}


def _of_the_run(
    item: Finding, shares: Mapping[tuple[str, Basis], float], wall_s: float, freed_s: Mapping[Basis, float]
) -> Finding:
    """A finding with its share of the run and what it would save of it. ``shares``: of the run, by work and basis;
    ``freed_s``: what passes until iterators are freed, which is shorter behind shorter steps."""
    if item.basis == "risk":
        return item
    whole = 1.0 if item.basis == "run" else shares.get((item.work, item.basis), 0.0)
    share = min(item.share_of_step * whole, 1.0) if whole else None
    return msgspec.structs.replace(
        item, share_of_run=share, saves_s=_saved(item, whole * wall_s, freed_s.get(item.basis, 0.0))
    )


def _saved(item: Finding, of_s: float, freed_s: float) -> tuple[float, float | None] | None:
    """Seconds, from and to, of the ``of_s`` in which what the finding is about ran, as often as it did."""
    if of_s <= 0:
        return None
    if item.predicted_speedup is not None:
        low, high = item.predicted_range or (item.predicted_speedup, item.predicted_speedup)
        if high <= 1:
            return None
        # Of one factor there is one figure.
        least = shorter_s(freed_s, of_s, low)[0 if low < high else 1]
        return of_s * gain.saving(low) + least, of_s * gain.saving(high) + shorter_s(freed_s, of_s, high)[1]
    if item.at_least is None or item.at_least <= 1:
        return None
    return of_s * gain.saving(item.at_least) + shorter_s(freed_s, of_s, item.at_least)[0], None


def _concerns(item: Finding, known: Sequence[Finding]) -> bool:
    """Whether a finding is of this work: what concerns the whole run, or a risk, was found there already."""
    return item.basis in ("step", "turn") or not any(other.code == item.code for other in known)
