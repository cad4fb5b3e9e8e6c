"""The programs with children, where the children are recorded too: ``tfperf run --children``."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from harness import Program, assert_same
from test_concurrent import PROGRAMS
from test_training_children import FORKS, WINDOWS
from training import STEPS

#: The view of a child of itself, and of those that it starts in turn.
SEEN = """
import multiprocessing, os, resource, signal, subprocess, sys, threading
LOOK = '''
import os, signal, sys, threading
def look():
    environ = {key: value for key, value in os.environ.items() if key != '_'}
    return (environ, sys.path, sys.argv[1:], sys.flags, len(sys.modules), sorted(sys.modules), sys.meta_path[-3:],
        [t.name for t in threading.enumerate()], [repr(signal.getsignal(n)) for n in (2, 10, 15)], sys.orig_argv[1:],
        sorted(n for n in os.listdir('/proc/self/fd') if int(n) < 900), signal.pthread_sigmask(signal.SIG_BLOCK, ()))
'''
exec(LOOK)
def child(*_):
    print(look(), multiprocessing.current_process().name, multiprocessing.parent_process().name, flush=True)
def nested():
    for method in ('fork', 'spawn', 'forkserver'):
        p = multiprocessing.get_context(method).Process(target=child)
        p.start(); p.join(); print(p.exitcode, flush=True)
class Own(multiprocessing.Process):
    def run(self): child()
if __name__ == '__main__':
    nested()
    p = multiprocessing.get_context('fork').Process(target=nested); p.start(); p.join()
    p = multiprocessing.get_context('spawn').Process(target=nested); p.start(); p.join()
    p = Own(); p.start(); p.join()
    with open('look.py', 'w') as file: file.write(LOOK + 'print(look())')
    for more in ({}, {'env': {**os.environ, 'PYTHONPATH': '/a:/b', 'X': 'é'}}, {'env': {}}, {'close_fds': False}):
        done = subprocess.run([sys.executable, 'look.py', '1'], stdout=subprocess.PIPE, **more)
        print(done.returncode, done.stdout)
    print(subprocess.run([sys.executable, '-m', 'look'], preexec_fn=lambda: os.umask(0o77), capture_output=True))
    print(subprocess.run(['env'], capture_output=True).stdout, subprocess.run('env', shell=True).returncode)
    print(subprocess.run([sys.executable, '-I', '-c', 'import sys; print(sys.flags)'], capture_output=True).stdout)
    try: subprocess.run(['python-that-is-not-there'])
    except FileNotFoundError as e: print(e)
    os.system(f'"{sys.executable}" look.py 2')
"""

#: Signals that a child waits for, limits that it sets, and descriptors that it closes.
CLOSED = """
import multiprocessing, os, resource, signal, sys, time
def waits(ready):
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1]); ready.set()
    print(signal.sigwait([signal.SIGUSR1]), flush=True)
def few():
    resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
    files = []
    try:
        while True: files.append(os.open('/dev/null', os.O_RDONLY))
    except OSError as e: print(e, flush=True)
    for n in files: os.close(n)
def closes():
    os.closerange(3, 1024); print([os.open('/dev/null', os.O_RDONLY) for _ in range(3)], flush=True)
    time.sleep(.3); os.write(os.open('own', os.O_CREAT | os.O_WRONLY), b'own'); time.sleep(.3)
def full():
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    time.sleep(.3)
    try: open('large', 'wb', 0).write(b'x' * 50); print(open('large', 'ab', 0).write(b'x' * 100), flush=True)
    except OSError as e: print(e, flush=True)
if __name__ == '__main__':
    context = multiprocessing.get_context('fork')
    ready = context.Event()
    p = context.Process(target=waits, args=(ready,)); p.start(); ready.wait(); time.sleep(.1)
    os.kill(p.pid, signal.SIGUSR1); p.join(); print(p.exitcode)
    for target in (few, closes, full):
        p = context.Process(target=target); p.start(); p.join(); print(p.exitcode, flush=True)
"""

WITH_CHILDREN = [
    *(
        dataclasses.replace(program, options=("--children",))
        for program in PROGRAMS
        if program.name != "other Python programs"  # they list what is loaded after "import tensorflow"
    ),
    Program("what children see", SEEN, options=("--children",), shows=b"HOME"),
    Program("children with few and closed descriptors", CLOSED, options=("--children",), shows=b"Too many open files"),
]


@pytest.mark.parametrize("program", WITH_CHILDREN, ids=str)
def test_same_as_plain_python(program: Program, tmp_path: Path) -> None:
    assert_same(program, tmp_path)


def test_forks_in_training(tmp_path: Path) -> None:
    program = Program(
        "forks",
        FORKS,
        options=(*WINDOWS, "--children"),
        shows=b"KeyError: 'child 31'",
        stderr="logs",
    )
    assert_same(program, tmp_path)


TRAIN = (
    STEPS
    + """
train(40)
print(hexed(losses), fingerprint(), sys.argv[1:], flush=True)
if sys.argv[1] == 'hard': os._exit(5)
if sys.argv[1] == 'killed': os.kill(os.getpid(), 9)
raise KeyError(sys.argv[1])
"""
)

STARTS_TRAINING = """
import os, subprocess, sys
for how in sys.argv[1:]:
    done = subprocess.run([sys.executable, 'train.py', how], capture_output=True)
    print(done.returncode, done.stdout, done.stderr[done.stderr.rfind(b'Traceback'):], flush=True)
"""


@pytest.mark.parametrize(
    "endings", [("raised",), pytest.param(("hard", "killed", "raised"), marks=pytest.mark.long)], ids=len
)
def test_children_that_train(endings: tuple[str, ...], tmp_path: Path) -> None:
    program = Program(
        "trains in children",
        STARTS_TRAINING,
        arguments=endings,
        files=(("train.py", TRAIN),),
        options=("--children",),
        shows=b"KeyError",
    )
    _, ours = assert_same(program, tmp_path)
    assert "Those that train" in ours.report and ours.report.count("tfperf report") == len(endings)
