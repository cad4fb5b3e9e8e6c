"""The reference GAN, stage by stage: what tfperf predicted on each, and what the next stage gained."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

GAN = Path(__file__).parents[1] / "examples" / "gan" / "train.py"
#: Stage and steps: enough for all windows.
STAGES = (("naive", 24), ("cached", 40), ("graph", 100), ("batch", 24), ("xla", 16), ("mixed", 16), ("shared", 100))


def run(stage: str, steps: int) -> dict[str, object]:
    """The JSON report of one stage."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.json"
        subprocess.run(
            [sys.executable, "-m", "tfperfkit", "run", "--out", str(Path(folder) / "run"), "--json", str(file),
             "--output", os.devnull, str(GAN), "--", "--stage", stage, "--steps", str(steps), "--out", folder],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=600,
        )
        report: dict[str, object] = json.loads(file.read_text())
        return report


def main() -> None:
    print("| stage | step | img/s | first finding | predicted |")
    print("|---|---|---|---|---|")
    for stage, steps in STAGES:
        report = run(stage, steps)
        median = report["steps"]["median_ms"]  # type: ignore[index]
        batch = 1024 if stage in ("batch", "xla", "mixed") else 64
        findings = report["findings"]
        first = findings[0] if findings else None  # type: ignore[index]
        told, predicted = "–", "–"
        if first:
            told = f"{first['code']} at {Path(first['where'][0]['file']).name}:{first['where'][0]['line']}"
            low, high = first.get("predicted_range") or (None, None)
            predicted = f"{low:.1f} to {high:.1f}" if low else "–"
        print(f"| {stage} | {median:.1f} ms | {2 * batch / median * 1000:,.0f} | {told} | {predicted} |", flush=True)


if __name__ == "__main__":
    main()
