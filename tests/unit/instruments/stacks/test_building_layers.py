"""A layer that is called with symbolic tensors is being built, with Keras 3 and with tf_keras."""

from __future__ import annotations

import pytest

from tfperfkit.instruments.stacks.activity import activity, context, facts

INSTALLED = "/env/lib/python3.11/site-packages"


@pytest.mark.parametrize(
    ("file", "function"),
    [
        ("keras/src/layers/layer.py", "symbolic_call"),
        ("keras/src/ops/operation.py", "symbolic_call"),
        ("tf_keras/src/engine/base_layer.py", "_functional_construction_call"),
        ("tf_keras/src/engine/base_layer.py", "_maybe_build"),
    ],
)
def test_a_symbolic_call_builds(file: str, function: str) -> None:
    marks = facts(f"{INSTALLED}/{file}", own=False).marks
    assert marks is not None and context(marks[function]) == "build"
    assert context(marks.get("__call__", 0)) == "", "a call with tensors computes"


def test_a_run_of_a_session_computes() -> None:
    marks = facts(f"{INSTALLED}/tensorflow/python/client/session.py", own=False).marks
    assert marks is not None
    assert activity(marks["_call_tf_sessionrun"], marks["_call_tf_sessionrun"], library=True) == "graph"
    assert activity(marks.get("run", 0), marks.get("run", 0), library=True) == "dispatch", "it looks up what it is fed"
