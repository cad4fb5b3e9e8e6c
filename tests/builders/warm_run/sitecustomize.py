"""The start of many interpreters for scripts, under ``tfperf run`` or not: imports TensorFlow, then each script begins
in a fork of this one, in which TensorFlow and Keras wait to be imported. See ``warm_run``.

Python runs this at its start-up; in a fork it goes on to the script that it was started with, or to the command
(``MAIN`` of ``warm_run``), which asks ``begin`` for one. So all that follows is Python's own: it finds ``__main__``,
runs it, shows its exceptions and ends, with nothing of ours below.
"""

import copy
import os
import sys

import attending


class _Waiting:
    """Finds and loads what was imported before the fork: the script's own import begins and ends as ever, with whoever
    watches it, and takes no time. Modules below the two packages stay in ``sys.modules``."""

    def __init__(self, names, environment):
        """``environment``: what importing them sets."""
        self._environment = environment
        self._modules = {name: sys.modules.pop(name) for name in names}
        sys.meta_path.insert(0, self)

    def find_spec(self, name, path=None, target=None):
        module = self._modules.get(name)
        if module is None:
            return None
        loader = copy.copy(self)  # one for each: who changes it does so for this package alone
        spec = type(sys.__spec__)(name, loader, origin=module.__file__, is_package=True)
        spec.submodule_search_locations = list(module.__path__)
        return spec

    def create_module(self, spec):
        return self._modules[spec.name]

    def exec_module(self, module):
        os.environ.update(self._environment)
        del self._modules[module.__name__]
        if not self._modules:
            sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Waiting)]
        import keras  # noqa: F401  (each of the two imports the other)
        import tensorflow  # noqa: F401


def _serve(number):
    """Returns in a fork that has a script to run; the server itself never does."""
    import atexit
    import gc
    import socket

    listener = socket.socket(fileno=number)
    attending.wait(listener)  # not all that start one run a script
    before = dict(os.environ)
    import tensorflow

    tensorflow.keras.Model  # noqa: B018  (loads what stands behind the names)
    added = {name: text for name, text in os.environ.items() if before.get(name) != text}
    # As a process ends, Python looks for garbage in all that TensorFlow has imported, several times: a second.
    if _AS_SCRIPT:
        gc.freeze()
    wanted = attending.serve(listener)
    if wanted.get("freeze"):
        gc.freeze()
    elif not _AS_SCRIPT:
        atexit.register(gc.freeze)  # last of all: till then a collection takes as long as it ever does
    _become(wanted, added)


def _become(wanted, added):
    """This process is ``python script arguments`` from here on."""
    sys.argv[:] = wanted["argv"]
    sys.orig_argv[:] = [sys.executable, *wanted["argv"]]
    sys.path[:0] = [entry for entry in wanted["env"].get("PYTHONPATH", "").split(os.pathsep) if entry]
    _Waiting(("tensorflow", "keras"), added)


def begin():
    """The script's code, for ``__main__``, which is made to look as that of a script."""
    path = os.path.abspath(sys.argv[0])
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    main = sys.modules["__main__"]
    from importlib.machinery import SourceFileLoader

    main.__file__, main.__cached__, main.__loader__ = path, None, SourceFileLoader("__main__", path)
    with open(path, "rb") as file:
        return compile(file.read(), path, "exec", dont_inherit=True)


del sys.modules["attending"]
_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _here]
sys.path_importer_cache.pop(_here, None)
_AS_SCRIPT = sys.argv[0] != "-c"
_serve(int(os.environ.pop("WARM_SOCKET")))
_ours = sys.modules.pop(__name__)
if not _AS_SCRIPT:
    sys.modules["warm_begin"] = _ours
import sitecustomize  # noqa: E402, F401  (tfperf's bootstrap, where it is asked for)
