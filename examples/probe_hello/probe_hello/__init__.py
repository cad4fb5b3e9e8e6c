"""A probe for tfperfkit that is a package of its own: what Python's garbage collector costs each training step."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from probe_hello.analysis import MIN_SHARE, analyze
from probe_hello.watcher import Watcher
from tfperfkit.model import ProbeResult
from tfperfkit.option import Option
from tfperfkit.probe import Capture, Cost, Recording


class HelloProbe:
    """Times Python's garbage collections and tells which lines cause the full ones."""

    api: ClassVar[int] = 1
    name: ClassVar[str] = "hello"
    cost: ClassVar[Cost] = Cost.FREE
    claims: ClassVar[frozenset[str]] = frozenset()
    options: ClassVar[tuple[Option, ...]] = (
        Option(
            name="min_share",
            type="float",
            default=MIN_SHARE,
            minimum=0,
            metavar="SHARE",
            in_report=True,
            help="Tell of full collections from this share of the step on (0 to 1).",
        ),
    )

    @contextmanager
    def record(self, recording: Recording, /) -> Iterator[None]:
        """Append a record for each collection, from the import of TensorFlow to the end."""
        watcher = Watcher(recording)
        gc.callbacks.append(watcher)
        try:
            yield
        finally:
            gc.callbacks.remove(watcher)
            watcher.finish()

    def analyze(self, capture: Capture, /) -> ProbeResult:
        """Set the collections against the training steps."""
        return analyze(capture)
