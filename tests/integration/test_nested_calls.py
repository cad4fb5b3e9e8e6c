"""A function that is called from several lines: each of its operations, forward and backward, goes to its own call."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from warm import run_file_warm

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed here"
)


def differences(first: int, last: int) -> list[str]:
    script = Path(__file__).with_name("nested_calls.py")
    done = run_file_warm(script, *map(str, range(first, last + 1)), folder=script.parent, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    return list(json.loads(done.stdout))


def test_operations_of_a_function_go_to_the_call_that_they_belong_to() -> None:
    assert differences(1, 3) == []


@pytest.mark.long
def test_operations_of_a_function_go_to_the_call_that_they_belong_to_in_many_programs() -> None:
    assert differences(4, 80) == []
