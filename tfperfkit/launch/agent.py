"""The agent in the script's process: waits until the script imports TensorFlow, then starts the session.

A script that never imports TensorFlow pays for two small files and an import hook, and finds nothing of tfperfkit in
``sys.modules``: the bootstrap runs this file and ``imports`` next to it without the package, so nothing may be imported
here, at the top, that Python has not itself loaded at its start.
"""

import os
import sys
import time

TYPE_CHECKING = False  # the name that mypy looks for, without importing typing into the script
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tfperfkit.launch.imports import Callback
    from tfperfkit.recording.session import Session

    Watch = Callable[[str, Callback | None, Callback], None]

_FOLDER = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Agent:
    """Holds the session of this process, once there is one."""

    def __init__(self, directory: str, pinned: str = "") -> None:
        """``pinned``: variables of the environment that a trial gives, NAME=VALUE, a line each."""
        self._directory = directory
        self._pinned = pinned
        self._session: Session | None = None
        self._started_ns = time.monotonic_ns()
        self._import_ns = 0
        self._pid = os.getpid()
        self._recorder: Any = None  # of a child of the script

    def adopt(self, recorder: "Any") -> None:
        """This process is a child of the script, and records itself."""
        self._recorder, self._session, self._pid = recorder, None, os.getpid()
        self._started_ns = time.monotonic_ns()
        recorder.on_end = self._finish

    def watch_imports(self, when_imported: "Watch") -> None:
        when_imported("tensorflow", self._tensorflow_begins, self._tensorflow_imported)
        for package in ("keras", "tf_keras"):
            when_imported(package, None, lambda package=package: self._keras_imported(package))  # type: ignore[misc]
        known = "atexit" in sys.modules
        import atexit

        # Registered before the script can register anything, so it runs after all of the script's own handlers.
        atexit.register(self._finish)
        if not known:
            del sys.modules["atexit"]  # built in: a script that imports it gets the same one

    def _tensorflow_begins(self) -> None:
        self._import_ns = time.monotonic_ns()
        for line in self._pinned.splitlines():  # whatever the script has made of them meanwhile
            name, _, value = line.partition("=")
            if value:
                os.environ[name] = value
            else:
                os.environ.pop(name, None)

    def _tensorflow_imported(self) -> None:
        if os.getpid() != self._pid:
            return  # a forked child that imports TensorFlow is not recorded
        try:
            if self._recorder is None or self._has_part():
                self._arm()
        except Exception as error:
            self._say_why(error)

    def _arm(self) -> None:
        from pathlib import Path

        try:
            from tfperfkit.recording.session import Session
        except ModuleNotFoundError as error:
            if error.name != "tfperfkit":
                raise
            # Not installed: `python -m tfperfkit run` was called in our checkout. The script's path stays as it was.
            sys.path.append(_FOLDER)
            try:
                from tfperfkit.recording.session import Session
            finally:
                sys.path.remove(_FOLDER)
        from tfperfkit.storage.run_directory import RunDirectory

        if self._recorder is not None:
            from tfperfkit.recording.active import furnish

            furnish(Path(self._recorder.root), Path(self._directory))
        run, manifest = RunDirectory.open(Path(self._directory))
        self._session = Session(run, manifest)
        self._session.arm(
            process_ns=self._started_ns, import_begin_ns=self._import_ns, import_end_ns=time.monotonic_ns()
        )
        if self._recorder is not None:
            self._recorder.quiet = True

    def _has_part(self) -> bool:
        """Return whether this child, which trains, has a folder to record into."""
        self._directory = self._recorder.part or self._recorder.claim_to_train()
        return bool(self._directory)

    def _say_why(self, error: Exception) -> None:
        """Leave the reason for the report, without any module that may be the reason."""
        import json

        text = f"Nothing could be recorded: {type(error).__name__}: {error}"
        try:
            with open(os.path.join(self._directory, "session", "events.jsonl"), "a", encoding="utf-8") as events:
                events.write(json.dumps({"kind": "note", "text": text}) + "\n")
                events.write(json.dumps({"kind": "end", "ns": time.monotonic_ns()}) + "\n")
            with open(os.path.join(self._directory, "agent.json"), "x", encoding="utf-8") as facts:
                facts.write(json.dumps({"pid": self._pid, "versions": {}}))
        except OSError:
            pass

    def _keras_imported(self, package: str) -> None:
        if self._session is not None and os.getpid() == self._pid:
            self._session.keras_imported(package)

    def _finish(self) -> None:
        if self._session is not None and os.getpid() == self._pid:
            try:
                self._session.finish()
            except BaseException:  # the script is over; a Ctrl-C that comes now must not print a traceback of ours
                pass


def start(directory: str, when_imported: "Watch", pinned: str = "") -> None:
    """Called by the bootstrap in the process that ``tfperf run`` started."""
    Agent(directory, pinned).watch_imports(when_imported)


def start_family(
    directory: str, when_imported: "Watch", how: str, offspring: "Any", child: "Any", stacks: "Any"
) -> None:
    """The same where children are recorded too.

    ``how``: how this process was started ("script": by ``tfperf run``), then the folders that are user code; the other
    arguments are the modules in this folder.
    """
    method, *roots = how.split(os.pathsep)
    agent = Agent(directory)
    family = offspring.Offspring(directory, roots, child, stacks, agent.adopt)
    family.watch(when_imported)
    if method == "server":  # it only forks
        family.server = True
        return
    agent.watch_imports(when_imported)
    if method != "script":
        family.record(method)
