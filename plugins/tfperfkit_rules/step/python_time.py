"""LIN001: the script's own Python or NumPy keeps the step waiting.

Stack samples show the script's innermost lines outside of TensorFlow. A function is reported if its lines take at least
8 % of the step. The gain assumes that 5 to 50 % of that Python remains. A line of NumPy outside of training has a gain
only where fewer or larger calls are proven to do the same; else it is a note.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

from tfperfkit_probes.lines.model import LinesData

from tfperfkit.calibration import Chosen, Derived, Threshold
from tfperfkit.clock import ms
from tfperfkit.gain import HIGH
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.pricing import Left, Part, price
from tfperfkit.records.gains import Gain, Unknown
from tfperfkit.records.samples import Frame, Place, Stack
from tfperfkit.remedy import Rewrite
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.amounts import describe_amount
from tfperfkit_rules.measures.array_calls import may_be_fewer_calls
from tfperfkit_rules.measures.awaited import waited_kind
from tfperfkit_rules.measures.batch_callbacks import called_by_batch
from tfperfkit_rules.measures.called import count_frames_at, name_apis
from tfperfkit_rules.measures.constant_calls import find_constant_call
from tfperfkit_rules.measures.drivers import find_drivers
from tfperfkit_rules.measures.kinds import NUMPY, ONE_BY_ONE, PYTHON, Kind, api, kind_of, package
from tfperfkit_rules.measures.never_true import describe_never_true
from tfperfkit_rules.measures.source_text import Loop, find_function, find_loop, find_loops
from tfperfkit_rules.measures.step_place import sites
from tfperfkit_rules.measures.step_shares import (
    LineShare,
    callers,
    heaviest_loop,
    innermost,
    line_shares,
    span,
    text_of,
    window,
)
from tfperfkit_rules.measures.trace_window import window_in_work

HOT = Threshold(
    0.08,
    "share",
    "minimum share of the step in a function's own lines, for them to be named",
    Chosen("above XProf's moderate 5 % by half the width of a share's 95 % interval after 200 samples"),
)
MIN_SAMPLES = Threshold(
    4, "samples", "minimum number of samples of a line", Chosen("the fewest whose 95 % interval (Poisson) lies above 1")
)
ALONE = Threshold(
    0.6,
    "share",
    "minimum share of its function's time for a line to be the place instead of its loop",
    Chosen("clearly more than half"),
)
LEFT_MIN = Threshold(
    0.05,
    "share",
    "minimum share of the script's own Python that remains if it is moved or rewritten",
    Chosen("picking a batch, making a call"),
)
LEFT_MAX = Threshold(
    0.5,
    "share",
    "maximum share of the script's own Python that remains if it is moved or rewritten",
    Chosen("half: nothing bounds it"),
)
MAX_LINE = Threshold(
    70, "characters", "length of a source line that a detail quotes", Chosen("with its figures half a page")
)

TITLES = {"LIN001": "Own Python or NumPy takes much of the step"}
#: Share of the work that is left if it is moved or rewritten, at best and at worst.
LEFT = Left(LEFT_MIN.value, LEFT_MAX.value)
#: The user's own work on a line that calls the compiled step.
_WORK = re.compile(r"^(numpy|scipy|random|time)\.")
_CALLS = ("next", "call", "loop_call", "batch", "train_on_batch")
#: Keras' utilities for data and images count as Keras' Python in the samples, and are the input's.
_OF_DATA = ("keras data", "images", "reading")
_ONCE = (
    "Call {name} once, before the loop, and use what it returns in line {line}: its arguments are the same constants "
    "each time."
)
_SELDOM = (
    "Do it for every hundredth batch (if batch % 100 == 0) or in on_epoch_end: Keras calls {name} for every batch. Or: "
)
_COSTLY = (
    "Keep this work if its result is needed: its data is new each time, and tfperf knows no faster call. Or: do it "
    "less often, or on a sample."
)
_ON_ONE_LINE = "on one line"
_FALLS_LATE = "\nTimed by line_profiler: the line holds the interpreter lock, so samples fall on later lines."


def hot_python(evidence: Evidence) -> Iterable[Finding]:
    """Return the function of the user's whose own lines take most; two at most."""
    drivers = find_drivers(evidence)
    rows = line_shares(
        evidence,
        ("python", "dispatch"),
        lambda stack: None if stack.frames and stack.frames[-1] in drivers else _place(evidence, stack),
    )
    rows = [_timed(evidence, row) for row in rows if not _is_plain_call(evidence, row)]
    functions: dict[tuple[str, str, int], list[LineShare]] = defaultdict(list)
    for row in rows:
        function = find_function(evidence, *row.place)
        key = (row.place[0], function.name if function else "", function.line if function else 0)
        functions[key].append(row)
    for own in _joined(evidence, functions)[:2]:
        if sum(row.share for row in own) < HOT.value or sum(row.samples for row in own) < MIN_SAMPLES.value:
            continue
        if not _done_once(evidence, own):
            yield _make_finding(evidence, own)


