"""STP004: the script waits on purpose: it sleeps, or waits for threads, queues or other programs.

Stack samples show the library function below the line that waits. A pause can go, apart from a tenth. If another thread
has to be waited for, its own samples bound the gain; otherwise the figure is an upper limit. Reported from 5 % of the
time.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.gain import MEDIUM, Gain, UpTo
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import Left, Part, bound, price
from tfperfkit.records.samples import Stack
from tfperfkit.remedy import Remove
from tfperfkit.rule import Evidence
from tfperfkit.syntax.pauses import Pause
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.awaited import Awaited, Standing, awaited, standing, waited_kind
from tfperfkit_rules.measures.beside import Beside, beside
from tfperfkit_rules.measures.child_starts import children_mostly_import
from tfperfkit_rules.measures.kinds import KINDS, PYTHON, Kind, api
from tfperfkit_rules.measures.loop_iterations import basis
from tfperfkit_rules.measures.polling import find_pause, may_wait_outside, sort_polls
from tfperfkit_rules.measures.step_shares import callers, span
from tfperfkit_rules.step.python_time import LEFT_MAX, MIN_SAMPLES

PAUSE_LEFT = Threshold(
    0.1,
    "share",
    "maximum share that remains of a pause that the script makes itself",
    Chosen("nearly all of it goes with the call; what it waited for may take a little"),
)

TITLES = {"STP004": "Script waits on purpose (sleep, queue, thread, subprocess)"}
BY_WORD = {kind.word: kind for kind in KINDS}
#: The part that is left at best and at worst. It is unknown for other waits: another thread's or program's work may be
#: needed anyway.
#: Kinds of waits that may only be pauses between two looks at a state.
_PAUSES = ("sleep", "threads")
_LEFT = dict.fromkeys(("sleep", "starting"), Left(0.0, PAUSE_LEFT.value))


def waits(evidence: Evidence) -> Iterable[Finding]:
    """Return the findings: of the two kinds that take most."""
    for found in beside(evidence, partial(kind_in, evidence, "wait"))[:2]:
        once = evidence.work is not None and evidence.work.kind == "call"
        if found.share >= MEDIUM and (found.often or once) and found.samples >= MIN_SAMPLES.value:
            yield _wait(evidence, found)


def kind_in(evidence: Evidence, role: str, stack: Stack) -> str:
    """Return the word for what a stack's innermost line does, where that has this role; "" otherwise."""
    leaf = stack.frames[-1] if stack.frames else None
    if leaf is None or stack.activity not in ("python", "dispatch", "waiting"):
        return ""
    kind = waited_kind(evidence, leaf)
    return kind.word if kind.role == role else ""


def _wait(evidence: Evidence, found: Beside) -> Finding:
    unit = evidence.unit
    kind = BY_WORD[found.kind]
    part = Part.sampled(found.share, len(found.iterations.found))
    left = _LEFT.get(kind.word)
    gained: Gain = price(Remove(), part, left) if left is not None else bound(part.high)
    lines = [place for place, _ in found.at.most_common(3) if place[1]]
    pause = find_pause(evidence, lines[0]) if kind.word in _PAUSES and lines else None
    if pause is not None:
        left = _LEFT["sleep"]
        gained = price(Remove(), part, left)
    polled = sort_polls(evidence, pause) if pause is not None else []
    if pause is not None and (pause.reason != "state" or may_wait_outside(evidence)):
        gained = bound(part.high)  # another program, the script's own pace, or a machine may set the time
    threads = kind.word == "threads" and pause is None
    other = awaited(evidence) if threads else None
    limited = standing(evidence) if threads and other is None else None
    if other is not None:
        # An iteration takes as long as the thread needs for it: the wait goes as far as that gets shorter.
        worst = _LEFT[other.kind.word].high if other.kind.word in _LEFT else LEFT_MAX.value
        gained = price(Remove(), Part(min(part.low, other.part * (1 - worst)), min(part.high, other.part)))
    return Finding(
        code="STP004",
        remedy=Remove(),
        title="Script waits on purpose: "
        + (_name_pause(pause) or reported(evidence, found, kind) if other is None else _busy_with(evidence, other))
        + (f", while {limited.frame.name} waits with a time limit" if limited is not None else "")
        + f", {100 * found.share:.0f} % of {evidence.unit.a}",
        severity="info" if pause is not None and pause.reason != "process" and isinstance(gained, UpTo) else "low",
        basis=basis(evidence, found.iterations.iteration_ms),
        share_of_step=found.share,
        gain=gained,
        where=tuple(
            dict.fromkeys(
                (
                    *(span(evidence, *place) for place, _ in (other.at.most_common(2) if other is not None else ())),
                    *(span(evidence, *place) for place in _stands(limited)),
                    *(span(evidence, *place) for place in (*polled, *lines)),
                    *callers(evidence, lines[0]),
                )
            )
        ),
        evidence=(
            Measurement(f"share of {unit.the} in this wait", found.share, "share", "samples"),
            Measurement(f"time in this wait {unit.per}", found.share * found.iterations.iteration_ms, "ms", "samples"),
            *(
                [Measurement("samples of the awaited thread", float(other.samples), "count", "samples")]
                if other
                else []
            ),
            *(_seen(limited) if limited is not None else ()),
            Measurement("samples in this wait", float(found.samples), "count", "baseline"),
            Measurement("samples", float(len(found.iterations.found)), "count", "baseline"),
        ),
        advice=f"{_advise(evidence, kind, pause) if other is None else other.kind.advice}."
        if limited is None
        else _TAKE_WHAT_IS_THERE,
        detail=("The training thread does nothing meanwhile." if limited is None else _NOBODY_WORKS)
        + (_IN_ITERATIONS if other is not None and other.kind.role != "wait" else ""),
        absorbs_here=("LIN001", "SYN001", "STP008"),
        parts=("python", "dispatch", "other") if found.share >= shared.MOSTLY.value else ("python", "other"),
    )


