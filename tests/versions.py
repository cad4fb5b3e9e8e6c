"""``make test-versions``: the tests with the oldest and the newest TensorFlow and Python, and with Python 3.12, each in
an environment of its own that is made here. Prints one Markdown table for docs/compatibility.md; ends with 1 if a test
failed.

``python tests/versions.py [NAME ...]``; TFPERF_WORKERS=1 for a busy machine. An interpreter is ``$PYTHON310``,
``python3.10`` on PATH or pyenv's; one that is not there is said and its environment left out.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: Packages that a TensorFlow of another version can change. Lint, fault collection and benchmarks are CI's.
FOLDERS = ("tests/unit", "tests/contract", "tests/integration", "tests/transparency", "tests/compat")


@dataclass(frozen=True)
class Environment:
    name: str
    python: str
    constraints: str

    @property
    def folder(self) -> Path:
        return ROOT / f".venv-{self.name}"

    @property
    def binary(self) -> Path:
        return self.folder / "bin" / "python"


ENVIRONMENTS = (
    Environment("tf216-py310", "3.10", "tests/constraints-tf216.txt"),
    Environment("tf221-py312", "3.12", "constraints.txt"),  # the first with sys.monitoring
    Environment("tf221-py313", "3.13", "constraints.txt"),
)


@dataclass
class Outcome:
    """Tests by their end. ``again``: failed, and passed when they were run once more, alone."""

    passed: int = 0
    failed: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)


def interpreter(version: str) -> str | None:
    """Find a Python of this version ("3.10") that runs; None if there is none."""
    for candidate in _candidates(version):
        try:
            said = subprocess.run(
                [candidate, "-c", "import sys, venv; print('%d.%d' % sys.version_info[:2])"],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
        except OSError:
            continue
        if said.returncode == 0 and said.stdout.strip() == version:  # pyenv's shims are there for each version
            return candidate
    return None


def _candidates(version: str) -> Iterator[str]:
    given = os.environ.get(f"PYTHON{version.replace('.', '')}")
    if given:
        yield given
    found = shutil.which(f"python{version}")
    if found:
        yield found
    if shutil.which("pyenv"):
        listed = subprocess.run(["pyenv", "versions", "--bare"], capture_output=True, text=True, check=False)
        for name in listed.stdout.split():
            if name.startswith(f"{version}."):
                prefix = subprocess.run(["pyenv", "prefix", name], capture_output=True, text=True, check=False)
                yield str(Path(prefix.stdout.strip()) / "bin" / "python")


def prepare(environment: Environment, python: str) -> None:
    """Make or renew the environment when the pins, the dependencies or the folder have changed."""
    pins = ROOT / environment.constraints
    where = str(ROOT).encode()  # that of a copied checkout tests the one that it was copied from
    mark = hashlib.sha256(pins.read_bytes() + (ROOT / "pyproject.toml").read_bytes() + where).hexdigest()
    stamp = environment.folder / ".installed"
    if stamp.is_file() and stamp.read_text() == mark:
        return
    if not environment.binary.exists():
        subprocess.run([python, "-m", "venv", str(environment.folder)], check=True)
    command = [environment.binary, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*command, "-c", str(pins), "-e", ".[all,dev]"], cwd=ROOT, check=True)
    stamp.write_text(mark)


def versions(environment: Environment) -> str:
    """ "Python 3.10.13, TensorFlow 2.16.2, Keras 3.3.3"."""
    code = (
        "import platform, importlib.metadata as m; "
        "print('Python', platform.python_version(), *(f', {n} {m.version(n)}' for n in ('tensorflow', 'keras')))"
    )
    said = subprocess.run([environment.binary, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    return said.replace(" ,", ",").replace("tensorflow", "TensorFlow").replace("keras", "Keras")


def test(environment: Environment, workers: str, chosen: list[str]) -> Outcome:
    """Run the tests, and those that failed once more, alone."""
    outcome = _pytest(environment, ["-n", workers, "--dist", "loadfile", *(chosen or FOLDERS)], "all")
    if outcome.failed:
        once_more = _pytest(environment, ["-n", "0", *dict.fromkeys(map(_module, outcome.failed))], "again")
        outcome.again = [name for name in outcome.failed if name not in once_more.failed]
        outcome.failed = [name for name in outcome.failed if name in once_more.failed]
    return outcome


def _module(test_name: str) -> str:
    return test_name.partition("::")[0]


def _pytest(environment: Environment, arguments: list[str], which: str) -> Outcome:
    report = environment.folder / f"tests-{which}.xml"
    report.unlink(missing_ok=True)
    subprocess.run(
        [
            environment.binary,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-o",
            "addopts=",
            "--timeout",
            "600",
            "-o",
            "junit_family=xunit1",
            "--junitxml",
            str(report),
            *arguments,
        ],
        cwd=ROOT,
        check=False,
        stdout=sys.stderr,
    )
    if not report.is_file():
        raise SystemExit(f"{environment.name}: pytest wrote no report")
    return read(report)


def read(report: Path) -> Outcome:
    """The counts of a JUnit file."""
    outcome = Outcome()
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name = f"{case.get('file')}::{case.get('name')}"
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            outcome.failed.append(name)
        elif skipped is not None:
            outcome.skipped[re.sub(r"\s+", " ", skipped.get("message") or "no reason")] += 1
        else:
            outcome.passed += 1
    return outcome


def table(rows: list[tuple[str, Outcome]]) -> str:
    """Markdown, with the tests that failed beneath it."""
    lines = [
        f"Run on {date.today():%-d %B %Y}.",
        "",
        "| Environment | Passed | Failed | Passed when run again | Skipped |",
        "|---|---|---|---|---|",
    ]
    details: list[str] = []
    for name, outcome in rows:
        skipped = "; ".join(f"{count} × {reason}" for reason, count in outcome.skipped.most_common()) or "0"
        passed = outcome.passed + len(outcome.again)
        lines.append(f"| {name} | {passed} | {len(outcome.failed)} | {len(outcome.again)} | {skipped} |")
        details += [f"- {name}: failed: `{test_name}`" for test_name in outcome.failed]
        details += [f"- {name}: passed when run again: `{test_name}`" for test_name in outcome.again]
    return "\n".join([*lines, *(["", *details] if details else [])])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(item.name for item in ENVIRONMENTS))
    parser.add_argument("--tests", nargs="+", default=[], metavar="PATH", help="only these tests")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - {item.name for item in ENVIRONMENTS})
    if unknown:
        parser.error(f"no environment {', '.join(unknown)}")
    rows = []
    for environment in ENVIRONMENTS:
        if options.names and environment.name not in options.names:
            continue
        python = interpreter(environment.python)
        if python is None:
            print(f"{environment.name}: skipped, there is no Python {environment.python}", file=sys.stderr)
            continue
        prepare(environment, python)
        workers = os.environ.get("TFPERF_WORKERS", "2")
        rows.append((versions(environment), test(environment, workers, options.tests)))
        print(table(rows[-1:]), file=sys.stderr, flush=True)
    print(table(rows))
    return 1 if any(outcome.failed for _, outcome in rows) else 0


if __name__ == "__main__":
    raise SystemExit(main())
