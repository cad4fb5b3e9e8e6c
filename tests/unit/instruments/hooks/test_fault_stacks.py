"""faulthandler while a window is open: in processes of their own, as a script would use it too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

START = """
import ctypes, faulthandler, os, signal, sys, threading
from pathlib import Path
from tfperfkit.instruments.hooks.fault_stacks import FaultStacks
path = Path(sys.argv[1])
stacks = FaultStacks(path)
def strike():
    ctypes.string_at(0)
"""


def ran(body: str, file: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    file.touch()
    return subprocess.run(
        [sys.executable, *flags, "-c", START + body, str(file)],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )


def test_the_stack_goes_to_the_file_and_nowhere_else(tmp_path: Path) -> None:
    done = ran("stacks.begin()\nstrike()", tmp_path / "stacks")
    assert (done.returncode, done.stderr) == (-11, "")
    assert "in strike" in (tmp_path / "stacks").read_text()


@pytest.mark.parametrize("flags", [(), ("-X", "faulthandler")])
def test_at_the_end_it_is_as_it_was(tmp_path: Path, flags: tuple[str, ...]) -> None:
    body = """
was, files = faulthandler.is_enabled(), os.listdir("/proc/self/fd")
stacks.begin()
stacks.begin()
print(was, faulthandler.is_enabled())
stacks.end()
stacks.end()
print(faulthandler.is_enabled() == was, os.listdir("/proc/self/fd") == files)
"""
    done = ran(body, tmp_path / "stacks", *flags)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [str(bool(flags)), "True", "True", "True"]


@pytest.mark.parametrize(
    "body",
    [
        "stacks.begin()\nfaulthandler.enable()\nstacks.end()",
        "faulthandler.enable()\nstacks.begin()\nstacks.end()",
        "stacks.begin()\nstacks.end()\nfaulthandler.enable()\nstacks.end()",
    ],
)
def test_the_scripts_own_comes_first(tmp_path: Path, body: str) -> None:
    done = ran(f"{body}\nstrike()", tmp_path / "stacks")
    assert done.returncode == -11 and "in strike" in done.stderr
    assert (tmp_path / "stacks").read_text() == ""


@pytest.mark.parametrize("first", [True, False])
def test_a_handler_of_the_scripts_stays(tmp_path: Path, first: bool) -> None:
    install = "signal.signal(signal.SIGFPE, lambda *_: print('mine', flush=True))"
    begin = f"{install}\nstacks.begin()" if first else f"stacks.begin()\n{install}"
    done = ran(f"{begin}\nstacks.end()\nos.kill(os.getpid(), signal.SIGFPE)\nprint('lives')", tmp_path / "stacks")
    assert (done.returncode, done.stdout, done.stderr) == (0, "mine\nlives\n", "")


def test_a_forked_child_is_rid_of_it(tmp_path: Path) -> None:
    body = """
stacks.begin()
child = os.fork()
if not child:
    stacks.end(forked=True)
    print(faulthandler.is_enabled(), flush=True)
    strike()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), faulthandler.is_enabled())
"""
    done = ran(body, tmp_path / "stacks")
    assert done.stdout.split() == ["False", "-11", "True"]
    assert (tmp_path / "stacks").read_text() == ""


def test_a_number_that_the_script_has_taken_is_left_alone(tmp_path: Path) -> None:
    body = """
stacks.begin()
os.closerange(3, 1024)
taken = [os.dup(0) for _ in range(1010)]
stacks.end()
print(all(os.fstat(number) for number in taken), len(taken))
"""
    assert ran(body, tmp_path / "stacks").stdout == "True 1010\n"


@pytest.mark.parametrize(
    "body",
    [
        "path.unlink()\nstacks.begin()",
        "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))\nstacks.begin()",
        "threading.Thread(target=stacks.begin).start()",
    ],
)
def test_where_it_can_not_be_had(tmp_path: Path, body: str) -> None:
    done = ran(f"{body}\nprint(faulthandler.is_enabled())\nstacks.end()", tmp_path / "stacks")
    assert (done.returncode, done.stdout, done.stderr) == (0, "False\n", "")
