"""The agent in the script's process: waits until the script imports TensorFlow, then starts the session.

Imports nothing heavy: a script that never imports TensorFlow pays for this module and two small hooks only.
"""

from __future__ import annotations

import atexit
import os
import sys
from typing import TYPE_CHECKING

from tfperfkit.clock import now_ns
from tfperfkit.launch.imports import when_imported

if TYPE_CHECKING:
    from tfperfkit.session import Session


class Agent:
    """Holds the session of this process, once there is one."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._session: Session | None = None
        self._started_ns = now_ns()
        self._import_ns = 0
        self._pid = os.getpid()

    def watch_imports(self) -> None:
        when_imported("tensorflow", self._tensorflow_begins, self._tensorflow_imported)
        for package in ("keras", "tf_keras"):
            when_imported(package, None, lambda package=package: self._keras_imported(package))
        # Registered before the script can register anything, so it runs after all of the script's own handlers.
        atexit.register(self._finish)

    def _tensorflow_begins(self) -> None:
        self._import_ns = now_ns()

    def _tensorflow_imported(self) -> None:
        if os.getpid() != self._pid:
            return  # a forked child that imports TensorFlow is not recorded
        from pathlib import Path

        from tfperfkit.session import Session
        from tfperfkit.store import RunDirectory

        run, manifest = RunDirectory.open(Path(self._directory))
        self._session = Session(run, manifest)
        self._session.arm(process_ns=self._started_ns, import_begin_ns=self._import_ns, import_end_ns=now_ns())

    def _keras_imported(self, package: str) -> None:
        if self._session is not None:
            self._session.keras_imported(package)

    def _finish(self) -> None:
        if self._session is not None and os.getpid() == self._pid:
            self._session.finish()


def start(directory: str) -> None:
    """Called by the bootstrap in the process that ``tfperf run`` started."""
    agent = Agent(directory)
    agent.watch_imports()
    _inject_profile(sys.argv, getattr(sys, "orig_argv", []))


def _inject_profile(argv: list[str], original: list[str]) -> None:
    """Give a script written for kernprof its ``@profile``: the name kernprof adds to builtins, as an identity.

    Only for a script whose source uses the bare decorator; every other script sees the builtins it always saw.
    """
    script = next((item for item in original[1:] if item.endswith(".py") and os.path.isfile(item)), None)
    if script is None:
        return
    try:
        with open(script, "rb") as source:
            text = source.read()
    except OSError:
        return
    if b"@profile" not in text:
        return
    from tfperfkit.launch.kernprof import uses_bare_profile

    if uses_bare_profile(text):
        import builtins

        from tfperfkit.instruments.profiled import profile

        builtins.profile = profile  # type: ignore[attr-defined]
