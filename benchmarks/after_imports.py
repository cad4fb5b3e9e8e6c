"""Run a script as plain Python does, and note the seconds in import statements: ``after_imports.py FILE SCRIPT ...``.

A script and its twin differ after their imports, which take longer than either on a busy machine and never the same.
"""

from __future__ import annotations

import atexit
import builtins
import runpy
import sys
import time
from pathlib import Path
from typing import Any


class ImportClock:
    """Adds up the outermost imports."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._plain, self._inside = builtins.__import__, False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._inside:
            return self._plain(*args, **kwargs)
        self._inside, begin = True, time.perf_counter()
        try:
            return self._plain(*args, **kwargs)
        finally:
            self._inside = False
            self.seconds += time.perf_counter() - begin


def main() -> None:
    out, script = Path(sys.argv[1]), sys.argv[2]
    clock = ImportClock()
    atexit.register(lambda: out.write_text(str(clock.seconds), encoding="utf-8"))
    builtins.__import__ = clock
    sys.argv = sys.argv[2:]
    sys.path[0] = str(Path(script).parent)
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
