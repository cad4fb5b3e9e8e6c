"""Whose code a file is: the person's own, or Python's, an installed package's, ours."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Sequence

_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep
_PROBES = os.path.join(os.path.dirname(_OWN.rstrip(os.sep)), "plugins", "tfperfkit_probes") + os.sep
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_GENERATED = "__autograph_generated_file"


def _standard_library() -> tuple[str, ...]:
    paths = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), os.path.dirname(os.__file__)}
    return tuple(os.path.join(os.path.realpath(path), "") for path in paths if path) + tuple(
        os.path.join(path, "") for path in paths if path
    )


class Origin:
    """Tells the person's own files from all others; answers are remembered per file name.

    ``user_roots`` are folders whose files count as the person's own wherever they are installed: the package of
    ``tfperf run -m package.module`` may stand in site-packages.
    """

    def __init__(self, user_roots: Sequence[str] = ()) -> None:
        self._roots = tuple(os.path.join(root, "") for root in user_roots)
        self._library = _standard_library()
        self._known: dict[str, bool] = {}

    def is_user(self, filename: str) -> bool:
        known = self._known.get(filename)
        if known is None:
            known = self._known[filename] = self._decide(filename)
        return known

    def _decide(self, filename: str) -> bool:
        if filename.startswith("<"):
            # "<stdin>" and "<ipython-input-…>" are typed by the person, "<string>" is exec'd by libraries
            # (namedtuple, dataclasses) more often than by people.
            return filename.startswith(("<stdin>", "<python-input", "<ipython", "<doctest"))
        if filename.startswith(self._roots) and self._roots:
            return True
        if _GENERATED in filename or any(part in filename for part in _INSTALLED):
            return False
        path = os.path.abspath(filename)
        if path.startswith((_OWN, _PROBES)):
            return False
        return not path.startswith(self._library)


def user_code_of_module(name: str) -> str | None:
    """The folder of the top-level package of a module, without importing it; None when it can't be found."""
    import importlib.util

    top = name.partition(".")[0]
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    if spec.submodule_search_locations:
        return next(iter(spec.submodule_search_locations), None)
    return os.path.dirname(spec.origin) if spec.origin and os.path.exists(spec.origin) else None


def main_file() -> str | None:
    """The file of the running ``__main__``, absolute; None in a REPL."""
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    return os.path.abspath(path) if path else None
