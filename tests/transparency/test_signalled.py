"""Signals that a script handles, and those that end it."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Program, assert_same

PROGRAMS = [
    Program(
        "terminated",
        """
import os, time
os.kill(os.getpid(), 15)
time.sleep(9)
""",
        status=-15,
    ),
    Program(
        "keyboard interrupt",
        """
import os, signal
def f():
    os.kill(os.getpid(), signal.SIGINT)
f()
""",
        status=-2,
        shows=b"KeyboardInterrupt",
    ),
    Program(
        "handles signals",
        """
import os, signal, sys
got = []
for n in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP, signal.SIGRTMIN):
    signal.signal(n, lambda n, f: got.append((int(n), f.f_code.co_filename.rpartition('/')[2])))
    os.kill(os.getpid(), n)
print(got)
""",
        shows=b"script.py",
    ),
    Program(
        "signals its group",
        """
import os, signal, time
got = []
signal.signal(signal.SIGTERM, lambda n, f: got.append(n))
os.killpg(os.getpgrp(), signal.SIGTERM)
time.sleep(0.3)
print(len(got))
""",
        shows=b"1",
    ),
    Program(
        "keyboard interrupt caught",
        """
import os, signal, sys
try:
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(10 ** 6): pass
except KeyboardInterrupt as e:
    print('caught', repr(e), e.__traceback__.tb_next)
sys.exit(130)
""",
        status=130,
        shows=b"caught KeyboardInterrupt() None",
    ),
    Program(
        "keyboard interrupt in a sleep, a thread and an import",
        """
import _thread, signal, sys, threading, time
def waits():
    frame = sys._current_frames()[threading.main_thread().ident]
    while frame and frame.f_code.co_name != '<lambda>': frame = frame.f_back
    return frame
def interrupt():
    while not waits(): time.sleep(.01)
    time.sleep(.1); signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
for wait in (lambda: time.sleep(9), lambda: threading.Event().wait(9), lambda: __import__('slow')):
    threading.Thread(target=interrupt).start()
    try: wait()
    except KeyboardInterrupt as e:
        print('interrupted')
_thread.interrupt_main()
time.sleep(1)
""",
        files=(("slow.py", "import time; time.sleep(9)"),),
        status=-2,
        shows=b"interrupted\ninterrupted\ninterrupted",
    ),
    Program(
        "keyboard interrupt made an exit",
        """
import os, signal, sys
def handler(n, frame):
    raise SystemExit(f'stopped by {signal.Signals(n).name} in {frame.f_code.co_name}')
for n in (signal.SIGINT, signal.SIGTERM): signal.signal(n, handler)
def train():
    os.kill(os.getpid(), signal.SIGTERM)
train()
""",
        status=1,
        shows=b"stopped by SIGTERM in train",
    ),
    Program(
        "timers, wakeup and masks",
        """
import os, select, signal, time
signal.signal(signal.SIGALRM, lambda *_: got.append('alarm'))
got = []
r, w = os.pipe(); os.set_blocking(w, False); print(signal.set_wakeup_fd(w))
signal.setitimer(signal.ITIMER_REAL, .05)
while not got: time.sleep(.01)
print(got, select.select([r], [], [], 1)[0] == [r], os.read(r, 9))
signal.set_wakeup_fd(-1)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
os.kill(os.getpid(), signal.SIGUSR1)
print(signal.sigpending(), signal.sigwait([signal.SIGUSR1]))
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
r, w = os.pipe(); os.close(r); print('last', flush=True); os.write(w, b'x')
""",
        status=-13,
        shows=b"alarm",
    ),
    Program(
        "ignored and restored",
        """
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN); os.kill(os.getpid(), signal.SIGTERM)
signal.signal(signal.SIGTERM, signal.SIG_DFL); print('still here', flush=True)
os.kill(os.getpid(), signal.SIGUSR1)
""",
        status=-10,
        shows=b"still here",
    ),
    Program(
        "ends itself by the signal that it handled",
        """
import os, signal
def clean(n, f):
    print('cleaned', flush=True)
    signal.signal(n, signal.SIG_DFL); os.kill(os.getpid(), n)
signal.signal(signal.SIGTERM, clean)
os.kill(os.getpid(), signal.SIGTERM)
""",
        status=-15,
        shows=b"cleaned",
    ),
    Program(
        "a child interrupts its parent",
        """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGUSR1, lambda n, f: print('from the child', n))
code = f'import os; os.kill({os.getpid()}, {int(signal.SIGUSR1)})'
print(subprocess.run([sys.executable, '-c', code]).returncode)
child = subprocess.Popen([sys.executable, '-c', 'import time; print(1, flush=True); time.sleep(99)'], stdout=-1)
child.stdout.readline(); child.terminate(); print(child.wait())
child = subprocess.Popen([sys.executable, '-c', 'import time; print(1, flush=True); time.sleep(99)'], stdout=-1,
                         stderr=-1)
child.stdout.readline(); child.send_signal(signal.SIGINT)
print(child.wait(), child.stderr.read().splitlines()[-1])
""",
        shows=b"from the child 10\n0\n-15\n",
    ),
    Program(
        "faulthandler",
        """
import faulthandler, signal, sys, threading, time
faulthandler.enable(); print(faulthandler.is_enabled())
faulthandler.register(signal.SIGUSR1, all_threads=True, chain=False)
def work(): signal.raise_signal(signal.SIGUSR1)
work()
faulthandler.dump_traceback_later(.1); time.sleep(.3); faulthandler.cancel_dump_traceback_later()
sys.stderr.flush()
def crash(): faulthandler._sigsegv()
crash()
""",
        status=-11,
        stderr="logs",  # thread numbers are addresses
        shows=b"Fatal Python error: Segmentation fault",
    ),
    Program(
        "aborts with a dump",
        "import os; os.abort()",
        flags=("-X", "faulthandler"),
        status=-6,
        stderr="logs",
        shows=b"Fatal Python error: Aborted",
    ),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_same_as_plain_python(program: Program, tmp_path: Path) -> None:
    assert_same(program, tmp_path)
