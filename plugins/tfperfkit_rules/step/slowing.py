"""STP007: steps get slower, because a line of the script has more to do in each.

Twelve groups of steps must get slower by a robust trend (Theil-Sen, Kendall's tau of at least 0.7). The cause is a line
with more samples in the last third than in the first, or a line that goes through a container which grows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tfperfkit_probes.memory.model import Grower, MemoryData

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.gain import interval
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.pricing import Part, price
from tfperfkit.records.parts import PartName, part_of
from tfperfkit.records.samples import MIN, Place
from tfperfkit.records.spans import Spans
from tfperfkit.records.steps import UPDATES, Step
from tfperfkit.remedy import Remove
from tfperfkit.rule import Evidence
from tfperfkit.syntax.container_passes import find_container_passes
from tfperfkit.syntax.module import Syntax
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.source_text import find_loops
from tfperfkit_rules.measures.step_place import sites
from tfperfkit_rules.measures.step_shares import span, text_of
from tfperfkit_rules.measures.trend import TREND_ORDER, Trend, over_time, trend

TREND_EXTRA = Threshold(
    0.1,
    "share",
    "minimum share of the mean step that is there only because steps got longer",
    Chosen("a fifth from first to last"),
)
TREND_PARTS = Threshold(
    3,
    "number",
    "number of parts of the run, of which the first and the last are compared line by line",
    Chosen("thirds"),
)


TITLES = {"STP007": "Steps get slower as a container grows"}


class _Cause(NamedTuple):
    """``lines`` that take more and more, the first one most; the container that they go through, if it is known;
    ``parts`` of the account that they are of; ``shares``: of the samples of the first and of the last third; ``share``:
    of all samples of the steps, 0 where it is not known by samples."""

    lines: tuple[Place, ...]
    grower: Grower | None
    parts: tuple[PartName, ...]
    shares: tuple[float, float] | None = None
    share: float = 0.0


def grows_slower(evidence: Evidence) -> Iterator[Finding]:
    """Yield the finding, where its cause is known; a machine that gets slower makes all lines slower."""
    history = evidence.history
    found = over_time(history) if _in_gaps(evidence) and history is not None else trend(evidence.steps.clean)
    if found is None or found.order < TREND_ORDER.value or found.extra < TREND_EXTRA.value:
        return
    early, late = _first_and_last(evidence)
    if not _same_training(evidence, early, late):
        return
    cause = _sampled(evidence, early, late, found) or _read_whole(evidence)
    if cause is not None:
        yield _make_finding(evidence, found, cause)


def _in_gaps(evidence: Evidence) -> bool:
    """Whether most of the run's steps are known by periods only (watch mode)."""
    return evidence.steps.dropped > 0 and bool(evidence.steps.gaps)


def _first_and_last(evidence: Evidence) -> tuple[Sequence[Step], Sequence[Step]]:
    """Return the first and the last third of the clean steps; in watch mode those before and after what was dropped."""
    clean = evidence.steps.clean
    if not _in_gaps(evidence):
        third = len(clean) // TREND_PARTS.value
        return clean[:third], clean[-third:]
    begin, end = evidence.steps.gaps[0][0], evidence.steps.gaps[-1][1]
    return [step for step in clean if step.end_ns <= begin], [step for step in clean if step.begin_ns >= end]


def _same_training(evidence: Evidence, early: Sequence[Step], late: Sequence[Step]) -> bool:
    """Whether an update was made in the first and in the last third alike; else another model trains by then."""
    updates = {site.id for site in sites(evidence) if site.kind in UPDATES}
    before, after = Spans((s.begin_ns, s.end_ns) for s in early), Spans((s.begin_ns, s.end_ns) for s in late)
    found: tuple[set[int], set[int]] = set(), set()
    for marker in evidence.markers():
        if marker.site in updates:
            middle = (marker.begin_ns + marker.end_ns) // 2
            for spans, own in zip((before, after), found, strict=True):
                if spans.overlap(middle, middle + 1):
                    own.add(marker.site)
    return not found[0] or not found[1] or bool(found[0] & found[1])


