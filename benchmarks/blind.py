"""The report's findings on a blind batch: ``python -m benchmarks.blind first [NAMES...]``.

Runs ``tfperf run`` on each script of ``corpus/BATCH`` and prints its cause, as written by the script's author, with the
headline and the first three findings. Whether a finding is right is for a user to judge: the authors know no codes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.script_gain import of_script

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1] / "corpus"
_NEAR = 2  # lines


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.blind", description=__doc__)
    parser.add_argument("batch", help=f"one of {', '.join(batches())}")
    parser.add_argument("names", nargs="*", help="scripts of the batch [default: all]")
    given = parser.parse_args()
    for entry in entries(given.batch):
        if not given.names or entry["name"] in given.names:
            print("\n".join(told(entry)), flush=True)


@cache
def _manifest() -> list[dict[str, Any]]:
    manifest = tomllib.loads((ROOT / "manifest.toml").read_text(encoding="utf-8"))
    folders = {"fault": "faults", "healthy": "healthy"}
    return [
        {**row, "path": ROOT / row["batch"] / folder / f"{row['name']}.py"}
        for kind, folder in folders.items()
        for row in manifest[kind]
    ]


def batches() -> list[str]:
    """List the names of the batches, the oldest first."""
    return list(dict.fromkeys(entry["batch"] for entry in _manifest()))


def entries(batch: str) -> list[dict[str, Any]]:
    """List the scripts of a batch as the manifest has them, those with a fault first. ``path`` is the script, ``cause``
    is missing in a healthy one. Raises ``SystemExit`` for a batch that is not there."""
    if batch not in batches():
        raise SystemExit(f"no such batch: {batch} (there are {', '.join(batches())})")
    return [entry for entry in _manifest() if entry["batch"] == batch]


def told(entry: dict[str, Any]) -> list[str]:
    """Profile a script and describe its report, as lines."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "report.json"
        command = [sys.executable, "-m", "tfperfkit", "run", "--run-dir", f"{scratch}/run", "--json", str(out)]
        done = subprocess.run([*command, str(entry["path"])], capture_output=True, text=True, timeout=300, check=False)
        if not out.exists():
            return [f"{entry['name']}: no report ({done.stderr[-200:]})"]
        report = json.loads(out.read_text(encoding="utf-8"))
    planted = anchored(entry)
    lines = [f"{entry['name']}: {entry.get('cause', 'healthy')}", f"  {report['headline']}"]
    loud = [finding for finding in report["findings"] if finding["severity"] != "info"]
    for finding in loud[:3]:
        at = [place["line"] for place in finding["where"]]
        right = any(abs(line - mine) <= _NEAR for line in at for mine in planted)
        place = "at the place" if right else "elsewhere"
        lines.append(f"  {finding['code']} {place} {at} {gain(finding, report)}: {finding['title']}")
    return lines


def gain(finding: dict[str, Any], report: dict[str, Any]) -> str:
    """Write the predicted gain of a finding, and what it is of the script after its imports, as twins are timed."""
    ends = finding["predicted_range"] or [finding["at_least"] or finding["ceiling"]]
    words = "" if finding["predicted_range"] else "at least " if finding["at_least"] else "at most "
    if None in ends:
        return "no gain"
    whole = [of_script(end, finding, report) for end in ends]
    printed, script = (" to ".join(f"{end:.1f}" for end in each) for each in (ends, whole))
    return f"{words}{printed} (of the script {words}{script})"


def anchored(entry: dict[str, Any]) -> list[int]:
    """List the lines of the script at which the fault is, from 1."""
    lines = entry["path"].read_text(encoding="utf-8").splitlines()
    anchors = [anchor.splitlines()[0].strip() for anchor in entry.get("anchors", ())]
    return [number for number, line in enumerate(lines, 1) if any(anchor in line for anchor in anchors)]


if __name__ == "__main__":
    main()
