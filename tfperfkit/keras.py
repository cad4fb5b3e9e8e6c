"""``tfperfkit.keras.Profile``: a callback of Keras that records a ``fit``, as ``tfperfkit.watch`` does.

::

    model.fit(data, callbacks=[tfperfkit.keras.Profile(html="report.html", track="mlflow")])
"""

from __future__ import annotations

import atexit
import os
from typing import Any

import keras

from tfperfkit import watch  # through the package, whose ``watch`` is the function
from tfperfkit.report.scalars import scalars
from tfperfkit.tracking.destinations import destinations
from tfperfkit.watch import Run, Watch


class Profile(keras.callbacks.Callback):  # type: ignore[misc]  # Keras is not typed
    """Records from the beginning of training to its end and reports then.

    ``probes``, ``steps`` and ``run_dir`` as for ``tfperfkit.watch``; ``html``: the report as a file, too; ``track``:
    trackers as for ``tfperf run --track``, of which one that can't be reached costs a line on stderr. At the end
    ``run`` has the report and ``logs`` the scalars, which the callbacks after this one find in their ``logs`` of
    ``on_train_end``. A ``fit`` that fails is reported when the next one begins, or the interpreter ends.
    """

    def __init__(
        self,
        probes: str | tuple[str, ...] = "default",
        steps: int | None = None,
        run_dir: str | os.PathLike[str] | None = None,
        html: str | os.PathLike[str] | None = None,
        track: str = "",
    ) -> None:
        super().__init__()
        if track:
            destinations(track)  # a mistake in it is for now, not for after hours of training
        self._track = track
        self._watch: Watch = watch(probes=probes, steps=steps, run_dir=run_dir)
        self._html = html
        self._open = False
        self.run: Run | None = None
        self.logs: dict[str, float] = {}

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        self._end()
        self.run = self._watch.__enter__()
        self.run._called = "profile.run"
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
        if self._track:
            self.run.track(self._track)