def _sampled(evidence: Evidence, early: Sequence[Step], late: Sequence[Step], found: Trend) -> _Cause | None:
    """Return the line on which more and more samples fall, where it takes most of what steps take longer."""
    first, last = (_places(evidence, steps) for steps in (early, late))
    whole = first.total(), last.total()
    if min(whole) < MIN:
        return None
    more = {place: found.last_ms * last[place] / whole[1] - found.first_ms * first[place] / whole[0] for place in last}
    place = max(more, key=lambda item: more[item])
    shares = first[place] / whole[0], last[place] / whole[1]
    # Beyond what chance gives to both, and the larger half of what steps take longer.
    sure = interval(shares[1], whole[1])[0] > interval(shares[0], whole[0])[1]
    if not sure or more[place] < shared.MOSTLY.value * (found.last_ms - found.first_ms):
        return None
    if not _went_through_before(evidence, early, place):
        return None
    parts = _parts(evidence, late, place)
    every = _places(evidence, evidence.steps.clean)
    share = every[place] / every.total()
    return None if parts == ("tracing",) else _Cause((place,), _named_at(evidence, place), parts, shares, share)


def _went_through_before(evidence: Evidence, early: Sequence[Step], place: Place) -> bool:
    """Whether early steps ran in a loop around this line; else the steps of another loop are longer, and none grows."""
    file, line = place
    around = {row.line for row in find_loops(evidence, file, line)}
    stacks = evidence.log.inside([(step.begin_ns, step.end_ns) for step in early])
    lines = {frame.line for _, stack in stacks for frame in stack.frames if frame.file == file}
    return not around or any(row.line in around for each_line in lines for row in find_loops(evidence, file, each_line))


def _read_whole(evidence: Evidence) -> _Cause | None:
    """Return the container that grows in the steps, and the lines in their loop that go through the whole container.
    Samples see too little of what holds the interpreter's lock in short steps."""
    for grower in _growers(evidence):
        syntax = evidence.syntax(grower.file)
        every = find_container_passes(syntax, grower.name) if syntax is not None else []
        lines = [line for line in every if _in_steps(evidence, grower.file, line)]
        if lines:
            lines.sort(key=lambda line: (-evidence.samples.leaf_share((grower.file, line)), line))
            return _Cause(tuple((grower.file, line) for line in lines[:3]), grower, ("python", "dispatch", "eager_ops"))
    return None


def _in_steps(evidence: Evidence, file: str, line: int) -> bool:
    """Whether a line runs in the steps: in the loop that makes them, or on a stack that was sampled in them."""
    loop = evidence.steps.loop
    around = loop is not None and loop.file == file
    if around and any(row.line == loop.line for row in find_loops(evidence, file, line) if loop is not None):
        return True
    return evidence.samples.share((file, line)) > 0


def _places(evidence: Evidence, steps: Sequence[Step]) -> Counter[Place]:
    at: Counter[Place] = Counter()
    for _, stack in evidence.log.inside([(step.begin_ns, step.end_ns) for step in steps]):
        if stack.frames:
            at[stack.frames[-1].file, stack.frames[-1].line] += 1
    return at


def _parts(evidence: Evidence, steps: Sequence[Step], place: Place) -> tuple[PartName, ...]:
    """Return the part of the account that most of a line's samples are of."""
    parts: Counter[PartName] = Counter()
    for _, stack in evidence.log.inside([(step.begin_ns, step.end_ns) for step in steps]):
        part = part_of(stack.activity)
        if part is not None and stack.frames and (stack.frames[-1].file, stack.frames[-1].line) == place:
            parts[part] += 1
    return tuple(part for part, _ in parts.most_common(1))


def _make_finding(evidence: Evidence, found: Trend, cause: _Cause) -> Finding:
    grower, samples = cause.grower, evidence.samples.count
    certain = interval(found.extra, samples)[0] * shared.MOSTLY.value
    high = interval(_find_whole_share(found, grower), samples)[1]
    if cause.share:  # with a running value all of the line goes, not only what it grew by
        low, upper = interval(cause.share, samples)
        certain, high = max(certain, low), max(high, upper)
    where = [span(evidence, *place) for place in cause.lines]
    if grower is not None and grower.file:
        where.append(SourceSpan(grower.file, grower.line, grower.function))
    shares = zip(("first", "last"), cause.shares or (), strict=False)
    unit = evidence.unit
    steps = "Steps" if evidence.work is None else "Iterations"
    part = "steps that were kept" if _in_gaps(evidence) else "third"
    return Finding(
        code="STP007",
        remedy=Remove(),
        title=f"{steps} get slower as {f'{grower.name} grows' if grower is not None else 'the run goes on'}: "
        f"{found.first_ms:,.3g} ms at first, {found.last_ms:,.3g} ms at the end",
        share_of_step=found.extra,
        gain=price(Remove(), Part(certain, high)),
        where=tuple(dict.fromkeys(where)),
        evidence=(
            Measurement(f"time of {unit.a} at first, by the trend", found.first_ms, "ms", "baseline"),
            Measurement(f"time of {unit.a} at the end, by the trend", found.last_ms, "ms", "baseline"),
            Measurement(
                "rank correlation of time with step groups (1 = always longer)", found.order, "number", "baseline"
            ),
            *(
                Measurement(f"share of the {word} {part} at this line", share, "share", "samples")
                for word, share in shares
            ),
            *(
                [Measurement(f"elements added {unit.per}", grower.per_step, "number", "run")]
                if grower is not None
                else []
            ),
        ),
        advice=_advice(evidence, cause),
        detail=f"The longer the run, the slower it gets. The slowing line: {text_of(evidence, cause.lines[0])}",
        absorbs_here=("LIN001", "SYN001"),
        parts=cause.parts,
    )


