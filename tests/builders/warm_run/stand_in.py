"""The program that ``tfperf run`` starts as ``python script``, and, under the name ``tfperf``, tfperf itself. It asks a
server next to this file for a fork that is it, is its process for whoever waits or sends a signal, and ends as it ends.
It becomes itself any process that a fork can't be (flags, another environment for Python or TensorFlow).
"""

import json
import os
import signal
import socket
import sys

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


def main():
    words = os.environ["WARM_RUN"]
    about = json.loads(words)
    environment = dict(os.environ)
    asked = [name for name in environment if name.startswith(tuple(about["prefixes"])) and name not in about["later"]]
    same = {name: environment[name] for name in asked} == about["environment"]
    python, arguments, stand_in = about["python"], sys.argv[1:], about["stand_in"]
    if not stand_in:
        del environment["WARM_RUN"]  # for scripts
    wanted = {"argv": arguments, "cwd": os.getcwd(), "env": environment, "python": stand_in or python}
    worker = arguments[:2] == ["-m", "tfperfkit"]
    if worker or os.path.basename(sys.argv[0]) == "tfperf":
        if worker:
            del arguments[:2]
        if not same:
            os.execve(python, [python, "-c", about["main"], wanted["python"], *arguments], environment)
        ask(about["tfperf"], wanted)
    del environment["WARM_RUN"]
    if arguments[0][:1] == "-" or arguments[0] != (about["script"] or arguments[0]) or not same:
        os.execve(python, [python, *arguments], environment)
    ask(about["address"], wanted)


def ask(address, wanted):
    """Never returns."""
    server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server.connect(address)
    socket.send_fds(server, [json.dumps(wanted).encode()], [0, 1, 2])
    pid = int(server.recv(20))
    for number in FORWARDED:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda got, _: os.kill(pid, got))
    signal.signal(signal.SIGABRT, lambda got, _: os.killpg(pid, got))  # it does not end: show where
    for stream in (0, 1, 2):
        os.close(stream)  # the script's alone: who closes its output has closed it
    status = int(server.recv(20) or b"-9")
    if status < 0:
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


main()
