"""A run of MLflow: the script's own where one is open or named, else a new one."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from tfperfkit.tracker import Record

#: MLflow asks again for minutes otherwise; what the user has set counts.
_HASTE = {
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "15",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
}

#: Characters of a description that every version takes.
_MAX_DESCRIPTION = 5_000


class MLflow:
    """``mlflow=http://127.0.0.1:5000``, a store's address, or alone: what ``MLFLOW_TRACKING_URI`` says."""

    api: ClassVar[int] = 1
    name: ClassVar[str] = "mlflow"
    needs: ClassVar[tuple[str, ...]] = ("mlflow",)
    extra: ClassVar[str] = "tfperfkit[mlflow]"

    def problem(self, target: str, /) -> str:
        return ""

    def send(self, record: Record, target: str, /) -> str:
        with _hasty():
            import mlflow
            from mlflow.entities import Metric

            at = target or mlflow.get_tracking_uri()
            client = mlflow.MlflowClient(tracking_uri=at)
            run, ours = _run(client, record)
            identity = run.info.run_id
            ms = int(record.seconds * 1000)
            client.log_batch(
                identity,
                metrics=[Metric(name, value, ms, record.steps) for name, value in record.scalars.items()],
            )
            client.set_tag(identity, "tfperf.run", record.name)
            with tempfile.TemporaryDirectory() as folder:
                for name, content in (
                    ("report.html", record.html),
                    ("report.json", record.json),
                    ("report.md", record.markdown.encode("utf-8", "backslashreplace")),
                ):
                    (Path(folder) / name).write_bytes(content)
                client.log_artifacts(identity, folder, "tfperf")
            if ours:  # somebody else's run has their own words
                client.set_tag(identity, "mlflow.note.content", _description(record.markdown))
                client.set_terminated(identity)
        return f"run {identity} of {at}"


def _description(markdown: str) -> str:
    """Return as many whole lines of the text as the first page of a run shows: the headline comes first."""
    if len(markdown) <= _MAX_DESCRIPTION:
        return markdown
    return markdown[: markdown.rfind("\n", 0, _MAX_DESCRIPTION)]


def _run(client: Any, record: Record) -> tuple[Any, bool]:
    """The run, and whether it is ours to end."""
    import mlflow

    # Of any thread of this process: ours is not the one that began it.
    newest = getattr(sys.modules.get("mlflow.tracking.fluent"), "_get_latest_active_run", None)
    active = newest() if newest is not None else None
    wanted = os.environ.get("MLFLOW_RUN_ID") or (active.info.run_id if active is not None else "")
    if wanted:
        return client.get_run(wanted), False
    experiment = os.environ.get("MLFLOW_EXPERIMENT_ID", "")
    name = os.environ.get("MLFLOW_EXPERIMENT_NAME", "")
    if not experiment and name:
        known = client.get_experiment_by_name(name)
        experiment = known.experiment_id if known is not None else client.create_experiment(name)
    made = client.create_run(
        experiment or "0", run_name=record.name, tags={mlflow.utils.mlflow_tags.MLFLOW_SOURCE_NAME: record.script}
    )
    return made, True


@contextmanager
def _hasty() -> Iterator[None]:
    """Few retries, nothing on the script's standard output."""
    added = [name for name in _HASTE if name not in os.environ]
    os.environ.update({name: _HASTE[name] for name in added})
    loggers = [logging.getLogger(name) for name in ("mlflow", "alembic", "urllib3")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
        for name in added:
            os.environ.pop(name, None)
