"""The command in a folder and an environment of its own; see the fixture ``tfperf``.

A command that runs to its end begins in a fork of an interpreter that has imported tfperf: see ``warm_run``. If
``warm`` is asked for, so do its scripts, with TensorFlow imported. A module's tests ask for it by ``WARM = True``.
``COLD = True``: every command has a process of its own, as ``start`` gives it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from warm_run import forked_tfperf, warm_tfperf


class Tfperf:
    """``tfperf("run", "train.py")`` runs ``tfperf run train.py`` in ``folder``; see ``start`` for the keywords."""

    def __init__(self, folder: Path, *, warm: bool = False, cold: bool = False) -> None:
        self.folder = folder
        self.runs = folder / "runs"
        self.python = sys.executable
        self.flags: tuple[str, ...] = ()
        self.warm = warm
        self.cold = cold
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("TFPERF_", "PYTHON"))}
        self.environment = {
            **kept,
            "TFPERF_RUNS": str(self.runs),
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "CUDA_VISIBLE_DEVICES": "-1",
            "COLUMNS": "100",
        }

    def script(self, source: str, name: str = "train.py") -> Path:
        """Write a script into the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
        return path

    def start(self, *arguments: str | Path, warm: bool = False, **options: Any) -> subprocess.Popen[str]:
        """Start it in a session of its own, so that signals to its group don't hit the tests. ``warm``: its scripts
        begin in a fork; it has a process of its own all the same."""
        return self._start(["-m", "tfperfkit"], arguments, options, warm)

    def _start(
        self, words: Sequence[str], arguments: Sequence[str | Path], options: Any, warm: bool = False
    ) -> subprocess.Popen[str]:
        environment = {**self.environment, **options.pop("env", {})}
        options = {
            "cwd": self.folder,
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "start_new_session": True,
            "text": True,
            "encoding": "utf-8",
            "errors": "replace",
            **options,
        }
        if warm:
            words, environment = warm_tfperf(environment, own=True)
        elif words:
            words = [self.python, *self.flags, *words]
        elif self.warm:
            words, environment = warm_tfperf(environment)
        else:
            words, environment = forked_tfperf(environment)
        return subprocess.Popen([*words, *map(str, arguments)], env=environment, **options)

    def __call__(self, *arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
        cold = self.cold or self.flags or self.python != sys.executable or "preexec_fn" in options
        process = self._start(["-m", "tfperfkit"] if cold else [], arguments, options)
        try:
            out, err = process.communicate(timeout=200)
        except BaseException:
            process.kill()
            raise
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def refuses(self, *arguments: str | Path, **options: Any) -> str:
        """It must end with status 2 and one line on stderr; returns that line."""
        done = self(*arguments, **options)
        assert done.returncode == 2, (done.stdout, done.stderr)
        assert done.stdout == ""
        assert re.fullmatch(r"tfperf: [^\n]+\n", done.stderr), done.stderr
        return done.stderr
