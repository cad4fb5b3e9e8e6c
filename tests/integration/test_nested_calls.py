"""A function that is called from several lines: each of its operations, forward and backward, goes to its own call."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed here"
)


def differences(first: int, last: int) -> list[str]:
    done = subprocess.run(
        [sys.executable, str(Path(__file__).parent / "nested_calls.py"), *map(str, range(first, last + 1))],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return list(json.loads(done.stdout))


def test_operations_of_a_function_go_to_the_call_that_they_belong_to() -> None:
    assert differences(1, 3) == []


@pytest.mark.long
def test_operations_of_a_function_go_to_the_call_that_they_belong_to_in_many_programs() -> None:
    assert differences(4, 80) == []
