"""Ask running processes for a trace, by TensorFlow's profiler service (``tfperf run --profiler-service``)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tfperfkit.clock import start_ticks, this_machine
from tfperfkit.errors import UsageError
from tfperfkit.records.service import SERVICE, Service
from tfperfkit.storage import safe_reader

#: Folder of the traces, below the run or the whole of several ranks.
TRACES = "on-demand"
#: For TensorFlow to be imported, and for the traces to be written.
_PATIENCE_S = 300.0


def offered(folder: Path) -> Service | None:
    """Return the service of this run's process; None if it has none."""
    try:
        return msgspec.convert(safe_reader.read_json(folder, SERVICE), Service)
    except msgspec.ValidationError:
        return None


def address(service: Service) -> str:
    """Return the address to ask it from here. Raises UsageError, without the run's name, where it can't be asked."""
    if service.machine != this_machine():
        if service.open_to == "loopback":
            raise UsageError(f"listens on its own machine only ({service.host}): ask there")
        return f"{service.host}:{service.port}"
    if service.started_ticks is not None and start_ticks(service.pid) != service.started_ticks:
        raise UsageError("has ended: there is nothing to look at any more")
    return f"127.0.0.1:{service.port}"


def trace(folder: Path, addresses: Sequence[str], seconds: float) -> list[Path]:
    """Return the traces of all of them for so long, in files that they write below ``folder``. Raises UsageError."""
    place = folder / TRACES
    try:
        place.mkdir(exist_ok=True)
    except OSError as error:
        raise UsageError(f"can't write {place}: {error.strerror or error}") from error
    before = _files(place)
    words = [",".join(addresses), str(place.resolve()), str(round(seconds * 1000))]
    command = [sys.executable, "-m", "tfperfkit.instruments.trace_client", *words]
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    try:
        done = subprocess.run(
            command,
            cwd=place,
            env={**os.environ, **quiet},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE_S + seconds,
        )
    except subprocess.TimeoutExpired:
        raise UsageError(f"no trace within {_PATIENCE_S + seconds:.0f} s") from None
    written = sorted(_files(place) - before)
    if not written:
        last = (done.stderr.strip().splitlines() or ["no reason was given"])[-1]
        raise UsageError(f"no trace: {last}")
    return written


def _files(place: Path) -> set[Path]:
    return set(place.glob("plugins/profile/*/*.xplane.pb"))
