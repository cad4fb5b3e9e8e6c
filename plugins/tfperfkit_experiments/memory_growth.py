"""``memory-growth``: TensorFlow allocates GPU memory as it needs it, not all of it at the start."""

from __future__ import annotations

from collections.abc import Mapping

from tfperfkit.experiment import Change
from tfperfkit_experiments.base import Base, apply_on_gpus
from tfperfkit_experiments.seams import Seams


class MemoryGrowth(Base):
    """Overrides what the script sets."""

    name = "memory-growth"
    keeps = "results"

    def environment(self, change: Change, /) -> Mapping[str, str]:
        """TensorFlow's variable."""
        return {"TF_FORCE_GPU_ALLOW_GROWTH": "true"}

    def apply(self, seams: Seams, change: Change) -> None:
        """Count it if there is a GPU."""
        apply_on_gpus(seams)
