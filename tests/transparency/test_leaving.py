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
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_same_as_plain_python(program: Program, tmp_path: Path) -> None:
    assert_same(program, tmp_path)
