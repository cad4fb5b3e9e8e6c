"""Questions that a script can ask Python about itself, under flags and variables of the environment."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Program, assert_same

#: Questions that a script can ask Python about itself. Ours are two things, both in docs/transparency.md.
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
    Program("what a script can ask as a module", command=("-m", "inspects"), files=(("inspects.py", INSPECT),)),
    *(
        Program(
            f"what a script can ask under {' '.join([*flags, *(f'{k}={v}' for k, v in variables)])}",
            INSPECT,
            flags=flags,
            environment=variables,
        )
        for flags, variables in (
            (("-OO", "-B", "-q", "-s"), ()),
            (("-bb", "-W", "error", "-W", "ignore::DeprecationWarning:x"), ()),
            (("-Xutf8=0", "-X", "own=1"), (("LC_ALL", "C"), ("PYTHONCOERCECLOCALE", "0"))),
            (
                (),
                (
                    ("PYTHONHASHSEED", "0"),
                    ("PYTHONUNBUFFERED", "1"),
                    ("PYTHONOPTIMIZE", "2"),
                    ("PYTHONWARNINGS", "always,error::FutureWarning"),
                ),
            ),
            ((), (("PYTHONDEVMODE", "1"), ("PYTHONTRACEMALLOC", "1"), ("PYTHONSAFEPATH", "1"), ("PYTHONUTF8", "1"))),
            (
                (),
                (("PYTHONMALLOC", "debug"), ("PYTHONFAULTHANDLER", "1"), ("PYTHONNOUSERSITE", "1"), ("PYTHONPATH", "")),
            ),
            (
                (),
                (
                    ("PYTHONINTMAXSTRDIGITS", "900"),
                    ("PYTHONPLATLIBDIR", "lib"),
                    ("PYTHONBREAKPOINT", "0"),
                    ("PYTHONSTARTUP", "x"),
                ),
            ),
        )
    ),
    Program("safe path", INSPECT, flags=("-P",), since=(3, 11)),
    Program(
        "encodings that are not given",
        """
import sys
open('a', 'w').close()
open(sys.argv[0]).close()
""",
        flags=("-X", "warn_default_encoding", "-W", "always"),
        shows=b"EncodingWarning",
    ),
    Program(
        "all warnings",
        """
import imp_warns, sys, warnings
warnings.warn('x', PendingDeprecationWarning); warnings.warn('y', ImportWarning); '\\d'; 1 is 1
for _ in range(2): warnings.warn('again')
with warnings.catch_warnings(record=True) as got: warnings.simplefilter('once'); warnings.warn('caught')
print(len(got)); warnings.showwarning = lambda *a, **k: print('mine', a[0])
warnings.warn('shown')
open(sys.argv[0]).read(1)
""",
        files=(("imp_warns.py", "import warnings; warnings.warn('in a module', stacklevel=2)"),),
        flags=("-W", "always"),
        shows=b"mine shown",
    ),
    Program(
        "bytes warnings",
        "print(b'a' == 'a')",
        flags=("-bb",),
        status=1,
        shows=b"BytesWarning",
    ),
    Program(
        "dev mode",
        """
import asyncio, gc, sys, tracemalloc
print(sys.flags.dev_mode, tracemalloc.is_tracing())
async def f(): pass
f(); gc.collect()
object.__new__
class A:
    def __del__(self): 1 / 0
""",
        flags=("-X", "dev", "-X", "tracemalloc=1"),
        shows=b"was never awaited",
    ),
    Program(
        "unbuffered",
        """
import os, sys
sys.stdout.write('a'); sys.stderr.write('b'); sys.stdout.write('c'); os._exit(0)
""",
        flags=("-u",),
        shows=b"ac",
    ),
    Program(
        "random state",
        """
import random, uuid, sys, numpy as np
random.seed(3); np.random.seed(3)
print(random.random(), np.random.rand(2), np.random.default_rng(5).random(), random.getstate()[1][:3])
print(hash('text'), hash(b'x'), {'x', 'y', 'z'}, sys.hash_info.seed_bits)
""",
        environment=(("PYTHONHASHSEED", "42"),),
        shows=b"0.23796462709189137",
    ),
    Program(
        "imports are counted",
        """
import sys
before = set(sys.modules)
import json, pathlib, typing, threading, warnings, contextlib, ctypes, atexit
print(sorted(set(sys.modules) - before))
print([getattr(h, '__name__', h) for h in sys.path_hooks], len(sys.builtin_module_names))
""",
        shows=b"pathlib",
    ),
    Program(
        "garbage",
        """
import gc, sys
print(gc.isenabled(), gc.get_threshold(), gc.callbacks, gc.garbage, gc.get_freeze_count())
gc.disable(); gc.collect(); print(gc.collect(), gc.get_count()[1:])
class A: pass
a = A(); a.self = a; del a
print(gc.collect(), sys.getrefcount(A), sys.intern('x') is 'x'[:1])
gc.set_debug(gc.DEBUG_SAVEALL); b = A(); b.b = b; del b; gc.collect()
print(len([g for g in gc.garbage if type(g) is A]))
gc.set_debug(0)
""",
        flags=("-W", "ignore"),
        shows=b"1\n",
    ),
    Program(
        "frames and stacks",
        """
import inspect, sys, threading, traceback
def f(): return [(i.filename[-9:], i.function, i.lineno) for i in inspect.stack()]
print(f(), len(sys._current_frames()), sys._getframe().f_back)
traceback.print_stack()
t = threading.Thread(target=traceback.print_stack); t.start(); t.join()
print(inspect.getsource(f), inspect.getmodule(f), sys.getallocatedblocks() > 0)
breakpoint
""",
        shows=b"return [(i.filename",
    ),
    Program(
        "interactive afterwards",
        "x = 5; print('script'); 1 / 0",
        flags=("-i",),
        stdin=b"print(x * 2)\nraise SystemExit(4)\n",
        status=4,
        shows=b"script\n10\n",
    ),
    Program(
        "interactive by the environment",
        "import sys; print('script'); sys.exit(3)",
        environment=(("PYTHONINSPECT", "1"),),
        stdin=b"print('asked')\n",
        status=1,  # the prompt is for terminals: elsewhere the SystemExit is shown
        shows=b"SystemExit: 3",
    ),
    Program(
        "unprofiled -S",
        "import sys; print(sys.flags.no_site, 'site' in sys.modules)",
        flags=("-S",),
        environment=(("PYTHONPATH", "{ours}"),),
        shows=b"1 False",
        header="unprofiled",
    ),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_same_as_plain_python(program: Program, tmp_path: Path) -> None:
    assert_same(program, tmp_path)
