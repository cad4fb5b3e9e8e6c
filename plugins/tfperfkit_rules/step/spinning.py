"""STP015: a thread polls in a loop without waiting, and takes the interpreter lock from the training thread.

The system reports how long each thread runs. A thread that is busy at least half of the time is sampled, and half of
its samples must be at lines that only ask. Steps with a shorter switch interval show the least that is gained.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.gain import AtLeast, Gain, Unknown
from tfperfkit.model import Finding, Measurement
from tfperfkit.records.samples import MIN, Frame, Place, Stack, precise_spans, read_log
from tfperfkit.records.spans import Span
from tfperfkit.rule import Evidence
from tfperfkit.syntax.polling import find_polling_lines
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.source_text import find_loops
from tfperfkit_rules.measures.step_shares import span

SPIN_MIN_STEPS = Threshold(
    30,
    "steps",
    "minimum number of steps with the usual switch interval of the GIL, and with the shorter one, to compare",
    Chosen("the mean of so many has a fifth of one step's deviation"),
)
SPIN_MIN_FACTOR = Threshold(
    1.2,
    "number",
    "minimum ratio of the steps with the usual switch interval to those with the shorter one, for a thread that "
    "holds the GIL",
    Chosen("parts of one run differ by as much on a shared machine: see MIN_HEADROOM"),
)

TITLES = {"STP015": "Polling thread takes the interpreter lock from the loop"}
#: Python's modules whose functions look whether another thread has something: a thread that waits in them is not busy.
_ASKED = ("queue:", "threading:", "multiprocessing.queues:", "multiprocessing.connection:")


class _Ran(NamedTuple):
    """Until ``when`` a thread ran, or was ready to, for ``ran_ns``."""

    when: int
    thread: int
    ran_ns: int


class _Spinner(NamedTuple):
    """``busy``: the share of the time in which it ran or was ready to; ``asking``: of its samples, those that only ask;
    ``at``: where."""

    busy: float
    asking: float
    samples: int
    at: Counter[Place]
    begins: Frame


def spins(evidence: Evidence) -> Iterable[Finding]:
    """For the busiest of such threads."""
    clean = evidence.steps.clean
    rows = list(evidence.records("samples")) if clean else []
    ran = list(_read_ran(rows))
    if not ran:
        return
    whole = clean[0].begin_ns, clean[-1].end_ns
    found = [
        item for thread in {row.thread for row in ran} if (item := _find_spinner(evidence, rows, ran, thread, whole))
    ]
    if not found:
        return
    spinner = max(found, key=lambda item: item.busy)
    place = spinner.at.most_common(1)[0][0]
    around = find_loops(evidence, *place)
    handed = _compare_switching(evidence)
    seen = handed is not None and handed.factor >= SPIN_MIN_FACTOR.value
    gained: Gain = AtLeast(handed.factor) if handed is not None and seen else Unknown()
    loop = (span(evidence, place[0], around[-1].line),) if around else ()
    yield Finding(
        code="STP015",
        title=f"Polling thread {spinner.begins.name} takes the interpreter lock from the loop",
        share_of_step=gained.surely,
        gain=gained,
        where=tuple(dict.fromkeys((*loop, *(span(evidence, *item) for item, _ in spinner.at.most_common(2))))),
        evidence=(
            Measurement("share of the time the thread runs or is ready", spinner.busy, "share", "baseline"),
            Measurement("share of the thread's samples at polling lines", spinner.asking, "share", "samples"),
            *(handed.measured() if handed is not None else ()),
            Measurement("samples of the polling thread", float(spinner.samples), "count", "samples"),
        ),
        advice=(
            "Let the thread wait: queue.Queue(maxsize=8), whose put() and get() block. Or: Event.wait() or "
            "Condition.wait(), or time.sleep(0.001) in the loop if nothing signals it."
        ),
        detail=(
            "Only one thread runs Python at a time. The training thread releases the lock in each TensorFlow call, and "
            "gets it back only after sys.getswitchinterval(), 5 ms by default."
        ),
        parts=("python", "dispatch", "eager_ops", "other"),
    )


def _find_spinner(evidence: Evidence, rows: list[Any], ran: list[_Ran], thread: int, whole: Span) -> _Spinner | None:
    """None for a thread that waits, or that does more than ask."""
    begin, end = whole
    busy = sum(row.ran_ns for row in ran if row.thread == thread and begin <= row.when <= end) / max(end - begin, 1)
    if busy < shared.MOSTLY.value:
        return None
    log = read_log((row for row in rows if not _is_of_other_thread(row, thread)), "busy")
    stacks = [stack for _, stack in log.inside([whole])]
    asking = [stack for stack in stacks if _only_asks(evidence, stack)]
    if len(stacks) < MIN or len(asking) < shared.MOSTLY.value * len(stacks):
        return None
    at = Counter((stack.frames[-1].file, stack.frames[-1].line) for stack in asking)
    return _Spinner(min(busy, 1.0), len(asking) / len(stacks), len(stacks), at, asking[0].frames[0])


def _read_ran(rows: list[Any]) -> Iterator[_Ran]:
    for row in rows:
        match row:
            case ["ran", int(when), int(thread), int(ran_ns), int()]:
                yield _Ran(when, thread, ran_ns)


def _is_of_other_thread(row: Any, thread: int) -> bool:
    """Whether it is a sample of another busy thread."""
    match row:
        case ["busy", _, _, other]:
            return bool(other != thread)
    return False


def _only_asks(evidence: Evidence, stack: Stack) -> bool:
    """Whether a thread is at a line that only asks: the test of an endless loop, or of an ``if`` in it."""
    leaf = stack.frames[-1] if stack.frames else None
    if leaf is None:
        return False
    if leaf.calls:
        return leaf.calls[0].startswith(_ASKED)
    return leaf.line in find_polling_lines(evidence.source(leaf.file))


class _HandedOver(NamedTuple):
    """Means and medians, in ms, of steps in which the lock was handed over as usual, and ten times as often."""

    usual: tuple[float, float]
    often: tuple[float, float]

    @property
    def factor(self) -> float:
        return min(usual / often for usual, often in zip(self.usual, self.often, strict=True))

    def measured(self) -> tuple[Measurement, ...]:
        return (
            Measurement("mean step", self.usual[0], "ms", "baseline"),
            Measurement("mean step with a switch interval of 0.5 ms", self.often[0], "ms", "baseline"),
        )


def _compare_switching(evidence: Evidence) -> _HandedOver | None:
    """While samples are to be precise, the lock changes hands ten times as often: what the steps gain by that, they
    gain at least where nobody takes it. None with too few steps of a kind."""
    spans = precise_spans(list(evidence.records("events")))
    groups: dict[bool, list[float]] = {True: [], False: []}
    for step in evidence.steps.clean:
        inside = any(begin <= step.begin_ns and step.end_ns <= end for begin, end in spans)
        if inside or not any(begin < step.end_ns and step.begin_ns < end for begin, end in spans):
            groups[inside].append((step.end_ns - step.begin_ns) / 1e6 / max(step.count, 1))
    if min(map(len, groups.values())) < SPIN_MIN_STEPS.value:
        return None
    usual, often = ((statistics.mean(item), statistics.median(item)) for item in (groups[False], groups[True]))
    return _HandedOver(usual, often) if min(often) > 0 else None
