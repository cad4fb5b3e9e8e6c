"""Install into a virtual environment and say what happens: ``python benchmarks/install.py VENV REQUIREMENT...``.

One run of pip resolves all requirements. pip compiles bytecode on one core; here all cores do that afterwards. The
seconds go into VENV/install_seconds. Uses the standard library only, since it runs before anything is installed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

#: Lines of pip that say what takes long: downloads of 10 MB and more, and the beginning of each part.
_TOLD = re.compile(r"\s*(Downloading \S+ \((\d\d+(\.\d+)? MB|.* GB)\)|Installing collected)")
_FILE = re.compile(r"Downloading (?:\S*/)?([\w.]+?)-\d\S* \((.+)\)")


def main(venv: Path, *requirements: str) -> int:
    """Make the environment if it is missing, install, and return pip's exit status."""
    begun = time.monotonic()
    python = venv / "bin" / "python"
    if not python.exists():
        say(f"making {venv}")
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    say(f"resolving {', '.join(requirements)}")
    status = install(python, requirements)
    if status:
        return status
    say("compiling bytecode")
    folder = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    # Some packages ship templates and tests that aren't valid Python; their errors mean nothing.
    subprocess.run([python, "-m", "compileall", "-qq", "-j", "0", folder, "tfperfkit", "plugins"], check=False)
    seconds = time.monotonic() - begun
    (venv / "install_seconds").write_text(f"{seconds:.1f}\n")
    say(f"installed in {seconds:.0f} s")
    return 0


def install(python: Path, requirements: tuple[str, ...]) -> int:
    """Run pip once, print what takes long, and return its exit status; all of its output if it fails."""
    command = [str(python), "-m", "pip", "install", "--no-compile", "--disable-pip-version-check"]
    command += ["--progress-bar", "off", "-c", "constraints.txt"]
    for requirement in requirements:
        command += ["-e", requirement] if requirement.startswith(".") else [requirement]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    lines = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            if _TOLD.match(line):
                found = _FILE.search(line)
                packages = f"installing {len(line.split(',')):,} packages"
                say(f"downloading {found[1]}, {found[2]}" if found else packages)
    if process.returncode:
        sys.stdout.writelines(lines)
    return process.returncode


def say(text: str) -> None:
    """Print a line of progress at once."""
    print(f"install: {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
