"""One run of the GAN with all probes, and what strikes it: from inside (see ``wrapped_gan``) or from outside, here."""

from __future__ import annotations

import dataclasses
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from warm_run import warm_tfperf

HERE = Path(__file__).parent
STEPS = 160
#: The windows of all probes are over by then.
_LAST_STEP = 140
#: Small, as the time of a run is nearly all its steps': what strikes does not ask how long they compute.
BATCH_SIZE = 4
#: A script that dies late waits so long in each step, so that some are far enough before its death to have been kept.
LATE, PAUSE_S = 60, 0.02
#: Part of the cases that strike before the first step: while TensorFlow is imported, and while graphs are traced.
_EARLY = 0.2
TIMEOUT_S = 280


@dataclasses.dataclass(frozen=True)
class Fate:
    """The events that a script goes through. ``status`` of ``tfperf run``, None where it is the operating system's to
    choose.

    ``ends``: the script's process dies of it at that moment. ``sees``: who watches must be able to give a report at
    once (not when tfperf itself was killed).
    """

    name: str
    status: int | None
    ends: bool = True
    sees: bool = True

    @property
    def needs_own_process(self) -> bool:
        """Tell whether it changes the start of a process, or stops a whole group of processes."""
        return self.name in ("clock", "suspended")


FATES = (
    Fate("SIGKILL", 128 + signal.SIGKILL),
    Fate("SIGTERM", 128 + signal.SIGTERM),
    Fate("SIGINT", 128 + signal.SIGINT),
    Fate("SIGSEGV", 128 + signal.SIGSEGV),
    Fate("segfault", 128 + signal.SIGSEGV),
    Fate("os._exit", 7),
    Fate("MemoryError", 1),
    Fate("memory limit", None),
    Fate("full disk", 0, ends=False),
    Fate("no folder", 0, ends=False),
    Fate("read-only folder", 0, ends=False),
    Fate("tfperf killed", -signal.SIGKILL, ends=False, sees=False),
    Fate("both killed", -signal.SIGKILL, sees=False),
    Fate("clock", 0, ends=False),
    Fate("suspended", 0, ends=False),
)


@dataclasses.dataclass(frozen=True)
class Case:
    number: int
    fate: Fate
    step: int
    delay_s: float

    def __str__(self) -> str:
        return f"{self.number} {self.fate.name} at step {self.step}"


def case(number: int) -> Case:
    """The ``number``-th case: the fates in turn, at a moment that the number alone decides."""
    dice = random.Random(number)
    if dice.random() < _EARLY:
        # A quick machine is through in less than five seconds.
        return Case(number, FATES[number % len(FATES)], 0, dice.uniform(0, 3))
    return Case(number, FATES[number % len(FATES)], dice.randint(1, _LAST_STEP), dice.uniform(0, 0.05))


