"""Python and the installed packages, by their metadata: nothing of others is imported."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import metadata

from tfperfkit import native
from tfperfkit.doctor.check import Check
from tfperfkit.other_python import tensorflow_missing

Versions = Callable[[str], str | None]

#: TensorFlow comes under these names; the import is the same.
TENSORFLOW = ("tensorflow", "tensorflow-cpu", "tensorflow-rocm", "tensorflow-macos", "tf-nightly")
MIN_TENSORFLOW, BEYOND_TENSORFLOW = (2, 16), (2, 22)


def installed(name: str) -> str | None:
    """Return the version of an installed distribution."""
    try:
        return metadata.version(name)
    except (metadata.PackageNotFoundError, ValueError):
        return None


def numbers(version: str) -> tuple[int, ...]:
    """``"2.21.0rc1"`` as ``(2, 21, 0)``: enough to compare releases."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def check_packages(version_of: Versions = installed) -> list[Check]:
    """Return all rows that need no import."""
    return [
        _python(sys.version_info[:3]),
        tensorflow(version_of),
        _keras(version_of),
        _needed("protobuf", version_of, "3.20.3", "traces are read with it"),
        _setuptools(version_of),
        _needed("line_profiler", version_of, "5.0", "the probe lines measures with it"),
        _c_code(),
    ]


def tensorflow(version_of: Versions = installed) -> Check:
    found = [(name, version) for name in TENSORFLOW if (version := version_of(name)) is not None]
    if not found:
        return Check("TensorFlow", "broken", "not installed", tensorflow_missing())
    text = ", ".join(f"{version} ({name})" if name != "tensorflow" else version for name, version in found)
    if len(found) > 1:
        return Check("TensorFlow", "note", text, "two of them share one folder: uninstall both, install one")
    release = numbers(found[0][1])
    if release < MIN_TENSORFLOW:
        return Check("TensorFlow", "broken", text, "tfperf needs 2.16 or newer: pip install 'tensorflow>=2.16,<2.22'")
    if release >= BEYOND_TENSORFLOW:
        return Check("TensorFlow", "note", text, "tfperf was tested up to 2.21; what it can't see there it says")
    return Check("TensorFlow", "ok", text)


def _python(version: tuple[int, ...]) -> Check:
    text = ".".join(map(str, version)) + f", {sys.executable}"
    if version < (3, 10):
        return Check("Python", "broken", text, "tfperf needs Python 3.10 or newer")
    return Check("Python", "ok", text)


def _keras(version_of: Versions) -> Check:
    keras, old = version_of("keras"), version_of("tf_keras")
    text = ", ".join(filter(None, [keras, f"tf_keras {old}" if old else None]))
    if not text:
        return Check("Keras", "missing", "not installed", "fine for a script without Keras; else pip install keras")
    return Check("Keras", "ok", text)


def _setuptools(version_of: Versions) -> Check:
    """TensorBoard before 2.21 imports pkg_resources, which setuptools has lost (82 and newer)."""
    version, board = version_of("setuptools"), version_of("tensorboard")
    needs = board is not None and numbers(board) < (2, 21)
    if needs and (version is None or numbers(version) >= (82,)):
        advice = "pip install 'setuptools<81', or pip install 'tensorboard>=2.21'"
        found = f"{version or 'not installed'}; TensorBoard {board} needs one before 82"
        return Check("setuptools", "broken", found, advice)
    return Check("setuptools", "ok", version or "not installed, not needed")


def _c_code() -> Check:
    why = native.missing()
    if why:
        advice = "fine; a step costs some microseconds more. With a C compiler, install its source archive"
        return Check("C code", "missing", f"{why}: Python does its work", advice)
    return Check("C code", "ok", "notes the steps, and looks at stacks")


def _needed(name: str, version_of: Versions, lower: str, why: str) -> Check:
    version = version_of(name)
    if version is None:
        return Check(name, "broken", "not installed", f"{why}: pip install '{name}>={lower}'")
    if numbers(version) < numbers(lower):
        return Check(name, "broken", f"{version}, too old", f"{why}: pip install '{name}>={lower}'")
    return Check(name, "ok", version)
