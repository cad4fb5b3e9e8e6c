"""``python -m benchmarks.viewing RUN [ROUNDS]``: how long ``tfperf view --tensorboard`` and ``tfperf export`` take."""

from __future__ import annotations

import signal
import statistics
import subprocess
import sys
import tempfile
import time


def answers(run: str) -> float:
    """Until the address is printed, which is when the profile plugin lists the run."""
    began = time.monotonic()
    command = [sys.executable, "-m", "tfperfkit", "view", "--tensorboard", "--no-browser", run]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        if not process.stdout.readline():
            raise SystemExit(process.wait())
        took = time.monotonic() - began
        process.send_signal(signal.SIGINT)
    return took


def exports(run: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        command = [sys.executable, "-m", "tfperfkit", "export", run, "-o", f"{folder}/out.json.gz"]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        return time.monotonic() - began


def main(run: str, rounds: int) -> None:
    for name, measure in (("tfperf view answers", answers), ("tfperf export", exports)):
        times = [measure(run) for _ in range(rounds)]
        print(f"{name:20} median {statistics.median(times):.2f} s, worst {max(times):.2f} s of {rounds}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5)
