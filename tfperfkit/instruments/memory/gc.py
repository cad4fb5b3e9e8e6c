"""Python's garbage collections: when each long one ran. A callback in ``gc.callbacks``, which is the public way.

It runs before and after a collection, never during one, so it is on no stack on which finalizers of the script run.
"""

from __future__ import annotations

import gc
import os
from _thread import get_ident
from collections.abc import Callable
from typing import Any

from tfperfkit.clock import NS_PER_MS, now_ns
from tfperfkit.instruments.hooks.interrupts import raise_later

#: Collections of the young generations that are shorter than this are only counted.
MIN_NS = NS_PER_MS


class Collections:
    """``write([begin_ns, end_ns, generation, collected, thread])`` for each full collection and each of a ms or more;
    at most ``limit`` rows.

    ``thread``: the one that made the objects. ``count`` and ``spent_ns`` hold the sums over all collections, by
    generation.
    """

    def __init__(self, write: Callable[[Any], None], limit: int = 100_000) -> None:
        self._write = write
        self._limit = limit
        self._pid = os.getpid()
        self._begin = 0
        self.rows = 0
        self.count = [0, 0, 0]
        self.spent_ns = [0, 0, 0]

    def install(self) -> None:
        gc.callbacks.append(self)

    def restore(self) -> None:
        if self in gc.callbacks:
            gc.callbacks.remove(self)

    def __call__(self, phase: str, info: dict[str, Any]) -> None:
        try:
            if phase == "start":
                self._begin = now_ns()
            elif self._begin:
                self._ended(now_ns(), min(info["generation"], 2), info["collected"])
        except Exception:  # the collector would print it to stderr
            pass
        except BaseException as error:  # a Ctrl-C is the script's, and the collector would lose it
            raise_later(error)

    def _ended(self, end: int, generation: int, collected: int) -> None:
        begin, self._begin = self._begin, 0
        if os.getpid() != self._pid:  # a forked child's collections are not those of the training
            return
        self.count[generation] += 1
        self.spent_ns[generation] += end - begin
        if (generation == 2 or end - begin >= MIN_NS) and self.rows < self._limit:
            self.rows += 1
            self._write([begin, end, generation, collected, get_ident()])
