"""EAG005: a Python loop over time steps or examples repeats eager operations inside the training step.

Counted lines give the iterations of the loop, and stack samples its share of the step. The lower bound of the gain
joins the iterations of the loop; the upper bound also compiles the step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tfperfkit import calibration
from tfperfkit.calibration import Chosen, Derived, Threshold
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers import LineCounts
from tfperfkit.pricing import Left, price
from tfperfkit.records.samples import Frame, Stack
from tfperfkit.remedy import Compile
from tfperfkit.rule import Evidence
from tfperfkit_rules.eager.gain import MIN_OPERATIONS, Compiled, compiled
from tfperfkit_rules.eager.step import lost, measured, others, own_eager_step
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.called import GRADIENT, UPDATE, find_written_calls, is_calling
from tfperfkit_rules.measures.loop_of_batch import MIN_ITERATIONS
from tfperfkit_rules.measures.loop_parts import goes_over_parts
from tfperfkit_rules.measures.source_text import Loop, find_function, find_loops
from tfperfkit_rules.measures.step_place import StepPlace, sites
from tfperfkit_rules.measures.value_reads import find_first_read

TITLES = {"EAG005": "Python loop inside the eager step repeats its operations"}

MIN_LOOP = Threshold(
    calibration.SEVERITY_MEDIUM.value,
    "share",
    "minimum share of the step in the forward part of a loop",
    Derived("XProf's moderate share of one part of a step"),
)
BACKWARD_SAVED = Threshold(
    0.6,
    "share",
    "minimum share of a loop's backward work that becomes one iteration together with the forward work",
    Chosen("the rest is the update and what the tape does once"),
)
MIN_FORWARD = Threshold(0.01, "share", "lower bound for the forward share of a step", Chosen("it is a divisor"))


#: If iterations can't be joined, this gains a part all the same.
_ITERATION_ALONE = " Or: if iterations differ too much, put @tf.function on the computation of one iteration."


class _Found(NamedTuple):
    file: str
    loop: Loop
    share: float
    iterations: float


def python_loop(evidence: Evidence) -> Iterable[Finding]:
    """Return the finding, for the outermost such loop within an eager step."""
    place = own_eager_step(evidence)
    if place is None:
        return
    found = max(_candidates(evidence, place), key=lambda item: item.share, default=None)
    estimate = compiled(evidence, place)
    if found is None or estimate is None or estimate.operations < MIN_OPERATIONS.value:
        return
    gained = price(Compile("loop"), left=_find_left(evidence, found, estimate))
    name = _name(evidence, found.file, found.loop.line)
    yield Finding(
        code="EAG005",
        remedy=Compile("loop"),
        title=f"Python loop in the eager step repeats operations {found.iterations:,.0f} times",
        share_of_step=max(lost(estimate), found.share),
        gain=gained,
        where=tuple(dict.fromkeys((SourceSpan(found.file, found.loop.line, name), *place.where))),
        evidence=(
            Measurement("iterations of the loop", found.iterations, "count", evidence.offered_by(LineCounts)),
            Measurement("time in the loop's forward pass", found.share, "share", "samples"),
            *measured(estimate, evidence.unit),
        ),
        advice=_advice(evidence, found, place),
        detail="Each iteration dispatches its operations from Python again, and the backward pass repeats them all.",
        absorbs=("EAG001",),
    )


def _advice(evidence: Evidence, found: _Found, place: StepPlace) -> str:
    unit = evidence.unit
    read = _read(evidence, found)
    if read is not None:
        return (
            "Put the computation of one iteration into a @tf.function and keep only inputs and results in the loop, "
            f"because line {read} needs values in Python. After the loop compute loss, gradients and update for all "
            "iterations at once, on stacked tensors, in a second @tf.function(reduce_retracing=True)."
        )
    if _own_gradients(evidence, found):
        return (
            "Compute the gradients of all iterations in one call: tf.vectorized_map of a function of one iteration, or "
            f"one tape.jacobian of all iterations' losses. Then put {unit.the} into one @tf.function."
            f"{_ITERATION_ALONE}{others(evidence, place)}"
        )
    names = ", ".join(found.loop.targets) or "iteration"
    step = next((span.function for span in place.functions if span.function), "")
    then = f" Then put @tf.function on {step}." if step else f" Then put {unit.the} into a @tf.function."
    return (
        f"Replace the loop over {names} with operations on whole tensors: over examples with axis=1 on the batch, over "
        f"time with keras.layers.RNN, LSTM(return_sequences=True) or tf.scan.{then}{others(evidence, place)}"
    )


def _own_gradients(evidence: Evidence, found: _Found) -> bool:
    """Whether an iteration differentiates, in a function that it calls: a loop that does so itself is no such loop."""
    stacks = (stack for stack in evidence.samples.stacks if _within(found, stack))
    return any(is_calling(evidence, frame, GRADIENT) for stack in stacks for frame in stack.frames)


def _read(evidence: Evidence, found: _Found) -> int | None:
    """Return the first line of the loop's body that gives a tensor's value to Python, as for an environment's next
    step."""
    return find_first_read(evidence, found.file, found.loop.line + 1, found.loop.last)


def _name(evidence: Evidence, file: str, line: int) -> str:
    function = find_function(evidence, file, line)
    return function.name if function else ""


def _candidates(evidence: Evidence, place: StepPlace) -> Iterator[_Found]:
    """Loops inside the step whose lines run TensorFlow's operations, with their iterations per step."""
    hits, steps = _hits(evidence)
    if not steps:
        return
    training = {(span.file, span.line) for span in (place.loop,) if span is not None}
    seen: set[tuple[str, int]] = set()
    for file, line in evidence.samples.places():
        around = find_loops(evidence, file, line)
        if training and any((file, loop.line) in training for loop in around):
            inner = [i for i, loop in enumerate(around) if (file, loop.line) in training][-1]
            around = around[inner + 1 :]
        elif not _in_step(evidence, place, file, line):
            continue
        for loop in around:
            if (file, loop.line) in seen:
                continue
            seen.add((file, loop.line))
            body = range(loop.line + (loop.last > loop.line), loop.last + 1)  # its head is reached once more
            iterations = _count_iterations(evidence, hits, file, loop, steps)
            share = sum(evidence.samples.share((file, n)) for n in body)
            eager = sum(evidence.samples.doing((file, n))[word] for n in body for word in ("eager_ops", "dispatch"))
            busy = eager >= shared.MOSTLY.value * share * evidence.samples.count
            if (
                iterations < MIN_ITERATIONS.value
                or share < MIN_LOOP.value
                or not busy
                or _updates(evidence, file, loop)
            ):
                continue
            if not goes_over_parts(evidence, file, loop):
                yield _Found(file, loop, min(share, 1.0), iterations)
                break


