"""EAG018: SciPy's optimizer gets no gradient, and evaluates the function once per parameter to estimate it.

Stack samples show calls of ``minimize`` without ``jac``, by a method that follows gradients. The gain compares one
evaluation per parameter with the cost of a gradient from a tape. Without the number of parameters, no gain is
predicted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from tfperfkit_probes.ops.model import OpsData

from tfperfkit.calibration import Cited, Threshold
from tfperfkit.gain import MEDIUM, Gain
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import Left, Part, bound, price
from tfperfkit.records.samples import MIN, Frame, Place
from tfperfkit.remedy import Rewrite
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call
from tfperfkit.syntax.function import Function
from tfperfkit_rules.measures.called import COMPILED, Api, find_call, is_calling
from tfperfkit_rules.measures.step_shares import span

TITLES = {"EAG018": "scipy minimize without jac estimates gradients by finite differences"}

GRADIENT_MIN = Threshold(
    2.0,
    "number",
    "usual cost of a value with its gradient from a tape, in evaluations of the function, at best",
    Cited(
        "Baydin et al. 2018, Automatic Differentiation in Machine Learning: a Survey, JMLR 18(153): typically 2 to 3"
    ),
)
GRADIENT_MAX = Threshold(
    6.0,
    "number",
    "cost of a value with its gradient from a tape, in evaluations of the function, at worst",
    Cited(
        "Griewank and Walther, Evaluating Derivatives, 2008, as cited by Baydin et al. 2018: less than 6 by the count "
        "of operations"
    ),
)

_MINIMIZE = Api(("scipy.optimize._minimize",), frozenset({"minimize"}), frozenset({"minimize"}), ("scipy.",))
#: SciPy's functions of the methods that follow gradients, by their modules' frames.
_FOLLOWS = tuple(f"_minimize_{name}" for name in ("bfgs", "cg", "lbfgsb", "slsqp", "tnc", "trustregion_constr"))
_ARGUMENTS = ("fun", "x0", "args", "method", "jac")


class _Evaluated(NamedTuple):
    """The line of the user's that calls ``minimize``, and the frame of the function that this calls."""

    minimize: Place
    function: tuple[str, int, str]


def finite_differences(evidence: Evidence) -> Iterable[Finding]:
    """For the call that takes most of a work in which nothing is trained."""
    whole = evidence.samples.count
    if evidence.work is None or whole < MIN:
        return
    found: Counter[_Evaluated] = Counter()
    leaves: dict[_Evaluated, Counter[tuple[Frame, ...]]] = {}
    for stack, count in evidence.samples.stacks.items():
        for at, frame in enumerate(stack.frames[:-1]):
            if stack.activity != "tracing" and _estimates_gradient(evidence, frame):
                below = stack.frames[at + 1]
                key = _Evaluated((frame.file, frame.line), (below.file, below.first, below.name))
                found[key] += count
                if stack.activity == "graph":
                    leaves.setdefault(key, Counter())[stack.frames[at + 1 :]] += count
                break
    for key, count in found.most_common(1):
        if count >= MEDIUM * whole:
            paths = leaves.get(key, Counter[tuple[Frame, ...]]()).most_common(1)
            yield from _make_finding(
                evidence, key, count / whole, _count_parameters(evidence, paths[0][0]) if paths else None
            )


def _estimates_gradient(evidence: Evidence, frame: Frame) -> bool:
    """Whether a frame is in ``minimize``, by a method that follows gradients, and its call gives none."""
    if not frame.calls or not is_calling(evidence, frame, _MINIMIZE):
        return False
    if len(frame.calls) < 2 or not frame.calls[1].endswith(_FOLLOWS):
        return False
    call = find_call(evidence, frame, _MINIMIZE)
    return call is not None and _has_no_gradient(call)


def _has_no_gradient(call: Call) -> bool:
    """Whether ``jac`` is surely left out, None, False or the name of a scheme of differences."""
    given = call.get_argument("jac", _ARGUMENTS.index("jac"))
    return not call.hides_arguments and (given is None or (given.is_constant() and not given.is_constant(True)))


def _count_parameters(evidence: Evidence, frames: tuple[Frame, ...]) -> int | None:
    """Count the numbers that the compiled function gets from SciPy: the size of the argument that is made of the first
    one of the function that SciPy calls. None where that calls another in between, or the size is not known."""
    leaf, data = frames[-1], evidence.offer(OpsData)
    syntax = evidence.syntax(leaf.file)
    call = find_call(evidence, leaf, COMPILED) if len(frames) == 1 else None
    if data is None or syntax is None or call is None:
        return None
    scope = syntax.find_definition(leaf.line)
    if scope is None:
        return None
    names = _name_vector(scope)
    place = next((n for n, item in enumerate(call.arguments) if names & item.names), None)
    word = next((word for word, item in call.keywords.items() if names & item.names), None)
    for function in data.functions:
        if any((caller.file, caller.line) == (leaf.file, leaf.line) for caller in function.callers):
            paths = [item.path for item in function.arguments]
            path = word if place is None else paths[place] if place < len(paths) else None
            shapes = [item.shape for item in function.arguments if item.path == path]
            if len(shapes) == 1 and shapes[0] and min(shapes[0]) > 0:
                return math.prod(shapes[0])
    return None


def _name_vector(scope: Function) -> set[str]:
    """Name the argument that SciPy passes, and the names made from it; a method's first argument is ``self``."""
    names = set(scope.parameters[1:2] if scope.owner else scope.parameters[:1])
    # In the order of the source at one level, which is where a wrapper makes its tensor.
    for item in scope.assignments:
        if names & item.value.names:
            names |= {target.text for target in item.targets if target.kind == "name"}
    return names


def _make_finding(evidence: Evidence, key: _Evaluated, share: float, parameters: int | None) -> Iterable[Finding]:
    gained: Gain = bound(share)
    if parameters is not None:
        least, most = GRADIENT_MIN.value, GRADIENT_MAX.value
        if parameters + 1 <= most:
            return  # so few evaluations may cost no more than a gradient
        left = Left(least / (parameters + 1), most / (parameters + 1))
        gained = price(Rewrite(), Part.sampled(share, evidence.samples.count), left)
    function = span(evidence, key.function[0], key.function[1])
    yield Finding(
        code="EAG018",
        title=_title(parameters),
        share_of_step=share,
        gain=gained,
        where=tuple(dict.fromkeys((span(evidence, *key.minimize), function))),
        evidence=(
            Measurement("time in evaluations of the objective", share, "share", "samples"),
            *((Measurement("parameters", float(parameters), "count", "run"),) if parameters is not None else ()),
            Measurement("samples", float(evidence.samples.count), "count", "baseline"),
        ),
        advice=(
            "Return the gradient too, and call minimize(..., jac=True): one @tf.function returns the value and "
            "tape.gradient(value, x), after tape.watch(x), and SciPy gets both as NumPy float64."
        ),
        detail=(
            "Without jac, SciPy moves one parameter at a time and evaluates the function again. A tf.GradientTape "
            f"returns the exact gradient at the cost of {GRADIENT_MIN.value:.0f} to {GRADIENT_MAX.value:.0f} "
            "evaluations, however many parameters there are."
        ),
        absorbs_here=("EAG013", "LIN001", "STP003", "SYN001"),
        parts=("graph", "dispatch", "eager_ops", "host_sync", "other"),
    )


def _title(parameters: int | None) -> str:
    if parameters is None:
        return TITLES["EAG018"]
    return f"scipy minimize without jac: {parameters:,}-parameter gradients by finite differences"
