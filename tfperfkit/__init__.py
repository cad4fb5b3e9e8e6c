"""tfperfkit: what makes a TensorFlow 2 training script slow, where, what to change and what that will gain.

Importing this package imports neither TensorFlow nor rich nor any probe.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from tfperfkit.version import __version__

__all__ = ["__version__", "watch"]

if TYPE_CHECKING:
    from tfperfkit.watch import watch


def __getattr__(name: str) -> Any:
    if name == "watch":
        # The module, which is called as the function is: Python binds it to this name whenever it is imported, so
        # anything else here would be another object before than after.
        import tfperfkit.watch  # noqa: F401

        return sys.modules["tfperfkit.watch"]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext tfperfkit``: the magics ``%tfperf`` and ``%%tfperf``."""
    from tfperfkit.magics import load

    load(shell)
