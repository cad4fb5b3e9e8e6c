"""STP008: every n-th step takes much longer than the others.

The outliers of the step table must fall on every n-th step, at least four times. The line is the one that samples show
in these steps and hardly in others. The gain is half to all of what these steps take longer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.gain import LOW, MEDIUM
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import Left, Part, price
from tfperfkit.records.parts import PARTS, PartName, part_of
from tfperfkit.records.samples import Place
from tfperfkit.remedy import Every
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.step_shares import span
from tfperfkit_rules.step.python_time import MIN_SAMPLES

TITLES = {"STP008": "Every n-th step takes much longer than the rest"}
#: Work that other rules report at its cause: first batches of epochs, tracing, garbage, saving and validating now and
#: then.
_REPORTED = (
    "input",
    "tracing",
    "first run of a new trace",
    "garbage collection",
    "freeing objects",
    "checkpoint or export",
    "summary",
    "predict and validation",
)


def every_nth(evidence: Evidence) -> Iterator[Finding]:
    """The finding, where samples say which line it is."""
    account, clean = evidence.account, evidence.steps.clean
    if account is None or not account.steps:
        return
    late = {item.step: item for item in account.outliers if item.cause not in _REPORTED}
    found = period({number: item.excess_ms for number, item in late.items()}, {step.number for step in clean})
    if found is None:
        return
    gap, numbers = found
    excess = sum(late[number].excess_ms for number in numbers)
    share = excess / (account.mean_ms * account.steps)
    if share < MEDIUM:
        return
    at, parts, seen = _in_them(evidence, set(numbers))
    if seen < MIN_SAMPLES.value or not at:
        return
    place, count = at.most_common(1)[0]
    if count < shared.MOSTLY.value * seen:
        return
    part = parts.most_common(1)[0][0]
    each = sum(late[number].ms for number in numbers) / len(numbers)
    gained = price(Every("work"), Part.timed(share), Left(0.0, 1 - shared.MOSTLY.value))
    yield Finding(
        code="STP008",
        remedy=Every("work"),
        title=f"Every {gap}th step takes {each / account.ordinary_ms:,.0f} times as long: {PARTS[part].sentence}",
        severity="low" if share >= LOW else "info",
        share_of_step=share,
        gain=gained,
        where=(span(evidence, *place),),
        evidence=(
            Measurement("time of one of these long steps", each, "ms", "baseline"),
            Measurement("time of an ordinary step", account.ordinary_ms, "ms", "baseline"),
            Measurement("share of the mean step in their excess", share, "share", "baseline"),
            Measurement("long steps", float(len(numbers)), "count", "baseline"),
            Measurement("samples at lines that only long steps run", float(seen), "count", "baseline"),
        ),
        advice=f"Run this line less often than every {gap} steps. Or: make its work cheaper, or do it in another "
        "thread.",
        absorbs_here=("LIN001", "SYN001"),
        parts=(part, "other"),
    )


def _in_them(evidence: Evidence, numbers: set[int]) -> tuple[Counter[Place], Counter[PartName], int]:
    """The lines of the samples in these steps that the others (nearly) never show, their parts, and their number."""
    others: Counter[Place] = Counter()
    at: Counter[Place] = Counter()
    parts: dict[Place, Counter[PartName]] = {}
    of_others = of_them = 0
    for step in evidence.steps.clean:
        late = step.number in numbers
        for _, stack in evidence.log.inside([(step.begin_ns, step.end_ns)]):
            part = part_of(stack.activity)
            if not stack.frames or part is None:
                continue
            place = (stack.frames[-1].file, stack.frames[-1].line)
            if late:
                at[place] += 1
                parts.setdefault(place, Counter())[part] += 1
                of_them += 1
            else:
                others[place] += 1
                of_others += 1
    rare = {place for place in at if others[place] * of_them <= shared.RARE_SITE.value * at[place] * max(of_others, 1)}
    kept = Counter({place: at[place] for place in rare})
    return kept, sum((parts[place] for place in rare), Counter[PartName]()), of_them


PERIOD_MIN = Threshold(
    3,
    "steps",
    "shortest period with one long step: if every second step is long, steps are like that",
    Chosen("with a shorter one long steps are no exception"),
)
PERIODS_MIN = Threshold(
    4, "count", "minimum number of long steps at equal distances", Chosen("three equal distances are not chance")
)
PERIOD_LONGEST = Threshold(
    40, "steps", "number of the longest steps whose distances are looked at", Chosen("ten times PERIODS_MIN")
)


def period(late: Mapping[int, float], clean: Collection[int]) -> tuple[int, list[int]] | None:
    """Find a period of long steps: (n, the late steps that are every n-th one). Nearly all of what late steps take
    longer falls on these, and nearly each of these is late. ``late``: what steps took beyond the ordinary, by number;
    ``clean``: all that were looked at."""
    fewest, whole = PERIODS_MIN.value, sum(late.values())
    ranked = sorted(late, key=lambda number: -late[number])
    long = sorted(ranked[: PERIOD_LONGEST.value])
    gaps = Counter(b - a for a, b in zip(long, long[1:], strict=False))
    for n, _ in gaps.most_common(fewest):
        if n < PERIOD_MIN.value:
            continue
        first = Counter(number % n for number in long).most_common(1)[0][0]
        on = [number for number in late if number % n == first]
        iterations = sum(1 for number in clean if number % n == first)
        weight = sum(late[number] for number in on)
        enough = len(on) >= max(fewest, shared.NEARLY_ALWAYS.value * iterations)
        if enough and weight >= shared.NEARLY_ALWAYS.value * whole:
            return n, sorted(on)
    return None
