"""Tests marked ``long`` in this folder run with TFPERF_LONG=1 only: each profiles a script for 15 s or more."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("TFPERF_LONG") == "1":
        return
    for item in items:
        if HERE in item.path.parents and item.get_closest_marker("long"):
            item.add_marker(pytest.mark.skip(reason="long: set TFPERF_LONG=1"))
