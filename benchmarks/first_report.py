"""Profile the GAN as a newcomer does, and print where the time from the clone to the report went: ``make run``.

Twelve steps are enough: two of warm-up, the windows of the three probes, and steps without a probe to compare with.
Uses what ``make run`` has installed, and the standard library.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

COMMAND = ("run", "examples/gan/train.py", "--probes", "lines,retrace,tfprof", "--steps", "12")


def main() -> int:
    """Run the profile, print the split, and return tfperf's exit status."""
    folder = Path(sys.prefix)
    result = folder / "first_report.json"
    print("$ tfperf " + " ".join(COMMAND), flush=True)
    begun = time.monotonic()
    command = [folder / "bin" / "tfperf", COMMAND[0], "--json", result, *COMMAND[1:]]
    status = subprocess.run(command).returncode
    seconds = time.monotonic() - begun
    if status == 0:
        installed = float((folder / "install_seconds").read_text())
        print("\n" + describe_split(installed, seconds, json.loads(result.read_text())["run_account"]))
    return status


def describe_split(installed: float, seconds: float, account: dict[str, Any]) -> str:
    """Say in one line where the time went. ``seconds``: of the command; ``account``: the report's, of the script."""
    imports = sum(account["imports_s"].values())
    script = account["total_s"] - imports
    parts = {"install": installed, "imports": imports, "script": script, "report": seconds - account["total_s"]}
    split = ", ".join(f"{name} {value:.1f} s" for name, value in parts.items())
    return f"make run: {installed + seconds:.0f} s from an empty .venv to the report ({split})"


if __name__ == "__main__":
    sys.exit(main())
