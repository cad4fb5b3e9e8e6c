"""Two workers on two hosts that are simulated: network namespaces, joined by a pair of virtual Ethernet devices.

    sudo python -m benchmarks.two_hosts [--kind sleep] [--steps 150] [--delay 5ms]

Each worker has an address, a loopback and a stack of its own, and reaches the other only over the pair. They share the
file system, as hosts with a common folder do, and the clock. ``--delay``: what the network adds to each packet. Needs
Linux and root (``ip netns``).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SCRIPT = Path(__file__).with_name("workloads") / "two_workers.py"
#: Host names of this process, so that two runs on one machine don't meet.
HOSTS = tuple(f"tfperf-{os.getpid()}-{side}" for side in "ab")
ADDRESSES = ("10.77.0.1", "10.77.0.2")
PORT = 40123


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextmanager
def hosts(delay: str | None) -> Iterator[None]:
    """The two namespaces, removed at the end; what was made in them goes along."""
    made = []
    try:
        for host in HOSTS:
            ip("netns", "add", host)
            made.append(host)
        first, second = HOSTS
        ip("-n", first, "link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", second)
        for host, address in zip(HOSTS, ADDRESSES, strict=True):
            ip("-n", host, "address", "add", f"{address}/24", "dev", "eth0")
            ip("-n", host, "link", "set", "eth0", "up")
            ip("-n", host, "link", "set", "lo", "up")
            if delay:
                words = ["tc", "-n", host, "qdisc", "add", "dev", "eth0", "root", "netem", "delay", delay]
                subprocess.run(words, check=True)
        yield
    finally:
        for host in made:
            ip("netns", "del", host)


def refused() -> str:
    """Why this system lets nobody make network namespaces here; "" where it does."""
    missing = [program for program in ("ip", "tc") if shutil.which(program) is None]
    if missing or not sys.platform.startswith("linux"):
        return "needs Linux and iproute2"
    if os.geteuid() != 0:
        return "needs root: an ordinary user may not make network namespaces"
    try:
        with hosts(None):
            return ""
    except subprocess.CalledProcessError as error:
        return f"this system refuses: {' '.join(error.cmd)}"


def train(kind: str, steps: int, out: Path) -> list[int]:
    """The exit statuses of both."""
    cluster = {"worker": [f"{address}:{PORT}" for address in ADDRESSES]}
    workers = []
    for index, host in enumerate(HOSTS):
        config = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}})
        words = [sys.executable, "-m", "tfperfkit", "run", "--run-dir", str(out), str(SCRIPT), kind, "1", str(steps)]
        environment = {**os.environ, "TF_CONFIG": config}
        workers.append(subprocess.Popen(["ip", "netns", "exec", host, *words], env=environment))
    return [worker.wait() for worker in workers]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", default="sleep")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--delay")
    given = parser.parse_args()
    if reason := refused():
        parser.error(reason)
    with tempfile.TemporaryDirectory() as folder:
        with hosts(given.delay):
            print("exit statuses", train(given.kind, given.steps, Path(folder) / "run"))
        subprocess.run([sys.executable, "-m", "tfperfkit", "report", f"{folder}/run"], check=True)


if __name__ == "__main__":
    main()
