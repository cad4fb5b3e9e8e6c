"""The seams that trials use, taken away one by one: the change says what is missing, and nothing of it is left."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typed_experiments import NAMES, typed

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed here"
)

#: They wait at all the names that this version has for one switch. A script that comes by another changes nothing, and
#: its trial says that.
SEVERAL_DOORS = {"adapt-batches", "eager-switch", "float32", "rows-in-place"}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    words = {name: typed(name) for name in NAMES}
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("trial_seams.py")), json.dumps(words)],
        cwd=tmp_path_factory.mktemp("seams"),
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def test_a_seam_that_is_missing_is_said(found: dict[str, Any]) -> None:
    assert len({row["seam"] for row in found["rows"]}) >= 12
    silent = {(row["experiment"], row["seam"]) for row in found["rows"] if not row["said"]}
    assert {name for name, _ in silent} <= SEVERAL_DOORS
    said = {text for row in found["rows"] for text in row["said"]}
    assert [text for text in said if "\n" in text or " at 0x" in text or len(text) > 200] == []


def test_nothing_of_a_change_that_fails_is_left(found: dict[str, Any]) -> None:
    assert [row for row in found["rows"] if row["changed"]] == []


def test_what_is_compared_afterwards_may_be_missing(found: dict[str, Any]) -> None:
    assert (found["digest"], found["losses"]) == ("", [])
