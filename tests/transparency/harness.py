"""Runs a program under plain Python and under ``tfperf run`` in the very same folder, and tells what differs.

The report goes to a file, so that stderr too is the script's alone and can be compared.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import jax_apart
import pytest
import tfperfkit_probes
from warm import WarmPython
from warm_run import forked_tfperf, warm_tfperf

import tfperfkit

TIMEOUT_S = 200
#: The folders of tfperfkit and its requirements, for an interpreter that is not the venv's own.
OURS = tuple(
    dict.fromkeys(
        [
            str(Path(tfperfkit.__file__).parents[1]),
            str(Path(tfperfkit_probes.__file__).parents[1]),
            *(path for path in sys.path if path.endswith("site-packages")),
        ]
    )
)
#: Bytecode of other kinds than a wheel brings. As ever, Python asks whether it is that of the source.
KEPT = Path(sys.prefix) / "bytecode"
#: AutoGraph's temporary files; addresses of objects; and the log lines of TensorFlow's C++ code, which carry times.
_RANDOM_NAME = re.compile(rb"generated_file\w+")
_ADDRESS = re.compile(rb"0x[0-9a-f]+|(?<=pid=)\d+")  # and the process number that newer Pythons' warning of forks has
_LOG_LINE = re.compile(
    rb"^(?:[IWEF]\d{4} \d\d:|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|WARNING: All log messages before absl).*\n", re.MULTILINE
)


@dataclasses.dataclass(frozen=True)
class Program:
    """A script, or several files of which one is run. ``{here}`` in ``flags``, ``command`` and ``environment`` is
    the folder that they are in; ``{ours}`` in ``environment`` is the path on which tfperfkit is found, ``{kept}`` a
    folder for bytecode that outlives the tests."""

    name: str
    source: str = ""
    arguments: tuple[str, ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    command: tuple[str, ...] = ("script.py",)
    flags: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    stdin: bytes = b""
    status: int = 0  # as plain Python gives it to its parent: negative for a signal
    shows: bytes = b""  # text that must be in stdout or stderr, so that a program that fails early is not taken as good
    stderr: Literal["whole", "logs", "traceback"] = "whole"  # "logs": without them; "traceback": the last one only
    header: str = ""  # what our header line must say
    options: tuple[str, ...] = ()  # ours
    report: str = ""  # what our report must say: for instance that a window was opened, or why it was not
    links: tuple[tuple[str, str], ...] = ()  # symbolic links: name, target
    user_site: bool = False  # run by the interpreter below the venv, which looks at PYTHONUSERBASE
    since: tuple[int, ...] = (3, 10)  # the Python that it needs
    needs_jax: bool = False  # in a folder of its own, which is {apart} in ``environment``
    inherited: int = 0  # descriptors that its parent left open
    own_import: bool = False  # how it imports TensorFlow matters, what it does before, or what that draws of `random`
    ignored: tuple[str, ...] = ()  # patterns of files whose contents have times in them; that they exist is compared

    def __str__(self) -> str:
        return self.name

    @property
    def may_be_warm(self) -> bool:
        """It may begin in a fork of an interpreter that has imported TensorFlow."""
        started = self.flags, self.environment, self.links, self.user_site, self.command
        alike = started == ((), (), (), False, ("script.py",)) and sys.platform == "linux"
        return alike and not self.own_import and "import tensorflow as tf\n" in self.source

    @property
    def may_have_a_forked_parent(self) -> bool:
        """tfperf may begin in a fork: nothing that it gives to the script is read from its own start."""
        started = self.flags, self.environment, self.user_site, self.inherited
        return started == ((), (), False, 0) and sys.platform == "linux"


@dataclasses.dataclass(frozen=True)
class Outcome:
    status: int
    stdout: bytes
    stderr: bytes
    files: dict[str, bytes]
    report: str = ""


def environment(runs: Path) -> dict[str, str]:
    """Return an environment without the developer's own settings."""
    ours = ("TFPERF_", "TESTS_", "PYTHON", "COV_")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    return {
        **kept,
        "TFPERF_RUNS": str(runs),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "-1",
        "TF_ENABLE_ONEDNN_OPTS": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "KERAS_HOME": str(runs / "keras"),
    }


@functools.cache
def warm_python() -> tuple[Path, WarmPython]:
    """One for all tests of this process, and the folder in which its scripts stand, plain and profiled."""
    folder = Path(tempfile.mkdtemp(prefix="transparency-")).resolve()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    here = _emptied(folder)
    return folder, WarmPython(here / "script.py", environment(folder / "runs"), as_script=True)


def plainly(program: Program, folder: Path, warm: WarmPython | None = None) -> Outcome:
    """Under plain Python."""
    return _run(program, folder, [], warm)


def _seen_by_python(program: Program) -> Program:
    """Without what a fork under plain Python does not meet: our options and our words, and what a parent left open."""
    return Program("", program.source, program.arguments, program.files, stdin=program.stdin, ignored=program.ignored)


@functools.cache
def _plainly_once(program: Program) -> Outcome:
    """In a fork, for all programs that differ in no more than what concerns us: the folder is the same."""
    return plainly(program, *warm_python())


def profiled(program: Program, folder: Path, probes: str, *, forked: bool = False) -> Outcome:
    """Under ``tfperf run``; the script's process is a fork, or one of its own."""
    report = folder / "report.txt"
    options = ["--probes", probes, "--output", str(report), *program.options]
    outcome = _run(program, folder, ["-m", "tfperfkit", "run", *options], forked=forked)
    return dataclasses.replace(outcome, report=report.read_text())


