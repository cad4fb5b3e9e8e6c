"""Small programs that never import TensorFlow: what they do must not depend on who started them."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Program, assert_same

#: What a script can ask Python about itself. Ours are two things, both in docs/transparency.md.
INSPECT = """
import sys
modules = sorted(sys.modules)
path, finders, argv = list(sys.path), [type(f).__name__ for f in sys.meta_path], sys.argv
import atexit, builtins, gc, json, os, signal, threading, warnings
print(json.dumps({
    "modules": modules, "path": path, "argv": argv, "orig_argv": sys.orig_argv, "flags": repr(sys.flags),
    "options": repr(sys._xoptions), "warnoptions": sys.warnoptions, "warnings": repr(warnings.filters),
    "environment": list(os.environ.items()), "builtins": sorted(dir(builtins)), "threads": len(threading.enumerate()),
    "signals": [repr(signal.getsignal(n)) for n in sorted(signal.valid_signals())],
    "mask": repr(signal.pthread_sigmask(signal.SIG_BLOCK, [])), "gc": [gc.get_threshold(), gc.isenabled()],
    "callbacks": len(gc.callbacks), "hooks": repr([sys.excepthook, sys.displayhook, sys.gettrace(), sys.getprofile()]),
    "umask": os.umask(0), "files": os.listdir("/proc/self/fd"), "cwd": os.getcwd(), "limit": sys.getrecursionlimit(),
    "importers": sorted(sys.path_importer_cache), "executable": sys.executable, "prefix": sys.prefix,
    "stdio": [sys.stdout.encoding, sys.stdout.line_buffering, sys.stderr.errors], "switch": sys.getswitchinterval(),
    "main": {k: repr(v)[:40] for k, v in globals().items() if k.startswith("__") and k != "__loader__"},
    "finders": [f for f in finders if f != "_Finder"], "frames": sys._getframe().f_back is None,
}, indent=1))
"""

PROGRAMS = [
    Program(
        "bytes",
        """
import sys
sys.stdout.buffer.write(bytes(range(256)))
print('é', end='')
""",
        shows=b"\xff\xc3\xa9",
    ),
    Program("what a script can ask", INSPECT),
    Program("what a script can ask under flags", INSPECT, flags=("-O", "-X", "dev", "-u", "-W", "ignore")),
    Program(
        "arguments",
        """
import sys
print(sys.argv)
""",
        ("--out", "x", "--", "--json", "-h", "", "a b", "é"),
        shows=b"'a b'",
    ),
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
        "terminated",
        """
import os, time
os.kill(os.getpid(), 15)
time.sleep(9)
""",
        status=-15,
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
        "threads",
        """
import threading, time
def work(n):
    time.sleep(n / 20); print(n, threading.current_thread().name, flush=True)
threading.Thread(target=time.sleep, args=(99,), daemon=True).start()
print([t.name for t in threading.enumerate()], flush=True)
def bad(): raise RuntimeError('in a thread')
t = threading.Thread(target=bad, name='bad'); t.start(); t.join()
for n in (4, 2, 0): threading.Thread(target=work, args=(n,)).start()  # the interpreter waits for them
""",
        shows=b"Exception in thread bad",
    ),
    *(
        Program(f"multiprocessing {method}", f"""
import multiprocessing, os, sys
class Item:
    def __init__(self, n): self.n = n
def work(item): return item.n ** 2, type(item).__module__, sorted(os.environ), sys.path, 'tfperfkit' in sys.modules
def fail(): sys.exit(4)
if __name__ == '__main__':
    context = multiprocessing.get_context({method!r})
    with context.Pool(2) as pool: print(pool.map(work, map(Item, range(4))))
    process = context.Process(target=fail); process.start(); process.join(); print(process.exitcode)
""", shows=b"]\n4") for method in ("fork", "spawn", "forkserver")
    ),
    Program(
        "fork",
        """
import os, sys
pid = os.fork()
if pid == 0:
    print('child'); sys.exit(5)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
