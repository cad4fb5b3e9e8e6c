"""Shared fixtures."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.register_assert_rewrite("tfperf_runner")

from tfperf_runner import Tfperf  # noqa: E402  (after its assertions were registered)


@pytest.fixture
def tfperf(tmp_path: Path, request: pytest.FixtureRequest) -> Tfperf:
    return Tfperf(tmp_path, warm=getattr(request.module, "WARM", False), cold=getattr(request.module, "COLD", False))
