"""Windows that the next run of a script leaves out, because the script died in them: remembered in the folder of the
runs.

A file of the runs folder, ``left-out.json``: script, probe, and what happened. A new version of tfperf tries again.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

import msgspec

from tfperfkit.analysis.window_deaths import closed_windows, fault, possessive, window_death
from tfperfkit.config import runs_folder
from tfperfkit.launch.arguments import Split
from tfperfkit.model import WindowDeath
from tfperfkit.storage.run_directory import Exit, RunDirectory
from tfperfkit.version import __version__

_NAME = "left-out.json"
_MAX_BYTES = 1_000_000
_MAX_SCRIPTS = 1000  # the oldest are forgotten


class Death(msgspec.Struct, frozen=True):
    """A window that was left out. ``run``: the folder's name; ``version`` of tfperf."""

    signal: str
    run: str
    version: str


_Scripts = dict[str, dict[str, Death]]


class LeftOut:
    """Of one script. ``reasons`` by probe; what can't be read or written is as if nothing had happened."""

    def __init__(self, parts: Split, names: Collection[str], given: Collection[str]) -> None:
        """``names``: the run's probes. ``given``: those for which the user gave a window."""
        self._key = f"-m {parts.target} in {os.getcwd()}" if parts.is_module else os.path.realpath(parts.target)
        self._deaths = {
            probe: death
            for probe, death in _read().get(self._key, {}).items()
            if probe in names and death.version == __version__
        }
        self._out = {probe: death for probe, death in self._deaths.items() if probe not in given}

    @property
    def reasons(self) -> dict[str, str]:
        """Return why the windows of these probes are left out, for header and report."""
        return {
            probe: f"left out, as this script died of {death.signal} in it (run {death.run}); "
            f"--window {probe}=auto gives it all the same"
            for probe, death in self._out.items()
        }

    def after(self, run: RunDirectory, ended: Exit) -> list[str]:
        """Remember what happened, or forget what did not happen again; notes for the report."""
        death = window_death(run, ended)
        if death is not None:
            self._remember(run, death)
            return [
                f"The next run of this script leaves {possessive(death.probe)} window out; --window {death.probe}=auto "
                "gives it all the same."
            ]
        killed = fault(ended)
        again = [probe for probe, known in self._out.items() if known.signal == killed]
        well = [probe for probe in self._deaths if probe not in self._out and probe in closed_windows(run)]
        if ended.status is not None and ended.status >= 0:
            self._forget(well)
        self._forget(again)
        return [
            f"The script died of {killed} without {possessive(probe)} window too, so that was not the cause: "
            "the next run has it again."
            for probe in again
        ]

    def _remember(self, run: RunDirectory, death: WindowDeath) -> None:
        scripts = _read()
        known = scripts.pop(self._key, {})
        scripts[self._key] = {**known, death.probe: Death(death.signal, run.path.name, __version__)}
        _write(scripts)

    def _forget(self, probes: list[str]) -> None:
        if probes:
            scripts = _read()
            left = {probe: death for probe, death in scripts.pop(self._key, {}).items() if probe not in probes}
            _write({**scripts, self._key: left} if left else scripts)


def _file() -> Path:
    return runs_folder() / _NAME


def _read() -> _Scripts:
    with suppress(OSError, msgspec.DecodeError, RecursionError), _file().open("rb") as file:
        return msgspec.json.decode(file.read(_MAX_BYTES), type=_Scripts)
    return {}


def _write(scripts: _Scripts) -> None:
    kept = dict(list(scripts.items())[-_MAX_SCRIPTS:])
    temporary = _file().with_name(f".{_NAME}.{os.getpid()}")
    with suppress(OSError):
        temporary.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(msgspec.json.encode(kept))
        os.replace(temporary, _file())