class Struck:
    """A run that has been struck and has ended. ``seen``: when each of the script's own lines of a step came."""

    def __init__(self, item: Case, folder: Path) -> None:
        self.case = item
        self.folder = folder
        self.run = folder / "disk" / "r" if item.fate.name == "full disk" else folder / "r"
        self.temporary = folder / "tmp"
        self._pid = folder / "pid"
        self.seen: list[float] = []
        self.struck_at = 0.0
        self.output = b""
        self.error = b""
        self.status = 0
        self.leftover: list[str] = []
        self._reached = threading.Event()
        self._mounted = False

    def go(self) -> Struck:
        """Run it. Raises subprocess.TimeoutExpired when it never ends, with all its processes killed."""
        self.temporary.mkdir(parents=True)
        for item in ("out", "cache"):
            (self.folder / item).mkdir()
        if self.case.fate.name == "full disk":
            self._mount()
        environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith(("TFPERF_", "PYTHON"))},
            "TFPERF_RUNS": str(self.folder / "runs"),
            "TMPDIR": str(self.temporary),
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "CUDA_VISIBLE_DEVICES": "-1",
            "COLUMNS": "100",
            **self._clock(),
        }
        tfperf = [sys.executable, "-m", "tfperfkit"]
        if self.case.step and not self.case.fate.needs_own_process:  # it may be a fork, struck long after its start
            tfperf, environment = warm_tfperf(environment, own=True)
        command = [
            *tfperf,
            "run",
            "--probes",
            "all",
            "--run-dir",
            str(self.run),
            str(HERE / "wrapped_gan.py"),
            self.case.fate.name,
            str(self.case.step),
            str(self.case.delay_s),
            str(PAUSE_S if self.case.fate.ends and self.case.step > LATE else 0),
            "--",
            "--stage",
            "graph",
            "--steps",
            str(STEPS),
            "--batch-size",
            str(BATCH_SIZE),
            "--digits",
            "2000",
            "--cache",
            str(self.folder / "cache"),
            "--out",
            str(self.folder / "out"),
        ]
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            self._follow(process)
        finally:
            self.leftover = self._processes({process.pid, self._told_pid() or process.pid})
            for name in self.leftover:
                os.kill(int(name.partition(" ")[0]), signal.SIGKILL)
            process.kill()
        return self

    def close(self) -> None:
        """Leave the machine as it was."""
        if self.case.fate.name == "read-only folder":
            self._unseal()
        if self._mounted:
            subprocess.run(["umount", "-l", self.folder / "disk"], check=True)

    def steps_before(self, seconds: float) -> int:
        """How many steps the script had told of so long before it was struck, or in all if it lived on."""
        limit = self.struck_at - seconds if self.case.fate.ends else float("inf")
        return sum(moment <= limit for moment in self.seen)

    # --- while it runs --------------------------------------------------------------------------------------------

    def _follow(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None and process.stderr is not None
        readers = [
            threading.Thread(target=self._read_steps, args=(process.stdout,)),
            threading.Thread(target=self._read_errors, args=(process.stderr,)),
        ]
        for reader in readers:
            reader.start()
        if self.case.step:
            self._reached.wait(TIMEOUT_S)
        time.sleep(self.case.delay_s)
        self.struck_at = time.monotonic()
        strike = self._outside().get(self.case.fate.name)
        if strike is not None and process.poll() is None:
            strike(process.pid)
        for reader in readers:  # they end with the script, which may outlive tfperf
            reader.join(TIMEOUT_S)
        self.status = process.wait(TIMEOUT_S)

    def _read_steps(self, stream: object) -> None:
        for line in stream:  # type: ignore[attr-defined]
            self.output += line
            if line.startswith(b"step "):
                self.seen.append(time.monotonic())
            if line.startswith(b"step %4d " % self.case.step):
                self._reached.set()
        self._reached.set()

    def _read_errors(self, stream: object) -> None:
        self.error = stream.read()  # type: ignore[attr-defined]

    # --- what strikes from outside --------------------------------------------------------------------------------

    def _outside(self) -> dict[str, Callable[[int], None]]:
        return {
            "SIGKILL": lambda pid: self._signal_script(pid, signal.SIGKILL),
            "SIGSEGV": lambda pid: self._signal_script(pid, signal.SIGSEGV),
            "SIGTERM": lambda pid: os.kill(pid, signal.SIGTERM),  # passed on
            "SIGINT": lambda pid: os.killpg(pid, signal.SIGINT),  # as the terminal does
            "full disk": lambda _: self._fill(),
            "no folder": lambda _: shutil.rmtree(self.run),
            "read-only folder": lambda _: self._seal(),
            "tfperf killed": lambda pid: os.kill(pid, signal.SIGKILL),
            "both killed": self._kill_both,
            "clock": lambda _: (self.folder / "clock").write_text("+400d"),
            "suspended": self._suspend,
        }

    def _signal_script(self, tfperf: int, number: int) -> None:
        script = self._script(tfperf)
        if script:
            os.kill(script, number)

    def _script(self, tfperf: int) -> int:
        """The process that runs the wrapped GAN. Before its first line: a child of tfperf; there is the witness too,
        which is a fork of tfperf itself."""
        if told := self._told_pid():
            return told
        for _ in range(4000):
            children = Path(f"/proc/{tfperf}/task/{tfperf}/children").read_text().split()
            for child in children:
                words = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
                if b"tfperfkit" not in words:
                    return int(child)
            time.sleep(0.05)  # it has not been started yet
        raise AssertionError("the script was never started")

    def _told_pid(self) -> int:
        """The script's, which has a session of its own where it is a fork; 0 before its first line."""
        try:
            return int(self._pid.read_text() or 0)
        except FileNotFoundError:
            return 0

    def _kill_both(self, tfperf: int) -> None:
        script = self._script(tfperf)
        os.kill(tfperf, signal.SIGKILL)
        os.kill(script, signal.SIGKILL)

    def _suspend(self, tfperf: int) -> None:
        os.killpg(tfperf, signal.SIGSTOP)
        time.sleep(3)
        os.killpg(tfperf, signal.SIGCONT)

    def _mount(self) -> None:
        disk = self.folder / "disk"
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", disk], check=True, capture_output=True)
        self._mounted = True

    def _fill(self) -> None:
        with (self.folder / "disk" / "filling").open("wb", buffering=0) as file:
            for size in (1 << 20, 1 << 12):
                try:
                    while True:
                        file.write(b"x" * size)
                except OSError:
                    continue

    def _seal(self) -> None:
        """No new file can be made in it; for root that takes more than its mode."""
        for folder, _, _ in os.walk(self.run):
            if os.getuid():
                os.chmod(folder, 0o555)
            else:
                subprocess.run(["chattr", "+i", folder], check=True, capture_output=True)

    def _unseal(self) -> None:
        for folder, _, _ in os.walk(self.run):
            if os.getuid():
                os.chmod(folder, 0o755)
            else:
                subprocess.run(["chattr", "-i", folder], check=True, capture_output=True)

    def _clock(self) -> dict[str, str]:
        if self.case.fate.name != "clock":
            return {}
        (self.folder / "clock").write_text("+0")
        return {
            "LD_PRELOAD": faketime() or "",
            "FAKETIME_TIMESTAMP_FILE": str(self.folder / "clock"),
            "FAKETIME_NO_CACHE": "1",
            "DONT_FAKE_MONOTONIC": "1",
        }

    def _processes(self, sessions: set[int]) -> list[str]:
        """Return the processes left in the sessions of the run and of its script, ten seconds after its end."""
        left: list[str] = []
        for _ in range(200):
            left = []
            for entry in Path("/proc").iterdir():
                if entry.name.isdigit():
                    try:
                        words = (entry / "stat").read_text().rpartition(")")[2].split()
                        if int(words[3]) in sessions and words[0] != "Z":
                            left.append(f"{entry.name} {(entry / 'cmdline').read_bytes()!r}")
                    except OSError:
                        continue
            if not left:
                break
            time.sleep(0.05)
        return left


def faketime() -> str | None:
    """The library that changes a process's clock, if this system has it."""
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    return str(found[0]) if found else None
