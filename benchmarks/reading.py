"""Traces as large as one likes, to see what ``tfperf report`` takes for them; and its figures next to XProf's.

python -m benchmarks.reading make big.xplane.pb --events 1400000 [--kernels 0.2]
python -m benchmarks.reading measure big.xplane.pb
python -m benchmarks.reading compare trace.xplane.pb
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = 400
THREADS = 8


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number: int, value: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(value)) + value


def entry(number: int, name: bytes) -> bytes:
    return b"\x08" + varint(number) + field(2, b"\x08" + varint(number) + field(2, name))


def make(path: Path, events: int, kernels: float, seed: int = 1) -> None:
    """Operations of a graph on ``THREADS`` threads in steps of 10 ms, and ``kernels`` of all events on one GPU."""
    rng = random.Random(seed)
    names = [f"model/layer_{n}/dense/MatMul:MatMul".encode() for n in range(NAMES)]
    metadata = b"".join(field(4, entry(n + 1, name)) for n, name in enumerate(names))
    metadata += field(4, entry(NAMES + 1, b"train"))
    numbers = {b"step_num": 1, b"_r": 2, b"id": 3, b"correlation_id": 4, b"tf_op": 5}
    stats = b"".join(field(5, entry(number, name)) for name, number in numbers.items())
    on_host = int(events * (1 - kernels))
    each = on_host // THREADS
    length = 7_000_000  # ps
    with path.open("wb") as file:
        lines = []
        for thread in range(THREADS):
            line = bytearray(b"\x08" + varint(thread + 1) + field(2, f"tf_Compute/{thread}".encode()))
            at = 0
            for number in range(each):
                duration = rng.randrange(1_000_000, length)
                body = b"\x08" + varint(rng.randrange(NAMES) + 1) + b"\x10" + varint(at) + b"\x18" + varint(duration)
                if number % 3 == 0:
                    body += field(4, b"\x08\x03\x18" + varint(number))
                line += b"\x22" + varint(len(body)) + body
                at += length
            lines.append(field(3, bytes(line)))
        steps = bytearray(b"\x08\x64" + field(2, b"python"))
        for number in range(max(1, each * length // 10_000_000_000)):
            body = (
                b"\x08"
                + varint(NAMES + 1)
                + b"\x10"
                + varint(number * 10_000_000_000)
                + b"\x18"
                + varint(9_900_000_000)
            )
            body += field(4, b"\x08\x01\x20" + varint(number)) + field(4, b"\x08\x02\x20\x01")
            steps += b"\x22" + varint(len(body)) + body
        lines.append(field(3, bytes(steps)))
        file.write(field(1, field(2, b"/host:CPU") + b"".join(lines) + metadata + stats))
        if kernels:
            file.write(field(1, gpu(int(events * kernels), rng, stats, each * length)))


def gpu(count: int, rng: random.Random, stats: bytes, whole: int) -> bytes:
    names = [f"volta_sgemm_{n}x64_nn".encode() for n in range(NAMES)]
    metadata = b"".join(field(4, entry(n + 1, name)) for n, name in enumerate(names))
    stats += b"".join(field(5, entry(100 + n, f"model/layer_{n}/dense/MatMul:MatMul".encode())) for n in range(NAMES))
    line = bytearray(b"\x08\x01" + field(2, b"Stream #7(Compute)"))
    every = max(whole // max(count, 1), 2)
    for number in range(count):
        kernel = rng.randrange(NAMES)
        body = (
            b"\x08" + varint(kernel + 1) + b"\x10" + varint(number * every) + b"\x18" + varint(rng.randrange(1, every))
        )
        body += field(4, b"\x08\x04\x18" + varint(number)) + field(4, b"\x08\x05\x38" + varint(100 + kernel))
        line += b"\x22" + varint(len(body)) + body
    return field(2, b"/device:GPU:0") + field(3, bytes(line)) + metadata + stats


def measure(path: Path, rounds: int = 3) -> dict[str, float]:
    """Seconds of the whole command, and memory beyond that of an empty one, in sizes of the file."""
    command = [sys.executable, "-m", "tfperfkit", "report", str(path), "--json", "-"]
    seconds, peaks = [], []
    for _ in range(rounds):
        begin = time.perf_counter()
        peaks.append(peak(command))
        seconds.append(time.perf_counter() - begin)
    idle = peak([sys.executable, "-c", "import tfperfkit.reading.analyse, tfperfkit.reading.command, tfperfkit.cli"])
    size = path.stat().st_size
    return {
        "file_mb": size / 1e6,
        "seconds": min(seconds),
        "peak_mb": max(peaks) / 1e6,
        "beyond_imports_in_sizes_of_the_file": (max(peaks) - idle) / size,
    }


def peak(command: list[str]) -> int:
    """The most memory that a command held, in bytes: of a child of a child, so that each is measured alone."""
    program = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", program, *command], capture_output=True, text=True, check=True)
    return int(done.stdout) * (1 if sys.platform == "darwin" else 1024)


def xprof(path: Path, tool: str) -> Any:
    """Return the output of XProf's own converter for a copy of a trace, since it leaves files next to the trace."""
    from xprof.convert.raw_to_tool_data import xspace_to_tool_data

    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "host.xplane.pb"
        shutil.copy(path, copy)
        data, _ = xspace_to_tool_data([str(copy)], tool, {"use_saved_result": False})
    return json.loads(data)


