"""The C code of instruments, which may be missing: not built where tfperfkit was installed, built for another Python,
or from the sources of another version. Python does its work then."""

from __future__ import annotations

import importlib
from typing import Any

#: Number of the C modules' interface: another number if their functions change for Python.
ABI = 2
MODULES = (
    "tfperfkit.instruments.steps._quiet",
    "tfperfkit.instruments.stacks._look",
    "tfperfkit.storage._apart",
)


def built(name: str) -> Any:
    """Return the module of this name. Raises ImportError, which says why, where it is not there or not ours to use."""
    found = importlib.import_module(name)
    number = getattr(found, "ABI", 0)  # before there was a number
    if number != ABI:
        raise ImportError(f"it was built from another version's sources ({number}, not {ABI}): install tfperf again")
    return found


def missing() -> str:
    """Return why Python does the work of one of them; "" if none is missing."""
    for name in MODULES:
        try:
            built(name)
        except ModuleNotFoundError:
            return "not built for this Python"
        except ImportError as error:
            return f"can't be loaded ({error})"
    return ""
