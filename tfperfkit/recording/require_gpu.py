"""``--require-gpu``: ends the process before it trains on a CPU by mistake."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from tfperfkit.errors import EXIT_USAGE, Unavailable


class GpuGate:
    """Asks once whether TensorFlow has a GPU, as soon as that is known; ``closing(reason)`` comes before the end."""

    def __init__(self, wanted: bool, closing: Callable[[str], None]) -> None:
        self.wanted = wanted
        self._closing = closing

    def check(self) -> None:
        """Called at the first traces and steps; ends the process with status 2 when there is no GPU."""
        from tfperfkit.instruments.devices.runtime import gpu_missing

        try:
            reason = gpu_missing()
        except Unavailable:
            return  # TensorFlow has not looked for devices yet: asked again at the next trace or step
        self.wanted = False
        if reason is None:
            return
        self._closing(f"--require-gpu: {reason}")
        sys.stdout.flush()
        print(f"tfperf: --require-gpu: {reason}", file=sys.stderr, flush=True)
        os._exit(EXIT_USAGE)
