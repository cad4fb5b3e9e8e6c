"""Runs the GAN's trainer as it is, with a misfortune from inside: ``wrapped_gan.py KIND STEP DELAY PAUSE -- …``.

``STEP`` 0 is while TensorFlow is imported and graphs are traced; ``DELAY`` then counts from the start, in seconds. The
script waits ``PAUSE`` seconds in each step.
"""

from __future__ import annotations

import builtins
import ctypes
import gc
import os
import runpy
import sys
import threading
import time
from pathlib import Path

GAN = Path(__file__).parents[2] / "examples" / "gan"


def exit_hard() -> None:
    os._exit(7)


def segfault() -> None:
    ctypes.string_at(0)


def in_script(thread: int) -> bool:
    """Whether the thread runs the script, or what it called, and not a hook of tfperf's in between."""
    frame = sys._current_frames().get(thread)
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(str(GAN)):
            return True
        if "tfperfkit" in Path(file).parts:
            return False
        frame = frame.f_back
    return False


def memory_error() -> None:
    """As if an allocation of the training loop had failed. One of ours that fails is not the script's: tfperf lives
    without what it wanted to keep, and the script goes on."""
    main = threading.main_thread().ident or 0
    give_up = time.monotonic() + 5  # TensorFlow is imported, and functions are traced, with hooks around all of it
    while not in_script(main) and time.monotonic() < give_up:
        time.sleep(0.0002)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(main), ctypes.py_object(MemoryError))


def limit_memory() -> None:
    import resource

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize()  # not a page more, for the trainer, TensorFlow and us
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


INSIDE = {"os._exit": exit_hard, "segfault": segfault, "MemoryError": memory_error, "memory limit": limit_memory}


def main() -> None:
    kind, step, delay, pause = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
    arguments = sys.argv[sys.argv.index("--") + 1 :]
    Path("pid").write_text(str(os.getpid()))
    reached = threading.Event()
    plain_print = builtins.print

    def watching(*words: object, **options: object) -> None:
        plain_print(*words, **options)  # type: ignore[call-overload]
        if str(words[0]).startswith(f"step {step:4d} "):
            reached.set()
        time.sleep(pause)

    if kind in INSIDE or pause:
        builtins.print = watching  # type: ignore[assignment]
    if kind in INSIDE:

        def strike() -> None:
            if step:
                reached.wait()
            time.sleep(delay)
            INSIDE[kind]()

        threading.Thread(target=strike, daemon=True).start()
    gc.set_threshold(50_000)  # there is next to no garbage in an import of TensorFlow; looking for it takes a quarter
    sys.path[0] = str(GAN)
    sys.argv = [str(GAN / "train.py"), *arguments]
    runpy.run_path(sys.argv[0], run_name="__main__")


main()
