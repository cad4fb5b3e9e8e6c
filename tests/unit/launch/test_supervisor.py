"""The pieces of supervising that need no process."""

from __future__ import annotations

import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from tfperfkit.instruments.hooks import method_seam
from tfperfkit.instruments.hooks.interrupts import raise_later
from tfperfkit.launch import signals, supervisor
from tfperfkit.storage.run_directory import Exit, RunDirectory
from tfperfkit.syntax.script import uses_bare_profile


@pytest.mark.parametrize(
    ("line", "flags"),
    [
        ("python -m tfperfkit run train.py", ""),
        ("python -O -m tfperfkit run -O train.py", "-O"),
        ("python -X dev -Werror -u /bin/tfperf run", "-X dev -Werror -u"),
        ("python -OWignore -W error -bbm tfperfkit run", "-OWignore -W error -bb"),
        ("python -sP /bin/tfperf run", "-sP"),
        ("python --check-hash-based-pycs never -m tfperfkit", "--check-hash-based-pycs never"),
        ("python -c code -O", ""),
        ("tfperf run", ""),
        ("", ""),
    ],
)
def test_flags_of_the_interpreter_go_on_word_for_word(line: str, flags: str) -> None:
    assert supervisor.interpreter(line.split()) == [sys.executable, *flags.split()]


def test_flags_of_the_installer_s_launcher_are_not_the_person_s(tmp_path: Path) -> None:
    launcher = tmp_path / "tfperf"
    launcher.write_text("#!/home/me/pipx/venvs/tfperfkit/bin/python -E\n")
    line = ["python", "-E", str(launcher), "run", "train.py"]
    assert supervisor.interpreter(line) == [sys.executable]
    launcher.write_text("#!/usr/bin/python3\n")
    assert supervisor.interpreter(line) == [sys.executable, "-E"]  # typed by a user


def test_exit_codes() -> None:
    codes = [supervisor.Ended(Exit(status=status, ended_ns=1)).exit_code for status in (3, -15, 0)]
    assert codes == [3, 143, 0]


def test_environment_of_the_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    run = RunDirectory(tmp_path)
    first = supervisor.environment(run, False)
    assert Path(first["PYTHONPATH"], "sitecustomize.py").is_file()
    assert "TFPERF_PYTHONPATH" not in first and "TFPERF_PROFILE" not in first
    monkeypatch.setenv("PYTHONPATH", "a:b")
    second = supervisor.environment(run, True)
    assert second["PYTHONPATH"] == first["PYTHONPATH"] + ":a:b"
    assert (second["TFPERF_PYTHONPATH"], second["TFPERF_PROFILE"]) == ("a:b", "1")


def test_which_signals_are_passed_on() -> None:
    passed = signals.forwarded()
    assert {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGQUIT} <= passed
    assert not {signal.SIGKILL, signal.SIGSTOP, signal.SIGTSTP, signal.SIGCHLD, signal.SIGSEGV} & passed
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        assert signal.SIGUSR1 not in signals.forwarded()
    finally:
        signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize(
    ("source", "needed"),
    [
        ("@profile\ndef f(): pass", True),
        ("class A:\n    @profile\n    async def f(self): pass", True),
        ("def f(): pass  # @profile", False),
        ("from line_profiler import profile\n@profile\ndef f(): pass", False),
        ("import line_profiler as profile\n@profile\ndef f(): pass", False),
        ("profile = lambda f: f\n@profile\ndef f(): pass", False),
        ("def profile(f): return f\n@profile\ndef f(): pass", False),
        ("if 'profile' in dir(): pass\n@profile\ndef f(): pass", False),
        ("@profile.this\ndef f(): pass", False),
        ("@profile\ndef f(:", False),
        ("\0@profile", False),
    ],
)
def test_scripts_written_for_kernprof(source: str, needed: bool) -> None:
    assert uses_bare_profile(source.encode()) is needed


class _OfTheScript(Exception):
    def __init__(self, first: int, second: int) -> None:
        super().__init__(first, second)
        self.first = first


def _hook(error: BaseException) -> None:
    """Call a hook of ours during which a signal's handler raises."""
    try:
        raise error
    except BaseException as caught:
        raise_later(caught)


@pytest.mark.parametrize("make", [KeyboardInterrupt, lambda: SystemExit(3), lambda: _OfTheScript(1, 2)])
def test_what_a_signal_raised_in_a_hook_comes_up_in_the_script(make: Callable[[], BaseException]) -> None:
    error = make()

    def script() -> None:
        _hook(error)
        until = time.monotonic() + 200
        while time.monotonic() < until:
            pass

    with pytest.raises(type(error)) as caught:
        script()
    assert caught.value is error
    shown = "".join(traceback.format_exception(caught.value))
    assert "in script" in shown
    assert "interrupts.py" not in shown


@pytest.mark.parametrize("where", ["before", "after"])
def test_a_signal_during_a_hook_on_a_method_is_not_lost(where: str) -> None:
    """The method runs to its end; then the exception comes up in the caller, without a frame of ours."""
    error = SystemExit(3)

    def hook(when: str) -> None:
        if when == where:
            raise error

    class Observed:
        calls = 0

        def method(self) -> int:
            self.calls += 1
            return 7

    def before(instance: object) -> object:
        hook("before")
        return instance

    undo = method_seam.install(Observed, "method", before, lambda token, called: hook("after"))
    observed = Observed()
    results = []
    try:
        with pytest.raises(SystemExit) as caught:
            results.append(observed.method())
            until = time.monotonic() + 200
            while time.monotonic() < until:
                time.sleep(0.001)  # Python 3.13.0 lets an exception through that comes up as an empty loop goes round
    finally:
        undo()
    assert caught.value is error
    assert (results, observed.calls) == ([7], 1)
    assert not [entry.path for entry in caught.traceback if "instruments" in str(entry.path)]
