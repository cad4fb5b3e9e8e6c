"""``gpu-thread-mode=gpu_private``: starts a GPU's kernels from threads of its own, so that CPU work does not delay
them; ``gpu_shared``: from threads that all GPUs share; ``global``: from TensorFlow's usual threads."""

from __future__ import annotations

from collections.abc import Mapping

from tfperfkit.experiment import Change
from tfperfkit_experiments.base import WithChoice, apply_on_gpus
from tfperfkit_experiments.seams import Seams


class GpuThreadMode(WithChoice):
    """The same kernels run in the same order."""

    name = "gpu-thread-mode"
    keeps = "results"
    usage = "gpu-thread-mode=gpu_private, gpu_shared or global"
    choices = ("gpu_private", "gpu_shared", "global")
    wanted = "a mode"

    def environment(self, change: Change, /) -> Mapping[str, str]:
        """TensorFlow's variable."""
        return {"TF_GPU_THREAD_MODE": change.value}

    def apply(self, seams: Seams, change: Change) -> None:
        """Count it if there is a GPU."""
        apply_on_gpus(seams)