def _updates(evidence: Evidence, file: str, loop: Loop) -> bool:
    """Whether gradients are computed or applied inside the loop."""
    body = range(loop.line, loop.last + 1)
    applied = [at for site in sites(evidence) if site.kind == "apply" for at in ((site.file, site.line), *site.chain)]
    if any(where == file and line in body for where, line in applied):
        return True
    if any(find_written_calls(evidence, file, loop.line, loop.last, api) for api in (GRADIENT, UPDATE)):
        return True
    frames = (frame for stack in evidence.samples.stacks for frame in stack.frames if frame.file == file)
    return any(frame.line in body and _is_backward(evidence, frame) for frame in frames)


def _is_backward(evidence: Evidence, frame: Frame) -> bool:
    return is_calling(evidence, frame, GRADIENT) or is_calling(evidence, frame, UPDATE)


def _count_iterations(evidence: Evidence, hits: dict[tuple[str, int], int], file: str, loop: Loop, steps: int) -> float:
    """Iterations each time that the loop is entered: its head is reached once more than its body. In a step, where one
    line holds both: reached once more than there are iterations. Lines of loops within it have iterations of their
    own."""
    lines = range(loop.line + 1, loop.last + 1)
    own = [line for line in lines if find_loops(evidence, file, line)[-1:] == (loop,)]
    body = max((hits.get((file, line), 0) for line in own or lines), default=0)
    head = hits.get((file, loop.line), 0)
    if loop.last == loop.line:
        return max(head / steps - 1, 0.0)
    if head <= body:
        return max(head, body) / steps
    return body / (head - body)


def _in_step(evidence: Evidence, place: StepPlace, file: str, line: int) -> bool:
    """Whether a line is in a function that makes the step or one that is called below it: not around the loop."""
    if place.loop is None or file != place.loop.file:
        return True
    scope = find_function(evidence, file, line)
    return scope is not None and scope != find_function(evidence, file, place.loop.line)


def _within(found: _Found, stack: Stack) -> bool:
    """Whether a sample fell on an iteration of the loop: what it took is a part of the loop's share already."""
    return any(frame.file == found.file and found.loop.line <= frame.line <= found.loop.last for frame in stack.frames)


def _hits(evidence: Evidence) -> tuple[dict[tuple[str, int], int], int]:
    """Return how often each line ran in the window in which they were counted, and the steps in it."""
    counts = evidence.offer(LineCounts)
    if counts is None:
        return {}, 0
    steps = sum(step.count for step in evidence.steps.in_window(evidence.offered_by(LineCounts)))
    return {(row.file, row.line): row.hits for row in counts.rows}, steps


def _find_left(evidence: Evidence, found: _Found, estimate: Compiled) -> Left:
    """Return what is left of the step. At worst only the loop becomes one iteration, forward and backward. At best the
    step is compiled as well."""
    samples = evidence.samples
    seen = sum(
        count
        for stack, count in samples.stacks.items()
        if stack.frames and _is_backward(evidence, stack.frames[-1]) and not _within(found, stack)
    )
    backward = seen / samples.count if samples.count else 0.0
    forward = max(1.0 - backward, found.share, MIN_FORWARD.value)
    with_backward = found.share + BACKWARD_SAVED.value * backward * found.share / forward
    worst = 1 - with_backward * (1 - 2 / found.iterations)
    return Left(min(estimate.left.low, worst), worst)
