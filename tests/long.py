"""``make test-long``: many more cases than ``make test``, in parts. ``python -m tests.long [PART ...] [--again]``.

A test that passed is not repeated while the code stays the same: after a stop, Ctrl-C or a failure the same command
goes on. ``--again`` forgets what passed. Prints what was covered: the tests and minutes of each part.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "long"
CODE = ("tfperfkit", "plugins", "examples", "tests")
#: The arguments of pytest for each part; quick parts first.
PARTS = {
    "seams": ("tests/compat", "tests/regressions"),
    "hostile": ("tests/hostile",),
    "integration": ("-m", "long", "tests/integration"),
    "transparency": ("tests/transparency",),
    "faults": ("tests/faults",),
    "crashes": ("tests/crashes",),
    "soundness": ("tests/soundness",),
}


class Part:
    """A part of the long tests. ``passed``: the tests that passed with this code; ``seconds``: how long they took."""

    def __init__(self, name: str, code: str) -> None:
        self.name = name
        self._code = code
        self._state = FOLDER / f"{name}.json"
        self._passed = FOLDER / f"{name}.passed"
        state = json.loads(self._state.read_text()) if self._state.exists() else {}
        if state.get("code") != code:
            self.forget()
            state = {}
        self.status: str = state.get("status", "not run")
        self.seconds: float = state.get("seconds", 0.0)
        self._take_over()  # of a run that was stopped

    def forget(self) -> None:
        """Forget what passed."""
        for path in (self._state, self._passed, self._passed.with_suffix(".now")):
            path.unlink(missing_ok=True)
        self.status, self.seconds = "not run", 0.0

    @property
    def passed(self) -> int:
        """Return the number of tests that passed with this code."""
        return len(self._passed.read_text().splitlines()) if self._passed.exists() else 0

    def run(self) -> None:
        """Run the tests that did not pass yet."""
        begun = time.monotonic()
        self._keep("stopped")
        # A worker of pytest-xdist may run this code: the inner tests must not take themselves for its tests.
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
        environment = {**inherited, "TFPERF_LONG": "1", "TFPERF_PASSED": str(self._passed)}
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-n",
            "2",
            "--dist",
            "worksteal",
            "--timeout",
            "3600",
            "-p",
            "resumed",
            *PARTS[self.name],
        ]
        try:
            status = subprocess.run(command, cwd=ROOT, env=environment).returncode
        finally:
            self.seconds += time.monotonic() - begun
            self._take_over()
            self._keep("stopped")
        # 5: no test was left.
        self._keep({0: "passed", 5: "passed", 2: "stopped"}.get(status, "failed"))

    def _take_over(self) -> None:
        now = self._passed.with_suffix(".now")
        if now.exists():
            with self._passed.open("a") as file:
                file.write(now.read_text())
            now.unlink()

    def _keep(self, status: str) -> None:
        self.status = status
        self._state.write_text(json.dumps({"code": self._code, "status": status, "seconds": self.seconds}))


def digest() -> str:
    """Return the digest of the code that the tests run."""
    found = hashlib.sha256()
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*.py")):
            found.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


def describe(parts: list[Part]) -> str:
    """Make the table of what was covered."""
    lines = [f"{'part':14}{'status':10}{'tests passed':>13}{'minutes':>9}"]
    lines += [f"{part.name:14}{part.status:10}{part.passed:13,}{part.seconds / 60:9.1f}" for part in parts]
    return "\n".join(lines)


def main() -> int:
    """Run the parts that have not passed, print the table, and return 1 unless all chosen parts passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--again", action="store_true", help="run tests that have passed, too")
    given = parser.parse_args()
    unknown = set(given.names) - PARTS.keys()
    if unknown:
        parser.error(f"no part is named {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    code = digest()
    parts = {name: Part(name, code) for name in PARTS}
    chosen = [parts[name] for name in given.names or PARTS]
    try:
        for part in chosen:
            if given.again:
                part.forget()
            if part.status != "passed":
                part.run()
    except KeyboardInterrupt:
        pass
    print(describe([*parts.values()]), flush=True)
    return int(any(part.status != "passed" for part in chosen))


if __name__ == "__main__":
    sys.exit(main())
