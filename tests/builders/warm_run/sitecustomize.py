"""The start of many interpreters for scripts under ``tfperf run``: imports TensorFlow, then each script begins in a
fork of this one, in which TensorFlow and Keras wait to be imported. See ``warm_run``.

As in ``warm_start``, Python runs this at its start-up; in a fork it goes on to the script that it was started with, or
to the command (``MAIN`` of ``warm_run``), which asks ``begin`` for one.
"""

import os
import sys


class _Waiting:
    """Finds and loads what was imported before the fork: the script's own import begins and ends as ever, with whoever
    watches it, and takes no time. What lies below the two packages stays in ``sys.modules``."""

    def __init__(self, names, environment):
        """``environment``: what importing them sets."""
        self._environment = environment
        self._modules = {name: sys.modules.pop(name) for name in names}
        sys.meta_path.insert(0, self)

    def find_spec(self, name, path=None, target=None):
        module = self._modules.get(name)
        if module is None:
            return None
        spec = type(sys.__spec__)(name, self, origin=module.__file__, is_package=True)
        spec.submodule_search_locations = list(module.__path__)
        return spec

    def create_module(self, spec):
        return self._modules[spec.name]

    def exec_module(self, module):
        os.environ.update(self._environment)
        del self._modules[module.__name__]
        if not self._modules:
            sys.meta_path.remove(self)
        import keras  # noqa: F401  (each of the two imports the other)
        import tensorflow  # noqa: F401


def _serve(number):
    """Returns in a fork that has a script to run; the server itself never does."""
    import atexit
    import gc
    import signal
    import socket

    before = dict(os.environ)
    import tensorflow

    tensorflow.keras.Model  # noqa: B018  (loads what stands behind the names)
    added = {name: text for name, text in os.environ.items() if before.get(name) != text}
    # As a process ends, Python looks for garbage in all that TensorFlow has imported, several times: a second.
    if _AS_SCRIPT:
        gc.freeze()
    else:
        atexit.register(gc.freeze)  # last of all: till then a collection takes as long as it ever does
    listener = socket.socket(fileno=number)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # attendants leave nothing behind
    while True:
        connection, _ = listener.accept()
        if not os.fork():
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            _attend(connection, added)
            return
        connection.close()


def _attend(connection, added):
    """Start the script that is asked for, send how it ended, kill it when nobody waits for it any more; returns in the
    script's process."""
    import json
    import select
    import socket

    request, streams, _, _ = socket.recv_fds(connection, 1 << 20, 3)
    if not request:
        os._exit(0)
    pid = os.fork()
    if not pid:
        connection.close()
        os.setsid()
        for target, stream in enumerate(streams):
            os.dup2(stream, target)
            os.close(stream)
        _become(json.loads(request), added)
        return
    for stream in streams:
        os.close(stream)
    connection.send(str(pid).encode())
    process = os.pidfd_open(pid)
    while True:
        ready, _, _ = select.select([connection, process], [], [])
        if process in ready:
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            try:
                connection.send(str(status).encode())
            except OSError:
                pass
            os._exit(0)
        os.kill(pid, 9)


def _become(wanted, added):
    """This process is ``python script arguments`` from here on."""
    os.chdir(wanted["cwd"])
    os.environ.clear()
    os.environ.update(wanted["env"])
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


_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _here]
sys.path_importer_cache.pop(_here, None)
_AS_SCRIPT = sys.argv[0] != "-c"
_serve(int(os.environ.pop("WARM_SOCKET")))
_ours = sys.modules.pop(__name__)
if not _AS_SCRIPT:
    sys.modules["warm_begin"] = _ours
import sitecustomize  # noqa: E402, F401  (tfperf's bootstrap, where it is asked for)
