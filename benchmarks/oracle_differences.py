"""Differences between the reports of the same runs: findings one by one, the rest as a count for each path."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

Json = Any
#: The lists of a report that hold findings.
LISTS = ("findings", "headroom")
#: Fields of a finding whose changes are changes of words.
WORDING = ("title", "advice", "detail")
#: In the order in which they are printed.
KINDS = ("failed", "added", "removed", "moved", "rank", "severity", "figure", "patch", "headline", "wording", "data")
#: Two numbers that are closer than this, relatively, are the same: a sum may be taken in another order.
CLOSE = 1e-9
_WIDTH = 160


class Difference(NamedTuple):
    """One difference in a run. ``group``: what differences of a kind are counted together by; ``told``: the figures."""

    kind: str
    run: str
    group: str
    told: str


class Comparison(NamedTuple):
    """``runs``: how many runs both have a report of; ``alone``: the runs that only one has."""

    runs: int
    alone: tuple[str, ...]
    differences: tuple[Difference, ...]


def compare(before: dict[str, Json], after: dict[str, Json], only: Sequence[str] = ()) -> Comparison:
    """Compare the reports of the runs that both have, by the name of the run.

    ``only``: kinds of differences that count, of ``KINDS``; none means all. Raises ``ValueError`` for another kind.
    """
    if unknown := set(only) - set(KINDS):
        raise ValueError(f"no such kind: {', '.join(sorted(unknown))} (there are {', '.join(KINDS)})")
    both = sorted(before.keys() & after.keys())
    found = [each for run in both for each in _of_run(run, before[run], after[run])]
    kept = tuple(each for each in found if not only or each.kind in only)
    return Comparison(len(both), tuple(sorted(before.keys() ^ after.keys())), kept)


def _of_run(run: str, before: Json, after: Json) -> Iterator[Difference]:
    if "failed" in before or "failed" in after:
        if before != after:
            told = str(after.get("failed") or "made a report; failed before").strip().splitlines()[-1]
            yield Difference("failed", run, "report", told)
        return
    for kind, group, told in (*_of_findings(before, after), *_of_the_rest(before, after)):
        yield Difference(kind, run, group, told)


def _of_findings(before: Json, after: Json) -> Iterator[tuple[str, str, str]]:
    """Yield (kind, group, told) of the findings and of what is listed as headroom."""
    old, new = (list(_listed(report)) for report in (before, after))
    pairs, removed, added = _paired(old, new)
    for kind, rest in (("added", added), ("removed", removed)):
        for each in rest:
            yield kind, each.code, f"{each} {_summary(each.finding)}"
    order = sorted(range(len(pairs)), key=lambda index: pairs[index][0].position)
    now = sorted(range(len(pairs)), key=lambda index: pairs[index][1].position)
    for index, (was, became) in enumerate(pairs):
        if was.place != became.place or was.listed != became.listed:
            yield "moved", was.code, f"{was} → {became}"
        if order.index(index) != now.index(index):
            yield "rank", was.code, f"{was}: {order.index(index) + 1} → {now.index(index) + 1} of those in both"
        for path, one, other in _changes(was.finding, became.finding):
            name = path.partition(".")[0].partition("[")[0]
            if name == "where":
                if was.place == became.place:
                    yield "moved", was.code, f"{was}: {path}: {one} → {other}"
            elif name in WORDING:
                yield "wording", f"{was.code} {name}", f"{one} → {other}"
            else:
                kind = name if name in ("severity", "patch") else "figure"
                yield kind, f"{was.code} {name}", f"{was}: {path}: {_short(one)} → {_short(other)}"


class _Listed(NamedTuple):
    """A finding with its list and its position there, from 0."""

    listed: str
    position: tuple[int, int]
    finding: Json

    @property
    def code(self) -> str:
        return str(self.finding["code"])

    @property
    def place(self) -> str:
        where = self.finding.get("where") or ()
        return f"{PurePath(where[0]['file']).name}:{where[0]['line']}" if where else "no place"

    def __str__(self) -> str:
        return f"{self.code} {self.place}" + (" (headroom)" if self.listed == "headroom" else "")


def _listed(report: Json) -> Iterator[_Listed]:
    for number, name in enumerate(LISTS):
        for position, finding in enumerate(report.get(name) or ()):
            yield _Listed(name, (number, position), finding)


def _paired(
    old: list[_Listed], new: list[_Listed]
) -> tuple[list[tuple[_Listed, _Listed]], list[_Listed], list[_Listed]]:
    """Pair findings of the same code: in the same list at the same place, then at the same place, then in the same
    list, then any. Return the pairs and what is left of both."""
    pairs: list[tuple[_Listed, _Listed]] = []
    for same in (
        lambda each: (each.code, each.place, each.listed, each.finding["title"]),
        lambda each: (each.code, each.place, each.listed),
        lambda each: (each.code, each.place),
        lambda each: (each.code, each.listed),
        lambda each: each.code,
    ):
        for was in list(old):
            match = next((each for each in new if same(each) == same(was)), None)
            if match is not None:
                pairs.append((was, match))
                old.remove(was)
                new.remove(match)
    return pairs, old, new


def _summary(finding: Json) -> str:
    """Write the severity, the gain and the share of a finding."""
    fields = ("severity", "predicted_range", "at_least", "ceiling", "share_of_step", "share_of_run")
    return ", ".join(f"{name} {_short(finding[name])}" for name in fields if finding.get(name) is not None)


def _of_the_rest(before: Json, after: Json) -> Iterator[tuple[str, str, str]]:
    """Yield (kind, group, told) of all but the findings: probes' data and tables by the probe's name and path."""
    for path, one, other in _changes(*map(_without_findings, (before, after))):
        if path == "headline":
            yield "headline", "headline", f"{one} → {other}"
        else:
            yield "data", _general(path), f"{path}: {_short(one)} → {_short(other)}"


def _without_findings(report: Json) -> Json:
    kept = {name: value for name, value in report.items() if name not in LISTS}
    return {**kept, "probes": {probe["name"]: probe for probe in report.get("probes") or ()}}


def _changes(before: Json, after: Json, path: str = "") -> Iterator[tuple[str, Json, Json]]:
    """Yield (path, before, after) of each value that differs. Lists of different lengths differ as a whole."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            inner = f"{path}.{key}" if path else str(key)
            yield from _changes(before.get(key), after.get(key), inner)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _changes(one, other, f"{path}[{index}]")
    elif not _same(before, after):
        yield path, before, after


