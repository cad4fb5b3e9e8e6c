"""A run of Weights & Biases: the script's own where one is open in this process, else a new one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, ClassVar

from tfperfkit.tracker import Record

_TIMEOUT_S = 30
_OFF = ("offline", "disabled", "dryrun")


class WandB:
    """``wandb=PROJECT``, or alone: what ``WANDB_PROJECT`` says. ``WANDB_MODE=offline`` writes to ``wandb/`` only."""

    api: ClassVar[int] = 1
    name: ClassVar[str] = "wandb"
    needs: ClassVar[tuple[str, ...]] = ("wandb",)
    extra: ClassVar[str] = "tfperfkit[wandb]"

    def problem(self, target: str, /) -> str:
        return f"{target!r:.60} is no name of a project" if set(target) & set("/\\#?%:") else ""

    def send(self, record: Record, target: str, /) -> str:
        import wandb

        run, ours = wandb.run, False
        if run is None:
            if os.environ.get("WANDB_MODE", "online") not in _OFF and not wandb.login(prompt=False):
                raise RuntimeError("not logged in: wandb login, or set WANDB_MODE=offline")
            settings = wandb.Settings(silent=True, console="off", init_timeout=_TIMEOUT_S, disable_git=True)
            project = target or os.environ.get("WANDB_PROJECT") or "tfperf"
            words = {"name": record.name, "job_type": "tfperf", "notes": record.markdown}
            run, ours = wandb.init(project=project, settings=settings, **words), True
        try:
            if ours:  # in somebody else's run this would be a step of its history
                page = record.html.decode("utf-8", "replace")
                run.log({"tfperf_report": wandb.Html(page, inject=False)})
            _fill(wandb, run, record)
            return f"run {run.id}" + (f" in {run.dir}" if run.offline else f", {run.url}")
        finally:
            if ours:
                run.finish()


def _fill(wandb: Any, run: Any, record: Record) -> None:
    run.summary.update(record.scalars)
    artifact = wandb.Artifact(f"tfperf-{run.id}", type="report")
    with tempfile.TemporaryDirectory() as folder:
        for name, content in (("report.html", record.html), ("report.json", record.json)):
            path = Path(folder) / name
            path.write_bytes(content)
            artifact.add_file(str(path), name=name)
        run.log_artifact(artifact)
