"""Tests marked ``long`` in this folder run with TFPERF_LONG=1 only: each is a check of a script, of a minute or so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("TFPERF_LONG") == "1":
        return
    long = [item for item in items if HERE in item.path.parents and item.get_closest_marker("long")]
    if long:
        config.hook.pytest_deselected(items=long)  # another suite's, not skipped in this one
        items[:] = [item for item in items if item not in long]
