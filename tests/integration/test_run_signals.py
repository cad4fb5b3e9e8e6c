"""A signal reaches the script exactly once, whoever sends it to whom; what kills it gives 128 + its number."""

from __future__ import annotations

import functools
import json
import os
import pty
import re
import signal
import subprocess
import time
from typing import IO

import pytest
from tfperf_runner import Tfperf

COUNTS = """
import os, signal, sys, time
class Told(list):
    def append(self, name):
        super().append(name); os.write(1, f"got {name}\\n".encode())  # print is not to be entered twice
got = Told()
for name in ("SIGINT", "SIGTERM", "SIGUSR1", "SIGHUP", "SIGQUIT", "SIGUSR2"):
    if signal.getsignal(getattr(signal, name)) != signal.SIG_IGN:
        signal.signal(getattr(signal, name), lambda n, f: got.append(signal.Signals(n).name))
print("ready", os.getpid(), flush=True)
until = time.monotonic() + 200
while time.monotonic() < until and "SIGUSR2" not in got:
    time.sleep(0.01)
print(got, flush=True)
"""


def _ready(stream: IO[str] | None) -> int:
    assert stream is not None
    word, _, number = stream.readline().partition(" ")
    assert word == "ready"
    return int(number)


def _settle() -> None:
    time.sleep(0.2)  # a second delivery, if there is one, has come by then


def _got(process: subprocess.Popen[str], name: str) -> None:
    """Waits for the script's word of a signal: two of a kind that are pending at once are one, and of two kinds the
    lower one's handler runs first."""
    assert process.stdout is not None
    assert process.stdout.readline() == f"got {name}\n"
    _settle()


@pytest.mark.parametrize("whom", ["us", "group", "script"])
def test_each_reaches_the_script_once(tfperf: Tfperf, whom: str) -> None:
    tfperf.script(COUNTS)
    process = tfperf.start("run", "--probes", "none", "train.py")
    script = _ready(process.stdout)
    send = {"us": os.kill, "group": os.killpg, "script": os.kill}[whom]
    target = script if whom == "script" else process.pid
    expected = []
    for name in ("SIGINT", "SIGTERM", "SIGUSR1", "SIGHUP", "SIGQUIT"):
        for _ in range(2):  # the second one must not be taken for the first
            send(target, getattr(signal, name))
            _got(process, name)
            expected.append(name)
    os.kill(process.pid, signal.SIGUSR2)
    out, err = process.communicate(timeout=200)
    assert out == f"got SIGUSR2\n{[*expected, 'SIGUSR2']}\n"
    assert process.returncode == 0
    assert "Traceback" not in err


def test_killed_by_what_it_was_sent(tfperf: Tfperf) -> None:
    tfperf.script("import os, time\nprint('ready', os.getpid(), flush=True)\ntime.sleep(60)\n")
    process = tfperf.start("run", "--probes", "none", "train.py")
    _ready(process.stdout)
    process.terminate()
    _, err = process.communicate(timeout=200)
    assert process.returncode == 128 + signal.SIGTERM
    assert "killed" in err  # and the report came


def test_ignored_signals_stay_ignored(tfperf: Tfperf) -> None:
    """As under nohup."""
    tfperf.script(COUNTS)
    process = tfperf.start(
        "run", "--probes", "none", "train.py", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
    )
    _ready(process.stdout)
    os.killpg(process.pid, signal.SIGHUP)
    _settle()
    os.kill(process.pid, signal.SIGUSR2)
    assert process.communicate(timeout=200)[0] == "got SIGUSR2\n['SIGUSR2']\n"


def test_exit_status_survives_a_caller_that_ignores_its_children(tfperf: Tfperf) -> None:
    tfperf.script("import signal\nprint(signal.getsignal(signal.SIGCHLD).name)\nraise SystemExit(3)\n")
    done = tfperf(
        "run", "--probes", "none", "train.py", preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    )
    assert (done.returncode, done.stdout) == (3, "SIG_IGN\n")