def _timed(evidence: Evidence, row: LineShare) -> LineShare:
    """Replace the sampled share by the timed one, if samples fall on other lines."""
    share = timed_share(evidence, row.place)
    return row if share is None else LineShare(row.place, row.samples, share)


def _done_once(evidence: Evidence, own: list[LineShare]) -> bool:
    """Whether these lines are reached once, on the way of a long call: a table that is made before the work begins."""
    if evidence.work is None or evidence.work.kind == "loop":
        return False
    return not any(find_loops(evidence, *row.place) for row in own) and not any(
        find_loops(evidence, place.file, place.line) for row in own for place in callers(evidence, row.place)
    )


def _place(evidence: Evidence, stack: Stack) -> Place | None:
    """Return the innermost line of the user's, where it is not TensorFlow's Python that ran below it."""
    if stack.activity == "dispatch" and (not stack.frames or kind_of(evidence, stack.frames[-1]).word not in _OF_DATA):
        return None
    return innermost(stack)


def _joined(evidence: Evidence, functions: dict[tuple[str, str, int], list[LineShare]]) -> list[list[LineShare]]:
    """Functions by their own time, the largest first; one that only hands work to another goes with it, and so do
    two of which a loop of one calls the other in each iteration, or one that does the same kind of work for another.
    Each of these has one remedy, so one price."""
    ranked = sorted(functions.items(), key=lambda item: -sum(row.share for row in item[1]))
    found: list[list[LineShare]] = []
    taken: set[tuple[str, str, int]] = set()
    for key, own in ranked:
        if key in taken:
            continue
        host = next(
            (
                rows
                for rows in found
                if _called_in_its_loop(evidence, rows, own)
                or _called_in_its_loop(evidence, own, rows)
                or _is_part(evidence, rows, own)
            ),
            None,
        )
        if host is not None:
            host += own
            taken.add(key)
            continue
        together = list(own)
        for place in callers(evidence, own[0].place):
            function = find_function(evidence, place.file, place.line)
            above = (place.file, function.name if function else "", function.line if function else 0)
            if function is not None and above in functions and above not in taken and above != key:
                together += functions[above]
                taken.add(above)
        taken.add(key)
        found.append(together)
    for rows in found:
        rows.sort(key=lambda row: -row.share)
    return sorted(found, key=lambda item: -sum(row.share for row in item))


def _called_in_its_loop(evidence: Evidence, rows: list[LineShare], called: list[LineShare]) -> bool:
    """Whether any line of the loop that holds the time of ``rows`` is nearly always on the way to ``called``. The loop
    that makes the steps, and those around that loop, don't count: all is in them."""
    at = heaviest_loop(evidence, rows, lambda row: True)
    loop = find_loop(evidence, at.file, at.line) if at is not None else None
    counted = evidence.steps.loop
    if at is None or loop is None:
        return False
    if counted is not None and counted.file == at.file and loop.line <= counted.line <= loop.last:
        return False
    seen = _stacks(evidence, called)
    inside = sum(
        count
        for stack, count in seen.items()
        if any(frame.file == at.file and loop.line <= frame.line <= loop.last for frame in stack.frames[:-1])
    )
    return inside >= shared.NEARLY_ALWAYS.value * seen.total() > 0


