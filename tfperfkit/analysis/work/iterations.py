"""The iterations of a work loop, as far as the calls that pass our seams tell them; else all of it as one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from tfperfkit.analysis.step_table import label
from tfperfkit.analysis.work.busy import NEARLY_ALL, Busy
from tfperfkit.records.spans import Span, Spans
from tfperfkit.records.steps import Marker, MarkerKind, Site, Step, StepTable

#: So many iterations outside of windows at least, else their times tell little.
_FEW = 3
#: Share of the work after its last timed iteration: less may be its end, or a stray sample.
_REST = 0.1


def iterations(
    work: Busy, sites: Sequence[Site], markers: Sequence[Marker], windows: Sequence[tuple[int, int, str]]
) -> StepTable:
    """Return the work as a table of steps: a step is an iteration that began with a call at one line.

    If a library repeats the work (an optimizer of SciPy's calls a function of the user's), the iteration is from one
    such call to the next. Without such calls all of the work is one step, in as many stretches as it has: its first
    stretch counts as one step, the others as none.
    """
    where = f"{work.where.file.replace(chr(92), '/').rpartition('/')[2]}:{work.where.line}"
    loop = work.loops[-1] if work.loops else None
    steps = label(_counted(work, sites, markers), windows)
    if sum(step.window == "clean" for step in steps) >= _FEW:
        of = f"the {work.kind} at {where}"
        return StepTable(steps=steps, source="work", definition=f"one iteration of {of}", loop=loop)
    stretches = _list_stretches(work.spans, Spans((begin, end) for begin, end, _ in windows))
    what = f"the loop at {where}, all of it" if loop is not None else f"the call at {where}"
    steps = tuple(Step(n + 1, *span, count=int(n == 0), window="clean") for n, span in enumerate(stretches))
    return StepTable(steps=steps, source="work", definition=what, loop=loop)


#: Kinds of calls that separate iterations, the outermost first: a call of ``predict`` takes batches and calls
#: functions.
_OUTERMOST: tuple[MarkerKind, ...] = ("predict", "evaluate", "session", "function", "next")


def _counted(work: Busy, sites: Sequence[Site], markers: Sequence[Marker]) -> tuple[Step, ...]:
    """From call to call at the line that is reached first in each iteration; none where something else of the script's
    stands between most of them (an epoch of training): then no stretch of time is an iteration of this work."""
    kinds: dict[tuple[str, int], MarkerKind] = {}
    inside = [site for site in sites if site.loops[-1:] == work.loops[-1:] and site.kind in _OUTERMOST]
    for site in sorted(inside, key=lambda site: _OUTERMOST.index(site.kind)):
        kinds.setdefault((site.file, site.line), site.kind)
    own = {s.id: (s.file, s.line) for s in inside if kinds[s.file, s.line] == s.kind}
    calls: defaultdict[tuple[str, int], list[Marker]] = defaultdict(list)
    for marker in markers:
        # A loop's calls are all of its own; without one the same line may be reached from another long call too.
        if marker.site in own and marker.steps and (work.loops or work.spans.overlap(marker.begin_ns, marker.end_ns)):
            calls[own[marker.site]].append(marker)
    if not calls:
        return ()
    largest = max(map(len, calls.values()))
    first = min((found for found in calls.values() if len(found) + 1 >= largest), key=lambda found: found[0].begin_ns)
    whole = [
        _covers_stretch(work.spans, before.begin_ns, after.begin_ns)
        for before, after in zip(first, first[1:], strict=False)
    ]
    return tuple(_steps_between_calls(work.spans, first)) if 2 * sum(whole) > len(whole) else ()


def went_on(work: Busy, table: StepTable) -> bool:
    """Return whether the work went on for longer than one iteration after the last that was timed: calls that train
    nothing leave only so many markers."""
    last, longest = table.steps[-1].end_ns, max(step.end_ns - step.begin_ns for step in table.steps)
    rest = sum(end - max(begin, last) for begin, end in work.spans if end > last)
    return rest > max(longest, _REST * work.ns)


def _steps_between_calls(spans: Spans, calls: Sequence[Marker]) -> Iterator[Step]:
    """Return the stretches from each call to the next; only to the call's own end if the loop had ended meanwhile and
    was started again.
    """
    for number, call in enumerate(calls, 1):
        end = calls[number].begin_ns if number < len(calls) else call.end_ns
        if not _covers_stretch(spans, call.begin_ns, end):
            end = call.end_ns
        yield Step(number, call.begin_ns, max(end, call.begin_ns + 1))


def _covers_stretch(spans: Spans, begin: int, end: int) -> bool:
    """Return whether nearly all of a stretch belongs to the work."""
    return spans.overlap(begin, end) >= NEARLY_ALL * (end - begin)


def _list_stretches(spans: Spans, windows: Spans) -> list[Span]:
    """Return the stretches of the work outside of windows; all of it if that is less than half of the work."""
    free: list[Span] = []
    for begin, end in spans:
        at = begin
        for opened, closed in windows:
            if opened < end and closed > at:
                if opened > at:
                    free.append((at, opened))
                at = closed
        if at < end:
            free.append((at, end))
    whole = sum(end - begin for begin, end in spans)
    return free if 2 * sum(end - begin for begin, end in free) >= whole else list(spans)
