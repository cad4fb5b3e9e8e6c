"""What ``tfperf run`` starts as ``python script``: asks ``sitecustomize`` beside this file for a fork that runs it, is
its process for whoever waits or sends a signal, and ends as it ends. What a fork can't be (flags, another environment
for Python or TensorFlow) it becomes itself.
"""

import json
import os
import signal
import socket
import sys

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


def main():
    words = os.environ.pop("WARM_RUN")
    about = json.loads(words)
    if sys.argv[1:3] == ["-m", "tfperfkit"]:  # a worker's tfperf, whose script may be a fork
        started = [about["python"], "-c", about["tfperf"], sys.argv[0], *sys.argv[3:]]
        os.execve(about["python"], started, {**os.environ, "WARM_RUN": words})
    environment = dict(os.environ)
    asked = [name for name in environment if name.startswith(tuple(about["prefixes"])) and name not in about["later"]]
    others = {name: environment[name] for name in asked}
    if sys.argv[1][:1] == "-" or sys.argv[1] != (about["script"] or sys.argv[1]) or others != about["environment"]:
        os.execv(about["python"], [about["python"], *sys.argv[1:]])
    server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server.connect(about["address"])
    wanted = {"argv": sys.argv[1:], "cwd": os.getcwd(), "env": environment}
    socket.send_fds(server, [json.dumps(wanted).encode()], [0, 1, 2])
    pid = int(server.recv(20))
    for number in FORWARDED:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda got, _: os.kill(pid, got))
    for stream in (0, 1, 2):
        os.close(stream)  # the script's alone: who closes its output has closed it
    status = int(server.recv(20) or b"-9")
    if status < 0:
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


main()
