"""Which traces of a run TensorBoard is given, and in which order."""

from __future__ import annotations

from pathlib import Path

from tfperfkit.storage.run_directory import Manifest, RunDirectory
from tfperfkit.viewing.logdir import build


def test_the_latest_trace_of_a_run_stands_first(tmp_path: Path) -> None:
    """Put a trace from before the first step last: it has no steps to show, and the browser opens the first."""
    manifest = Manifest(tfperfkit_run=1, argv=["train.py"], cwd=str(tmp_path), python="python", probes=[], started_ns=1)
    run = RunDirectory.create(tmp_path / "run", manifest)
    for moment in ("2026_11_25_20_10_05", "2026_11_25_20_10_12"):
        folder = run.path / "trace" / "plugins" / "profile" / moment
        folder.mkdir(parents=True)
        (folder / "host.xplane.pb").write_bytes(b"\x0a\x00")  # one plane, empty
    shown = build(tmp_path / "logs", [run.path])
    assert [item.name for item in shown] == ["run-2026_11_25_20_10_12", "run-2026_11_25_20_10_05"]
