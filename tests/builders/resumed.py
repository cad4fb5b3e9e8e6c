"""A plugin of pytest for ``python -m tests.long``: leaves out tests that passed before, and notes those that pass.

TFPERF_PASSED names the file of the tests that passed before; those that pass now go into a file next to it, since each
worker reads the first one.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

BEFORE = Path(os.environ["TFPERF_PASSED"])
NOW = BEFORE.with_suffix(".now")

failed: set[str] = set()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    before = set(BEFORE.read_text().splitlines()) if BEFORE.exists() else set()
    known = [item for item in items if item.nodeid in before]
    if known:
        config.hook.pytest_deselected(items=known)
        items[:] = [item for item in items if item.nodeid not in before]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if "PYTEST_XDIST_WORKER" in os.environ:
        return  # xdist reports all tests to the process without a worker
    if report.failed:
        failed.add(report.nodeid)
    elif report.when == "teardown" and report.nodeid not in failed:
        with NOW.open("a") as file:
            file.write(f"{report.nodeid}\n")
