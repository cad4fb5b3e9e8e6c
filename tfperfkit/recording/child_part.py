"""The part of a child that trains: made a run directory like the script's own as it imports TensorFlow."""

from __future__ import annotations

from pathlib import Path

import msgspec

from tfperfkit.clock import NS_PER_S, now_ns, wall_s
from tfperfkit.storage.run_directory import PHASES, RECORDS, STACKS, Manifest, RunDirectory


def furnish(root: Path, part: Path) -> None:
    """Give the part of a child the settings of the run ``root``, and the folders of a session. Raises RunDirectoryError
    or OSError."""
    _, whole = RunDirectory.open(root)
    run, own = RunDirectory.open(part)
    run.write_json(
        "run.json",
        Manifest(
            tfperfkit_run=whole.tfperfkit_run,
            argv=own.argv,
            cwd=own.cwd,
            python=own.python,
            probes=whole.probes,
            options=whole.options,
            windows=whole.windows,
            steps_from=whole.steps_from,
            started_ns=own.started_ns,
            started_wall_s=wall_s() - (now_ns() - own.started_ns) / NS_PER_S,
            tool_version=whole.tool_version,
            revision=whole.revision,
            user_roots=whole.user_roots,
            left_out=whole.left_out,
            shown=whole.shown,
            child=msgspec.structs.replace(own.child, trains=True) if own.child is not None else None,
        ),
    )
    for folder in (run.session, run.trace, run.path / "probes"):
        folder.mkdir(exist_ok=True)
    for file in (run.path / RECORDS, run.session / f"{PHASES}.jsonl", run.session / STACKS):
        file.touch()
