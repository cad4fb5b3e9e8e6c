"""A persistent tape computes one gradient per loss term, though only their sum is used (GRF004)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit import gain
from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers import ComputedStep
from tfperfkit.pricing import Part, price
from tfperfkit.remedy import ReplaceOps
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call
from tfperfkit.syntax.function import Function
from tfperfkit.syntax.module import get_file, parse
from tfperfkit_rules.graph.added_up import only_added
from tfperfkit_rules.measures.step_place import TAPE

TITLES = {"GRF004": "tape.gradient called once per loss term"}

GRADIENTS_SAVED_MIN = Threshold(
    0.3,
    "share",
    "minimum share saved of all but one backward pass, by one pass for the sum of losses",
    Chosen("terms share less than a whole pass, and the rest has to be computed anyway"),
)


class Passes(NamedTuple):
    """Backward passes over the same variables. ``times``: how many, at least 2."""

    file: str
    tape: int
    line: int
    function: str
    tape_name: str
    times: int


def repeated_gradients(evidence: Evidence) -> Iterator[Finding]:
    """GRF004: found in the source, priced with the backward time of graph lines."""
    backward = _backward_share(evidence)
    if backward < gain.LOW:
        return
    for file in evidence.files():
        for passes in find(file, evidence.source(file)):
            upper = backward * (1 - 1 / passes.times)
            if upper < gain.LOW:
                continue
            yield Finding(
                code="GRF004",
                remedy=ReplaceOps("one_gradient"),
                share_of_step=upper,
                title=f"tape.gradient called {passes.times} times in {passes.function}, once per loss term",
                gain=price(ReplaceOps("one_gradient"), Part(GRADIENTS_SAVED_MIN.value * upper, upper)),
                where=(SourceSpan(file, passes.line, passes.function), SourceSpan(file, passes.tape, passes.function)),
                evidence=(
                    Measurement(f"backward share of {evidence.unit.the}", backward, "share", "breakdown"),
                    Measurement("backward passes in the source", passes.times, "count", "run"),
                ),
                advice=(
                    "Add the losses inside the tape and compute one gradient: "
                    f"{passes.tape_name}.gradient(total_loss, variables). Remove persistent=True."
                ),
                detail=("The gradient of a sum is the sum of the gradients, so the result differs only by rounding."),
                absorbs=("GRF003",),
            )


def _backward_share(evidence: Evidence) -> float:
    """Return the share of the step, or of an iteration of a work, that gradients take in compiled functions."""
    step = evidence.offer(ComputedStep)
    if step is None or step.ms <= 0:
        return 0.0
    return evidence.share("graph") * sum(row.ms for row in step.operations if row.stage == "backward") / step.ms


def find(file: str, lines: tuple[str, ...]) -> Iterator[Passes]:
    """Find the functions of a source that add up gradients of a persistent tape over the same variables."""
    syntax = parse(lines)
    for function in syntax.functions if syntax is not None else ():
        for made, tape in function.entered:
            if isinstance(made, Call) and made.name == TAPE and tape.kind == "name":
                persistent = made.get_argument("persistent", 0)
                if persistent is not None and persistent.is_constant(True):
                    yield from _find_passes(file, function, made.line, tape.text)


def _find_passes(file: str, function: Function, line: int, tape: str) -> Iterator[Passes]:
    by_sources: dict[str, list[Call]] = {}
    for call in function.calls:
        if call.function.text == f"{tape}.gradient" and len(call.arguments) >= 2:
            by_sources.setdefault(call.arguments[1].text, []).append(call)
    for calls in by_sources.values():
        count = sum(_count_passes(function, call) for call in calls)
        if count > 1 and only_added(function, set(calls)):
            yield Passes(file, line, min(call.line for call in calls), function.name, tape, count)


def _count_passes(function: Function, call: Call) -> int:
    """Count how often the loops around a call repeat it for other targets over the same sources; a loop over a tuple
    that is written out has its length, any other at least two iterations."""
    times, names = 1, set[str]()
    for loop in get_file(call).loops:
        if loop.iterable is not None and loop.line in function.lines and loop.evaluates(call):
            names.update(loop.targets)
            times *= len(loop.iterable.items) if loop.iterable.kind in ("tuple", "list") else 2
    targets, sources = (item.names for item in call.arguments[:2])
    return times if names & targets and not names & sources else 1