def _emptied(folder: Path) -> Path:
    here = folder / "work"
    shutil.rmtree(here, ignore_errors=True)
    here.mkdir(parents=True)
    return here


def _run(
    program: Program, folder: Path, ours: list[str], warm: WarmPython | None = None, forked: bool = False
) -> Outcome:
    here = _emptied(folder)
    for name, text in (("script.py", program.source), *program.files):
        if text:
            path = here / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for name, target in program.links:
        (here / name).symlink_to(target.replace("{here}", str(here)))
    if program.name.startswith("zip"):
        shutil.make_archive(str(here / "app"), "zip", here / "app")
    places = {
        "{here}": str(here),
        "{ours}": os.pathsep.join(OURS),
        "{apart}": str(jax_apart.FOLDER),
        "{kept}": str(KEPT),
    }
    added = {key: _filled(value, places) for key, value in program.environment}
    python = sys.executable
    if program.user_site:
        python = str(Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}")
        added["PYTHONPATH"] = os.pathsep.join([*OURS, *filter(None, [added.get("PYTHONPATH")])])
    words = [*program.flags, *ours, *program.command, *(["--"] if ours else []), *program.arguments]
    started, asked = [python], {**environment(folder / "runs"), **added}
    if forked:
        started, asked = warm_tfperf(asked, here / "script.py")
        words = words[2:]
    elif ours and program.may_have_a_forked_parent:
        started, asked = forked_tfperf(asked)
        words = words[2:]
    if warm is not None:
        kept = environment(folder / "runs")
        done = warm.run(program.arguments, environment=kept, input=program.stdin, timeout=TIMEOUT_S)
        return Outcome(done.returncode, done.stdout, done.stderr, _files(program, here))
    with contextlib.ExitStack() as left_open:
        inherited = [left_open.enter_context(open(os.devnull)).fileno() for _ in range(program.inherited)]
        done = subprocess.run(
            [*started, *(word.replace("{here}", str(here)) for word in words)],
            cwd=here,
            input=program.stdin,
            capture_output=True,
            env=asked,
            timeout=TIMEOUT_S,
            check=False,
            start_new_session=True,  # a program that signals its group must not hit the tests
            pass_fds=inherited,
        )
    return Outcome(done.returncode, done.stdout, done.stderr, _files(program, here))


def _files(program: Program, here: Path) -> dict[str, bytes]:
    if not here.is_dir():
        return {}
    return {
        str(path.relative_to(here)): b"" if any(path.match(item) for item in program.ignored) else path.read_bytes()
        for path in sorted(here.rglob("*"))
        if path.is_file() and path.suffix != ".zip"
    }


def _filled(text: str, places: dict[str, str]) -> str:
    for name, value in places.items():
        text = text.replace(name, value)
    return text


def without_logs(stderr: bytes) -> bytes:
    """Warnings, tracebacks and what the script itself wrote; not what TensorFlow's C++ code logged."""
    return _ADDRESS.sub(b"0x", _RANDOM_NAME.sub(b"generated_file", _LOG_LINE.sub(b"", stderr)))


def _without_random_names(outcome: Outcome) -> Outcome:
    stdout = _RANDOM_NAME.sub(b"generated_file", outcome.stdout)
    return dataclasses.replace(outcome, stdout=re.sub(rb" at 0x[0-9a-f]+", b" at 0x", stdout))


def last_traceback(stderr: bytes) -> bytes:
    """From the last "Traceback" on."""
    position = stderr.rfind(b"Traceback (most recent call last)")
    return _ADDRESS.sub(b"", stderr[position:]) if position >= 0 else b""


_COMPARED: dict[str, Callable[[bytes], bytes]] = {
    "whole": lambda stderr: stderr,
    "logs": without_logs,
    "traceback": last_traceback,
}


def assert_same(
    program: Program, folder: Path, probes: str = "all", *, imports: bool = False
) -> tuple[Outcome, Outcome]:
    """Run both ways and compare; returns both outcomes for what else a test wants to see. ``imports``: under us the
    program has a process of its own, which imports TensorFlow with all that we hang on that, be it warm or not."""
    if sys.version_info < program.since:
        pytest.skip(f"needs Python {'.'.join(map(str, program.since))}")
    if program.needs_jax:
        jax_apart.install_jax()
    warm = None
    if program.may_be_warm:
        folder, warm = warm_python()
    plain = _plainly_once(_seen_by_python(program)) if warm is not None else plainly(program, folder)
    assert plain.status == program.status, f"the program itself: {plain.status}\n{plain.stderr.decode()}"
    assert program.shows in plain.stdout + plain.stderr, (plain.stdout, plain.stderr)
    ours = profiled(program, folder, probes, forked=warm is not None and not imports and not program.inherited)
    ours, plain = _without_random_names(ours), _without_random_names(plain)
    assert ours.stdout.decode(errors="replace") == plain.stdout.decode(errors="replace")
    assert ours.stdout == plain.stdout
    assert ours.status == (128 - plain.status if plain.status < 0 else plain.status)
    compared = _COMPARED[program.stderr]
    assert compared(ours.stderr).decode(errors="replace") == compared(plain.stderr).decode(errors="replace")
    assert b"tfperfkit" not in ours.stderr
    assert sorted(ours.files) == sorted(plain.files)
    assert ours.files == plain.files
    assert ours.report.startswith("tfperf "), ours.report
    assert program.header in ours.report.partition("\n")[0]
    assert program.report in ours.report
    return plain, ours
