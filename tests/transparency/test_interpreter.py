"""What a script can ask Python about itself, under flags and variables of the environment."""

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
    Program("what a script can ask", INSPECT),
    Program("what a script can ask under flags", INSPECT, flags=("-O", "-X", "dev", "-u", "-W", "ignore")),
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
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_same_as_plain_python(program: Program, tmp_path: Path) -> None:
    assert_same(program, tmp_path)
