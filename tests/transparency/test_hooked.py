"""Scripts that hook into Python themselves: customizing modules, import hooks, tracers, debuggers."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Program, assert_same

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
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_same_as_plain_python(program: Program, tmp_path: Path) -> None:
    assert_same(program, tmp_path)
