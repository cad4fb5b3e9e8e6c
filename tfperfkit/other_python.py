"""A tfperf in an environment of its own (pipx, uv) runs scripts with that environment: which Python is the user's."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

#: Files that the installers of tools leave in an environment that is a tool's own.
_RECEIPTS = ("pipx_metadata.json", "uv-receipt.toml")


def other_python(environ: Mapping[str, str] = os.environ, prefix: str = sys.prefix) -> str | None:
    """Return the Python of the environment that is active, where that is not ours; the one that ``python`` starts,
    where ours is a tool's own; else None."""
    active = environ.get("VIRTUAL_ENV") or environ.get("CONDA_PREFIX") or ""
    ours = Path(prefix).resolve()
    if active and Path(active).resolve() != ours and (found := shutil.which("python", path=str(Path(active, "bin")))):
        return found
    if not any((ours / name).is_file() for name in _RECEIPTS):
        return None
    found = shutil.which("python", path=environ.get("PATH")) or shutil.which("python3", path=environ.get("PATH"))
    return found if found is not None and Path(found).parent.resolve() != ours / "bin" else None


def tensorflow_missing() -> str:
    """Return advice for a Python without TensorFlow."""
    other = other_python()
    if other is None:
        return "pip install 'tfperfkit[tensorflow]'"
    return f"tfperf belongs into the script's environment: {other} -m pip install tfperfkit"