def _is_part(evidence: Evidence, rows: list[LineShare], own: list[LineShare]) -> bool:
    """Tell whether the function of ``rows`` is called by the function of ``own``, for work of the same kind, which one
    of the kinds names: a list of a record that the other makes.
    """
    kind = _kind(evidence, own)
    if kind in (NUMPY, PYTHON) or _kind(evidence, rows) is not kind:
        return False
    functions = [find_function(evidence, *row.place) for row in rows]
    return any(
        find_function(evidence, place.file, place.line) in functions for place in callers(evidence, own[0].place)
    )


def _make_finding(evidence: Evidence, own: list[LineShare]) -> Finding:
    unit = evidence.unit
    share = min(shared.MAX_STEP_SHARE.value, sum(row.share for row in own))
    count = sum(row.samples for row in own)
    hottest, name = _hottest(evidence, own)
    place, whose = _first_place(evidence, own, hottest, share)
    lines = tuple(span(evidence, *row.place) for row in own[:3])
    total = max(evidence.samples.count, 1)
    same = find_constant_call(evidence, _stacks(evidence, own))
    frames = sum((count_frames_at(evidence, row.place, "python") for row in own), Counter[Frame]())
    kind = _kind(evidence, own)
    around = _turned_around(evidence, hottest)
    advice = kind.advice if _is_repeated(evidence, own, around) else kind.advice_without_loop
    if kind is NUMPY and around is not None:  # element by element, though with NumPy
        advice = PYTHON.advice
    if around is not None and kind in (NUMPY, PYTHON):
        advice = advice.replace(ONE_BY_ONE, f"instead of the loop in line {around.line}")
    if method := called_by_batch(_stacks(evidence, own)):
        advice = f"{_SELDOM.format(name=method)}{advice[0].lower()}{advice[1:]}"
    called = [span(evidence, *same.place)] if same is not None else []
    alone = count_frames_at(evidence, hottest.place, "python") if whose == _ON_ONE_LINE else frames
    timed = timed_share(evidence, hottest.place) is not None
    measured_in = timed_by(evidence) if timed else window(evidence)
    what, within = _name_kind(evidence, kind, alone or frames), f" of {name}" if name else ""
    step_ms = evidence.step_ms or 0.0
    at_line = count_frames_at(evidence, hottest.place, "python").most_common()
    amounts = list(filter(None, (describe_amount(evidence, frame) for frame, _ in at_line)))[:1]
    left = LEFT if same is None else Left.saved(same.part * (1 - LEFT.low), 1.0)  # done once, it is gone
    gained: Gain = price(Rewrite("python"), Part.sampled(min(share, 1.0), total), left)
    advice = f"{advice}." if same is None else _ONCE.format(name=same.name, line=same.place[1])
    late = _FALLS_LATE.strip() if timed else ""
    priced = kind is not NUMPY or evidence.work is None or same is not None or bool(amounts)
    if not priced and not may_be_fewer_calls(evidence, hottest.place, hottest.share):
        gained, advice = Unknown(), _COSTLY
    return Finding(
        code="LIN001",
        remedy=Rewrite("python"),
        title=f"{what[:1].upper()}{what[1:]} {whose}{within} takes {100 * share:.0f} % of {evidence.unit.a}",
        severity="low" if gained.saved and _is_worth_it(evidence, share) else "info",
        share_of_step=share,
        gain=gained,
        where=tuple(dict.fromkeys((place, *lines, *called, *callers(evidence, hottest.place)))),
        evidence=(
            Measurement(f"share of {unit.the} at these lines", share, "share", measured_in),
            Measurement(f"time at these lines {unit.per}", share * step_ms, "ms", measured_in),
            Measurement("samples at these lines", float(count), "count", "baseline"),
            Measurement("samples", float(total), "count", "baseline"),
        ),
        advice=advice,
        detail="\n".join(filter(None, (_detail(evidence, own), *amounts, late, describe_never_true(evidence)))),
        parts=("python", "gc", "other", *(("dispatch",) if timed or kind.word in _OF_DATA else ())),
    )


