"""Calls of ``predict`` and ``evaluate`` that gave what an earlier one had given for the same data, or that went through
the same inputs as a call of the other one right before."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tfperfkit.clock import NS_PER_S
from tfperfkit.model import SourceSpan
from tfperfkit.records.pipelines import Answer
from tfperfkit.records.steps import Marker, Site
from tfperfkit_probes.input.model import AskedAgain, PassedTwice


class _Timed(NamedTuple):
    answer: Answer
    begin_ns: int
    end_ns: int


def asked_again(answers: Sequence[Answer], sites: Iterable[Site], markers: Iterable[Marker]) -> tuple[AskedAgain, ...]:
    """One row for each line with such a call. Only calls that were timed count; the others are unknown."""
    rows: dict[tuple[str, str, int], list[tuple[Answer, int]]] = defaultdict(list)
    for answer, begin_ns, end_ns in _time(answers, sites, markers):
        rows[answer.way, answer.file, answer.line].append((answer, end_ns - begin_ns))
    first: dict[tuple[str, str], Answer] = {}
    for answer in sorted((item for row in rows.values() for item, _ in row), key=lambda item: item.ns):
        first.setdefault((answer.way, answer.key), answer)
    return tuple(
        made
        for row in rows.values()
        if (made := _row(row, first)).repeats  # the others have nothing to tell
    )


def passed_twice(
    answers: Sequence[Answer], sites: Iterable[Site], markers: Sequence[Marker]
) -> tuple[PassedTwice, ...]:
    """One row for each line that evaluates what another line of its function predicts right before or after, with no
    step and no other timed call in between. The call that comes first is first in the source too: the other order is of
    two calls of the function."""
    timed = _time(answers, sites, markers)
    begins = sorted(item.begin_ns for item in markers)
    pairs: dict[tuple[str, int], list[tuple[_Timed, Answer]]] = defaultdict(list)
    for first, second in zip(timed, timed[1:], strict=False):
        here, there = first.answer, second.answer
        alike = here.inputs and here.inputs == there.inputs and here.way != there.way
        between = bisect_left(begins, second.begin_ns) - bisect_left(begins, first.end_ns)
        ordered = (here.file, here.function) == (there.file, there.function) and here.line < there.line
        if alike and ordered and not between:
            evaluated, predicted = (first, there) if here.way == "evaluate" else (second, here)
            pairs[evaluated.answer.file, evaluated.answer.line].append((evaluated, predicted))
    return tuple(_pair(found, timed) for found in pairs.values())


def _time(answers: Sequence[Answer], sites: Iterable[Site], markers: Iterable[Marker]) -> list[_Timed]:
    """Find the call that each answer ended, in the order of time."""
    ways = {site.id: site.kind for site in sites if site.kind in ("predict", "evaluate")}
    timed = sorted((item.end_ns, item.begin_ns, ways[item.site]) for item in markers if item.site in ways)
    found = []
    index = 0
    for answer in sorted(answers, key=lambda item: item.ns):
        while index < len(timed) and timed[index][0] < answer.ns:
            index += 1
        if index < len(timed) and timed[index][1] <= answer.ns and timed[index][2] == answer.way:
            found.append(_Timed(answer, timed[index][1], timed[index][0]))
    return found


def _row(row: Sequence[tuple[Answer, int]], first: dict[tuple[str, str], Answer]) -> AskedAgain:
    here = row[0][0]
    repeats = [(answer, took) for answer, took in row if first[answer.way, answer.key] is not answer]
    elsewhere = [
        SourceSpan(known.file, known.line, known.function)
        for answer, _ in repeats
        if ((known := first[answer.way, answer.key]).file, known.line) != (here.file, here.line)
    ]
    return AskedAgain(
        way=here.way,
        file=here.file,
        line=here.line,
        function=here.function,
        calls=len(row),
        repeats=len(repeats),
        seconds=sum(took for _, took in row) / NS_PER_S,
        in_vain=sum(took for _, took in repeats) / NS_PER_S,
        begin_ns=row[0][0].ns - row[0][1],
        end_ns=row[-1][0].ns,
        before=elsewhere[0] if 2 * len(elsewhere) > len(repeats) else None,
    )


def _pair(found: Sequence[tuple[_Timed, Answer]], timed: Sequence[_Timed]) -> PassedTwice:
    here = found[0][0].answer
    (other, _), *_ = Counter((there.file, there.line, there.function) for _, there in found).most_common(1)
    own = [(item, there) for item, there in found if (there.file, there.line, there.function) == other]
    same_line = [item for item in timed if (item.answer.file, item.answer.line) == (here.file, here.line)]
    return PassedTwice(
        file=here.file,
        line=here.line,
        function=here.function,
        other=SourceSpan(*other),
        calls=len(same_line),
        pairs=len(own),
        seconds=sum(item.end_ns - item.begin_ns for item, _ in own) / NS_PER_S,
        begin_ns=min(item.begin_ns for item, _ in own),
        end_ns=max(item.end_ns for item, _ in own),
    )