""",
        shows=b"child\n5",
    ),
    Program(
        "child processes",
        """
import subprocess, sys
code = 'import os, sys; print(sorted(os.environ.items()), sys.path, len(sys.modules))'
print(subprocess.run([sys.executable, '-c', code], capture_output=True).stdout)
""",
        shows=b"HOME",
    ),
    Program(
        "exec",
        """
import os, sys
if len(sys.argv) > 1: print('again', len(sys.modules)); sys.exit(9)
sys.stdout.flush()
os.execv(sys.executable, [sys.executable, *sys.argv, 'x'])
""",
        status=9,
        shows=b"again",
    ),
    Program(
        "pickle",
        """
import pickle
class A: pass
data = pickle.dumps(A())
open('a.pickle', 'wb').write(data)
print(type(pickle.loads(data)), A.__module__)
""",
        shows=b"__main__.A",
    ),
    Program(
        "stdin",
        """
import sys
print(input('? '), sys.stdin.read())
""",
        stdin=b"one\ntwo\nthree",
        shows=b"? one two",
    ),
    Program(
        "warnings",
        """
import warnings
warnings.warn('old', DeprecationWarning)
warnings.warn('mind')
""",
        shows=b"UserWarning: mind",
    ),
    Program(
        "warnings as errors",
        """
import warnings
warnings.warn('mind')
""",
        flags=("-W", "error"),
        status=1,
        shows=b"UserWarning: mind",
    ),
    Program(
        "assertions off",
        """
assert False
print(__debug__, __doc__)
""",
        flags=("-OO",),
        shows=b"False None",
    ),
    Program(
        "random",
        """
import random, secrets, hashlib
random.seed(1)
print(random.random(), hash('x'), list({'a', 'b', 'c'}))
""",
        environment=(("PYTHONHASHSEED", "3"),),
        shows=b"0.13",
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
        "changes folder",
        """
import os, shutil
here = os.path.dirname(os.path.abspath(__file__))
os.mkdir('sub'); os.chdir('sub'); open('x', 'w').write('1')
print(os.getcwd(), __file__)
""",
    ),
    Program(
        "deletes its folder",
        """
import os, shutil
shutil.rmtree(os.path.dirname(os.path.abspath(__file__)))
print(os.path.exists(__file__))
""",
        shows=b"False",
    ),
    Program(
        "a name with spaces",
        command=("mein trainings lauf é.py",),
        files=(
            (
                "mein trainings lauf é.py",
                """
import sys
print(sys.argv, __file__, ascii(sys.path[0]))
1/0
""",
            ),
        ),
        status=1,
        shows=b"ZeroDivisionError",
    ),
    Program("no suffix", command=("train",), files=(("train", "print(__file__)"),), shows=b"train"),
    Program(
        "a folder",
        command=("app",),
        files=(
            (
                "app/__main__.py",
                """
import helper, sys
print(helper.x, sys.argv, sys.path[0], __package__)
""",
            ),
            ("app/helper.py", "x = 5"),
        ),
        shows=b"5",
    ),
    Program(
        "zip",
        command=("app.zip",),
        files=(
            (
                "app/__main__.py",
                """
import helper, sys
print(helper.x, sys.argv, __file__)
""",
            ),
            ("app/helper.py", "x = 5"),
        ),
        shows=b"5",
    ),
    Program(
        "module",
        command=("-m", "pack.train"),
        arguments=("a",),
        files=(
            ("pack/__init__.py", "print('init')"),
            (
                "pack/train.py",
                """
import sys
from . import __name__ as n
print(n, sys.argv, sys.path[0], __spec__.name)
""",
            ),
        ),
        shows=b"pack.train",
    ),
    Program(
        "package",
        command=("-m", "pack"),
        files=(
            ("pack/__init__.py", ""),
            (
                "pack/__main__.py",
                """
print(__name__, __package__)
raise SystemExit(6)
""",
            ),
        ),
        status=6,
    ),
    Program("no such module", command=("-m", "nosuch.module"), status=1, shows=b"No module named"),
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
        "asyncio",
        """
