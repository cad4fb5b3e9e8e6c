"""TensorBoard and its profile plugin: there, of versions that work together, registered. Also asked by ``view``."""

from __future__ import annotations

import importlib.util
from importlib import metadata

from tfperfkit.doctor.check import Check
from tfperfkit.doctor.packages import Versions, installed, numbers

_INSTALL = "pip install 'tensorboard>=2.21' 'xprof>=2.20'"
#: The profile plugin before it became xprof: those came with TensorFlow up to 2.18 and fail with later ones.
_MIN_OLD_PLUGIN = (2, 19)


def check_tensorboard(version_of: Versions = installed) -> list[Check]:
    """One row for TensorBoard and one for its plugin."""
    return [_board(version_of), _plugin(version_of)]


def why_not() -> str | None:
    """Return why ``tfperf view --tensorboard`` can't work here and what to install; None when it should."""
    for check in check_tensorboard():
        if check.status in ("missing", "broken"):
            return f"{check.name}: {check.found}; {check.advice}"
    return None


def profile_plugin() -> metadata.EntryPoint | None:
    """Return the place where the plugin registered itself."""
    return next(iter(metadata.entry_points(group="tensorboard_plugins", name="profile")), None)


def _board(version_of: Versions) -> Check:
    version = version_of("tensorboard")
    if version is None:
        return Check("TensorBoard", "missing", "not installed", f"tfperf view --tensorboard needs it: {_INSTALL}")
    if numbers(version) < (2, 16):
        return Check("TensorBoard", "broken", f"{version}, too old", _INSTALL)
    if numbers(version) < (2, 21) and not _has_pkg_resources():
        found = f"{version} needs pkg_resources, which is not there"
        return Check("TensorBoard", "broken", found, "pip install 'setuptools<81', or pip install 'tensorboard>=2.21'")
    return Check("TensorBoard", "ok", version)


def _plugin(version_of: Versions) -> Check:
    version, old = version_of("xprof"), version_of("tensorboard-plugin-profile")
    if version is None and old is None:
        return Check("xprof", "missing", "not installed", f"the profile plugin of TensorBoard: {_INSTALL}")
    if version is None and old is not None and numbers(old) < _MIN_OLD_PLUGIN:
        found = f"tensorboard-plugin-profile {old} fails with this TensorFlow"
        return Check("xprof", "broken", found, f"pip uninstall tensorboard-plugin-profile; {_INSTALL}")
    point = profile_plugin()
    if point is None:
        found = f"{version or old}, but it is not registered with TensorBoard"
        return Check("xprof", "broken", found, "pip install --force-reinstall xprof")
    if importlib.util.find_spec(point.value.partition(".")[0].partition(":")[0]) is None:
        return Check("xprof", "broken", f"registered as {point.value}, which is not there", _INSTALL)
    return Check("xprof", "ok", version or f"tensorboard-plugin-profile {old}")


def _has_pkg_resources() -> bool:
    try:
        return importlib.util.find_spec("pkg_resources") is not None
    except (ImportError, ValueError):
        return False
