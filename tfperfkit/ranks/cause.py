"""Why a rank is late: what it does more of than the others, and its own finding that says so."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

from tfperfkit.ledger.explained_parts import explained_parts
from tfperfkit.model import Finding, SourceSpan
from tfperfkit.offers.late_rank import EVALUATION, INPUT, Cause, Late
from tfperfkit.ranks import numbers
from tfperfkit.ranks.part import INSIDE, Part

#: Kinds of work of a rank until it comes, and the parts of the breakdown that show them.
_KINDS: dict[str, tuple[str, ...]] = {
    INPUT: (INPUT,),
    "tracing": ("tracing",),
    "garbage collection": ("gc",),
    "saving": ("saving",),
    EVALUATION: ("evaluate",),
    "Python": ("python", "dispatch", "eager_ops", "host_sync", "copies", "other"),
    "computing": INSIDE,
}
_ALONE = "it alone is at this line for {:.1f} ms of a step"


def cause(late: Late, parts: Sequence[Part]) -> Cause | None:
    """Return the cause that makes the rank late, if one thing takes the larger half of the wait."""
    last = next(part for part in parts if part.label == late.rank)
    others = [part for part in parts if part is not last]
    more = {kind: _extra_ms(last, others, kind) for kind in _KINDS}
    kind, took = max(more.items(), key=lambda item: item[1])
    if took < numbers.MIN_CAUSE.value * late.wait_ms:
        return _without_processor(late, last, others) or _alone(late, last, others)
    found = _find_explanation(last, others, kind, late.wait_ms)
    if kind == "computing":
        kind, words = _computing(last, others)
        # Its own compiled calls, at a line that no other comes to, say more than a sum of compiled time.
        line = _alone(late, last, others) if kind == "computing" else None
        if line is not None:
            return line
        # Work that was given or a processor that was taken away has no finding of its own on that rank.
        found = found if kind == "computing" else None
    else:
        words = _WORDS[kind]
    lines = next((last.at[part] for part in _KINDS.get(kind, ()) if last.at.get(part)), ())
    where = found.where[0] if found is not None and found.where else lines[0] if lines else None
    return Cause(
        kind=kind,
        ms=took,
        words=words,
        code=found.code if found is not None else "",
        title=found.title if found is not None else "",
        where=where,
    )


_WORDS = {
    INPUT: "it waits for its input",
    "tracing": "it traces functions again",
    "garbage collection": "it collects garbage",
    "saving": "it saves",
    EVALUATION: "it evaluates",
    "Python": "its Python takes longer",
}


def _without_processor(late: Late, last: Part, others: Sequence[Part]) -> Cause | None:
    """That its training thread, ready to run Python, has to wait for a processor, where that is the larger half."""
    if last.waited_ms is None or any(part.waited_ms is None for part in others):
        return None
    more = last.waited_ms - statistics.median(part.waited_ms or 0.0 for part in others)
    if more < numbers.MIN_CAUSE.value * late.wait_ms:
        return None
    words = (
        f"its training thread has no processor for {last.waited_ms:.0f} ms of a step, which other programs have then"
    )
    return Cause(kind="slower processor", ms=more, words=words)


def _alone(late: Late, last: Part, others: Sequence[Part]) -> Cause | None:
    """Find a line that takes the larger half of the wait, and that hardly any other comes to: work that one rank alone
    does may be of several kinds at once, its own data, compiled functions and Python, none of which is the larger
    half."""
    if not last.lines or not all(part.lines for part in others):
        return None
    for row in last.lines:
        others_ms = [
            sum(each.ms for each in part.lines if (each.file, each.line) == (row.file, row.line)) for part in others
        ]
        if statistics.median(others_ms) > numbers.OTHERS_AT_LINE.value * row.ms:
            continue
        if row.ms >= numbers.MIN_CAUSE.value * late.wait_ms:
            where = SourceSpan(file=row.file, line=row.line)
            return Cause(kind="alone", ms=row.ms, words=_ALONE.format(row.ms), where=where)
        break  # the rest takes less
    return None


def sentence(found: Cause | None, late: Late) -> str:
    """Why, in a line: what, the place, the finding."""
    if found is None:
        return "nothing that it does more of than the others explains most of that"
    where = f" ({Path(found.where.file).name}:{found.where.line})" if found.where is not None else ""
    title = f": {found.title}" if found.title else ""
    code = f"  {found.code}" if found.code else ""
    return f"{found.words}{title}{where}{code}"


def _took(part: Part, kind: str) -> float:
    if kind == "computing":
        return part.compute_ms or 0.0
    took = sum(part.outside_ms.get(name, 0.0) for name in _KINDS[kind])
    if kind != "Python":
        return took
    # A thread that waits for a processor was about to run Python: within compiled functions it sleeps.
    running = sum(ms for name, ms in part.outside_ms.items() if name != INPUT)
    waited = min((part.waited_ms or 0.0) * took / running, took) if running > 0 else 0.0
    return took - part.unknown_ms - waited


def _extra_ms(last: Part, others: Sequence[Part], kind: str) -> float:
    """Return ms of a step that a rank takes more than the median of the others."""
    if kind == "computing" and any(part.compute_ms is None for part in (last, *others)):
        return 0.0
    return _took(last, kind) - statistics.median(_took(part, kind) for part in others)


def _find_explanation(last: Part, others: Sequence[Part], kind: str, wait_ms: float) -> Finding | None:
    """Return the costliest of its findings about these parts that costs the larger half of the wait more than it costs
    the others."""
    fitting = []
    others = [part for part in others if part.looked]
    if not others:
        return None
    for found in last.findings:
        more = _cost(last, found) - statistics.median(
            max((_cost(part, item) for item in part.findings if _is_same_finding(item, found)), default=0.0)
            for part in others
        )
        if set(explained_parts(found)) & set(_KINDS[kind]) and more >= numbers.MIN_CAUSE.value * wait_ms:
            fitting.append((more, found))
    return max(fitting, key=lambda item: item[0])[1] if fitting else None


def _is_same_finding(a: Finding, b: Finding) -> bool:
    """Return whether two findings are the same."""
    return a.code == b.code and [(w.file, w.line) for w in a.where[:1]] == [(w.file, w.line) for w in b.where[:1]]


def _cost(part: Part, found: Finding) -> float:
    """ms of a step."""
    if found.basis == "step":
        return found.share_of_step * (part.step_ms or 0.0)
    return found.share_of_step * (part.turn_ms or 0.0) if found.basis == "turn" else 0.0


def _computing(last: Part, others: Sequence[Part]) -> tuple[str, str]:
    """Return whether a rank whose compiled functions take longer has more to do, or less to do it with."""
    usual = statistics.median(part.compute_ms or 0.0 for part in others)
    times = f"its compiled functions take {(last.compute_ms or 0.0) / usual:.1f} times as long" if usual else ""
    batches = [part.batch_size for part in others]
    if last.batch_size and all(batches):
        other = statistics.median(size for size in batches if size)
        if last.batch_size >= numbers.MORE_WORK.value * other:
            return "more work", f"it has more work: batches of {last.batch_size}, the others of {other:.0f}"
    cpus = [part.processors for part in others]
    if last.processors and all(cpus) and last.processors < min(count for count in cpus if count):
        many = "processor" if last.processors == 1 else "processors"
        fewest = min(count for count in cpus if count)
        return "slower processor", f"{times}: on {last.processors} {many}, where the others have {fewest}"
    stretched = [part.stretched for part in others]
    if last.stretched and all(stretched) and usual:
        # Waiting for CPU cores is the larger half of the time by which it takes longer.
        ordinary = statistics.median(value for value in stretched if value)
        lost = (last.compute_ms or 0.0) * (1 - ordinary / last.stretched)
        if lost >= numbers.MIN_CAUSE.value * ((last.compute_ms or 0.0) - usual):
            share = f"{100 * (1 - 1 / last.stretched):.0f} % of the time that they could run"
            return "slower processor", f"{times}: its threads have no processor for {share}"
    speeds = [part.gflops for part in others]
    if last.gflops and all(speeds) and last.gflops * numbers.MORE_WORK.value <= min(speed for speed in speeds if speed):
        return "slower processor", f"{times}: its processors are slower"
    return "computing", f"{times} for batches of the same size" if last.batch_size else times
