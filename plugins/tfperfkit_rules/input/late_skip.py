"""INP008: a ``skip`` comes after a costly map, which computes the skipped elements in each pass.

The gain is the number of skipped elements, times the map's time for one, times the passes. Reported from 5 % of the
run.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.gain import MEDIUM
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import Part, price
from tfperfkit.records.parts import RunPart
from tfperfkit.remedy import ChangeStage
from tfperfkit.rule import Evidence
from tfperfkit_rules.input.also_validated import also_validated
from tfperfkit_rules.input.stage_order import name_wrong_order
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.feed import name_stage, place, places
from tfperfkit_rules.measures.late_skips import LateSkip, late_skips

#: The parts of the run that contain passes over a pipeline, by its role.
_PART: dict[str, tuple[RunPart, ...]] = {"validation": ("validation",)}


@also_validated
def skipped_late(evidence: Evidence) -> Iterator[Finding]:
    """Report a late skip by its share of the run: skipped elements, times the map's time for one, times the passes."""
    run = evidence.run_account
    if evidence.work is not None or run is None or run.total_s <= 0:
        return
    for found in late_skips(evidence):
        parts = _PART.get(found.pipeline.role)
        upper = run.seconds_of(*parts) if parts is not None else run.total_s
        took = min(found.seconds, upper)
        if took >= MEDIUM * run.total_s:
            yield _make_finding(evidence, found, took / run.total_s, upper / run.total_s)


def _make_finding(evidence: Evidence, found: LateSkip, share: float, upper: float) -> Finding:
    pipeline, stage, count = found.pipeline, found.stage, found.skipped
    # Passes that were seen are the fewest that there were.
    gained = price(ChangeStage("order"), Part(shared.MOSTLY.value * share, min(share / shared.MOSTLY.value, upper)))
    name = name_stage(stage)
    parallel = ", num_parallel_calls=tf.data.AUTOTUNE" if stage.kind.startswith("Parallel") else ""
    function = stage.mapped.function if stage.mapped is not None else "..."
    return Finding(
        code="INP008",
        remedy=ChangeStage("order"),
        basis="run",
        title=name_wrong_order(f"skip({count}) after {name} discards its results in each pass"),
        share_of_step=share,
        gain=gained,
        where=places(evidence, place(found.skip, pipeline), place(stage, pipeline), stage.mapped),
        evidence=(
            Measurement("elements skipped", float(count), "count", "run"),
            Measurement(f"time of {name} per element", found.each_ms, "ms", "run"),
            Measurement("share of the run in skipped elements", share, "share", "run"),
        ),
        advice=(
            f"Split the data before the map: .skip({count}).map({function}{parallel}), and .take(n).map(...) for the "
            "other part."
        ),
        detail="skip() takes each element from the stage before it and discards it, so the map computes it in vain.",
    )
