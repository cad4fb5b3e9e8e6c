"""One of our commands in a process of its own: whatever a script or a probe does there, the server lives on.

Its standard input is empty and its output goes to files: those of the server are the protocol.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import anyio

#: Between two words about progress.
_TICK_S = 5.0
#: After Ctrl-C: for the script to end and the report to be made on a busy machine too (a minute was too
#: short with a load of 15 on two processors); then for what still runs to end itself.
_GRACE_S, _LAST_S = 180.0, 5.0
#: Environment for text that tfperf writes for its width.
_ENVIRONMENT = {"COLUMNS": "100", "NO_COLOR": "1"}

Tell = Callable[[float], Awaitable[None]]


async def call(
    words: Sequence[str], folder: Path, out: Path, err: Path, limit_s: float | None, tell: Tell
) -> tuple[int, bool]:
    """Run ``python WORDS`` in ``folder``; returns its exit status and whether it was interrupted for its time.

    ``err`` may be the same file as ``out``. ``tell`` is called every few seconds with the seconds that have passed.
    When the caller is cancelled, it is interrupted too. Raises OSError, or ValueError for what no argument can hold.
    """
    with out.open("ab") as output, err.open("ab") as errors:
        process: Any = await anyio.open_process(
            [sys.executable, *words],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            cwd=folder,
            env={**os.environ, **_ENVIRONMENT},
            start_new_session=True,
        )
    begun = anyio.current_time()
    try:
        while True:
            with anyio.move_on_after(_TICK_S if limit_s is None else min(_TICK_S, limit_s)):
                return await process.wait(), False
            passed = anyio.current_time() - begun
            if limit_s is not None and passed >= limit_s:
                await _end(process)
                return process.returncode, True
            await tell(passed)
    finally:
        if process.returncode is None:
            with anyio.CancelScope(shield=True):
                await _end(process)


async def _end(process: Any) -> None:
    """As Ctrl-C on a terminal does, with all that it started; what does not end by that is killed."""
    for number, seconds in ((signal.SIGINT, _GRACE_S), (signal.SIGTERM, _LAST_S), (signal.SIGKILL, None)):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
        with anyio.move_on_after(seconds):
            await process.wait()
            return
