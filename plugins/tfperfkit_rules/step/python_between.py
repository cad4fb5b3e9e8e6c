"""LIN001: the script's own Python runs between the steps, as it prepares something for each epoch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import Left, Part, price
from tfperfkit.records.samples import Frame, Place, Stack
from tfperfkit.records.spans import Span
from tfperfkit.remedy import Rewrite
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.called import FIT, is_calling
from tfperfkit_rules.measures.kinds import NUMPY, ONE_BY_ONE, PYTHON, Kind, api, kind_of
from tfperfkit_rules.measures.loop_iterations import Stretch, basis, stretch
from tfperfkit_rules.measures.own_passes import at_epoch_end, in_pass
from tfperfkit_rules.measures.source_text import Function, find_function, find_loops
from tfperfkit_rules.measures.step_place import sites
from tfperfkit_rules.measures.step_shares import LineShare, heaviest_loop, span
from tfperfkit_rules.step.python_time import ALONE, HOT, LEFT_MAX, LEFT_MIN, MIN_SAMPLES

LEFT = Left(LEFT_MIN.value, LEFT_MAX.value)


class _Own(NamedTuple):
    """The Python of one function: time of each of its lines, what ran there, from where it was called, how often it
    was seen."""

    lines: Counter[Place]
    frames: Counter[Frame]
    callers: Counter[Place]
    samples: list[int]


def between_steps(evidence: Evidence) -> Iterable[Finding]:
    """The function that takes most; of gaps that are no work of their own."""
    iterations = stretch(evidence)
    if evidence.work is not None or iterations is None:
        return
    gaps = _gaps(evidence)
    if not gaps:
        return
    known: dict[Stack, bool] = {}
    functions: dict[tuple[str, str, int], _Own] = {}
    for stack, ns in evidence.log.weighted(gaps):
        if not (known[stack] if stack in known else known.setdefault(stack, _prepares(evidence, stack))):
            continue
        leaf = stack.frames[-1]
        function = find_function(evidence, leaf.file, leaf.line)
        key = (leaf.file, function.name if function else "", function.line if function else 0)
        own = functions.setdefault(key, _Own(Counter(), Counter(), Counter(), []))
        own.lines[leaf.file, leaf.line] += ns
        own.frames[leaf] += ns
        own.samples.append(ns)
        above = next((frame for frame in reversed(stack.frames[:-1]) if not _within(frame, function)), None)
        if above is not None:
            own.callers[above.file, above.line] += ns
    found = max(functions.values(), key=lambda item: sum(item.samples), default=None)
    if (
        found is not None
        and len(found.samples) >= MIN_SAMPLES.value
        and sum(found.samples) >= HOT.value * iterations.whole
    ):
        yield _make_finding(evidence, found, iterations)


def _gaps(evidence: Evidence) -> list[Span]:
    """Between two clean steps that follow each other, as ``stretch`` has them."""
    clean = evidence.steps.clean
    return [
        (before.end_ns, after.begin_ns)
        for before, after in zip(clean, clean[1:], strict=False)
        if after.number == before.number + before.count and after.begin_ns > before.end_ns
    ]


def _prepares(evidence: Evidence, stack: Stack) -> bool:
    """Whether it is work of the user's own lines that another place could do.

    Other rules report code that watches the training, waits or validates; if a line fetches a batch or calls ``fit``,
    the time is a library's.
    """
    if stack.activity != "python" or not stack.frames or stack.context == "evaluate":
        return False
    leaf = stack.frames[-1]
    if is_calling(evidence, leaf, FIT) or kind_of(evidence, leaf).role != "work":
        return False
    if any((site.file, site.line) == (leaf.file, leaf.line) for site in sites(evidence)):
        return False
    return in_pass(evidence, stack, within_steps=False) is None and at_epoch_end(evidence, stack) is None


def _within(frame: Frame, function: Function | None) -> bool:
    """Whether a frame is of this function, or of a comprehension in it."""
    return function is not None and frame.first >= function.line and frame.name.startswith("<")


def _make_finding(evidence: Evidence, own: _Own, iterations: Stretch) -> Finding:
    unit = evidence.unit
    share = min(sum(own.samples) / iterations.whole, shared.MAX_STEP_SHARE.value)
    rows = [LineShare(place, 0, ns / iterations.whole) for place, ns in own.lines.most_common()]
    kind, hottest = _kind(evidence, own), rows[0]
    around = find_loops(evidence, *hottest.place)
    loop = None if hottest.share >= ALONE.value * share else heaviest_loop(evidence, rows, lambda row: True)
    counted = evidence.steps.loop
    if loop is not None and counted is not None and (counted.file, counted.line) == (loop.file, loop.line):
        loop = None
    name = loop.function if loop is not None else span(evidence, *hottest.place).function
    name = f" in {name}" if name else ""
    advice = (PYTHON if kind is NUMPY and around else kind).advice
    if around and kind in (NUMPY, PYTHON):
        advice = advice.replace(ONE_BY_ONE, f"instead of the loop in line {around[0].line}")
    words = kind.words if kind in (NUMPY, PYTHON) else _name_kind(evidence, own, kind)
    first = [loop] if loop is not None else []
    above = [span(evidence, *place) for place, _ in own.callers.most_common(1)]
    return Finding(
        code="LIN001",
        remedy=Rewrite("python"),
        title=f"{words[:1].upper()}{words[1:]}{name}, between the steps, takes {100 * share:.0f} % of {unit.loop}",
        basis=basis(evidence, iterations.iteration_ms),
        share_of_step=share,
        gain=price(Rewrite("python"), Part.sampled(share, len(iterations.found)), LEFT),
        where=tuple(dict.fromkeys((*first, *(span(evidence, *row.place) for row in rows[:3]), *above))),
        evidence=(
            Measurement("share of the loop at these lines", share, "share", "samples"),
            Measurement(f"time at these lines {unit.per}", share * iterations.iteration_ms, "ms", "samples"),
            Measurement("samples at these lines", float(len(own.samples)), "count", "baseline"),
            Measurement("samples", float(len(iterations.found)), "count", "baseline"),
        ),
        advice=f"{advice}.",
        detail=(
            "No step runs meanwhile, as between two epochs. Data that must be made again can be made in another "
            "thread or process, for the next epoch, while this one trains."
        ),
        absorbs_here=("INP012",),
        parts=("python",),
    )


def _kind(evidence: Evidence, own: _Own) -> Kind:
    kinds: Counter[Kind] = Counter()
    for frame, ns in own.frames.items():
        kinds[kind_of(evidence, frame)] += ns
    return kinds.most_common(1)[0][0]


def _name_kind(evidence: Evidence, own: _Own, kind: Kind) -> str:
    name = api(evidence, Counter({f: n for f, n in own.frames.items() if kind_of(evidence, f) is kind}), kind)
    return f"{kind.words} ({name})" if name else kind.words