def _find_whole_share(found: Trend, grower: Grower | None) -> float:
    """Return the share of the mean step that goes at best: all that the line takes, if its time is in proportion to the
    length of what it goes through, which has some length at the first step already."""
    if grower is None or grower.last <= grower.first:
        return found.extra
    return min(found.extra * (grower.first + grower.last) / (grower.last - grower.first), shared.MAX_STEP_SHARE.value)


def _advice(evidence: Evidence, cause: _Cause) -> str:
    grower = cause.grower
    if grower is None:
        return (
            "Keep a running value (a sum, a mean) instead of what grows in each iteration. Or: write into an array of "
            "full size that is made once, or keep the newest only: collections.deque(maxlen=100)."
        )
    name, (file, line) = grower.name, cause.lines[0]
    syntax = evidence.syntax(file)
    written = written_whole(syntax, line, name) if syntax is not None else None
    if written is not None:
        by_line = "a file for each part, or one file that is appended to"
        if written.row:
            by_line = f'out.write({written.row} + "\\n") into a file opened with "a", read line by line with json.loads'
        return (
            f"Write only what is new: {by_line}. Or: write all of {written.text} once, after the loop, or every few "
            f"hundred iterations. Line {line} writes all of it each time."
        )
    return (
        f"Keep a running value (a sum, a mean) instead of going through all of {name}. Or: keep the newest only: "
        f"{name} = collections.deque(maxlen=100), and list({name}) where it is sliced or written as JSON."
    )


def _growers(evidence: Evidence) -> list[Grower]:
    data = evidence.offer(MemoryData)
    rows = [row for row in data.growers if row.kind != "graphs" and row.file] if data is not None else []
    return sorted(rows, key=lambda row: -row.last)


def _named_at(evidence: Evidence, place: Place) -> Grower | None:
    """Return the container that grows and that a line goes through."""
    syntax = evidence.syntax(place[0])
    if syntax is None:
        return None
    return next((row for row in _growers(evidence) if place[1] in find_container_passes(syntax, row.name)), None)


#: Functions that write all they are given, and how one row of it is written as a line.
_LINES = {"json.dump": "json.dumps({row})", "json.dumps": "json.dumps({row})", "yaml.dump": "json.dumps({row})"}
_WRITERS = frozenset(
    (*_LINES, "pickle.dump", "pickle.dumps", "joblib.dump", "numpy.save", "numpy.savez", "numpy.savetxt")
)


class Written(NamedTuple):
    """``text``: the container as the line names it. ``row``: an expression for the new row as a line of text, "" if the
    writer makes no text."""

    text: str
    row: str


def written_whole(syntax: Syntax, line: int, name: str) -> Written | None:
    """Find what a line writes of a container; None if it writes none of that name."""
    short = name.rpartition(".")[2]
    for call in syntax.find_line_calls(line):
        given = next((item for item in call.arguments if item.last_name == short), None)
        if call.name in _WRITERS and given is not None:
            row = _LINES[call.name].format(row=_write_appended(syntax, short)) if call.name in _LINES else ""
            return Written(given.text, row)
    return None


def _write_appended(syntax: Syntax, short: str) -> str:
    """Write what the script appends, if it is always the same name or expression; else "row"."""
    appended = (call for call in syntax.calls if call.method == "append" and len(call.arguments) == 1)
    found = {call.arguments[0].text for call in appended if call.receiver and call.receiver.last_name == short}
    return found.pop() if len(found) == 1 else "row"
