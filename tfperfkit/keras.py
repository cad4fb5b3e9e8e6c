"""``tfperfkit.keras.Profile``: a callback of Keras that records a ``fit``, as ``tfperfkit.watch`` does.

::

    model.fit(data, callbacks=[tfperfkit.keras.Profile(html="report.html")])
"""

from __future__ import annotations

import atexit
import math
import os
from typing import Any

import keras

from tfperfkit import watch  # through the package, whose ``watch`` is the function
from tfperfkit.model import Report
from tfperfkit.watch import Run, Watch


class Profile(keras.callbacks.Callback):  # type: ignore[misc]  # Keras is not typed
    """Records from the beginning of training to its end and reports then.

    ``probes``, ``steps`` and ``out`` as for ``tfperfkit.watch``; ``html``: the report as a file, too. At the end
    ``run`` has the report and ``logs`` the scalars, which the callbacks after this one find in their ``logs`` of
    ``on_train_end``. A ``fit`` that fails is reported when the next one begins, or the interpreter ends.
    """

    def __init__(
        self,
        probes: str | tuple[str, ...] = "default",
        steps: int | None = None,
        out: str | os.PathLike[str] | None = None,
        html: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__()
        self._watch: Watch = watch(probes=probes, steps=steps, out=out)
        self._html = html
        self._open = False
        self.run: Run | None = None
        self.logs: dict[str, float] = {}

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        self._end()
        self.run = self._watch.__enter__()
        self._open = True
        atexit.register(self._end)

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        self._end()
        if logs is not None:
            logs.update(self.logs)

    def _end(self) -> None:
        if not self._open:
            return
        self._open = False
        atexit.unregister(self._end)
        self._watch.__exit__(None, None, None)
        if self.run is None or self.run.report is None:
            return
        self.logs = scalars(self.run.report)
        if self._html is not None:
            self.run.save_html(self._html)


def scalars(report: Report) -> dict[str, float]:
    """The account and the findings as numbers by name, as trackers take them: ``tfperf_step_ms`` (the mean clean
    step), ``tfperf_share_PART`` of it (0 to 1), and for each finding ``tfperf_finding_CODE``, its share."""
    made: dict[str, float] = {}
    parts = {part: ms for part, ms in (report.steps.breakdown_ms or {}).items() if math.isfinite(ms)}
    total = sum(parts.values())
    if total > 0:
        made["tfperf_step_ms"] = total
        made |= {f"tfperf_share_{part}": ms / total for part, ms in parts.items()}
    for finding in report.findings:
        if math.isfinite(finding.share_of_step):
            name = f"tfperf_finding_{finding.code}"
            made[name] = max(made.get(name, 0.0), finding.share_of_step)
    return made
