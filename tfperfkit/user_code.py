"""Whose code a file is: the user's own, or Python's, a framework's, another installed package's, ours."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
from collections.abc import Sequence

from tfperfkit.storage.descriptors import names_in, read_file

_HERE = os.path.dirname(os.path.abspath(__file__))
_BESIDE = os.path.dirname(_HERE)  # site-packages, or a checkout with our probes and rules under ``plugins``
#: The folders of tfperfkit, its probes, rules and experiments.
OWN = (
    os.path.join(_HERE, ""),
    *(
        os.path.join(_BESIDE, *folder, name, "")
        for folder in ((), ("plugins",))
        for name in ("tfperfkit_probes", "tfperfkit_rules", "tfperfkit_experiments")
    ),
)
_FRAMEWORKS = ("tensorflow", "keras", "tf_keras", "wrapt", "absl")
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_GENERATED = "__autograph_generated_file"
_MAX_RECORD = 1 << 24  # bytes; TensorFlow's has 3 MB
_roots: dict[str, str] = {}


@functools.cache
def _standard_library() -> tuple[str, ...]:
    paths = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), os.path.dirname(os.__file__)}
    return tuple(os.path.join(os.path.realpath(path), "") for path in paths if path) + tuple(
        os.path.join(path, "") for path in paths if path
    )


class Origin:
    """Tells the user's own files from all others; answers are remembered per file name.

    ``user_roots`` are folders whose files count as the user's own wherever they are installed: the package of
    ``tfperf run -m package.module`` may be in site-packages.
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
        if not filename:
            return False
        if filename.startswith("<"):
            # "<stdin>" and "<ipython-input-…>" are typed by the user, "<string>" is exec'd by libraries
            # (namedtuple, dataclasses) more often than by people.
            return filename.startswith(("<stdin>", "<python-input", "<ipython", "<doctest"))
        if filename.startswith(self._roots) and self._roots:
            return True
        if _GENERATED in filename or any(part in filename for part in _INSTALLED):
            return False
        path = os.path.abspath(filename)
        if path.startswith(OWN):
            return False
        return not path.startswith(self._library) and not installed_as(path)


def installed_as(filename: str) -> str:
    """Return the path of an installed package's file within the folder that it was installed into
    ("numpy/lib/npyio.py"); "" for any other file.

    Besides site-packages that is each folder on ``sys.path`` where a distribution's own record lists its first part:
    ``pip install --target`` leaves packages anywhere, also next to a script.
    """
    for marker in _INSTALLED:
        _, found, rest = filename.rpartition(marker)
        if found:
            return rest
    for folder in {path for path in sys.path if path and filename.startswith(os.path.join(path, ""))}:
        inside = os.path.relpath(filename, folder)
        if inside.partition(os.sep)[0] in _recorded(folder):
            return inside
    return ""


@functools.cache
def _recorded(folder: str) -> frozenset[str]:
    """Return the first parts of all files that distributions have put into a folder."""
    found = set()
    try:
        for entry in names_in(folder):
            if entry.endswith(".dist-info"):
                record = read_file(os.path.join(folder, entry, "RECORD"), _MAX_RECORD).decode("utf-8")
                found |= {line.partition(",")[0].partition("/")[0] for line in record.splitlines()}
    except (OSError, UnicodeDecodeError):
        return frozenset()
    return frozenset(found - {"", "..", "bin", "__pycache__"})


@functools.cache
def is_machinery(filename: str) -> bool:
    """Return whether a file belongs to TensorFlow, Keras, Python's library or us: never a call site to show. Other
    installed packages are none, though they are not the user's own."""
    if filename.startswith("<frozen") or filename == "<string>":
        return True
    if filename.startswith((*OWN, *_framework_roots())):
        return True
    return filename.startswith(_standard_library()) and not any(part in filename for part in _INSTALLED)


@functools.cache
def _framework_roots() -> tuple[str, ...]:
    return tuple(root for root in map(package_root, _FRAMEWORKS) if root)


def package_root(name: str) -> str | None:
    """Return the folder of a top-level package, with a trailing separator; None if there is none. Imports nothing."""
    if name in _roots:
        return _roots[name]
    import importlib.util

    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None:
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            return None
        file = spec.origin if spec else None
    if not file:
        return None
    root = _roots[name] = os.path.join(os.path.dirname(os.path.abspath(file)), "")
    return root


def user_code_of_module(name: str) -> str | None:
    """Return the folder of the top-level package of a module, without importing it; None when it can't be found."""
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
