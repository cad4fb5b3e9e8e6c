"""EAG018: an optimizer that is given no gradient, on made-up evidence."""

from __future__ import annotations

from typing import Any, get_origin

import msgspec
import pytest
from evidence_builder import FILE, one
from tfperfkit_probes.function_records import Argument
from tfperfkit_probes.ops.model import Function, OpsData, Xla
from tfperfkit_rules.eager.finite_differences import finite_differences
from work_builder import CALL, frame, sampled, work_evidence

from tfperfkit.model import SourceSpan
from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence

SOURCE = """\
import tensorflow as tf
from scipy.optimize import minimize
@tf.function
def misfit(theta, observed):
    return tf.reduce_sum((field(theta) - observed) ** 2)
def objective(p):
    x = tf.constant(p)
    return misfit(x, observed).numpy()
best = minimize(objective, start, method="L-BFGS-B")
"""
MINIMIZE = "scipy.optimize._minimize:minimize"
LBFGSB = "scipy.optimize._lbfgsb_py:_minimize_lbfgsb"


def compiled(*shapes: tuple[str, list[int]]) -> OpsData:
    """Return a function that line 8 called, with arguments of these shapes."""
    required = [item for item in msgspec.structs.fields(Function) if item.required]
    given: dict[str, Any] = {item.name: _nothing(item.type) for item in required}
    arguments = [Argument(path, "", "tensor", "float64", shape) for path, shape in shapes]
    callers = [SourceSpan(FILE, 8)]
    given |= {"arguments": arguments, "callers": callers, "owner": "user", "xla": Xla(jit_compile=False)}
    return OpsData(functions=[Function(**given)])


def _nothing(of: Any) -> Any:
    return of() if of in (str, int, float, bool) else {dict: {}, list: []}.get(get_origin(of))


def fitted(
    source: str = SOURCE,
    *called: str,
    data: OpsData | None = None,
    of_the_fit: int = 190,
    way: tuple[Frame, ...] = (),
) -> Evidence:
    caller = frame(9, *(called or (MINIMIZE, LBFGSB)))
    inside = (caller, *way, frame(8, CALL, name="objective", span=(11, 30)))
    return work_evidence(
        source,
        [sampled(of_the_fit, "graph", *inside), sampled(200 - of_the_fit, "python", frame(5))],
        call=8,
        iterations=300,
        functions=data or compiled(("theta", [72]), ("observed", [-1])),
    )


def test_each_gradient_costs_an_evaluation_for_each_parameter() -> None:
    found = one(finite_differences(fitted()))
    assert (found.code, found.where) == ("EAG018", (SourceSpan(FILE, 9), SourceSpan(FILE, 1)))
    assert found.title == "scipy minimize without jac: 72-parameter gradients by finite differences"
    low, high = found.gain.bounds or (0, 0)
    assert 5 < low < 1 / (1 - 0.95 * (1 - 3 / 73)) < high and "jac=True" in found.advice


@pytest.mark.parametrize("given", ["jac=None", "jac=False", "jac='3-point'"])
def test_a_scheme_of_differences_is_no_gradient(given: str) -> None:
    assert one(finite_differences(fitted(SOURCE.replace('method="L-BFGS-B"', given)))).code == "EAG018"


def test_without_the_number_of_parameters_there_is_no_prediction() -> None:
    unknown = fitted(data=compiled(("theta", [-1]), ("observed", [3136])))
    found = one(finite_differences(unknown))
    assert (
        found.gain.bounds is None
        and found.gain.high == pytest.approx(20)
        and "without jac estimates gradients by" in found.title
    )
    helped = one(finite_differences(fitted(way=(frame(6, name="helper"),))))
    assert helped.gain.bounds is None  # what the function between makes of it is not followed


@pytest.mark.parametrize(
    "evidence",
    [
        fitted(SOURCE.replace('method="L-BFGS-B"', "jac=True")),
        fitted(SOURCE.replace('method="L-BFGS-B"', "jac=slope")),
        fitted(SOURCE.replace('method="L-BFGS-B"', "**options")),
        fitted(SOURCE, MINIMIZE, "scipy.optimize._optimize:_minimize_neldermead"),
        fitted(data=compiled(("theta", [4]), ("observed", [-1]))),
        fitted(of_the_fit=6),
    ],
    ids=["value and gradient", "a function", "hidden", "no gradients wanted", "few parameters", "little"],
)
def test_it_stays_silent(evidence: Evidence) -> None:
    assert not list(finite_differences(evidence))
