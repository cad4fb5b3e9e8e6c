"""EAG001: the training step runs as eager operations, not as a compiled function.

The trace counts the operations of a step and times their kernels. The predicted compiled step keeps the work of the
kernels, a small overhead per operation in the graph's runtime, one function call, and what compiling does not change:
saving, garbage collection, waiting for batches. Each part has a lower and an upper bound.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from tfperfkit.gain import LOW, MEDIUM
from tfperfkit.model import Finding, Measurement
from tfperfkit.offers import HostReads
from tfperfkit.pricing import price
from tfperfkit.records.samples import Frame
from tfperfkit.remedy import Compile
from tfperfkit.rule import Evidence, Unit
from tfperfkit_rules.eager.gain import MIN_OPERATIONS, MIN_SHARE, Compiled, compiled, handed_out
from tfperfkit_rules.measures.source_text import Function, find_function
from tfperfkit_rules.measures.step_place import TAPE, StepPlace, step_place

TITLES = {"EAG001": "Training step runs as eager operations, without tf.function"}


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
        remedy=Compile("step"),
        title=_title(estimate, place, evidence.unit),
        share_of_step=lost(estimate),
        gain=price(Compile("step"), left=estimate.left),
        where=place.where,
        elsewhere=estimate.paid,
        evidence=measured(estimate, evidence.unit),
        advice=_advice(evidence, place),
        detail=_detail(estimate, evidence.unit),
    )


def _title(estimate: Compiled, place: StepPlace, unit: Unit) -> str:
    if place.handed:
        return f"strategy.run outside tf.function makes {unit.the} run as {estimate.operations:,.0f} eager operations"
    return f"{unit.The} runs as {estimate.operations:,.0f} eager operations, without tf.function"


def lost(estimate: Compiled) -> float:
    """Return the share of the step that goes into running it one operation at a time."""
    work = min(estimate.heavy_ms, estimate.eager_ms)
    return min(1.0, max(0.0, estimate.eager_ms - work + estimate.dispatch_ms) / estimate.step_ms)


def measured(estimate: Compiled, unit: Unit) -> tuple[Measurement, ...]:
    """Return what a finding of this family rests on."""
    return (
        Measurement(f"eager operations {unit.per}", estimate.operations, "count", estimate.traced_by),
        Measurement("time in eager operations", estimate.eager_ms, "ms", "breakdown"),
        Measurement("time in convolutions and matmuls", estimate.heavy_ms, "ms", "breakdown"),
        Measurement("time in TensorFlow's Python dispatch", estimate.dispatch_ms, "ms", "breakdown"),
        Measurement("mean step", estimate.step_ms, "ms", "baseline"),
        *estimate.costs,
    )


def _detail(estimate: Compiled, unit: Unit) -> str:
    digits = 0 if estimate.step_ms >= 1000 else 1
    return (
        f"{estimate.dispatch_ms:,.{digits}f} ms of {unit.the}, {estimate.step_ms:,.{digits}f} ms, is Python dispatch "
        f"overhead. {estimate.heavy_ms:,.{digits}f} ms is compute that remains after compiling."
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
            f"{what}. @tf.function on the replica's function alone is not enough: the exchange between replicas stays "
            f"outside.{reads(evidence, place)}{others(evidence, place)}"
        )
    if place.functions:
        what = f"Put @tf.function on {' and '.join(names[:3])}" if names else f"Put {unit.the} into a @tf.function"
    else:
        tapes = {(span.file, span.line) for span in evidence.calls(TAPE)}
        here = place.tape is not None and (place.tape.file, place.tape.line) in tapes
        which = "from the tape to the update" if here else "from the call that leads to the tape to the update"
        what = f"Move the body of the loop, {which}, into a function with @tf.function"
    return f"{what}.{reads(evidence, place)}{draws(evidence, place)}{others(evidence, place)}"


def others(evidence: Evidence, place: StepPlace) -> str:
    """Say what else in the step runs eagerly, next to the functions that make the update, such as the choice of an
    action; "" if it takes less than a medium share of the step."""
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
    return f" Compile {name} too, which also runs eagerly ({taken})."


def reads(evidence: Evidence, place: StepPlace) -> str:
    """Say what in the step can't be compiled: lines where Python reads the value of a tensor, in the function or in
    those that it calls."""
    data = evidence.offer(HostReads)
    around = find_function(evidence, place.loop.file, place.loop.line) if place.loop is not None else None
    if data is None:
        return " Inside it, use TensorFlow instead of NumPy and .numpy()."
    lines = []
    for row in data.rows:
        function = find_function(evidence, row.file, row.line)
        if (row.per_step or 0) < 1 or function is None or function == around or row.through:
            continue
        if not _beside(evidence, place, row.file, function):
            lines.append((row.file, row.line))
    named = [f"{file.rpartition('/')[2]}:{line}" for file, line in sorted({*lines, *_find_numpy(evidence, place)})]
    if not named:
        return ""
    return f" First replace the lines that read tensor values ({', '.join(named[:3])}) with TensorFlow operations."


def _find_numpy(evidence: Evidence, place: StepPlace) -> Iterator[tuple[str, int]]:
    """Find the lines of the functions to be compiled that give NumPy a value which compiling makes a symbolic tensor: a
    parameter, or a name that the function assigns. NumPy reads it through its buffer, which no probe sees."""
    for span in place.functions:
        function = find_function(evidence, span.file, span.line)
        if function is None:
            continue
        changing = {*function.parameters, *function.bound_names}
        for call in function.calls:
            is_numpy = call.name.startswith("numpy.") and not call.name.startswith(_DRAWS)
            if is_numpy and call.arguments and call.arguments[0].read_names & changing:
                yield span.file, call.line


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
        f" Draw its random numbers ({where}) outside and pass them in: a compiled function draws them only once, "
        "during tracing."
    )
