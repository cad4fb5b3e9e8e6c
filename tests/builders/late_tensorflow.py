"""TensorFlow, imported when a test first asks it for something: every worker collects all tests, and one runs these."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import pytest

needs_tensorflow = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed here"
)


class _Late:
    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module("tensorflow"), name)


tf: Any = _Late()
