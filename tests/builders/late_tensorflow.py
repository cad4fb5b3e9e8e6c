"""TensorFlow, imported when a test first asks it for something: every worker collects all tests, and one runs these."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import sys
from types import ModuleType
from typing import Any

import pytest

needs_tensorflow = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed here"
)


class _Late:
    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # pytest asks each object of a module, as it collects
            raise AttributeError(name)
        return getattr(sys.modules.get(self._module) or _import_frozen(self._module), name)


def _import_frozen(module: str) -> ModuleType:
    """Import it, and leave it out of all later searches for garbage."""
    gc.disable()
    try:
        return importlib.import_module(module)
    finally:
        gc.freeze()
        gc.enable()


tf: Any = _Late("tensorflow")
tf1: Any = _Late("tensorflow.compat.v1")