def _name_pause(pause: Pause | None) -> str:
    """Name what a sleeping line waits for, after "48 % of a step is"; "" for a plain pause."""
    if pause is None:
        return ""
    if pause.asks:
        return f"sleeping between checks of {pause.asks}" + ", another process" * bool(
            pause.reason == "process" and pause.blocks
        )
    return f"sleeping to {'keep a pace' if pause.reason == 'clock' else 'try again'}"


def _advise(evidence: Evidence, kind: Kind, pause: Pause | None = None) -> str:
    if pause is None:
        return _START_ONCE if kind.word == "threads" and children_mostly_import(evidence) else kind.advice
    if not pause.asks:
        return "Keep the pause if it is wanted: a rate limit, or time for what failed to recover. Or: remove it"
    if pause.reason == "process" and not pause.blocks:
        return (
            "Let the writer of the file tell when the file is there: wait for its process, or read from a pipe. "
            "Or: make the writer faster, as it sets the pace"
        )
    if pause.reason == "process":
        return (
            f"Block until the other process is done: {pause.blocks}. Or: make that process faster, as it sets the pace"
        )
    if not pause.blocks:
        return (
            "Block instead of polling: pass the value through a queue.Queue, whose get() waits for it. Or: set a "
            "threading.Event, and wait() for it"
        )
    queue = ". A longer queue (maxsize=8) lets both sides work at the same time" * pause.blocks.endswith(
        ("get()", "put(item)")
    )
    return f"Block instead of polling: {pause.blocks} waits, and returns as soon as it can{queue}"


_START_ONCE = (
    "Start the processes once, before the loop: each one imports the script and TensorFlow before its first task. Or: "
    "let them import less"
)
#: A sentence for threads that work in Python.
_IN_ITERATIONS = " More threads do not help, as only one runs Python at a time; more processes (multiprocessing) do."


_TAKE_WHAT_IS_THERE = (
    "Take what is there (get_nowait() until queue.Empty), and go on. Or: make the time limit as short as what it "
    "saves, about a millisecond."
)
_NOBODY_WORKS = "No thread of the script works meanwhile. Samples don't show whether the wait ended by its time limit."


def _stands(limited: Standing | None) -> Iterable[tuple[str, int]]:
    if limited is None:
        return ()
    return (limited.place, limited.above) if limited.above is not None else (limited.place,)


def _seen(limited: Standing) -> Iterable[Measurement]:
    yield Measurement("share of the idle samples at that line", limited.part, "share", "samples")
    yield Measurement("samples in which no thread worked", float(limited.moments), "count", "samples")


def _busy_with(evidence: Evidence, other: Awaited) -> str:
    name = api(evidence, other.frames, other.kind) if other.kind != PYTHON else ""
    doing = f"{other.kind.words} ({name})" if name else other.kind.words
    return f"waiting for another thread, {100 * other.part:.0f} % of which is {doing}"


def reported(evidence: Evidence, found: Beside, kind: Kind) -> str:
    """Return what is done there, with the function that does it."""
    name = api(evidence, found.frames, kind)
    return f"{kind.words} ({name})" if name else kind.words
