"""How a script ends: exit statuses, exceptions, what runs at the end."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Program, assert_same

PROGRAMS = [
    Program(
        "exit status",
        """
import sys
print('out')
sys.exit(3)
""",
        status=3,
    ),
    Program(
        "exit text",
        """
import sys
sys.exit('no data')
""",
        status=1,
        shows=b"no data",
    ),
    Program("exit none", "raise SystemExit", shows=b""),
    Program(
        "exit large",
        """
import sys
sys.exit(300)
""",
        status=44,
    ),
    Program(
        "os._exit",
        """
import os
print('seen', flush=True)
print('lost', end='')
os._exit(7)
""",
        status=7,
        shows=b"seen",
    ),
    Program(
        "abort",
        """
import os
os.abort()
""",
        status=-6,
    ),
    Program(
        "killed",
        """
import os
print('x', flush=True)
os.kill(os.getpid(), 9)
""",
        status=-9,
    ),
    Program(
        "crash",
        """
import ctypes, faulthandler
ctypes.string_at(0)
""",
        status=-11,
    ),
    Program(
        "raises",
        """
def f():
    1 / 0
try:
    f()
except ZeroDivisionError as e:
    raise ValueError('é') from e
""",
        status=1,
        shows=b"The above exception",
    ),
    Program(
        "excepthook",
        """
import sys
sys.excepthook = lambda *a: print('mine', a[0].__name__)
raise KeyError(1)
""",
        status=1,
        shows=b"mine KeyError",
    ),
    Program(
        "syntax error",
        """
