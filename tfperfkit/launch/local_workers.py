"""``tfperf launch -n 2 train.py``: workers of one training on this machine, each under ``tfperf run``."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from tfperfkit.errors import UsageError
from tfperfkit.records.rank import holds_parts

#: Time for the others to end once one has failed, and for tfperf to end once its script has been killed.
_GRACE_S, _REPORT_S = 15.0, 10.0
_LOOK_S = 0.1
_HOST = "127.0.0.1"


def launch(count: int, words: Sequence[str], folder: Path, out: str) -> int:
    """Run the workers and wait for all; the exit status of the first that failed, else 0. ``words``: as for ``run``.
    ``out``: the folder, or an address that gets the parts; then the folder has only what each would have printed.

    The first failing ends the others, as does Ctrl-C or SIGTERM. Raises UsageError before anything is started.
    """
    if holds_parts(folder):
        raise UsageError(f"{folder} already holds a run: give another --run-dir, or remove that folder first")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"can't write {folder}: {error.strerror or error}; give another one with --run-dir") from error
    addresses = [f"{_HOST}:{port}" for port in _free_ports(count)]
    workers: list[subprocess.Popen[bytes]] = []
    previous = signal.signal(signal.SIGTERM, _raise)
    try:
        for index in range(count):
            config = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
            environment = {**os.environ, "TF_CONFIG": json.dumps(config)}
            environment["no_grpc_proxy"] = _without_proxy(os.environ)
            environment["TFPERF_OUTPUT"] = str(folder / f"rank-{index:04}.txt")
            environment["TFPERF_RUN_DIR"] = out
            command = [sys.executable, "-m", "tfperfkit", "run", *words]
            workers.append(subprocess.Popen(command, env=environment))
        return _wait(workers)
    except _Ended:
        return 128 + signal.SIGTERM
    finally:
        _end(workers)
        signal.signal(signal.SIGTERM, previous)


class _Ended(Exception):
    pass


def _raise(number: int, frame: object) -> None:
    raise _Ended


def _without_proxy(environ: Mapping[str, str]) -> str:
    """Return the hosts that gRPC reaches without a proxy: the workers are included, which would wait for each other for
    ever with one.
    """
    known = environ.get("no_grpc_proxy") or environ.get("no_proxy") or ""
    return ",".join(filter(None, (known, _HOST)))


def _free_ports(count: int) -> list[int]:
    """Free now, all at once; a program that takes one before the worker does makes it fail, as with any such choice."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind((_HOST, 0))
        return [each.getsockname()[1] for each in sockets]


def _wait(workers: Sequence[subprocess.Popen[bytes]]) -> int:
    while True:
        codes = [worker.poll() for worker in workers]
        failed = next((code for code in codes if code), None)
        if failed is not None:
            return failed if failed > 0 else 128 - failed
        if all(code == 0 for code in codes):
            return 0
        time.sleep(_LOOK_S)


def _end(workers: Sequence[subprocess.Popen[bytes]]) -> None:
    """Ask those that are left to end, then make them."""
    left = [worker for worker in workers if worker.poll() is None]
    for worker in left:
        worker.terminate()
    until = time.monotonic() + _GRACE_S
    for worker in left:
        try:
            worker.wait(max(until - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            _kill(worker)


def _kill(worker: subprocess.Popen[bytes]) -> None:
    """The script first, which would outlive tfperf: then tfperf ends by itself, with what it has."""
    for pid in _children(worker.pid):
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    try:
        worker.wait(_REPORT_S)
    except subprocess.TimeoutExpired:
        worker.kill()
        worker.wait()


def _children(pid: int) -> list[int]:
    """None if the system does not tell."""
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (OSError, ValueError):
        return []