def _same(before: Json, after: Json) -> bool:
    numbers = all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in (before, after))
    return math.isclose(before, after, rel_tol=CLOSE) if numbers else before == after


def _general(path: str) -> str:
    """Write the path without the positions in lists."""
    return "".join("[*]" if part.isdigit() else part for part in path.replace("]", "[").split("["))


def _short(value: Json) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return f"[{', '.join(map(_short, value))}]"
    return str(value)


def lines(comparison: Comparison, *, full: bool = False) -> list[str]:
    """Write the differences by kind, code and place, and the total as the last line. Unless ``full`` a group of wording
    or data is one line with its first example."""
    text: list[str] = []
    for kind in KINDS:
        found = [each for each in comparison.differences if each.kind == kind]
        if found:
            text += [f"{kind} ({len(found)})", *(f"  {line}" for line in _of_kind(found, full)), ""]
    if comparison.alone:
        text += [f"in one folder alone: {' '.join(comparison.alone)}", ""]
    return [*text, total(comparison)]


def _of_kind(found: Sequence[Difference], full: bool) -> Iterator[str]:
    for group in dict.fromkeys(each.group for each in found):
        same = [each for each in found if each.group == group]
        if full or same[0].kind not in ("wording", "data"):
            yield from (_cut(f"{each.run}: {each.told}", full) for each in same)
        else:
            runs = _names(each.run for each in same)
            yield _cut(f"{group}: {len(same)} in {runs}: {same[0].told}", full)


def _names(runs: Iterable[str]) -> str:
    each = list(dict.fromkeys(runs))
    return ", ".join(each[:2]) + (f" and {len(each) - 2} more" if len(each) > 2 else "")


def _cut(line: str, full: bool) -> str:
    line = line.replace("\n", "\\n")
    return line if full or len(line) <= 3 * _WIDTH else f"{line[: 3 * _WIDTH]} …"


def total(comparison: Comparison) -> str:
    """Write the count of differences, by kind, in one line."""
    count = Counter(each.kind for each in comparison.differences)
    runs = len({each.run for each in comparison.differences})
    if not count:
        return f"no differences in {comparison.runs} runs"
    kinds = ", ".join(f"{count[kind]} {kind}" for kind in KINDS if count[kind])
    return f"{sum(count.values())} differences in {runs} of {comparison.runs} runs: {kinds}"