def f(:
    pass
""",
        status=1,
        shows=b"SyntaxError",
    ),
    Program(
        "not utf-8",
        """
# coding: nosuch
print(1)
""",
        status=1,
        shows=b"SyntaxError",
    ),
    Program(
        "atexit",
        """
import atexit
atexit.register(print, 'first')
atexit.register(print, 'second')
atexit.register(int, 'x')
""",
        shows=b"second\nfirst",
    ),
    Program(
        "finalizers",
        """
import weakref
class A:
    def __del__(self, p=print): p('del', self.n)
a, b = A(), A()
a.n, b.n = 1, 2
weakref.finalize(a, print, 'finalize')
global_cycle = [b]
global_cycle.append(global_cycle)
""",
        shows=b"finalize",
    ),
    Program(
        "recursion",
        """
def f(n):
    try: return f(n + 1)
    except RecursionError: return n
print(f(0))
def g(): g()
g()
""",
        status=1,
        shows=b"RecursionError",
    ),
    Program(
        "unittest",
        """
import unittest
class T(unittest.TestCase):
    def test(self): print('tested'); self.assertEqual(1, 2)
unittest.main(testRunner=unittest.TextTestRunner(stream=open('/dev/null', 'w')))
""",
        status=1,
        shows=b"tested",
    ),
    Program(
        "exit objects",
        """
import sys
class Odd:
    def __str__(self): return 'odd é'
sys.stdout.write('no newline')
sys.exit(Odd())
""",
        status=1,
        shows="odd é".encode(),
    ),
    Program("exit tuple", "raise SystemExit(1, 2)", status=1, shows=b"(1, 2)"),
    Program("exit false", "exit(False)"),
    Program("exit negative", "quit(-1)", status=255),
    Program(
        "exit in finally",
        """
import sys
try:
    sys.exit(3)
finally:
    try:
        raise KeyError
    except KeyError:
        print(sys.exc_info()[1].__context__)
""",
        status=3,
        shows=b"3",
    ),
    Program(
        "exit while another exception is handled",
        """
import sys
try:
    1 / 0
except ZeroDivisionError:
    sys.exit('gave up')
""",
        status=1,
        shows=b"gave up",
    ),
    Program(
        "exit with a code of its own kind",
        """
class Stop(SystemExit): code = 17
raise Stop
""",
        status=17,
    ),
    Program(
        "stdout closed at the end",
        """
import os, sys
print('lost')
os.close(1)
""",
        status=120,
        shows=b"Bad file descriptor",
    ),
    Program(
        "exception groups",
        """
def f(): raise ValueError('a')
try:
    f()
except ValueError as e:
    e.add_note('a note')
    group = ExceptionGroup('all', [e, ExceptionGroup('inner é', [OSError(2, 'x')])])
try:
    raise group
except* OSError as caught:
    print(caught.exceptions)
    raise RuntimeError('after') from caught
""",
        status=1,
        shows=b"a note",
        since=(3, 11),
    ),
    Program(
        "chained without a cause",
        """
def f():
    try: {}['k']
    except KeyError: raise TypeError('hidden') from None
try: f()
except TypeError:
    class Mine(BaseException): pass
    raise Mine('a context')
""",
        status=1,
        shows=b"During handling",
    ),
    Program(
        "exception that can't be printed",
        """
class Bad(Exception):
    def __str__(self): raise ValueError
raise Bad
""",
        status=1,
        shows=b"<exception str() failed>",
    ),
    Program(
        "unraisable",
        """
import sys, threading
class A:
    def __del__(self): raise ValueError('in del')
A()
sys.stderr.flush()
sys.unraisablehook = lambda u: print('mine', u.exc_value)
A()
threading.excepthook = lambda a: print('thread', a.exc_value, a.thread.name)
t = threading.Thread(target=lambda: 1 / 0); t.start(); t.join()
""",
        stderr="logs",  # it names an address
        shows=b"Exception ignored in",
    ),
    Program(
        "SystemExit in a thread",
        """
import sys, threading, _thread
t = threading.Thread(target=sys.exit, args=(5,)); t.start(); t.join()
_thread.start_new_thread(sys.exit, (6,))
print('goes on')
""",
        shows=b"goes on",
    ),
    Program(
        "os._exit in a thread",
        """
import os, threading, time
threading.Thread(target=os._exit, args=(9,)).start()
time.sleep(9)
""",
        status=9,
    ),
    Program(
        "atexit that leaves",
        """
import atexit, os, sys
atexit.register(os._exit, 12)
atexit.register(print, 'flushed?', flush=True)
f = atexit.register(lambda: print('never'))
atexit.unregister(f)
sys.exit(1)
""",
        status=12,
        shows=b"flushed?",
    ),
    Program(
        "atexit that raises SystemExit",
        """
import atexit, sys
atexit.register(sys.exit, 7)
atexit.register(print, 'first', atexit._ncallbacks() >= 1)
raise ValueError('é')
""",
        status=1,
        shows=b"first True",
    ),
    Program(
        "daemon threads at the end",
        """
import threading, time, sys
def spin():
    while True: time.sleep(.001)
for _ in range(3): threading.Thread(target=spin, daemon=True).start()
threading._register_atexit(print, 'threads end')
print(len(threading.enumerate()))
""",
        shows=b"threads end",
    ),
    Program(
        "resources are warned of",
        """
import sys
open(sys.argv[0])
f = open('kept', 'w'); f.write('x')
""",
        flags=("-X", "dev"),
        shows=b"ResourceWarning",
    ),
    Program(
        "argparse error",
        """
import argparse
p = argparse.ArgumentParser()
p.add_argument('--epochs', type=int); p.add_argument('--json')
print(p.parse_args(['--json', 'f']))
p.parse_args()
""",
        ("--epochs", "many"),
        status=2,
        shows=b"script.py: error: argument --epochs: invalid int value",
    ),
    Program(
        "argparse help",
        """
import argparse
argparse.ArgumentParser(description='Trains.').parse_args()
""",
        ("--help",),
        shows=b"usage: script.py [-h]",
    ),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_same_as_plain_python(program: Program, tmp_path: Path) -> None:
    assert_same(program, tmp_path)
