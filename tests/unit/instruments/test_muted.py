"""A call's standard error goes to a file; everybody else's bytes, descriptors and children are not touched."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="threads share descriptors elsewhere")


def ran(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    code = "import os, subprocess, sys, threading\nfrom tfperfkit.instruments.muted import muted\nLOG = sys.argv[1]\n"
    command = [sys.executable, "-c", code + textwrap.dedent(script), str(folder / "log")]
    return subprocess.run(command, capture_output=True, text=True, timeout=200, check=True)


def test_only_the_call_itself_is_muted(tmp_path: Path) -> None:
    done = ran(
        tmp_path,
        """
        inside, outside = threading.Event(), threading.Event()
        def others():
            inside.wait()
            os.write(2, b"another thread\\n")
            subprocess.run([sys.executable, "-c", "import os; os.write(2, b'a child\\\\n')"], check=True)
            outside.set()
        threading.Thread(target=others).start()
        def call():
            os.write(2, b"the call\\n")
            inside.set()
            outside.wait()
            return "its result"
        print(muted(call, LOG))
        os.write(2, b"afterwards\\n")
        """,
    )
    assert done.stdout == "its result\n"
    assert done.stderr == "another thread\na child\nafterwards\n"
    assert (tmp_path / "log").read_text() == "the call\n"


def test_a_file_that_cannot_be_written_hides_the_words_too(tmp_path: Path) -> None:
    done = ran(tmp_path, "muted(lambda: os.write(2, b'the call'), LOG + '/nowhere/log')")
    assert done.stderr == ""


def test_no_descriptor_is_left_and_closed_ones_stay_closed(tmp_path: Path) -> None:
    done = ran(
        tmp_path,
        """
        os.close(0)
        before = os.listdir("/proc/self/fd")
        for _ in range(3):
            muted(lambda: None, LOG)
        print(sorted(os.listdir("/proc/self/fd")) == sorted(before), threading.active_count())
        """,
    )
    assert done.stdout == "True 1\n"


def test_what_the_call_raises_is_raised_here(tmp_path: Path) -> None:
    done = ran(
        tmp_path,
        """
        try:
            muted(lambda: 1 / 0, LOG)
        except ZeroDivisionError as error:
            print("raised:", error)
        """,
    )
    assert done.stdout == "raised: division by zero\n"


def test_where_threads_share_their_descriptors_the_call_is_made_and_seen(tmp_path: Path) -> None:
    done = ran(
        tmp_path,
        """
        from tfperfkit.instruments import muted as module
        module._own_descriptors = lambda: False
        print(muted(lambda: os.write(2, b"seen"), LOG))
        """,
    )
    assert (done.stdout, done.stderr) == ("4\n", "seen")


def test_a_handler_that_raises_meanwhile_does_so_after_the_call(tmp_path: Path) -> None:
    done = ran(
        tmp_path,
        """
        import signal, time
        def handler(number, frame):
            raise KeyboardInterrupt
        signal.signal(signal.SIGUSR1, handler)
        def call():
            os.kill(os.getpid(), signal.SIGUSR1)
            time.sleep(0.2)
            return "whole"
        try:
            print(muted(call, LOG))
            time.sleep(5)
        except KeyboardInterrupt:
            print("then interrupted")
        """,
    )
    assert done.stdout == "whole\nthen interrupted\n"


def test_an_error_leaves_no_frame_behind(tmp_path: Path) -> None:
    done = ran(
        tmp_path,
        """
        import gc, weakref
        gc.disable()
        class Held: pass
        def caller():
            held = Held()
            def call(): raise ValueError("from the call")
            try:
                muted(call, LOG)
            except ValueError as error:
                print(error)
            return weakref.ref(held)
        print(caller()())
        """,
    )
    assert done.stdout == "from the call\nNone\n"


def test_a_thread_that_dies_before_its_first_line_is_not_waited_for(tmp_path: Path) -> None:
    """At a limit of memory: the system starts the thread on a stack that an earlier one left, and Python has no memory
    for its first frame."""
    done = ran(
        tmp_path,
        """
        import faulthandler, resource
        faulthandler.dump_traceback_later(60, exit=True)
        for _ in range(3):
            muted(int, LOG)
        died = []
        sys.unraisablehook = lambda unraisable: died.append(unraisable.exc_type)
        pages = int(open("/proc/self/statm").read().split()[0])
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize(), most))
        results = [muted(lambda: "its result", LOG) for _ in range(3)]
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        print(results, set(died) <= {MemoryError}, faulthandler.cancel_dump_traceback_later())
        """,
    )
    assert done.stdout == "['its result', 'its result', 'its result'] True None\n"
