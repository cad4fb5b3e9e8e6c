"""The script or module to run: whether it can be run, whose code it is, what it asks of us."""

from __future__ import annotations

import difflib
import os
import sys
from pathlib import Path

from tfperfkit.errors import UsageError
from tfperfkit.launch.arguments import Split
from tfperfkit.syntax.script import uses_bare_profile
from tfperfkit.user_code import user_code_of_module

_MAX_SOURCE_BYTES = 4_000_000
_MAX_NAME_BYTES = 100  # a file system takes 255, and the time comes after it


def check(parts: Split) -> None:
    """Raises UsageError for a script that Python could not even open. Its own mistakes are Python's to tell."""
    if parts.is_module:
        return
    name = parts.target
    if name == "-":
        raise UsageError("a script on standard input can't be profiled: save it to a file first")
    if not os.path.exists(name):
        raise UsageError(f"no such script: {printable(name)}{_near(name)}")
    if os.path.isdir(name) and not os.path.isfile(os.path.join(name, "__main__.py")):
        raise UsageError(f"{printable(name)} is a folder without a __main__.py: name the script in it")
    if not os.access(name, os.R_OK):
        raise UsageError(f"can't read {printable(name)}: give yourself the right to, or name another script")


def name_of_run(parts: Split) -> str:
    """Return the name of the run: the module, or the script without its folder and ending."""
    stem = printable(parts.target if parts.is_module else Path(parts.target).stem)
    # It becomes a folder, and is typed again in tfperf report NAME.
    plain = "".join(char if char.isprintable() and char != "/" else "_" for char in stem)
    return plain.encode()[:_MAX_NAME_BYTES].decode(errors="ignore").strip(". ") or "script"


def user_roots(parts: Split) -> list[str]:
    """Return folders whose files are the user's own though they are in site-packages."""
    if parts.is_module:
        sys.path.insert(0, os.getcwd())
        try:
            root = user_code_of_module(parts.target)
        finally:
            sys.path.pop(0)
        return [root] if root else []
    path = Path(parts.target).absolute()
    return [str(path if path.is_dir() else path.parent)] if "site-packages" in str(path) else []


def source(parts: Split) -> bytes:
    """Return the source of the script; nothing for a module, a folder, an archive or a pipe (which can be read only
    once)."""
    path = parts.target
    try:
        if parts.is_module or not os.path.isfile(path) or os.path.getsize(path) > _MAX_SOURCE_BYTES:
            return b""
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def needs_profile(text: bytes) -> bool:
    """Return whether the script was written for kernprof, which adds ``profile`` to builtins."""
    return b"@profile" in text and uses_bare_profile(text)


def printable(text: str) -> str:
    """File names need not be UTF-8; what we write and print is."""
    return text.encode("utf-8", "backslashreplace").decode()


def _near(name: str) -> str:
    folder, base = os.path.split(name)
    try:
        others = [item for item in os.listdir(folder or ".") if item.endswith(".py")]
    except OSError:
        return ""
    near = difflib.get_close_matches(base, others, 1)
    return f"; did you mean {printable(os.path.join(folder, near[0]))}?" if near else ""