def _is_repeated(evidence: Evidence, own: list[LineShare], around: Loop | None) -> bool:
    """Whether a loop repeats these lines: the steps', one around them, or one around what calls them."""
    if around is not None or (evidence.work.kind == "loop" if evidence.work is not None else evidence.steps.count):
        return True
    calling = (place for row in own for place in callers(evidence, row.place))
    return any(find_loops(evidence, place.file, place.line) for place in calling)


def _stacks(evidence: Evidence, own: list[LineShare]) -> Counter[Stack]:
    """Return the samples of these lines."""
    places = {row.place for row in own}
    return Counter(
        {
            stack: count
            for stack, count in evidence.samples.stacks.items()
            if stack.activity in ("python", "dispatch") and innermost(stack) in places
        }
    )


def _is_worth_it(evidence: Evidence, share: float) -> bool:
    """Tell whether a share is worth a finding.

    Work outside of the steps may prepare data before training, so it must take a good part of the run.
    """
    return evidence.work is None or share * evidence.work.share_of_run >= HIGH


def _hottest(evidence: Evidence, own: list[LineShare]) -> tuple[LineShare, str]:
    """Return the line that takes most, of the function whose own lines do, and that function's name."""
    functions: dict[str, list[LineShare]] = defaultdict(list)
    for row in own:
        function = find_function(evidence, *row.place)
        functions[function.name if function else ""].append(row)
    name, rows = max(functions.items(), key=lambda item: sum(row.share for row in item[1]))
    return max(rows, key=lambda row: row.share), name


def _first_place(evidence: Evidence, own: list[LineShare], hottest: LineShare, share: float) -> tuple[SourceSpan, str]:
    """Return the line that takes most of the time; the loop that holds it where no line does; and that in words."""
    function = find_function(evidence, *hottest.place)
    inside = [row for row in own if find_function(evidence, *row.place) == function]
    mine = sum(row.share for row in inside)
    if mine < shared.MOSTLY.value * share:
        inside, mine = own, share
    if hottest.share >= ALONE.value * mine:
        return span(evidence, *hottest.place), _ON_ONE_LINE
    loop = heaviest_loop(evidence, inside, lambda row: True)
    if loop is not None and not _is_training_loop(evidence, loop):
        return loop, "in a loop"
    return span(evidence, *hottest.place), f"on {len(own)} lines"


def _turned_around(evidence: Evidence, row: LineShare) -> Loop | None:
    """Return the outermost loop of its function that repeats a line, besides the loop of the steps."""
    around = [
        loop
        for loop in find_loops(evidence, *row.place)
        if not _is_training_loop(evidence, SourceSpan(row.place[0], loop.line))
    ]
    return around[0] if around else None


def _detail(evidence: Evidence, own: list[LineShare]) -> str:
    if len(own) < 2:
        return ""
    told = [row for row in own[:4] if round(100 * row.share)]
    rows = [
        f"  line {row.place[1]}: {100 * row.share:.0f} %  {text_of(evidence, row.place)[: MAX_LINE.value]}"
        for row in told
    ]
    unit = evidence.unit.the
    return f"Share of {unit}:\n" + "\n".join(rows)


