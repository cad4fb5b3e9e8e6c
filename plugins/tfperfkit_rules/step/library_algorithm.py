"""STP018: a library's algorithm takes much time between its calls of the script.

Stack samples show a line that calls the library while no function of the script runs below it. The innermost library
function tells the algorithm. It is reported only if another algorithm is known that does less in each iteration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.pricing import Left, Part, price
from tfperfkit.records.samples import MIN, Frame
from tfperfkit.remedy import Rewrite
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.drivers import find_drivers
from tfperfkit_rules.measures.loop_iterations import basis, stretch
from tfperfkit_rules.measures.source_calls import list_files
from tfperfkit_rules.measures.step_shares import callers, span

ALGORITHM_MIN = Threshold(
    0.2,
    "share",
    "minimum share of an iteration in a library's algorithm, outside of the functions that it calls",
    Chosen("the share of a step from which a finding is of high severity"),
)
ALGORITHM_LEFT = Threshold(
    0.5,
    "share",
    "maximum share of a library's algorithm that remains with one that does less in each iteration",
    Chosen("half: it may need more iterations"),
)


class _Algorithm(NamedTuple):
    """``cost``: what it does in each iteration; ``instead``: what does less; ``parameter``: that chooses it, with its
    values in lower case."""

    cost: str
    instead: str
    parameter: str = "method"
    values: tuple[str, ...] = ()


_DENSE = "updates a dense n x n matrix for n unknowns: its time and memory grow with the square of n"
_FACTORISED = "factorises a dense n x n matrix for n unknowns: its time grows with the cube of n"
_L_BFGS = "{} keeps the last ten steps instead of the matrix, and its time grows with n alone"
_LIMITED = _L_BFGS.format('method="L-BFGS-B"')
_TRUNCATED = 'method="Newton-CG" or "trust-krylov" takes products with the Hessian (hessp=) and makes no matrix'
TITLES = {"STP018": "scipy.optimize algorithm itself takes much of the loop"}
#: Algorithms by their function in SciPy 1.17. Costs: J. Nocedal and S. Wright, Numerical Optimization, 2nd ed., 6.1,
#: 7.2, 4.3, 18.
_ALGORITHMS = {
    "scipy.optimize._optimize:_minimize_bfgs": _Algorithm(_DENSE, _LIMITED, "method", ("bfgs",)),
    "scipy.optimize._slsqp_py:_minimize_slsqp": _Algorithm(
        _FACTORISED, f"without constraints, {_LIMITED}; with them method='trust-constr'", "method", ("slsqp",)
    ),
    "scipy.optimize._trustregion_dogleg:_minimize_dogleg": _Algorithm(_FACTORISED, _TRUNCATED, "method", ("dogleg",)),
    "scipy.optimize._trustregion_exact:_minimize_trustregion_exact": _Algorithm(
        _FACTORISED, _TRUNCATED, "method", ("trust-exact",)
    ),
    "scipy.optimize._lsq.trf:trf": _Algorithm(
        "decomposes the dense Jacobian in each iteration: its time grows with the square of the number of unknowns",
        'tr_solver="lsmr" takes products with the Jacobian only',
    ),
}
#: Functions that run one algorithm whatever they are given.
_OF_FUNCTION = {"fmin_bfgs": "scipy.optimize.fmin_l_bfgs_b", "fmin_slsqp": "scipy.optimize.fmin_l_bfgs_b"}
#: A function that a library calls with the user's arguments; which algorithm it runs, only they tell.
_MINIMIZE = "scipy.optimize._minimize:minimize"


def library_algorithm(evidence: Evidence) -> Iterable[Finding]:
    """The finding, for the line that called the library, if the algorithm is known and another one does less."""
    iterations, drivers = stretch(evidence), find_drivers(evidence)
    if iterations is None or not drivers:
        return
    lines = {(frame.file, frame.line) for frame in drivers}
    frames: Counter[Frame] = Counter()
    count = 0
    for stack, ns in iterations.found:
        leaf = stack.frames[-1] if stack.frames else None
        if leaf is not None and leaf.calls and stack.activity == "python" and (leaf.file, leaf.line) in lines:
            frames[leaf] += ns
            count += 1
    share = frames.total() / iterations.whole
    if share < ALGORITHM_MIN.value or count < MIN:
        return
    calls = Counter[tuple[str, ...]]()
    for frame, ns in frames.items():
        calls[frame.calls or ()] += ns
    ran = calls.most_common(1)[0][0]
    chosen = _find_argument(evidence)
    name = ran[-1] if ran[-1] in _ALGORITHMS else _find_algorithm(ran, chosen)
    if name not in _ALGORITHMS:
        return
    algorithm, unit = _ALGORITHMS[name], evidence.unit
    frame = frames.most_common(1)[0][0]
    place = frame.file, frame.line
    argument = [chosen[value] for value in algorithm.values if value in chosen]
    module, _, function = name.partition(":")
    public = ".".join(module.split(".")[:2])
    instead = next((api for short, api in _OF_FUNCTION.items() if ran[0].endswith(f":{short}")), "")
    yield Finding(
        code="STP018",
        title=f"{public} algorithm {function.removeprefix('_')} itself takes {100 * share:.0f} % of {unit.a}",
        basis=basis(evidence, iterations.iteration_ms),
        share_of_step=min(share, shared.MAX_STEP_SHARE.value),
        gain=price(Rewrite(), Part.sampled(share, len(iterations.found)), Left(0.0, ALGORITHM_LEFT.value)),
        where=tuple(dict.fromkeys((span(evidence, *place), *argument, *callers(evidence, place)))),
        evidence=(
            Measurement(f"share of {unit.the} in the algorithm itself", share, "share", "samples"),
            Measurement(f"time in the algorithm itself {unit.per}", share * iterations.iteration_ms, "ms", "samples"),
            Measurement("samples in the algorithm itself", float(count), "count", "baseline"),
        ),
        advice=f"Choose an algorithm that does less: {_L_BFGS.format(instead) if instead else algorithm.instead}.",
        detail=f"{function} {algorithm.cost}. The script's functions that it calls are not counted here.",
        absorbs_here=("LIN001", "SYN001"),
        parts=("python", "other"),
    )


def _find_algorithm(ran: tuple[str, ...], chosen: dict[str, SourceSpan]) -> str:
    """The algorithm that an argument of the user's chooses, if samples saw no deeper than SciPy's ``minimize``."""
    if ran[-1] != _MINIMIZE or len(chosen) != 1:
        return ""
    (value,) = chosen
    return next((name for name, algorithm in _ALGORITHMS.items() if value in algorithm.values), "")


def _find_argument(evidence: Evidence) -> dict[str, SourceSpan]:
    """The values that the source gives for ``method``, in lower case, each with its line."""
    return {
        value.value.lower(): SourceSpan(file, line)
        for file, syntax in list_files(evidence)
        for line, value in syntax.find_given("method")
        if isinstance(value.value, str)
    }
