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
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_same_as_plain_python(program: Program, tmp_path: Path) -> None:
    assert_same(program, tmp_path)
