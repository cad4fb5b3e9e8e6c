"""``tfperf doctor``: every row with what was found and what to do; status 1 if something is broken."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tfperfkit.config import runs_folder
from tfperfkit.doctor.check import Check
from tfperfkit.doctor.packages import check_packages
from tfperfkit.doctor.runtime import check_runtime, gpu_in_machine, keep_costs, try_tensorflow
from tfperfkit.doctor.tensorboard import check_tensorboard
from tfperfkit.errors import EXIT_CHECK_FAILED
from tfperfkit.report.terminal import is_quiet
from tfperfkit.report.text import one_line


def doctor() -> int:
    """Print the rows as they are found, with ``--quiet`` the broken ones alone; return the exit status."""
    checks = []
    for check in [*check_packages(), *check_tensorboard(), check_folder(runs_folder())]:
        checks.append(_show(check))
    if any(check.name == "TensorFlow" and check.found == "not installed" for check in checks):
        checks.append(_show(Check("TF Profiler", "missing", "not tried without TensorFlow")))
    else:
        shows_progress = sys.stderr.isatty() and not is_quiet()
        if shows_progress:
            print("importing TensorFlow and recording two steps ...", end="", file=sys.stderr, flush=True)
        found, failure = try_tensorflow()
        if shows_progress:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        checks += [_show(check) for check in (*check_runtime(found, failure, gpu_in_machine()), *keep_costs(found))]
    broken = [check.name for check in checks if check.status == "broken"]
    if not is_quiet():
        print()
        print(f"broken: {', '.join(broken)}" if broken else "Nothing is broken.")
    return EXIT_CHECK_FAILED if broken else 0


def check_folder(folder: Path) -> Check:
    """Check whether runs can be written where they go."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".tfperf-doctor-") as file:
            file.write(bytes(8192))
            file.flush()
    except OSError as error:
        advice = "give folders with --run-dir, or another place with TFPERF_RUNS"
        return Check("runs folder", "broken", f"{folder}: {error.strerror or error}", advice)
    return Check("runs folder", "ok", str(folder))


def _show(check: Check) -> Check:
    if is_quiet() and check.status != "broken":
        return check
    encoding = sys.stdout.encoding or "ascii"
    lines = [f"{check.status:8} {check.name:18} {one_line(check.found)}"]
    if check.advice:
        lines.append(f"{'':27} -> {one_line(check.advice)}")
    for line in lines:
        print(line.encode(encoding, "backslashreplace").decode(encoding))
    sys.stdout.flush()
    return check
