"""Runs a script under plain Python in a fork of an interpreter that has imported TensorFlow: that import takes longer
than most scripts of the tests.

For what is compared with ``tfperf run``, or has nothing to do with it. A script under ``tfperf run`` always has a
process of its own, and so has one that does something before it imports TensorFlow.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_START = Path(__file__).with_name("warm_start")


class WarmPython:
    """``python script``, again and again; ``environment`` is that in which TensorFlow is imported. A relative
    ``script`` is looked for in ``folder``, which is where the interpreter is started."""

    def __init__(self, script: Path | str, folder: Path, environment: Mapping[str, str]) -> None:
        self._words = [sys.executable, str(script)]
        self._folder = folder
        self._environment = dict(environment)
        self._ours: socket.socket | None = None

    def run(
        self,
        arguments: Sequence[str] = (),
        *,
        environment: Mapping[str, str],
        input: bytes = b"",
        timeout: float = 300,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run it to its end. Raises subprocess.TimeoutExpired, with the script's session killed."""
        server = self._server()
        pipes = [os.pipe() for _ in range(3)]  # the script's: reads from the first, writes to the others
        theirs = [pipes[0][0], pipes[1][1], pipes[2][1]]
        wanted = {"arguments": list(arguments), "cwd": str(self._folder), "env": dict(environment)}
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
                    cwd=self._folder,
                    env={**self._environment, **added},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                )
            atexit.register(_end, self._ours, process)
        return self._ours


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
