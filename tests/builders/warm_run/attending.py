"""Shared parts of the two servers next to this file: a fork for each that asks, an attendant for each fork."""

import json
import os
import select
import shutil
import signal
import socket


def wait(listener):
    """Until somebody asks. A server of several workers of tests ends with the process that started these."""
    until = int(os.environ.get("WARM_UNTIL", 0))
    while not select.select([listener], [], [], 2 if until else None)[0]:
        if not os.path.exists(f"/proc/{until}"):
            shutil.rmtree(os.path.dirname(listener.getsockname()), ignore_errors=True)
            os._exit(0)


def serve(listener, between=lambda: None):
    """Return the request in the fork that has to serve it; the server never returns. ``between`` is called
    before each fork."""
    signal.signal(signal.SIGCHLD, _reap)
    while True:
        wait(listener)
        connection, _ = listener.accept()
        between()
        if not os.fork():
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            return _attend(connection)
        connection.close()


def _reap(*_):
    """Wait for attendants that have ended. If the system did it, their processor seconds would be counted nowhere."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _attend(connection):
    """Start what is asked for, send how it ended, kill it when nobody waits for it any more; returns in its process."""
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
        wanted = json.loads(request)
        os.chdir(wanted["cwd"])
        os.environ.clear()
        os.environ.update(wanted["env"])
        return wanted
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
        try:
            os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:  # it has not set out yet
            os.kill(pid, signal.SIGKILL)
