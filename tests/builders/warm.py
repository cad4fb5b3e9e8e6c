"""Runs a script under plain Python in a fork of an interpreter that has imported TensorFlow: that import takes longer
than most scripts of the tests.

For what is compared with ``tfperf run``, or has nothing to do with it; for scripts under ``tfperf run`` see
``warm_run``, whose interpreters these forks share. One that does something before it imports TensorFlow has a process
of its own.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from warm_run import serve_scripts


class WarmPython:
    """``python script``, again and again; ``environment`` is that in which TensorFlow is imported. ``as_script``: the
    interpreter is started with the script, and nothing of ours is below its frames; its name is for its folder."""

    def __init__(self, script: Path, environment: Mapping[str, str], *, as_script: bool = False) -> None:
        self._name = script.name if as_script else str(script)
        self._folder = script.parent
        self._as_script = script if as_script else None
        self._environment = dict(environment)

    def run(
        self,
        arguments: Sequence[str] = (),
        *,
        environment: Mapping[str, str],
        input: bytes = b"",
        timeout: float = 300,
        folder: Path | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run it to its end, in ``folder``, or in its own. Raises subprocess.TimeoutExpired, with the script's session
        killed."""
        words = [sys.executable, self._name, *arguments]
        wanted = {"argv": words[1:], "cwd": str(folder or self._folder), "env": dict(environment), "freeze": True}
        server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with server:
            server.connect(serve_scripts(self._environment, self._as_script))
            pipes = [os.pipe() for _ in range(3)]  # the script's: reads from the first, writes to the others
            theirs = [pipes[0][0], pipes[1][1], pipes[2][1]]
            socket.send_fds(server, [json.dumps(wanted).encode()], theirs)
            for descriptor in theirs:
                os.close(descriptor)
            output: dict[int, bytes] = {}
            threads = [
                _started(_write, pipes[0][1], input),
                *(_started(_read, pipes[number][0], output, number) for number in (1, 2)),
            ]
            server.settimeout(timeout)
            pid = 0
            try:
                pid = int(server.recv(20))
                status = int(server.recv(20))
            except TimeoutError:
                if pid:
                    os.killpg(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(words, timeout) from None
        for thread in threads:  # what it started may write on
            thread.join(timeout)
        return subprocess.CompletedProcess(words, status, output[1], output[2])


def run_warm(
    source: str,
    folder: Path,
    *arguments: Path | str,
    environment: Mapping[str, str] | None = None,
    timeout: float = 300,
) -> subprocess.CompletedProcess[str]:
    """``python script.py`` in ``folder``, from an interpreter that all tests share; ``source`` is in another folder.
    Variables that ``environment`` adds have no effect on the import of TensorFlow."""
    python, script = _shared()
    script.write_text(source, encoding="utf-8")
    given = {**_shared_environment(), **(environment or {})}
    done = python.run([str(each) for each in arguments], environment=given, folder=folder, timeout=timeout)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def run_file_warm(
    script: Path, *arguments: Path | str, folder: Path, timeout: float = 300
) -> subprocess.CompletedProcess[str]:
    """``python script`` in ``folder``, likewise, if the script imports modules next to it."""
    source = (
        f"import runpy, sys\nsys.path[0], sys.argv[0] = {str(script.parent)!r}, {str(script)!r}\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    return run_warm(source, folder, *arguments, timeout=timeout)


def _shared_environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("TFPERF_", "PYTHON"))}
    return {**kept, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}


@functools.cache
def _shared() -> tuple[WarmPython, Path]:
    folder = Path(tempfile.mkdtemp(prefix="warm-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    script = folder / "script.py"
    return WarmPython(script, _shared_environment()), script


def _started(target: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=target, args=arguments, daemon=True)
    thread.start()
    return thread


def _write(descriptor: int, data: bytes) -> None:
    try:
        with open(descriptor, "wb") as stream:
            stream.write(data)
    except BrokenPipeError:
        pass  # it does not read


def _read(descriptor: int, output: dict[int, bytes], number: int) -> None:
    with open(descriptor, "rb") as stream:
        output[number] = stream.read()
