"""The rules asked of the run and of each work outside of its training steps; what they find, merged and ranked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from tfperfkit.diagnosis.merging import merge
from tfperfkit.diagnosis.ranking import rank
from tfperfkit.diagnosis.residual import residual
from tfperfkit.diagnosis.rules import apply
from tfperfkit.model import Finding
from tfperfkit.rule import Evidence


def findings(
    run: Evidence, work: Sequence[Evidence], of_probes: Iterable[Finding], trained: float
) -> tuple[tuple[Finding, ...], list[str]]:
    """All findings, the costliest first, and a sentence for each rule that failed. ``trained``: the share of the run
    in training steps."""
    given, troubles = apply(run)
    found = [*of_probes, *given]
    shares = {"": trained}
    for evidence in work:
        if evidence.work is None:
            continue
        name = evidence.work.name
        shares[name] = evidence.work.share_of_run
        more, _ = apply(evidence)  # a rule that failed here failed above
        found += [msgspec.structs.replace(item, work=name) for item in more if _concerns(item, found)]
    merged = merge(found)
    left = [item for evidence in (run, *work) for item in residual(evidence, merged)]
    return rank([_of_the_run(item, shares) for item in (*merged, *left)], shares), troubles


def _of_the_run(item: Finding, shares: Mapping[str, float]) -> Finding:
    """A finding with its share of the run. ``shares``: of the run, by work."""
    if item.basis == "risk":
        return item
    whole = 1.0 if item.basis == "run" else shares.get(item.work, 0.0)
    return msgspec.structs.replace(item, share_of_run=min(item.share_of_step * whole, 1.0) if whole else None)


def _concerns(item: Finding, known: Sequence[Finding]) -> bool:
    """Whether a finding is of this work: what concerns the whole run, or a risk, was found there already."""
    return item.basis in ("step", "turn") or not any(other.code == item.code for other in known)
