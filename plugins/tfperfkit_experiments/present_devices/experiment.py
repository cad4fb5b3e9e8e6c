"""``present-devices``: ``tf.device`` scopes of the script's that name a device which is not there are left out."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class PresentDevices(Base):
    """TensorFlow would place these operations elsewhere in any case."""

    name = "present-devices"
    keeps: ClassVar[Keeps] = "results"
    codes = ("DEV002",)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.present_devices.install import install

        return install(trial)
