"""``memory-growth``: TensorFlow takes the memory of GPUs as it needs it, not all of it at the start."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class MemoryGrowth(Base):
    """Overrules what the script sets."""

    name = "memory-growth"
    keeps: ClassVar[Keeps] = "results"

    def environment(self, change: Change, /) -> Mapping[str, str]:
        """TensorFlow's own switch."""
        return {"TF_FORCE_GPU_ALLOW_GROWTH": "true"}

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``on_gpus``."""
        from tfperfkit_experiments.gpu_thread_mode.install import on_gpus

        return on_gpus(trial)
