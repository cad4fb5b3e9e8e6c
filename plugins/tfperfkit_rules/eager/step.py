"""EAG001: the training step runs operation by operation, not as a compiled function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tfperfkit.gain import LOW, MEDIUM, between, severity
from tfperfkit.model import Finding, Measurement
from tfperfkit.offers import HostReads
from tfperfkit.records.samples import Frame
from tfperfkit.remedy import Compile
from tfperfkit.rule import Evidence, Unit
from tfperfkit_rules.eager.gain import MIN_OPERATIONS, MIN_SHARE, Compiled, compiled, handed_out
from tfperfkit_rules.measures.source_text import Function, find_function
from tfperfkit_rules.measures.step_place import TAPE, StepPlace, step_place


def runs_eagerly(evidence: Evidence) -> bool:
    """Whether eager operations and the Python that hands them out fill the step, rather than compiled functions."""
    eager = evidence.part("eager_ops")
    return (
        eager + handed_out(evidence) >= MIN_SHARE.value * (evidence.step_ms or 0.0)
        and eager > LOW * (evidence.step_ms or 0.0)
        and evidence.part("graph") <= eager + evidence.part("dispatch")
    )


def own_eager_step(evidence: Evidence) -> StepPlace | None:
    """Return where the step is, when it runs eagerly and the user's own lines make it, not Keras'."""
    place = step_place(evidence) if evidence.work is None and runs_eagerly(evidence) else None
    return place if place is not None and not place.by_keras else None


def eager_step(evidence: Evidence) -> Iterable[Finding]:
    """Return the finding, or nothing when the step is compiled, has too few operations, or Keras makes it."""
    place = own_eager_step(evidence)
    if place is None:
        return
    estimate = compiled(evidence, place)
    if estimate is None or estimate.operations < MIN_OPERATIONS.value:
        return
    yield Finding(
        code="EAG001",
        family="eager",
        remedy=Compile("step"),
        title=_title(estimate, place, evidence.unit),
        severity=severity(1 - estimate.upper_ms / estimate.step_ms),
        share_of_step=lost(estimate),
        gain=between(*estimate.range),
        where=place.where,
        evidence=measured(estimate, evidence.unit),
        advice=_advice(evidence, place),
        detail=_detail(estimate),
    )


def _title(estimate: Compiled, place: StepPlace, unit: Unit) -> str:
    if place.handed:
        return (
            f"strategy.run is called outside of a tf.function: {unit.the} runs as {estimate.operations:,.0f} separate "
            "operations, called one by one from Python"
        )
    return f"{unit.The} runs as {estimate.operations:,.0f} separate operations, called one by one from Python"


def lost(estimate: Compiled) -> float:
    """Return the share of the step that goes into running it one operation at a time."""
    work = min(estimate.heavy_ms, estimate.eager_ms)
    return min(1.0, max(0.0, estimate.eager_ms - work + estimate.dispatch_ms) / estimate.step_ms)


def measured(estimate: Compiled, unit: Unit) -> tuple[Measurement, ...]:
    """Return what a finding of this family rests on."""
    return (
        Measurement(f"operations {unit.per}", estimate.operations, "count", estimate.traced_by),
        Measurement("time in them", estimate.eager_ms, "ms", "breakdown"),
        Measurement("of it heavy work (convolutions, products)", estimate.heavy_ms, "ms", "breakdown"),
        Measurement("TensorFlow's Python that hands them out", estimate.dispatch_ms, "ms", "breakdown"),
        Measurement("step now", estimate.step_ms, "ms", "baseline"),
    )


def _detail(estimate: Compiled) -> str:
    digits = 0 if estimate.step_ms >= 1000 else 1
    return (
        f"Of {estimate.step_ms:,.{digits}f} ms, {estimate.dispatch_ms:,.{digits}f} ms is Python that hands out "
        f"operations and {estimate.heavy_ms:,.{digits}f} ms heavy work that a compiled step must do too."
    )


def _advice(evidence: Evidence, place: StepPlace) -> str:
    unit = evidence.unit
    names = [span.function for span in place.functions if span.function and span.function != "<module>"]
    if place.handed:
        lines = ", ".join(str(span.line) for span in place.handed[:3])
        what = (
            f"Put @tf.function on {' and '.join(names[:3])}, around strategy.run (line {lines})"
            if names
            else f"Move the call of strategy.run (line {lines}) into a function with @tf.function"
        )
        return (
            f"{what}: the replicas' steps and the exchange between them become one graph, which is traced once. "
            "@tf.function on what strategy.run is given is not enough: the exchange stays outside."
            f"{reads(evidence, place)}{others(evidence, place)}"
        )
    if place.functions:
        what = f"Put @tf.function on {' and '.join(names[:3])}" if names else f"Put {unit.the} into a @tf.function"
    else:
        tapes = {(span.file, span.line) for span in evidence.calls(TAPE)}
        here = place.tape is not None and (place.tape.file, place.tape.line) in tapes
        which = "from the tape to the update" if here else "from the call that leads to the tape to the update"
        what = f"Move the body of the loop, {which}, into a function with @tf.function"
    return (
        f"{what}, so that TensorFlow compiles {unit.the} once and runs it as one graph."
        f"{reads(evidence, place)}{draws(evidence, place)}{others(evidence, place)}"
    )


def others(evidence: Evidence, place: StepPlace) -> str:
    """Return what else in the step runs operation by operation, beside the functions that make the update: the choice
    of an action, say. Told where it takes a medium share of the step."""
    unit = evidence.unit
    if place.loop is None or not place.functions:
        return ""
    named = {(span.file, span.function) for span in place.functions}
    around = find_function(evidence, place.loop.file, place.loop.line)
    home = (place.loop.file, around.name if around is not None else "<module>")
    at: Counter[str] = Counter()
    for stack, count in evidence.samples.stacks.items():
        below = [(frame.file, frame.name) for frame in stack.frames]
        if stack.activity not in ("eager_ops", "dispatch") or named & set(below) or home not in below:
            continue
        inner = below[below.index(home) + 1 :]
        if inner and not inner[0][1].startswith("<"):
            at[inner[0][1]] += count
    name, count = at.most_common(1)[0] if at else ("", 0)
    share = count / evidence.samples.count if evidence.samples.count else 0.0
    if share < MEDIUM:
        return ""
    taken = f"{100 * share:.0f} % of {unit.the}"
    return f" Beside that {name} runs operation by operation, {taken}: compile what it computes too."


def reads(evidence: Evidence, place: StepPlace) -> str:
    """Return what in the step can't be compiled: lines where Python reads the value of a tensor, in the function or
    below."""
    data = evidence.offer(HostReads)
    around = find_function(evidence, place.loop.file, place.loop.line) if place.loop is not None else None
    if data is None:
        return " Inside it use TensorFlow instead of NumPy and .numpy()."
    lines = []
    for row in data.rows:
        function = find_function(evidence, row.file, row.line)
        if (row.per_step or 0) < 1 or function is None or function == around or row.through:
            continue
        if not _beside(evidence, place, row.file, function):
            lines.append(f"{row.file.rpartition('/')[2]}:{row.line}")
    if not lines:
        return ""
    return f" Before that, replace what reads values of tensors inside it ({', '.join(lines[:3])}) by TensorFlow."


def _beside(evidence: Evidence, place: StepPlace, file: str, function: Function) -> bool:
    """Whether samples saw a function at work, and never below those that are to be compiled."""

    def within(frame: Frame, where: str, first: int, last: int) -> bool:
        return frame.file == where and first <= frame.line <= last

    spans = [(span.file, find_function(evidence, span.file, span.line)) for span in place.functions]
    compiled = [(where, item.first, item.last) for where, item in spans if item is not None]
    seen = [
        stack.frames
        for _, stack in evidence.log.inside(evidence.log.whole)
        if any(within(frame, file, function.first, function.last) for frame in stack.frames)
    ]
    return bool(seen and compiled) and not any(
        within(frame, *item) for frames in seen for frame in frames for item in compiled
    )


#: Modules whose functions, and whose generators' methods, draw random numbers when Python calls them.
_DRAWS = ("numpy.random.", "random.")


def draws(evidence: Evidence, place: StepPlace) -> str:
    """Say which random numbers Python or NumPy draws in the functions to be compiled, since a compiled step draws them
    only once; "" if none."""
    lines = []
    for span in place.functions:
        function, syntax = find_function(evidence, span.file, span.line), evidence.syntax(span.file)
        if function is None or syntax is None:
            continue
        inside = (call for call in syntax.calls if function.line < call.line <= function.last)
        drawn = (call for call in inside if call.name.startswith(_DRAWS))
        lines += [f"{span.file.rpartition('/')[2]}:{call.line}" for call in drawn]
    if not lines:
        return ""
    where = ", ".join(dict.fromkeys(lines))
    return (
        f" Draw its random numbers ({where}) outside and hand them in: in a compiled function Python draws once, while "
        "it is traced."
    )
