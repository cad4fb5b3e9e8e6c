"""Scripts under tracers, debuggers, coverage and profilers, their own or that of a tool which runs them."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Program, assert_same

#: The code that coverage is to see.
HELPER = """
def f(n):
    total = 0
    for i in range(n):
        if i == 1:
            continue
        total += i
    else:
        total += 100
    if total < 0:
        return None
    return total
"""
TRAIN = """
import sys, helper, coverage
print(helper.f(3))
current = coverage.Coverage.current()
current.save()
print('coverage says', sorted(current.get_data().arcs(helper.__file__)), sys.argv, __name__)
raise ValueError('é')
"""

PROGRAMS = [
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
        "a profile function of its own",
        """
import sys, threading
seen = []
def profile(frame, event, arg): seen.append((event, frame.f_code.co_name, getattr(arg, '__name__', None)))
def f(): return len('x')
sys.setprofile(profile); threading.setprofile(profile)
f(); t = threading.Thread(target=f); t.start(); t.join()
print(sys.getprofile() is profile)
sys.setprofile(None); threading.setprofile(None)
print([s for s in seen if s[1] in ('f', 'run')])
""",
        shows=b"('call', 'f', None), ('c_call', 'f', 'len')",
    ),
    Program(
        "traces its lines",
        """
import sys
lines = []
def local(frame, event, arg):
    lines.append((event, frame.f_lineno - frame.f_code.co_firstlineno)); return local
def tracer(frame, event, arg): return local if frame.f_code.co_name in 'fg' else None
def g(n):
    if n: raise KeyError
def f():
    for n in range(2):
        try: g(n)
        except KeyError: pass
sys.settrace(tracer); f(); sys.settrace(None)
print(lines)
""",
        shows=b"('exception', 1)",
    ),
    Program(
        "coverage of a script",
        command=("-m", "coverage"),
        arguments=("run", "--branch", "--data-file", "cov", "train.py", "x"),
        files=(("train.py", TRAIN), ("helper.py", HELPER)),
        ignored=("cov",),
        status=1,
        shows=b"coverage says",
    ),
    Program(
        "coverage through its API",
        """
import coverage
cov = coverage.Coverage(branch=True, data_file=None, include=['*/helper.py', '*/script.py'], check_preimported=True)
cov.start()
import helper
helper.f(3)
cov.stop()
cov.report(show_missing=True);
print(sorted(cov.get_data().arcs(helper.__file__)))
""",
        files=(("helper.py", HELPER),),
        shows=b"helper.py",
    ),
    Program(
        "the debugger, from its own command line",
        command=("-m", "pdb"),
        arguments=("train.py", "x"),
        files=(("train.py", "def f(x):\n    y = x + 1\n    return y\nprint(f(2))\n1 / 0\n"),),
        stdin=b"b 3\nc\nw\np y, __name__\nu\nd\nn\nc\nw\nq\n",
        shows=b"(3, '__main__')",
    ),
    Program(
        "the debugger, from within",
        """
import sys
def f(x):
    breakpoint()
    return x + 1
print(f(2))
try:
    1 / 0
except ZeroDivisionError:
    import pdb
    pdb.post_mortem(sys.exc_info()[2])
pdb.set_trace()
pdb.run('print(f)')
""",
        stdin=b"w\np x\nx = 10\nc\nw\nq\nw\nq\n",
        status=1,
        shows=b"11",
    ),
    Program(
        "cProfile and profile",
        """
import cProfile, io, profile, pstats, sys
def f(n): return n if n < 2 else f(n - 1) + f(n - 2)
for kind in (cProfile, profile):
    p = kind.Profile(); p.runcall(f, 10)
    stats = pstats.Stats(p).stats if kind is cProfile else (p.create_stats(), p.stats)[1]
    print(sorted((k[2], v[0], v[1]) for k, v in stats.items() if k[2] == 'f'), sys.getprofile())
cProfile.run('f(5)', 'f.prof')
print({k[2]: v[1] for k, v in pstats.Stats('f.prof').stats.items() if k[2] == 'f'})
""",
        ignored=("f.prof",),
        shows=b"'f'",
    ),
    Program(
        "run by cProfile",
        command=("-m", "cProfile"),
        arguments=("-o", "out.prof", "train.py", "x"),
        files=(
            ("train.py", "import sys, tensorflow\nprint(sys.argv, __name__, tensorflow.x)\nsys.exit(4)"),
            ("tensorflow.py", "x = 1"),
        ),
        ignored=("out.prof",),
        shows=b"['train.py', 'x'] __main__ 1",
    ),
    Program(
        "run by line_profiler",
        command=("-m", "kernprof"),
        arguments=("-l", "-o", "out.lprof", "train.py", "x"),
        files=(("train.py", "import sys\n@profile\ndef f():\n    return sys.argv\nprint(f(), f.__name__)\n"),),
        ignored=("out.lprof",),
        shows=b"['train.py', 'x'] f",
    ),
    Program(
        "run by trace and timeit",
        """
import runpy, sys
ignored = sys.prefix + ':' + sys.base_prefix
sys.argv = ['trace', '--count', '-C', 'counts', '--missing', '--ignore-dir', ignored, 'train.py']
try: runpy.run_module('trace', run_name='__main__', alter_sys=True)
except SystemExit as e: print('left', e.code)
print(__import__('timeit').timeit('n.append(1)', 'n = []', number=3) > 0)
""",
        files=(("train.py", "for n in range(3):\n    print(n)\n"),),
        ignored=("counts/*.cover",),
        shows=b"0\n1\n2\n",
    ),
    Program(
        "an audit hook",
        """
import os, sys
seen = []
sys.addaudithook(lambda event, args: seen.append((event, args[0])) if event in ('open', 'os.mkdir', 'import') else None)
open(__file__).close(); os.mkdir('x'); import colorsys
print([s for s in seen if s[0] != 'open' or s[1] == __file__])
""",
        shows=b"('import', 'colorsys')",
    ),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_same_as_plain_python(program: Program, tmp_path: Path) -> None:
    assert_same(program, tmp_path)
