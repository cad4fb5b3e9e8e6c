"""A plugin of pytest: ``@pytest.mark.tfperf(max_traces=1, max_ops=0, no=["RET", "EAG"])``.

pytest loads it in every session where tfperfkit is installed, so it imports nothing of ours until a test has the mark.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

_MARK = (
    "tfperf(max_traces=None, max_ops=None, no=()): fail the test if a tf.function is traced more often than "
    "max_traces, if Python calls more than max_ops operations one by one, or if a finding's "
    "code begins with one of `no`."
)
_KNOWN = frozenset({"max_traces", "max_ops", "no"})


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARK)


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    """Around the test function alone, its fixtures left out."""
    mark = pyfuncitem.get_closest_marker("tfperf")
    if mark is None:
        yield
        return
    from tfperfkit.testing.marked import Marked

    marked = Marked(mark.args, mark.kwargs, _KNOWN, pyfuncitem.name)
    with marked:
        outcome: Any = yield
    if outcome.excinfo is None:
        problem = marked.problem()
        if problem:
            try:
                pytest.fail(problem, pytrace=False)
            except pytest.fail.Exception as failed:
                outcome.force_exception(failed)