import asyncio
async def f(): await asyncio.sleep(0); print('in'); raise OSError('é')
asyncio.run(f(), debug=False)
""",
        status=1,
        shows=b"OSError",
    ),
    Program(
        "tracing of its own",
        """
import sys
seen = []
sys.settrace(lambda f, e, a: seen.append((f.f_code.co_name, f.f_code.co_filename[-9:])))
def f(): pass
f(); import string; f()
sys.settrace(None)
print([s for s in seen if s[1][-9:] != 'imports.py'[-9:] and 'ootstrap' not in s[1]])
""",
        shows=b"'f'",
    ),
    Program(
        "own sitecustomize",
        """
import sys
print(sys.modules['sitecustomize'].__file__, sys.x, sys.modules.get('usercustomize'))
""",
        files=(
            ("lib/sitecustomize.py", "import sys; sys.x = list(sys.path)"),
            ("lib/usercustomize.py", "import sys; sys.x = 0"),
        ),
        environment=(("PYTHONPATH", "{here}/lib"),),
        shows=b"lib/sitecustomize.py",
    ),
    Program(
        "broken sitecustomize",
        """
import sys
print('sitecustomize' in sys.modules)
""",
        files=(("lib/sitecustomize.py", "1 / 0"),),
        environment=(("PYTHONPATH", "{here}/lib"),),
        shows=b"Error in sitecustomize",
        whole_stderr=False,
    ),
    Program(
        "PYTHONPATH",
        """
import sys, os, a
print(sys.path, os.environ['PYTHONPATH'])
""",
        files=(("lib/a.py", "print('a')"),),
        environment=(("PYTHONPATH", "{here}/lib:/nonexistent:"),),
        shows=b"a",
    ),
    Program(
        "import hooks",
        """
import importlib.machinery, importlib.util, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == 'made_up': return importlib.util.spec_from_loader(name, self)
    def create_module(self, spec): return None
    def exec_module(self, module): module.x = 3
sys.meta_path.insert(0, Finder())
import made_up
spec = importlib.util.find_spec('tensorflow')
print(made_up.x, str(spec)[:40], type(spec).__name__, isinstance(spec, importlib.machinery.ModuleSpec))
print(type(spec.loader))
""",
        files=(("tensorflow.py", "print('imported')"),),
        shows=b"ModuleSpec",
    ),
    Program(
        "unprofiled -I",
        """
import sys
print(sys.flags.isolated, sys.path)
""",
        flags=("-I",),
        shows=b"1",
        header="unprofiled",
    ),
    Program(
        "unprofiled -E",
        """
import sys
print(sys.flags.ignore_environment)
""",
        flags=("-E",),
        shows=b"1",
        header="unprofiled",
    ),
    Program(
        "tensorflow fails",
        "import tensorflow",
        files=(
            (
                "tensorflow/__init__.py",
                """
def f():
    raise ImportError('libcuda é')
f()
""",
            ),
        ),
        status=1,
        shows=b"libcuda",
    ),
    Program(
        "tensorflow interrupted",
        "import tensorflow",
        files=(
            (
                "tensorflow/__init__.py",
                """
import os
def f():
    os.kill(os.getpid(), 2)
f()
""",
            ),
        ),
        status=-2,
        shows=b"KeyboardInterrupt",
    ),
    Program(
        "tensorflow fails once",
        """
try:
    import tensorflow
except ImportError as e:
    print(e)
import sys
sys.path.insert(0, 'other')
import tensorflow
spec = tensorflow.__spec__
print(tensorflow.__version__, spec.origin, type(spec), tensorflow.__loader__ is spec.loader, sorted(vars(spec)))
""",
        files=(
            ("tensorflow.py", "raise ImportError('not this one')"),
            ("other/tensorflow.py", "__version__ = '9.9'"),
        ),
        shows=b"9.9",
    ),
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_same_as_plain_python(program: Program, tmp_path: Path) -> None:
    assert_same(program, tmp_path)


def test_names_are_unique() -> None:
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)
