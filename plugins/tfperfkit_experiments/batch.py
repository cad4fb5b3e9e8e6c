"""``batch=xN``: multiplies batch sizes by N, where the script hands one to ``fit`` or to ``Dataset.batch``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.model import Finding, Report
from tfperfkit.remedy import BatchSize
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import DATASET, Seams

#: Small enough to fit into memory, large enough to see.
_USUAL = 4
#: The batch size of ``fit`` with arrays if it is given none.
_KERAS_BATCH = 32


class Batch(Base):
    """Training takes another course with larger batches: the learning rate should follow."""

    name = "batch"
    keeps = "nothing"
    usage = "batch=x4"
    remedies = (BatchSize("training"),)
    headroom = 0.9

    def problem(self, change: Change, /) -> str | None:
        """Accept a factor."""
        return None if _factor(change) is not None and not change.target else self.needs("a factor")

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """The factor that the finding advises, else the usual one."""
        times = finding.remedy.times if isinstance(finding.remedy, BatchSize) else None
        yield self.with_value(f"x{max(times or _USUAL, 2)}")

    def without_finding(self, report: Report) -> Iterator[Change]:
        """The usual factor if there is training."""
        if report.steps.count:
            yield self.with_value(f"x{_USUAL}")

    def apply(self, seams: Seams, change: Change) -> None:
        """Change ``Dataset.batch`` and ``padded_batch`` in user files, and ``fit`` with arrays."""
        factor = _factor(change) or 1

        def batch(original: Any, dataset: Any, batch_size: Any, *arguments: Any, **named: Any) -> Any:
            if seams.called_by_user():
                seams.applied()
                batch_size = batch_size * factor
            return original(dataset, batch_size, *arguments, **named)

        def larger(held: dict[str, Any]) -> bool:
            if held.get("batch_size") is None and not hasattr(held.get("x"), "shape"):
                return False
            held["batch_size"] = (held.get("batch_size") or _KERAS_BATCH) * factor
            return True

        for name in ("batch", "padded_batch"):
            seams.replace(DATASET, name, batch)
        seams.on_model_call("fit", larger)


def _factor(change: Change) -> int | None:
    """N of ``xN`` or ``N``; None if it is not from 2 to 10,000."""
    text = change.value.lower().removeprefix("x")
    return int(text) if text.isdecimal() and 2 <= int(text) <= 10_000 else None