def rows(table: dict[str, Any]) -> list[dict[str, Any]]:
    labels = [column["label"] for column in table["cols"]]
    return [dict(zip(labels, (cell.get("v") for cell in row["c"]), strict=True)) for row in table["rows"]]


def compare(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tfperfkit", "report", str(path), "--json", "-"], capture_output=True, check=True
    )
    ours = json.loads(done.stdout)
    overview = next(each["p"] for each in xprof(path, "overview_page") if "steptime_ms_average" in each.get("p", {}))
    lengths = ours["steps"]["lengths_ms"]
    print("step, ms        ", overview["steptime_ms_average"], "| ours", max(lengths, default=0.0))
    operations = xprof(path, "framework_op_stats")
    idle = next(
        (row for row in rows(operations[0]) if row["Operation Type"] == "IDLE" and row["Host/device"] == "Device"), None
    )
    named = sum(
        row["Total self-time (us)"]
        for row in rows(operations[0])
        if row["Host/device"] == "Device" and row["Operation Type"] != "IDLE"
    )
    spans = sum(device["span_ms"] for device in ours["devices"])
    busy = sum(device["span_busy_ms"] for device in ours["devices"])
    if idle is not None:
        print("device time, ms ", (idle["Total self-time (us)"] + named) / 1e3, "| ours", spans)
        print("idle, ms        ", idle["Total self-time (us)"] / 1e3, "| ours", spans - busy)
    kernels: dict[str, list[float]] = {}
    stats = xprof(path, "kernel_stats")
    for row in rows(stats[0] if isinstance(stats, list) else stats):
        name = kernels.setdefault(row["Kernel Name"], [0, 0.0])
        name[0] += row["Occurrences"]
        name[1] += row["Total Duration (μs)"]
    mine = {row["kernel"]: row for row in ours["kernels"]}
    for name, (runs, total) in sorted(kernels.items(), key=lambda item: -item[1][1])[:8]:
        found = mine.get(name)
        print(
            f"{name[:40]:42}{runs:6.0f} {total / 1e3:9.3f} | ours",
            (found["runs"], round(found["total_ms"], 3)) if found else None,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("make", "measure", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--events", type=int, default=1_400_000)
    parser.add_argument("--kernels", type=float, default=0.0, help="share of the events that are a GPU's")
    given = parser.parse_args()
    if given.what == "make":
        make(given.file, given.events, given.kernels)
        print(f"{given.file}: {given.file.stat().st_size / 1e6:.1f} MB")
    elif given.what == "measure":
        print(json.dumps(measure(given.file), indent=2))
    else:
        compare(given.file)


if __name__ == "__main__":
    main()
