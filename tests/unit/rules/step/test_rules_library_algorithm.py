"""STP018 on made-up evidence: the algorithm of a library, between its calls of the script."""

from __future__ import annotations

from typing import Any

import pytest
from eager_builder import leaf, seen
from evidence_builder import FILE, make_evidence, make_steps
from tfperfkit_rules.step import python_time
from tfperfkit_rules.step.library_algorithm import library_algorithm

from tfperfkit.ledger.library_work import find_library_work
from tfperfkit.model import SourceSpan
from tfperfkit.records.samples import Frame

SOURCE = """\
import scipy.optimize
def loss(w):
    return value(w)
options = dict(method="BFGS")
scipy.optimize.minimize(loss, start, **options)
"""
MINIMIZE, BFGS = "scipy.optimize._minimize:minimize", "scipy.optimize._optimize:_minimize_bfgs"


def optimising(*called: str, share: int = 70, source: str = SOURCE, calls_back: bool = True) -> Any:
    """Return an optimizer whose own work takes 70 % of the time; the rest is the script's compiled function."""
    table = make_steps(60)
    at = Frame(FILE, 1, "<module>", 5, None, called)
    inner = (at, Frame(FILE, 2, "loss", 3, None, ("tensorflow:call",))) if calls_back else leaf(3)
    spied = seen(table, [(share, "python", (at,)), (100 - share, "graph", inner)])
    return make_evidence(
        parts_ms={"python": share / 10, "graph": 10 - share / 10}, steps=table, source=source, **spied._asdict()
    )


def test_the_algorithm_is_named_with_the_argument_that_chose_it() -> None:
    given = optimising(MINIMIZE, BFGS)
    (found,) = library_algorithm(given)
    assert found.title == "scipy.optimize algorithm minimize_bfgs itself takes 70 % of a step"
    assert found.where[:2] == (SourceSpan(FILE, 5), SourceSpan(FILE, 4))
    assert 'method="L-BFGS-B"' in found.advice and "square of n" in found.detail
    assert found.gain.bounds and 1.4 < found.gain.bounds[0] < 1.6 and 3 < found.gain.bounds[1] < 5
    assert not list(python_time.hot_python(given))


def test_a_package_that_passes_the_method_on_is_told_by_the_argument() -> None:
    (found,) = library_algorithm(optimising("processes.optimizers:minimize", MINIMIZE))
    assert "minimize_bfgs" in found.title and found.where[1] == SourceSpan(FILE, 4)
    both = SOURCE + 'other = {"method": "CG"}\n'
    assert not list(library_algorithm(optimising("processes.optimizers:minimize", MINIMIZE, source=both)))


def test_a_function_of_one_algorithm_is_replaced_by_another() -> None:
    (found,) = library_algorithm(optimising("scipy.optimize._optimize:fmin_bfgs", BFGS, source="import scipy\n" * 5))
    assert "scipy.optimize.fmin_l_bfgs_b" in found.advice


@pytest.mark.parametrize(
    "given",
    [
        optimising(MINIMIZE, "scipy.optimize._lbfgsb_py:_minimize_lbfgsb"),  # does little itself
        optimising(MINIMIZE, BFGS, share=10),
        optimising("json:loads"),
        optimising(MINIMIZE, BFGS, calls_back=False),  # it optimises something else, of no step
    ],
)
def test_nothing_is_said_of_other_library_work(given: Any) -> None:
    assert not list(library_algorithm(given))


def test_a_part_in_a_library_is_not_the_scripts_own_python() -> None:
    library = find_library_work(optimising(MINIMIZE, BFGS).ledger)
    assert library is not None and library.words == "Python of scipy (_minimize_bfgs)"
    assert library.function == "scipy.optimize._optimize._minimize_bfgs"
    assert find_library_work(optimising().ledger) is None
