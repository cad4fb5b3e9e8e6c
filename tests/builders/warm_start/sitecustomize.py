"""The start of many interpreters: imports TensorFlow, then each script begins in a fork of this one. See ``warm``.

Python runs it at its start-up, so that in a fork all that follows is Python's own: it finds ``__main__``, runs it,
shows its exceptions and ends, with nothing of ours below.
"""

import os
import sys


def _serve(number: int) -> None:
    """Returns in a fork that has a script to run; the server itself never does."""
    import gc
    import json
    import socket

    before = dict(os.environ)
    import tensorflow  # noqa: F401

    set_by_import = {key: value for key, value in os.environ.items() if before.get(key) != value}
    gc.freeze()  # as a process ends, Python looks for garbage in all that TensorFlow has imported: a second
    server = socket.socket(fileno=number)
    while True:
        request, streams, _, _ = socket.recv_fds(server, 1 << 20, 3)
        if not request:
            os._exit(0)  # the tests are over
        pid = os.fork()
        if not pid:
            server.close()
            os.setsid()
            for target, stream in enumerate(streams):
                os.dup2(stream, target)
                os.close(stream)
            wanted = json.loads(request)
            os.chdir(wanted["cwd"])
            os.environ.clear()
            os.environ.update(wanted["env"] | set_by_import)
            sys.argv[1:] = wanted["arguments"]
            return
        for stream in streams:
            os.close(stream)
        server.send(str(pid).encode())
        server.send(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())


_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _here]
sys.path_importer_cache.pop(_here, None)
_serve(int(os.environ.pop("WARM_SOCKET")))
raise ImportError("none, as without this one", name="sitecustomize")
