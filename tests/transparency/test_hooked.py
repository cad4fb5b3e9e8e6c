"""Scripts that hook into Python themselves: customizing modules, import hooks, replaced builtins."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from harness import Program, assert_same

USER_SITE = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"

_OURS = ("msgspec", "line_profiler", "tfperfkit", "tensorflow", "agent")

PROGRAMS = [
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
        stderr="traceback",
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
    Program(
        "own usercustomize",
        """
import site, sys
u = sys.modules['usercustomize']
print(u.__file__, u.x, site.ENABLE_USER_SITE, [m for m in sys.modules if 'customize' in m], sys.path)
""",
        files=(
            (f"user/{USER_SITE}/usercustomize.py", "import os, sys; x = [*sys.path, sorted(os.environ)]"),
            (f"user/{USER_SITE}/mine.pth", "import sys; sys.from_pth = 1"),
        ),
        environment=(("PYTHONUSERBASE", "{here}/user"),),
        user_site=True,
        shows=b"usercustomize.py",
    ),
    Program(
        "own sitecustomize that hooks",
        """
import sys, made_up
print(made_up.x, len(sys.argv), sys.excepthook.__name__)
import tensorflow
1 / 0
""",
        files=(
            (
                "lib/sitecustomize.py",
                """
import atexit, builtins, importlib.machinery, importlib.util, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == 'made_up': return importlib.util.spec_from_loader(name, self)
    def create_module(self, spec): return None
    def exec_module(self, module): module.x = 3
sys.meta_path.insert(0, Finder())
def hook(kind, value, tb): print('hooked', kind.__name__, tb.tb_lineno)
sys.excepthook = hook
if sys.argv[0].endswith('script.py') or sys.orig_argv[1] == 'script.py':
    atexit.register(print, 'the end')
    real = builtins.__import__
    def spy(name, *a, **k):
        if name in ('made_up', 'tensorflow'): print('import', name)
        return real(name, *a, **k)
    builtins.__import__ = spy
""",
            ),
            ("tensorflow.py", "print('loaded')"),
        ),
        environment=(("PYTHONPATH", "{here}/lib"),),
        status=1,
        shows=b"hooked ZeroDivisionError",
    ),
    Program(
        "a replaced meta path",
        """
import importlib, importlib.abc, sys
class Spy(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None): print('asked for', name); return None
sys.meta_path[:] = [Spy(), *[f for f in sys.meta_path if getattr(f, '__module__', '').startswith('_frozen')]]
import tensorflow, colorsys
importlib.invalidate_caches(); importlib.reload(tensorflow)
print(tensorflow.__spec__.origin, type(tensorflow.__spec__))
""",
        files=(("tensorflow.py", "print('loaded')"),),
        shows=b"asked for tensorflow\nloaded",
    ),
    Program(
        "lazy and repeated imports",
        """
import importlib, importlib.util, sys
spec = importlib.util.find_spec('tensorflow')
spec.loader = importlib.util.LazyLoader(spec.loader)
module = importlib.util.module_from_spec(spec)
sys.modules['tensorflow'] = module
spec.loader.exec_module(module)
print('not yet', type(module).__name__)
print(module.version)
del sys.modules['tensorflow']
import tensorflow
print(tensorflow is module, importlib.reload(tensorflow) is tensorflow, importlib.import_module('tensorflow.sub').y)
""",
        files=(("tensorflow/__init__.py", "print('loaded'); version = 1"), ("tensorflow/sub.py", "y = 2")),
        shows=b"not yet _LazyModule\nloaded",
    ),
    Program(
        "replaced builtins",
        """
import builtins, io, os, sys, time
builtins.print = lambda *a, real=print, **k: real('P', *a, **k)
builtins.open = lambda *a, **k: io.StringIO('fake')
os.getpid = lambda: 1
time.monotonic_ns = time.perf_counter = lambda: 0
os.environ = {'ONLY': '1'}
sys.modules['json'] = None; sys.modules['msgspec'] = None
import tensorflow
print(tensorflow.x, open('x').read(), os.getpid())
""",
        files=(("tensorflow.py", "x = 4"),),
        shows=b"P 4 fake 1",
    ),
    Program(
        "tensorflow late, in a thread",
        """
import sys, threading
def load():
    import tensorflow
    print(tensorflow.x, threading.current_thread().name)
for n in range(2):
    t = threading.Thread(target=load, name=f'loader {n}'); t.start(); t.join()
print(len(threading.enumerate()), sys.modules['tensorflow'].__spec__.name)
""",
        files=(("tensorflow.py", "x = 5"),),
        shows=b"5 loader 0",
    ),
    Program(
        "tensorflow that leaves",
        "import tensorflow",
        files=(("tensorflow/__init__.py", "import sys\ntry: sys.exit('no GPU')\nfinally: print('leaving')"),),
        status=1,
        shows=b"no GPU",
    ),
    Program(
        "tensorflow that replaces itself",
        """
import sys, tensorflow
print(tensorflow.x, type(tensorflow), sys.modules['tensorflow'])
from tensorflow import x
""",
        files=(
            (
                "tensorflow.py",
                """
import sys
class Stub:
    x = 6
    def __repr__(self): return 'stub'
sys.modules[__name__] = Stub()
""",
            ),
        ),
        shows=b"stub",
    ),
    Program(
        "no tensorflow at all",
        """
import importlib.util
try: import nosuch_tensorflow
except ModuleNotFoundError as e: print(e.name)
import sys
sys.modules['tensorflow'] = None
try: import tensorflow
except ModuleNotFoundError as e: print(e, e.__traceback__.tb_next)
try: print(importlib.util.find_spec('tensorflow'))
except ValueError as e: print(e)
import tensorflow
""",
        status=1,
        shows=b"import of tensorflow halted",
    ),
    Program(
        "modules of our names",
        command=("sub/train.py",),  # not in the folder in which `python -m tfperfkit` itself looks for modules
        files=(
            (
                "sub/train.py",
                """
import msgspec, line_profiler, tfperfkit, agent
print(msgspec.x, line_profiler.x, tfperfkit.x, agent.x)
import tensorflow, sys
print(getattr(sys.modules.get("sitecustomize"), "__file__", None))  # the system's own, or none
""",
            ),
            *((f"sub/{name}.py", "x = 'mine'") for name in _OURS),
        ),
        shows=b"mine mine mine mine",
        report="Nothing could be recorded",
    ),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_same_as_plain_python(program: Program, tmp_path: Path) -> None:
    assert_same(program, tmp_path)
