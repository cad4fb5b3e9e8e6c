"""Run B against run A: set-up, time, causes, findings."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.comparing.causes import counted_causes, culprit, timed_causes
from tfperfkit.comparing.result import Compared, Figure, FindingChange
from tfperfkit.comparing.setups import line_map, setups, source_changes
from tfperfkit.comparing.side import Side
from tfperfkit.model import Finding
from tfperfkit.statistics.calibration import PROCESSOR_SPREAD
from tfperfkit.statistics.comparison import Comparison
from tfperfkit.statistics.series import compare_series, level

#: A finding of both runs is reported if its share of the step differs by this much.
_MOVED = 0.10
#: In the steady steps the training thread waited so long for a processor: other programs took it.
_BUSY = 0.05
#: So large a difference is looked into, though these runs can't show that it is more than chance.
_WORTH_ASKING = 0.10
#: Examples a second and steps that differ by this factor in what they say.
_OTHER_STORY = 1.25


def compare(a: Side, b: Side) -> Compared:
    """Return all that differs between two runs, as far as both know it."""
    b.call_script(a.script)
    per_example = _sizes_differ(a, b)
    step, outliers = _steps(a, b, per_example)
    same = step is None or step.verdict == "no difference shown"
    timed = timed_causes(a, b) if step is not None and (not same or abs(step.ratio - 1) >= _WORTH_ASKING) else ()
    slower = step is not None and step.ratio > 1
    return Compared(
        a=a.name,
        b=b.name,
        setup=setups(a, b),
        sources=source_changes(a, b),
        step=step,
        with_outliers=outliers,
        processor=_processor(a, b, per_example),
        per_example=per_example,
        figures=tuple(_figures(a, b)),
        causes=(*timed, *counted_causes(a, b)),
        culprit=culprit(timed, slower) if not same else None,
        findings=tuple(_findings(a, b)),
        notes=(*_notes(a, b), *_throughput(a, b, step)),
    )


def _sizes_differ(a: Side, b: Side) -> bool:
    sizes = (a.report.steps.batch_size, b.report.steps.batch_size)
    return bool(sizes[0] and sizes[1] and sizes[0] != sizes[1])


def _steps(a: Side, b: Side, per_example: bool) -> tuple[Comparison | None, Comparison | None]:
    """Compare the ordinary steps, and all steps as they were."""
    times = [[ms / (side.report.steps.batch_size or 1 if per_example else 1) for ms in side.step_ms] for side in (a, b)]
    if all(times):
        return compare_series(*times), compare_series(*times, keep_outliers=True)
    medians = (a.report.steps.median_ms, b.report.steps.median_ms)
    if not (medians[0] and medians[1] and medians[0] > 0 and medians[1] > 0):
        return None, None
    ratio = medians[1] / medians[0]
    if per_example:
        ratio *= (a.report.steps.batch_size or 1) / (b.report.steps.batch_size or 1)
    stored = [side.name for side in (a, b) if side.evidence is None]
    why = "a JSON report has no single steps: compare run folders" if stored else "no clean steps: too short a run"
    return Comparison(ratio=ratio, unit="blocks", reason=why), None


def _processor(a: Side, b: Side, per_example: bool) -> Comparison | None:
    """Compare the processor time of a step, all threads together."""
    times = [
        [ms / (side.report.steps.batch_size or 1 if per_example else 1) for ms in side.processor_ms if ms > 0]
        for side in (a, b)
    ]
    return compare_series(*times, run_spread=PROCESSOR_SPREAD.value) if all(times) else None


def _figures(a: Side, b: Side) -> Iterator[Figure]:
    one, two = a.report.steps, b.report.steps
    if one.count or two.count:
        yield Figure(name="median step", a=one.median_ms, b=two.median_ms, unit="ms")
        yield Figure(name="mean step", a=one.mean_ms, b=two.mean_ms, unit="ms")
        yield Figure(name="90 % of steps are below", a=one.p90_ms, b=two.p90_ms, unit="ms")
        used = [level(side.processor_ms).mean if side.processor_ms else None for side in (a, b)]
        if any(used):
            yield Figure(name="processor time of a step", a=used[0], b=used[1], unit="ms")
        if one.examples_per_s and two.examples_per_s:
            yield Figure(name="examples a second", a=one.examples_per_s, b=two.examples_per_s, unit="number")
    warm = [steps.warm_up.total_s * 1e3 if steps.warm_up is not None else None for steps in (one, two)]
    if any(warm):
        yield Figure(name="startup", a=warm[0], b=warm[1], unit="ms")
        parts = [steps.warm_up.parts_s if steps.warm_up is not None else {} for steps in (one, two)]
        for part in ("tracing", "compile and first runs"):
            values = [each.get(part) for each in parts]
            if any(values):
                yield Figure(
                    name=f"  of it {part}",
                    a=values[0] * 1e3 if values[0] is not None else None,
                    b=values[1] * 1e3 if values[1] is not None else None,
                    unit="ms",
                )
    yield Figure(name="whole run", a=a.report.run.wall_s * 1e3 or None, b=b.report.run.wall_s * 1e3 or None, unit="ms")
    peaks = [side.report.run.machine.get("peak_rss_bytes") for side in (a, b)]
    if any(isinstance(peak, int) for peak in peaks):
        yield Figure(name="peak memory", a=peaks[0], b=peaks[1], unit="bytes")


def _findings(a: Side, b: Side) -> Iterator[FindingChange]:
    """Matched by code, work and place, lines that moved taken into account; then by code alone."""
    there = line_map(a, b)
    before, after = list(a.report.findings), list(b.report.findings)
    for same_place in (True, False):
        for finding in list(after):
            match = next((old for old in before if _is_same_finding(old, finding, a, b, there, same_place)), None)
            if match is None:
                continue
            before.remove(match)
            after.remove(finding)
            if abs(finding.share_of_step - match.share_of_step) >= _MOVED and match.basis == finding.basis:
                way = "grown" if finding.share_of_step > match.share_of_step else "shrunk"
                yield _change(finding, way, match.share_of_step, finding.share_of_step)
    for finding in after:
        yield _change(finding, "new", None, finding.share_of_step)
    for finding in before:
        yield _change(finding, "gone", finding.share_of_step, None)


def _is_same_finding(
    old: Finding,
    new: Finding,
    a: Side,
    b: Side,
    there: dict[tuple[str, int], tuple[str, int]],
    same_place: bool,
) -> bool:
    """Return whether two findings are the same."""
    if old.code != new.code:
        return False
    places = {(a.relative(span.file), span.line) for span in old.where}
    moved = {there.get((file, line), (file, line)) for file, line in ((b.relative(s.file), s.line) for s in new.where)}
    return not same_place or places == moved or bool(places & moved)


def _change(finding: Finding, way: str, a: float | None, b: float | None) -> FindingChange:
    where = finding.where[0] if finding.where else None
    return FindingChange(finding.code, finding.title, way, a, b, where)  # type: ignore[arg-type]


def _throughput(a: Side, b: Side, step: Comparison | None) -> Iterator[str]:
    """Yield a sentence if the time between the steps (the ends of epochs, validation) contradicts the steps."""
    one, two = a.report.steps, b.report.steps
    if step is None or not (one.examples_per_s and two.examples_per_s):
        return
    speed, expected = two.examples_per_s / one.examples_per_s, 1 / step.ratio if step.ratio else 1.0
    if max(speed, expected) >= _OTHER_STORY * min(speed, expected):
        yield (
            f"With the time between steps, B has {_times(speed)} examples a second: epochs' ends and validation count "
            "there, and are excluded from step time."
        )


def _times(ratio: float) -> str:
    """``+12 %``, or ``18x the`` of what is far more or less."""
    return f"{100 * (ratio - 1):+.0f} %" if 0.5 < ratio < 2 else f"{ratio:.2g}x the"


def _notes(a: Side, b: Side) -> Iterator[str]:
    for label, side in (("A", a), ("B", b)):
        run, steps = side.report.run, side.report.steps
        if run.status != "finished":
            yield f"{label} did not finish: it {'still runs' if run.status == 'running' else f'was {run.status}'}."
        if not steps.count:
            yield f"{label} has no training steps: no step time is compared."
        elif not steps.clean:
            yield f"{label} has no clean steps: its times are of steps in which probes measured."
        waited = side.report.overhead.waited_share
        if waited is not None and waited >= _BUSY:
            yield f"{label} waited {100 * waited:.0f} % of its steady time for a processor: other programs took it."
