"""Find the time of a run outside of training steps: the loops and the calls of the user's that take a tenth of the run.

Known from the stack samples. A sample counts for the chain of source loops that contain its frames. From the outermost
loop the way leads inwards as long as one loop holds nearly all of the time of the one around it: that loop repeats the
work, from wherever it is reached. Time in no such loop counts for the line that it was spent below.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from tfperfkit import calibration
from tfperfkit.records.samples import Frame, SampleLog, Stack
from tfperfkit.records.source_span import SourceSpan
from tfperfkit.records.spans import Span, Spans
from tfperfkit.records.steps import Loop
from tfperfkit.syntax.loops import SourceLoops, source_loops

#: Minimum share of the run: less is no work of its own.
MIN_SHARE = calibration.MIN_WORK.value
#: A loop within that holds this share of a loop's time is what repeats the work.
NEARLY_ALL = calibration.NEARLY_ALL.value
#: Two stretches closer than this are one: a stray sample fell between them.
_JOIN_NS = 50_000_000
_MAX = 8


class Busy(NamedTuple):
    """A loop, or a line that made one long call. ``loops``: those around it, itself last; ``spans``: when it ran."""

    kind: Literal["loop", "call"]
    where: SourceSpan
    loops: tuple[Loop, ...]
    spans: Spans

    @property
    def ns(self) -> int:
        return sum(end - begin for begin, end in self.spans)


class _Moment(NamedTuple):
    """The time that a sample stands for, and what it saw."""

    span: Span
    stack: Stack
    loops: tuple[Loop, ...]

    @property
    def ns(self) -> int:
        return self.span[1] - self.span[0]


class _Claim(NamedTuple):
    kind: Literal["loop", "call"]
    where: SourceSpan
    loops: tuple[Loop, ...]
    moments: list[_Moment]


def busy(log: SampleLog, training: Spans, sources: Mapping[str, tuple[str, ...]], total_ns: int) -> list[Busy]:
    """Return the work of a run of ``total_ns`` outside of ``training``, the longest first."""
    moments = _moments(log, training, sources)
    lower = MIN_SHARE * total_ns
    found: list[_Claim] = []
    left: list[_Moment] = []
    for within in _same_work(moments, left):
        loops = max((each[0] for each in within), key=lambda loops: sum(_sum(own) for at, own in within if at == loops))
        inside = sorted(moment for at, own in within for moment in own if moment.loops[: len(at)] == at)
        if sum(_sum(own) for _, own in within) < lower:
            left += [moment for _, own in within for moment in own]
            continue
        where = SourceSpan(loops[-1].file, loops[-1].line, _function_of_loop(inside, loops[-1]))
        found.append(_Claim("loop", where, loops, inside))
    found += _calls(sorted(left), lower, sources)
    spans = _spans([claim.moments for claim in found], training)
    works = [Busy(claim.kind, claim.where, claim.loops, Spans(own)) for claim, own in zip(found, spans, strict=True)]
    return sorted(works, key=lambda item: -item.ns)[:_MAX]


def _moments(log: SampleLog, training: Spans, sources: Mapping[str, tuple[str, ...]]) -> list[_Moment]:
    files: dict[str, SourceLoops] = {}
    known: dict[int, tuple[Loop, ...]] = {}
    taken = log.inside(log.whole)
    found = []
    # A sample stands for the time before it: one that C code has held up sees the line that it was held up by.
    for (when, _), (until, stack) in zip(taken, taken[1:], strict=False):
        if 2 * training.overlap(when, until) >= until - when:
            continue
        if id(stack) not in known:
            known[id(stack)] = _loops(stack, sources, files)
        found.append(_Moment((when, until), stack, known[id(stack)]))
    return found


def _loops(stack: Stack, sources: Mapping[str, tuple[str, ...]], files: dict[str, SourceLoops]) -> tuple[Loop, ...]:
    found: list[Loop] = []
    for frame in stack.frames:
        if frame.file not in files:
            files[frame.file] = source_loops(sources.get(frame.file, ()))
        for line in files[frame.file].around(frame.line):
            loop = Loop(frame.file, line)
            if not found or found[-1] != loop:  # a comprehension is seen from outside and from its own frame
                found.append(loop)
    return tuple(found)


def _same_work(
    moments: Sequence[_Moment], left: list[_Moment]
) -> Iterable[list[tuple[tuple[Loop, ...], list[_Moment]]]]:
    """Return the moments by the loop that repeats the work, each with its chain of loops: a function that is called
    alone and in a loop does one work. Those in no loop are added to ``left``."""
    works: defaultdict[Loop, list[tuple[tuple[Loop, ...], list[_Moment]]]] = defaultdict(list)
    for first, within in _group_by_loop(moments, 0):
        if first is None:
            left += within
        else:
            loops = _innermost(within)
            works[loops[-1]].append((loops, within))
    return works.values()


def _group_by_loop(moments: Sequence[_Moment], depth: int) -> Iterator[tuple[Loop | None, list[_Moment]]]:
    """Return the moments by their loop at a depth. The key is None for those that are in no loop that deep."""
    groups: defaultdict[Loop | None, list[_Moment]] = defaultdict(list)
    for moment in moments:
        groups[moment.loops[depth] if len(moment.loops) > depth else None].append(moment)
    return iter(groups.items())


def _innermost(moments: list[_Moment]) -> tuple[Loop, ...]:
    """From the outermost loop, which all of these share, inwards."""
    depth = 1
    while True:
        loop, within = max(_group_by_loop(moments, depth), key=lambda item: _sum(item[1]))
        if loop is None or _sum(within) < NEARLY_ALL * _sum(moments):
            return moments[0].loops[:depth]
        moments, depth = within, depth + 1


def _calls(moments: list[_Moment], lower: float, sources: Mapping[str, tuple[str, ...]]) -> Iterator[_Claim]:
    """Yield the lines below which the rest was spent, each as deep as one line holds nearly all of its time.

    A line that mostly calls other lines of the user's, none of which holds nearly all of its time, is no work itself:
    ``main()`` is the whole script. Those lines are looked at one by one. A line that is reached in two ways does one
    work.
    """
    found: dict[SourceSpan, _Claim] = {}
    for claim in _find_calls(moments, 0, lower, sources):
        known = found.get(claim.where)
        found[claim.where] = claim if known is None else claim._replace(moments=sorted(known.moments + claim.moments))
    yield from found.values()


def _find_calls(
    moments: Sequence[_Moment], depth: int, lower: float, sources: Mapping[str, tuple[str, ...]]
) -> Iterator[_Claim]:
    for group in _group_by_line(moments, depth).values():
        whole = _sum(group)
        if whole < lower:
            continue
        inside = _group_by_line(group, depth + 1).values()
        below = sum(map(_sum, inside))
        if 2 * below > whole:
            largest = max(inside, key=_sum)
            is_nearly_all = _sum(largest) >= NEARLY_ALL * whole
            yield from _find_calls(largest if is_nearly_all else group, depth + 1, lower, sources)
            group = [moment for moment in group if len(moment.stack.frames) == depth + 1]
        if _sum(group) < lower:
            continue
        frame = group[0].stack.frames[depth]
        if not _imports(frame, sources):
            name = "" if frame.name.startswith("<") else frame.name
            yield _Claim("call", SourceSpan(frame.file, frame.line, name), (), group)


def _group_by_line(moments: Sequence[_Moment], depth: int) -> dict[tuple[str, int], list[_Moment]]:
    """Return the moments by the line that they were at."""
    groups: defaultdict[tuple[str, int], list[_Moment]] = defaultdict(list)
    for moment in moments:
        if len(moment.stack.frames) > depth:
            frame = moment.stack.frames[depth]
            groups[frame.file, frame.line].append(moment)
    return groups


def _imports(frame: Frame, sources: Mapping[str, tuple[str, ...]]) -> bool:
    lines = sources.get(frame.file, ())
    return 0 < frame.line <= len(lines) and lines[frame.line - 1].lstrip().startswith(("import ", "from "))


def _function_of_loop(moments: Sequence[_Moment], loop: Loop) -> str:
    """Return the function that contains a loop, by the frames seen in the loop."""
    names: Counter[str] = Counter()
    for moment in moments:
        for frame in moment.stack.frames:
            if frame.file == loop.file and frame.first <= loop.line <= frame.line and not frame.name.startswith("<"):
                names[frame.name] += 1
                break
    return names.most_common(1)[0][0] if names else ""


def _spans(claims: Sequence[Sequence[_Moment]], training: Spans) -> list[list[Span]]:
    """For each the stretches in which it ran: joined over stray samples, never over another one's or over training."""
    spans: list[list[Span]] = [[] for _ in claims]
    last = -1
    for begin, end, owner in sorted((*moment.span, owner) for owner, own in enumerate(claims) for moment in own):
        own = spans[owner]
        if owner == last and begin - own[-1][1] < _JOIN_NS and not training.overlap(own[-1][1], begin):
            own[-1] = own[-1][0], end
        else:
            own.append((begin, end))
        last = owner
    return spans


def _sum(moments: Sequence[_Moment]) -> int:
    return sum(moment.ns for moment in moments)
