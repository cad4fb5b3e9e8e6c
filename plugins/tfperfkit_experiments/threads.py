"""``threads=INTRA,INTER``: sets how many threads one operation may use, and how many operations run at once. 0 is
TensorFlow's own choice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.model import Finding, Report
from tfperfkit.remedy import Setting
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import Seams

_SETTERS = ("set_intra_op_parallelism_threads", "set_inter_op_parallelism_threads")


class Threads(Base):
    """Overrides what the script sets."""

    name = "threads"
    keeps = "mathematics"
    usage = "threads=INTRA,INTER, 0 for TensorFlow's own choice"
    remedies = (Setting("threads"),)
    headroom = 0.3

    def problem(self, change: Change, /) -> str | None:
        """Accept two numbers."""
        return None if _numbers(change) is not None and not change.target else self.needs("two numbers")

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """TensorFlow's own choice instead of the script's."""
        yield self.with_value("0,0")

    def without_finding(self, report: Report) -> Iterator[Change]:
        """All CPU cores for one operation, one operation at a time."""
        cpus = report.run.machine.get("cpus", 1)
        if isinstance(cpus, int) and cpus > 1:
            yield self.with_value(f"{cpus},1")

    def apply(self, seams: Seams, change: Change) -> None:
        """Set the thread pools, then ignore what the script sets. Raises what TensorFlow raises once it is
        initialised."""
        config = seams.tensorflow.config.threading
        for setter, number in zip(_SETTERS, _numbers(change) or (0, 0), strict=True):
            getattr(config, setter)(number)
        seams.applied()

        def ignore(original: Any, num_threads: int) -> None:
            """Ignore the script's setting; the trial overrides it."""

        # User code calls the public module's own names.
        for owner in (config, "tensorflow.python.framework.config"):
            for setter in _SETTERS:
                seams.replace(owner, setter, ignore)


def _numbers(change: Change) -> tuple[int, int] | None:
    """Both numbers; None if there are no two."""
    parts = change.value.split(",")
    if len(parts) == 2 and all(part.strip().isdecimal() for part in parts):
        return int(parts[0]), int(parts[1])
    return None
