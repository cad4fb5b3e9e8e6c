"""Calls of ``predict`` and ``evaluate`` that gave what an earlier one had given for the same data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from tfperfkit.clock import NS_PER_S
from tfperfkit.model import SourceSpan
from tfperfkit.records.pipelines import Answer
from tfperfkit.records.steps import Marker, Site
from tfperfkit_probes.input.model import AskedAgain


def asked_again(answers: Sequence[Answer], sites: Iterable[Site], markers: Iterable[Marker]) -> tuple[AskedAgain, ...]:
    """One row for each line with such a call. Only calls that were timed count; the others are unknown."""
    ways = {site.id: site.kind for site in sites if site.kind in ("predict", "evaluate")}
    timed = sorted((item.end_ns, item.begin_ns, ways[item.site]) for item in markers if item.site in ways)
    rows: dict[tuple[str, str, int], list[tuple[Answer, int]]] = defaultdict(list)
    index = 0
    for answer in sorted(answers, key=lambda item: item.ns):
        while index < len(timed) and timed[index][0] < answer.ns:
            index += 1
        if index < len(timed) and timed[index][1] <= answer.ns and timed[index][2] == answer.way:
            rows[answer.way, answer.file, answer.line].append((answer, timed[index][0] - timed[index][1]))
    first: dict[tuple[str, str], Answer] = {}
    for answer in sorted((item for row in rows.values() for item, _ in row), key=lambda item: item.ns):
        first.setdefault((answer.way, answer.key), answer)
    return tuple(
        made
        for row in rows.values()
        if (made := _row(row, first)).repeats  # the others have nothing to tell
    )


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
