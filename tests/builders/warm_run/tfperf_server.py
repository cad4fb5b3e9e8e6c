"""Imports what ``tfperf`` imports, which takes most of the time of a short run, then each ``tfperf`` begins in a fork
of this server. The forks report at their ends what commands import as they go, for the forks after them.
"""

import gc
import importlib
import json
import os
import socket
import sys

#: The part of a fork's imports that the next forks are given. Not what a test adds, and never TensorFlow.
_PACKAGES = sys.stdlib_module_names | {"click", "google", "jinja2", "libcst", "msgspec", "numpy", "rich", "scipy"}
_OURS = "tfperfkit"


def _known(name):
    package = name.partition(".")[0]
    return package in _PACKAGES or package.startswith(_OURS)


def _learn(told):
    """Import what forks have told of since the last time."""
    while True:
        try:
            names = json.loads(told.recv(1 << 20))
        except BlockingIOError:
            return
        for name in names:
            try:
                importlib.import_module(name)
            except ImportError:
                continue
        gc.freeze()


def _tell(telling, known):
    names = [name for name in list(sys.modules) if name not in known and _known(name)]
    if names:
        try:
            telling.send(json.dumps(names).encode())
        except OSError:
            pass  # the tests are over, or too much was reported already


def main():
    listener = socket.socket(fileno=int(os.environ.pop("WARM_SOCKET")))
    here = sys.path.pop(0)
    sys.path.insert(0, "")  # as for ``python -m``
    sys.path_importer_cache.pop(here, None)
    from tfperfkit import cli

    gc.freeze()
    told, telling = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    told.setblocking(False)
    telling.setblocking(False)
    wanted = attending.serve(listener, lambda: _learn(told))
    told.close()
    sys.executable = wanted["python"]
    sys.argv[:] = [os.path.join(os.path.dirname(cli.__file__), "__main__.py"), *wanted["argv"]]
    sys.orig_argv[:] = [sys.executable, "-m", _OURS, *wanted["argv"]]
    added = [entry for entry in wanted["env"].get("PYTHONPATH", "").split(os.pathsep) if entry]
    sys.path[1:1] = added
    if added:
        try:
            import sitecustomize  # noqa: F401  (one of the test's own)
        except ImportError:
            pass
    process, known = os.getpid(), set(sys.modules)
    try:
        cli.main()
    finally:
        if os.getpid() == process:
            _tell(telling, known)


if __name__ == "__main__":
    import attending

    del sys.modules["attending"]
    main()