def test_the_script_outlives_us(tfperf: Tfperf) -> None:
    """SIGKILL can't be passed on, and a training of days must not end with its profiler. The report comes later."""
    tfperf.script(
        "import os, time\nimport tensorflow as tf\nprint('ready', os.getpid(), flush=True)\n"
        "while not os.path.exists('go'): time.sleep(.05)\nprint('alive')\nraise SystemExit(3)\n"
    )
    process = tfperf.start("run", "--probes", "none", "--run-dir", "r", "train.py", warm=True)
    script = _ready(process.stdout)
    process.kill()
    process.wait()
    while not (tfperf.folder / "r" / "agent.json").exists():
        time.sleep(0.05)
    running = tfperf("report", "r")
    assert f"The script still runs (process {script})" in " ".join(running.stdout.split())
    (tfperf.folder / "go").touch()
    out, _ = process.communicate(timeout=100)  # the pipe closes when the script has ended
    assert out == "alive\n"
    again = tfperf("report", "r")
    assert (again.returncode, again.stderr) == (0, "")
    assert "tfperf itself was killed while the script ran" in " ".join(again.stdout.split())
    assert [path.name for path in (tfperf.folder / "r").iterdir() if path.name.startswith(".")] == []


def _on_terminal(tfperf: Tfperf, keys: bytes, *arguments: str) -> tuple[int, str]:
    """Run in the foreground of a terminal of its own, type ``keys`` when the script is ready, each when it has told of
    the one before. End a script that counts, by a signal."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(tfperf.folder)
        os.execve(tfperf.python, [tfperf.python, "-m", "tfperfkit", *arguments], tfperf.environment)
    counts = b"got = " in (tfperf.folder / "train.py").read_bytes()
    seen, typed = b"", 0
    while True:
        try:
            data = os.read(terminal, 4096)
        except OSError:  # the last process of the terminal has ended
            break
        if not data:
            break
        seen += data
        if b"ready" in seen and typed <= len(keys) and seen.count(b"got SIG") >= typed * counts:
            _settle()
            if typed < len(keys):
                os.write(terminal, keys[typed : typed + 1])
            elif counts:
                os.kill(pid, signal.SIGUSR2)
            typed += 1
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(terminal)
    return status, seen.decode(errors="replace").replace("\r\n", "\n")


def test_ctrl_c_and_ctrl_backslash_of_a_terminal(tfperf: Tfperf) -> None:
    tfperf.script(COUNTS)
    status, seen = _on_terminal(tfperf, b"\x03\x1c\x03", "run", "--probes", "none", "--output", "o.txt", "train.py")
    assert "['SIGINT', 'SIGQUIT', 'SIGINT', 'SIGUSR2']" in seen
    assert status == 0
    assert "interrupted" in (tfperf.folder / "o.txt").read_text()


def test_ctrl_c_that_the_script_does_not_handle(tfperf: Tfperf) -> None:
    tfperf.script("import time\ndef train():\n    print('ready', flush=True)\n    time.sleep(200)\ntrain()\n")
    status, seen = _on_terminal(tfperf, b"\x03", "run", "--probes", "none", "--json", "o.json", "train.py")
    assert status == 128 + signal.SIGINT
    seen = re.sub(r"\x1b\[[0-9;]*m", "", seen)  # Python 3.13 colours tracebacks on a terminal
    assert seen.count("Traceback") == 1
    assert ", in train\n" in seen and "KeyboardInterrupt" in seen
    assert "tfperfkit/" not in seen
    assert '"interrupted"' in (tfperf.folder / "o.json").read_text()


def test_a_pipe_that_closes_early(tfperf: Tfperf) -> None:
    """``tfperf run train.py | head -1``: the script gets its BrokenPipeError, the report comes all the same."""
    tfperf.script("import os\nprint('ready', os.getpid(), flush=True)\nfor n in range(200_000):\n    print(n)\n")
    process = tfperf.start("run", "--probes", "none", "train.py")
    _ready(process.stdout)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    status = process.wait(200)
    assert status in (1, 120)  # 120 where Python's last flush fails too
    assert err.count("BrokenPipeError") >= 1
    assert f"script failed (exit code {status})" in err  # the report


def test_a_reader_of_the_report_that_has_gone(tfperf: Tfperf) -> None:
    """``tfperf run train.py 2>&1 | head -1`` while the script itself prints little: its status stays."""
    tfperf.script("import os, sys\nprint('ready', os.getpid(), flush=True)\nsys.stdin.read()\nraise SystemExit(3)\n")
    process = tfperf.start("run", "--probes", "none", "--json", "o.json", "train.py", stdin=subprocess.PIPE)
    _ready(process.stdout)
    assert process.stderr is not None and process.stdin is not None and process.stdout is not None
    assert process.stderr.readline().startswith("tfperf ")
    process.stderr.close()
    process.stdin.close()
    process.stdout.close()
    assert process.wait(200) == 3
    assert json.loads((tfperf.folder / "o.json").read_bytes())["run"]["exit_code"] == 3


def test_no_stderr(tfperf: Tfperf) -> None:
    tfperf.script("import sys\nprint('out', sys.stderr)\n")
    done = subprocess.run(
        ["sh", "-c", '"$0" -m tfperfkit run --probes none --json o.json train.py 2>&-', tfperf.python],
        cwd=tfperf.folder,
        env=tfperf.environment,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert (done.returncode, done.stdout) == (0, "out None\n")
    assert '"finished"' in (tfperf.folder / "o.json").read_text()


def test_stopped_for_a_while(tfperf: Tfperf) -> None:
    """Ctrl-Z and fg: both processes are stopped, and go on as if nothing had been."""
    tfperf.script("import os, time\nprint('ready', os.getpid(), flush=True)\ntime.sleep(6)\nraise SystemExit(3)\n")
    process = tfperf.start("run", "--probes", "none", "train.py")
    _ready(process.stdout)
    for _ in range(3):
        os.killpg(process.pid, signal.SIGSTOP)
        time.sleep(1.3)
        os.killpg(process.pid, signal.SIGCONT)
        _settle()
    _, err = process.communicate(timeout=200)
    assert process.returncode == 3
    assert "Invalid argument" not in err and "exit code 3" in err


def test_a_timer_that_was_set_before_us(tfperf: Tfperf) -> None:
    """As by ``perl -e 'alarm 60; exec @ARGV' tfperf run train.py``: it would have ended the script."""
    tfperf.script("import time\nopen('begun', 'w').close()\ntime.sleep(200)\n")
    for seconds in (2, 10, 50):  # on a loaded machine it may come before there is a script
        done = tfperf("run", "--probes", "none", "train.py", preexec_fn=functools.partial(signal.alarm, seconds))
        if (tfperf.folder / "begun").exists():
            break
    assert done.returncode == 128 + signal.SIGALRM


def test_sent_to_the_group_first_and_then_to_us(tfperf: Tfperf) -> None:
    """Count a signal that the group has had once: ours is not the group's again."""
    tfperf.script(COUNTS.replace("until = ", "os.killpg(0, signal.SIGUSR1)\nuntil = "))
    process = tfperf.start("run", "--probes", "none", "train.py")
    _ready(process.stdout)
    _got(process, "SIGUSR1")
    os.kill(process.pid, signal.SIGUSR1)
    _got(process, "SIGUSR1")
    os.killpg(process.pid, signal.SIGTERM)
    _got(process, "SIGTERM")
    os.kill(process.pid, signal.SIGTERM)
    _got(process, "SIGTERM")
    os.kill(process.pid, signal.SIGUSR2)
    out = process.communicate(timeout=200)[0]
    assert out == "got SIGUSR2\n['SIGUSR1', 'SIGUSR1', 'SIGTERM', 'SIGTERM', 'SIGUSR2']\n"


