"""``onednn=on`` or ``onednn=off``: runs TensorFlow with or without its oneDNN kernels."""

from __future__ import annotations

from collections.abc import Mapping

from tfperfkit.experiment import Change
from tfperfkit.remedy import Setting
from tfperfkit_experiments.base import WithChoice
from tfperfkit_experiments.seams import Seams


class Onednn(WithChoice):
    """Overrides a script that sets the variable itself before it imports TensorFlow."""

    name = "onednn"
    keeps = "mathematics"
    usage = "onednn=on or onednn=off"
    remedies = (Setting("onednn"),)
    choices = ("on", "off")
    wanted = "on or off"

    def environment(self, change: Change, /) -> Mapping[str, str]:
        """The variable that TensorFlow reads as it is imported."""
        return {"TF_ENABLE_ONEDNN_OPTS": "1" if change.value == "on" else "0"}

    def apply(self, seams: Seams, change: Change) -> None:
        """Count it: TensorFlow has read the variable."""
        seams.applied()
