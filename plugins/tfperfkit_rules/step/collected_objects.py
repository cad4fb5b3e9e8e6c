"""STP017: Python's own garbage collections take at least 10 % of the time.

Each collection is timed, with its thread. The first sample of that thread after it shows the line that made the last
object. The gain assumes that none to half of the collections remain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.model import Finding, Measurement
from tfperfkit.offers import GarbageCollections
from tfperfkit.pricing import Left, Part, price
from tfperfkit.records.samples import Frame, Place, SampleLog, read_log
from tfperfkit.records.spans import Spans
from tfperfkit.remedy import Rewrite
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.by_hand import BEHIND_COLLECTION_NS, collected_by_hand
from tfperfkit_rules.measures.step_shares import callers, span

COLLECTED_MIN = Threshold(
    0.1,
    "share",
    "minimum share of the time in Python's own garbage collections",
    Chosen("scripts that make no objects in large numbers stay below a hundredth"),
)
COLLECTED_LEFT = Threshold(
    0.5,
    "share",
    "maximum share of garbage collections that remains",
    Chosen("half: other lines make objects too, and their number isn't counted"),
)
TITLES = {"STP017": "Python garbage collection takes much of the time"}
#: Samples of every thread that was looked at.
_KINDS = ("s", "awaited", "busy", "called", "beside", "standing")


def collected_objects(evidence: Evidence) -> Iterable[Finding]:
    """Return the finding, unless most of the collections are asked for by a line of the script (STP005)."""
    unit, share = evidence.unit, min(evidence.share("gc"), shared.MAX_STEP_SHARE.value)
    if share < COLLECTED_MIN.value or collected_by_hand(evidence).share >= shared.MOSTLY.value * share:
        return
    makers = find_makers(evidence)
    seen = sum(makers.values())
    if not makers or evidence.calls("gc.collect"):
        return
    at: Counter[Place] = Counter()
    for frame, ns in makers.items():
        at[frame.file, frame.line] += ns
    lines = [place for place, ns in at.most_common(2) if ns >= shared.MOSTLY.value * seen] or [at.most_common(1)[0][0]]
    first = lines[0]
    yield Finding(
        code="STP017",
        title=f"Garbage collection of line {first[1]}'s objects takes {100 * share:.0f} % of {unit.a}",
        share_of_step=share,
        gain=price(Rewrite(), Part.exactly(share), Left(0.0, COLLECTED_LEFT.value)),
        where=tuple(dict.fromkeys((*(span(evidence, *place) for place in lines), *callers(evidence, first)))),
        evidence=(
            Measurement(f"garbage collection {unit.per}", evidence.part("gc"), "ms", "baseline"),
            Measurement("share of collections caused at this line", at[first] / seen, "share", "samples"),
        ),
        advice=(
            "Keep numbers in NumPy arrays: tolist() and json.loads() make a list, tuple or dict for each row. Or: call "
            "gc.collect(); gc.freeze() before the loop, so that collections skip the objects that exist by then."
        ),
        detail=(
            "After some hundred new lists, tuples or dicts Python scans objects for garbage, at times all objects of "
            "the process. No thread's Python runs meanwhile."
        ),
        absorbs_here=("SYN001",),
        parts=("gc",),
    )


def find_makers(evidence: Evidence) -> Counter[Frame]:
    """Find the user's innermost frames that made the objects, each with the ns of the collections that it caused.

    The thread that makes the last object collects, with the interpreter's lock, so the first sample that can be taken
    of that thread is behind the collection, at the line. Collections after which none was taken in time are left out.
    """
    known = evidence.offer(GarbageCollections)
    makers: Counter[Frame] = Counter()
    if known is None or not any(known.threads):
        return makers
    clean = evidence.steps.clean
    inside = Spans([(clean[0].begin_ns, clean[-1].end_ns)] if clean else evidence.log.whole)
    rows = list(evidence.records("samples"))
    logs = {thread: _read_thread(rows, thread) for thread in set(known.threads)}
    for (begin, end), thread in zip(known.spans, known.threads, strict=True):
        if inside.overlap(begin, end):
            behind = logs[thread].inside([(begin, end + BEHIND_COLLECTION_NS.value)])[:1]
            makers.update({stack.frames[-1]: end - begin for _, stack in behind if stack.frames})
    return makers


def _read_thread(rows: Iterable[Any], thread: int) -> SampleLog:
    """Return the samples of one thread, whatever they were taken for."""
    return read_log(_find_rows(rows, thread))


def _find_rows(rows: Iterable[Any], thread: int) -> Iterator[Any]:
    for row in rows:
        match row:
            case ["stack", *_]:
                yield row
            case [str(kind), when, stack, int(of), *_] if kind in _KINDS and of == thread:
                yield ["s", when, stack]