def _kind(evidence: Evidence, own: list[LineShare]) -> Kind:
    """Return the kind of the running code, by most of the samples in Python; operations that the lines dispatch to
    TensorFlow don't count.
    """
    kinds: Counter[Kind] = Counter()
    for row in own:
        for frame, count in (
            count_frames_at(evidence, row.place, "python") or count_frames_at(evidence, row.place)
        ).items():
            kinds[kind_of(evidence, frame)] += count
    return kinds.most_common(1)[0][0] if kinds else PYTHON


def _name_kind(evidence: Evidence, kind: Kind, frames: Counter[Frame]) -> str:
    if kind is PYTHON:
        name = package(evidence, frames)
        return {"numpy": NUMPY.words, "": kind.words}.get(name, name)
    known = Counter({frame: count for frame, count in frames.items() if kind_of(evidence, frame) is kind})
    name = api(evidence, known, kind).removesuffix("[]")  # an archive that is read as its members are asked for
    if kind is NUMPY and package(evidence, frames) == "scipy":
        return f"SciPy ({name})" if name else "SciPy"
    return f"{kind.words} ({name})" if name and kind is not NUMPY else kind.words


def _is_plain_call(evidence: Evidence, row: LineShare) -> bool:
    """Return a line that only fetches a batch or calls the compiled step: Python destroys tensors there, and waits for
    the interpreter. Or a line whose kind has a rule of its own: it writes, it waits, it collects garbage.
    """
    frames = count_frames_at(evidence, row.place, "python")

    def upper(wanted: Callable[[Frame], bool]) -> bool:
        return 2 * sum(count for frame, count in frames.items() if wanted(frame)) >= frames.total()

    if any((site.file, site.line) == row.place and site.kind in _CALLS for site in sites(evidence)):
        return not upper(lambda frame: any(map(_WORK.search, name_apis(evidence, frame))))
    return upper(lambda frame: waited_kind(evidence, frame).role != "work") and frames.total() > 0


def _is_training_loop(evidence: Evidence, loop: SourceSpan | None) -> bool:
    counted = evidence.steps.loop
    return loop is not None and counted is not None and (counted.file, counted.line) == (loop.file, loop.line)


MIN_TIMED_MS = Threshold(
    0.1,
    "ms",
    "minimum time of a line of C code for line_profiler's time to be used instead of samples",
    Derived("measuring a line costs a microsecond at most (results/overhead.md: 0.1 us become 1): a hundredth of it"),
)


def timed_share(evidence: Evidence, place: Place) -> float | None:
    """Return the share (0 to 1) that a line took of a loop outside of training, by line_profiler's wall-clock time.

    Samples fall too late to tell: they are taken when the sampler gets the interpreter's lock, and a call of C code
    that holds it for milliseconds releases it at its end, so the sample falls on a later line. line_profiler hardly
    slows C code. None if the line was not timed, runs Python code, or is so short that timing it matters.
    """
    data, probe = evidence.offer(LinesData), evidence.offered_by(LinesData)
    if data is None or data.method != "exact" or evidence.work is None or evidence.work.kind != "loop":
        return None
    rows = [
        row for each in data.python_functions if each.file == place[0] for row in each.lines if row.line == place[1]
    ]
    row = max(rows, key=lambda item: item.ms, default=None)  # a comprehension is part of the line around it
    if row is None or not row.hits or row.ms < MIN_TIMED_MS.value * row.hits or _calls(evidence, place):
        return None
    span = window_in_work(evidence, probe)
    return min(row.ms / ms(span[1] - span[0]), 1.0) if span is not None else None


def timed_by(evidence: Evidence) -> str:
    """Return the probe that timed the lines."""
    return evidence.offered_by(LinesData)


def _calls(evidence: Evidence, place: Place) -> bool:
    """Whether the line was seen to call other Python functions."""
    deeper = any(
        (frame.file, frame.line) == place and (stack.frames[-1].file, stack.frames[-1].line) != place
        for stack in evidence.samples.stacks
        for frame in stack.frames[:-1]
    )
    return deeper or any(frame.calls != () for frame in count_frames_at(evidence, place))
