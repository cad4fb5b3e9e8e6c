"""``mixed=bfloat16`` or ``mixed=float16``: lets Keras compute in 16 bits and keep its weights in 32."""

from __future__ import annotations

from tfperfkit.experiment import Change
from tfperfkit.remedy import Setting
from tfperfkit_experiments.base import WithChoice
from tfperfkit_experiments.seams import Seams


class Mixed(WithChoice):
    """Results differ as the precision does. A script that sets a policy of its own overrides it."""

    name = "mixed"
    keeps = "nothing"
    usage = "mixed=bfloat16 or mixed=float16"
    remedies = (Setting("precision", "mixed_float16"),)
    choices = ("float16", "bfloat16")  # the finding is about GPUs, on which float16 is the faster one
    wanted = "a type"

    def apply(self, seams: Seams, change: Change) -> None:
        """Set Keras' policy as soon as Keras has been imported."""

        def keras() -> None:
            seams.find("keras").config.set_dtype_policy(f"mixed_{change.value}")
            seams.applied()

        seams.when_keras(keras)
