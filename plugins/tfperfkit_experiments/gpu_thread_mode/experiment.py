"""``gpu-thread-mode=gpu_private``: threads of its own start a GPU's kernels, so that work of the CPU does not
hold them up; ``gpu_shared``: threads that all GPUs share; ``global``: TensorFlow's usual ones."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base

_MODES = ("gpu_private", "gpu_shared", "global")


class GpuThreadMode(Base):
    """The same kernels in the same order."""

    name = "gpu-thread-mode"
    keeps: ClassVar[Keeps] = "results"
    usage = "gpu-thread-mode=gpu_private, gpu_shared or global"

    def problem(self, change: Change, /) -> str | None:
        """One of TensorFlow's modes."""
        return None if change.value in _MODES and not change.target else self.needs("a mode")

    def environment(self, change: Change, /) -> Mapping[str, str]:
        """TensorFlow's own switch."""
        return {"TF_GPU_THREAD_MODE": change.value}

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``on_gpus``."""
        from tfperfkit_experiments.gpu_thread_mode.install import on_gpus

        return on_gpus(trial)
