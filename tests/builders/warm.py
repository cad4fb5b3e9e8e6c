"""Runs a script under plain Python in a fork of an interpreter that has imported TensorFlow: that import takes longer
than most scripts of the tests.

For what is compared with ``tfperf run``, or has nothing to do with it; for scripts under ``tfperf run`` see
``warm_run``. One that does something before it imports TensorFlow has a process of its own.
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

_START = Path(__file__).with_name("warm_start")


class WarmPython:
    """``python script``, again and again; ``environment`` is that in which TensorFlow is imported. A relative
    ``script`` is looked for in ``folder``, which is where the interpreter is started."""

    def __init__(self, script: Path | str, folder: Path, environment: Mapping[str, str]) -> None:
        self._words = [sys.executable, str(script)]
        self.folder = folder
        self._environment = dict(environment)
        self._ours: socket.socket | None = None

    def run(
        self,
        arguments: Sequence[str] = (),
        *,
        environment: Mapping[str, str],
        input: bytes = b"",
        timeout: float = 300,
        folder: Path | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run it to its end, in ``folder`` where another one is meant. Raises subprocess.TimeoutExpired, with the
        script's session killed."""
        server = self._server()
        pipes = [os.pipe() for _ in range(3)]  # the script's: reads from the first, writes to the others
        theirs = [pipes[0][0], pipes[1][1], pipes[2][1]]
        wanted = {"arguments": list(arguments), "cwd": str(folder or self.folder), "env": dict(environment)}
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
            self._ours = None  # it waits for one that may not end
            if pid:
                os.killpg(pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired(self._words, timeout) from None
        for thread in threads:  # what it started may write on
            thread.join(timeout)
        return subprocess.CompletedProcess(self._words, status, output[1], output[2])

    def _server(self) -> socket.socket:
        if self._ours is None:
            self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                added = {"PYTHONPATH": str(_START), "WARM_SOCKET": str(theirs.fileno())}
                process = subprocess.Popen(
                    self._words,
                    cwd=self.folder,
                    env={**self._environment, **added},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                )
            atexit.register(_end, self._ours, process)
        return self._ours


def run_warm(
    source: str,
    folder: Path,
    *arguments: Path | str,
    environment: Mapping[str, str] | None = None,
    timeout: float = 300,
) -> subprocess.CompletedProcess[str]:
    """``python script.py`` in ``folder``, from an interpreter that all tests of this process share: ``source`` is in
    another folder, as Python makes a script's path whole before it begins. Variables that ``environment`` adds have no
    effect on the import of TensorFlow."""
    python = _shared()
    (python.folder / "script.py").write_text(source, encoding="utf-8")
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
def _shared() -> WarmPython:
    folder = Path(tempfile.mkdtemp(prefix="warm-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return WarmPython("script.py", folder, _shared_environment())


def _end(server: socket.socket, process: subprocess.Popen[bytes]) -> None:
    server.close()
    process.kill()
    process.wait()


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
