"""How a script is named, started and fed."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Program, assert_same

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
        "stdin",
        """
import sys
print(input('? '), sys.stdin.read())
""",
        stdin=b"one\ntwo\nthree",
        shows=b"? one two",
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
        "a script in another folder",
        command=("../work/läuf e/../läuf e/träin.py",),
        files=(
            (
                "läuf e/träin.py",
                """
import os, sys, daten
print(__file__, sys.argv, sys.path[0], os.getcwd(), daten.here)
open('out é', 'w').close()
1 / 0
""",
            ),
            ("läuf e/daten.py", "here = __file__"),
        ),
        arguments=("ä", "x y"),
        status=1,
        shows=b"ZeroDivisionError",
    ),
    Program(
        "an absolute name",
        command=("{here}/a b/train.py",),
        files=(
            (
                "a b/train.py",
                "import sys\nprint(__file__, sys.argv, sys.path[0], sys.orig_argv[1:])\nraise OSError(__file__)",
            ),
        ),
        status=1,
        shows=b"a b/train.py",
    ),
    Program(
        "a symlinked script",
        command=("link.py",),
        files=(
            (
                "real/train.py",
                "import sys, helper\nprint(__file__, sys.argv, sys.path[0], helper.__file__)\nhelper.f()",
            ),
            ("real/helper.py", "def f(): raise KeyError('é')"),
            ("helper.py", "raise ImportError('the wrong one')"),
        ),
        links=(("link.py", "real/train.py"),),
        status=1,
        shows=b"real/helper.py",
    ),
    Program(
        "a symlinked folder, twice",
        command=("current/run",),
        files=(
            ("v1/train.py", "import sys\nprint(__file__, sys.path[0])\nimport helper"),
            ("v1/helper.py", "print(__file__)"),
        ),
        links=(("current", "v1"), ("v1/run", "{here}/current/train.py")),
        shows=b"v1/helper.py",
    ),
    Program(
        "nested packages with relative imports",
        command=("-m", "jobs.nightly.train"),
        arguments=("--rate", "1"),
        files=(
            ("jobs/__init__.py", "from . import config"),
            ("jobs/config.py", "RATE = .1"),
            ("jobs/nightly/__init__.py", ""),
            ("jobs/nightly/model.py", "from ..config import RATE\nfrom .. import config\nclass Model: rate = RATE"),
            (
                "jobs/nightly/train.py",
                """
import pickle, sys
from .model import Model
from ..config import RATE
from . import model as m
class Local: pass
if __name__ == '__main__':
    print(Model.rate, __package__, __spec__.name, __spec__.origin, sys.argv)
    print(sorted(n for n in sys.modules if 'jobs' in n))
    print(pickle.dumps([Model(), Local()]), m.config.RATE)
    from ... import beyond
""",
            ),
        ),
        status=1,
        shows=b"attempted relative import beyond top-level package",
    ),
    Program(
        "a namespace package",
        command=("-m", "space.train"),
        files=(("space/train.py", "import sys, space\nprint(__spec__.parent, space.__path__, sys.path[0])"),),
        shows=b"_NamespacePath",
    ),
    Program(
        "a package without __main__",
        command=("-m", "pack"),
        files=(("pack/__init__.py", "print('init')"),),
        status=1,
        shows=b"cannot be directly executed",
    ),
    Program(
        "a module that fails in its package",
        command=("-m", "pack.train"),
        files=(("pack/__init__.py", "import nosuch"), ("pack/train.py", "")),
        status=1,
        shows=b"No module named 'nosuch'",
    ),
    Program(
        "a relative import in a script",
        "from . import x",
        status=1,
        shows=b"no known parent package",
    ),
    Program(
        "a tool of the library",
        command=("-m", "compileall", "-q", "lib"),
        files=(("lib/a.py", "x = ("),),
        status=1,
        shows=b"SyntaxError",
    ),
    Program(
        "the first lines",
        "#!/usr/bin/env python\n# -*- coding: latin-1 -*-\n\x0c\nfrom __future__ import annotations\n"
        "print(len('é'), __doc__, __annotations__)\nx: nosuch = 1\n",
        shows=b"2 None {}",
    ),
    Program("an empty script", command=("empty.py",), files=(("empty.py", "\n"),)),
    Program("null bytes", "print(1)\n\0", status=1, shows=b"null bytes", since=(3, 11, 4)),
    Program("tabs", "if 1:\n\tx = 1\n        y = 2\n", status=1, shows=b"TabError"),
    Program(
        "stdin byte by byte",
        """
import os, select, sys
print(os.read(0, 3), select.select([0], [], [], 0)[0], sys.stdin.buffer.peek()[:2], sys.stdin.isatty())
print(sys.stdin.readline(), os.fstat(0).st_mode, list(sys.stdin))
""",
        stdin=b"abc\xff\xfe\nd\xc3\xa9\n",
        environment=(("PYTHONIOENCODING", "latin-1"),),
        shows=b"b'abc' [0]",
    ),
    Program(
        "stdin at its end",
        """
import sys
print(sys.stdin.read() == '')
input('> ')
""",
        status=1,
        shows=b"EOFError",
    ),
    Program(
        "a child reads on",
        """
import subprocess, sys
sys.stdin.buffer.raw.read(2)
print(subprocess.run([sys.executable, '-c', 'print(input())'], stdout=-1).stdout)
""",
        stdin=b"a\nb\n",
        shows=b"b'b\\n'",
    ),
    Program(
        "streams of all kinds",
        """
import os, sys
sys.stdout.write('no flush '); os.write(1, b'first '); sys.stderr.write('err '); print('é\\udc80', file=sys.stderr)
sys.stdout.reconfigure(errors='backslashreplace'); print('\\udc80')
sys.stdout = open('mine', 'w'); print('to a file')
print(sys.__stdout__.encoding, sys.__stdout__.isatty(), os.fstat(1).st_size, file=sys.__stdout__)
sys.stderr = None
1 / 0
""",
        status=1,
        shows=b"first no flush",
    ),
    Program(
        "inherited files and limits",
        """
import os, resource, sys
print(resource.getrlimit(resource.RLIMIT_NOFILE), resource.getrlimit(resource.RLIMIT_CORE), os.nice(0))
print(os.getpgrp() == os.getsid(0), os.sched_getaffinity(0), oct(os.umask(0o22)))
resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
files = []
try:
    while True: files.append(os.open(os.devnull, os.O_RDONLY))
except OSError as e: print(e, len(files), files)
""",
        shows=b"Too many open files",
    ),
    Program(
        "arguments that look like ours",
        """
import sys
print(sys.argv)
""",
        (
            "--probes",
            "nosuch",
            "--run-dir=/nonexistent/x",
            "-m",
            "tfperfkit",
            "--",
            "-",
            "--version",
            "\t",
            "\\",
            "$HOME",
            "*",
        ),
        shows=b"'--probes', 'nosuch'",
    ),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_same_as_plain_python(program: Program, tmp_path: Path) -> None:
    assert_same(program, tmp_path)