def test_one_after_another(tfperf: Tfperf) -> None:
    """Pass each signal on to a program that gets its progress by signals."""
    tfperf.script(COUNTS)
    process = tfperf.start("run", "--probes", "none", "train.py")
    _ready(process.stdout)
    assert process.stdout is not None
    for _ in range(10):
        os.kill(process.pid, signal.SIGUSR1)
        assert process.stdout.readline() == "got SIGUSR1\n"
    os.kill(process.pid, signal.SIGUSR2)
    assert process.communicate(timeout=200)[0].endswith(f"{['SIGUSR1'] * 10 + ['SIGUSR2']}\n")


EXITS_IN_A_WINDOW = """
import pathlib, signal, sys
import tensorflow as tf
def save(number, frame):
    print("saved"); sys.exit(21)
signal.signal(signal.SIGTERM, save)
mkdir = pathlib.Path.mkdir
def slow(path, *arguments, **options):  # a window takes long to open, and SIGTERM comes meanwhile
    if "tfprof" in str(path): signal.raise_signal(signal.SIGTERM)
    return mkdir(path, *arguments, **options)
pathlib.Path.mkdir = slow
v = tf.Variable([1., 2.])
@tf.function
def step():
    with tf.GradientTape() as tape: loss = tf.reduce_sum(v * v)
    v.assign_sub(.001 * tape.gradient(loss, v))
for n in range(3000): step()
print("trained on")
"""


def test_a_handler_that_exits_while_a_window_opens(tfperf: Tfperf) -> None:
    tfperf.warm = True
    tfperf.script(EXITS_IN_A_WINDOW)
    done = tfperf("run", "--probes", "tfprof", "--window", "tfprof=5:6", "train.py")
    assert (done.returncode, done.stdout) == (21, "saved\n"), done.stderr
    assert "Traceback" not in done.stderr
