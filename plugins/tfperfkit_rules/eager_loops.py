"""EAG005: a Python loop over time steps or examples runs its operations one by one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tfperfkit.evidence import Evidence
from tfperfkit.gain import middle, severity, speedup
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit_rules.eager_gain import Compiled, compiled
from tfperfkit_rules.eager_place import StepPlace
from tfperfkit_rules.eager_source import Loop, enclosing, find_in, loops
from tfperfkit_rules.eager_step import LEAST_OPS, lost, measured, own_eager_step

#: Fewer turns than this are a loop over layers or networks, which no batch takes the place of.
LEAST_TURNS = 8
#: The forward part of the loop must fill this share of the step.
LEAST_SHARE = 0.05
#: What a loop goes over that can't be made one operation: layers, variables, optimizers.
_PARTS = re.compile(
    r"^(enumerate\(|zip\(|reversed\()*self\.\w+\)*$|layer|block|variable|weight|grad|param|optimi[sz]er|network|model|"
    r"metric|callback|cell|head", re.I,
)
#: What gives a tensor's value to Python.
_READS = re.compile(r"\.numpy\(|\bnp\.\w+(\.\w+)*\(|\bnumpy\.\w+\(|\.item\(|\.tolist\(")
_BACKWARD = (".gradient(", ".apply(", "apply_gradients(", ".minimize(")


class _Found(NamedTuple):
    file: str
    loop: Loop
    share: float
    turns: float


def python_loop(evidence: Evidence) -> Iterable[Finding]:
    """The finding, for the outermost such loop within an eager step."""
    place = own_eager_step(evidence)
    if place is None:
        return
    found = max(_candidates(evidence, place), key=lambda item: item.share, default=None)
    estimate = compiled(evidence, place)
    if found is None or estimate is None or estimate.operations < LEAST_OPS:
        return
    bounds = _range(evidence, found, estimate)
    name = _name(evidence, found.file, found.loop.line)
    yield Finding(
        code="EAG005", family="eager",
        title=f"A Python loop runs the same operations {found.turns:,.0f} times over, one by one",
        severity=severity(1 - 1 / bounds[0]), share_of_step=max(lost(estimate), found.share),
        predicted_speedup=middle(bounds), predicted_range=bounds,
        where=tuple(dict.fromkeys((SourceSpan(found.file, found.loop.line, name), *place.where))),
        evidence=(
            Measurement("turns of the loop", found.turns, "count", "lines"),
            Measurement("forward part of the loop", found.share, "share", "samples"), *measured(estimate),
        ),
        advice=_advice(evidence, found, place),
        detail="Each turn calls its operations anew, and the backward pass repeats them all.", absorbs=("EAG001",),
    )


def _advice(evidence: Evidence, found: _Found, place: StepPlace) -> str:
    read = _read(evidence, found)
    if read is not None:
        return (
            f"Line {read} needs values in Python at each turn, so the turns can't be joined as they are. Put what a "
            "turn computes into one @tf.function and call that; in the loop keep only inputs and results. After it "
            "compute the loss, its gradients and the update for all turns at once, on stacked tensors, in a second "
            "@tf.function with reduce_retracing=True."
        )
    names = ", ".join(found.loop.names) or "turn"
    step = next((span.function for span in place.functions if span.function), "")
    then = f" Then put @tf.function on {step}." if step else " Then put the step into a @tf.function."
    return (
        f"Work on whole tensors instead of one {names} at a time: over examples with operations on the batch "
        f"(axis=1), over time with keras.layers.RNN or LSTM(return_sequences=True), or tf.scan.{then}"
    )


def _read(evidence: Evidence, found: _Found) -> int | None:
    """The first line of the loop's body that gives a tensor's value to Python, as for an environment's next step."""
    for line in range(found.loop.line + 1, found.loop.last + 1):
        if _READS.search(evidence.line(found.file, line).partition("#")[0]):
            return line
    return None


def _name(evidence: Evidence, file: str, line: int) -> str:
    function = enclosing(evidence, file, line)
    return function.name if function else ""


def _candidates(evidence: Evidence, place: StepPlace) -> Iterator[_Found]:
    """Loops inside the step whose lines run TensorFlow's operations, with their turns per step."""
    hits, steps = _hits(evidence)
    if not steps:
        return
    training = {(span.file, span.line) for span in (place.loop,) if span is not None}
    seen: set[tuple[str, int]] = set()
    for file, line in evidence.samples.places():
        around = loops(evidence, file, line)
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
            turns = _turns(hits, file, loop, steps)
            share = sum(evidence.samples.share((file, n)) for n in body)
            eager = sum(evidence.samples.doing((file, n))[word] for n in body for word in ("eager_ops", "dispatch"))
            busy = eager >= 0.5 * share * evidence.samples.count
            backward = find_in(evidence, file, loop.line, loop.last, *_BACKWARD)
            if turns >= LEAST_TURNS and share >= LEAST_SHARE and busy and not backward and not _PARTS.search(loop.over):
                yield _Found(file, loop, min(share, 1.0), turns)
                break


def _turns(hits: dict[tuple[str, int], int], file: str, loop: Loop, steps: int) -> float:
    """Turns each time that the loop is entered: its head is reached once more than its body. In a step, where the line
    holds both."""
    body = max((hits.get((file, line), 0) for line in range(loop.line + 1, loop.last + 1)), default=0)
    head = hits.get((file, loop.line), 0)
    if loop.last == loop.line or head <= body:
        return max(head, body) / steps
    return body / (head - body)


def _in_step(evidence: Evidence, place: StepPlace, file: str, line: int) -> bool:
    """Whether a line is in a function that makes the step or one that is called below it: not around the loop."""
    if place.loop is None or file != place.loop.file:
        return True
    scope = enclosing(evidence, file, line)
    return scope is not None and scope != enclosing(evidence, file, place.loop.line)


def _hits(evidence: Evidence) -> tuple[dict[tuple[str, int], int], int]:
    """How often each line ran in the window of the probe ``lines``, and the steps in it."""
    steps = sum(step.count for step in evidence.steps.in_window("lines"))
    found: dict[tuple[str, int], int] = {}
    for function in evidence.raw.get("lines", {}).get("python_functions") or ():
        for row in function.get("lines") or ():
            found[function.get("file", ""), row.get("line", 0)] = row.get("hits") or 0
    return found, steps


def _range(evidence: Evidence, found: _Found, estimate: Compiled) -> tuple[float, float]:
    """At least: only the loop becomes one turn, forward and backward. At most: the step is compiled as well."""
    samples = evidence.samples
    backward = sum(
        samples.leaf_share(leaf) for leaf in samples.leaves()
        if any(word in evidence.line(*leaf).partition("#")[0] for word in _BACKWARD)
    )
    forward = max(1.0 - backward, found.share, 0.01)
    low = speedup((found.share + 0.6 * backward * found.share / forward) * (1 - 2 / found.turns))
    return low, max(low, estimate.range[1])
