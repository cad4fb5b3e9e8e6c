"""``tfperfkit.integrations.ray.profiled``: each worker of a Ray Train run is recorded as one part of the same run.

::

    loop = profiled(train_loop, run_dir="/shared/runs/first")
    trainer = TensorflowTrainer(loop, scaling_config=ScalingConfig(num_workers=2))
    trainer.fit()

Then ``tfperf report /shared/runs/first`` is the report of all workers.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from tfperfkit import watch

P = ParamSpec("P")
R = TypeVar("R")


def profiled(
    train_loop: Callable[P, R],
    *,
    run_dir: str | os.PathLike[str],
    probes: str | tuple[str, ...] = "default",
    steps: int | None = None,
) -> Callable[P, R]:
    """``train_loop_per_worker`` of a trainer of Ray Train, recorded in each worker as ``tfperfkit.watch`` does.

    ``run_dir``: the folder of the whole run, which all workers can write (on several hosts a shared file system): each
    has a part of its own in it. ``probes`` and ``steps`` as for ``watch``. Return values and exceptions of the loop are
    passed on. Outside of a worker of Ray it is recorded as a run of one process. tfperfkit has to be installed where
    the workers run.
    """
    folder = os.path.abspath(os.fspath(run_dir))

    @functools.wraps(train_loop)
    def worker(*args: P.args, **kwargs: P.kwargs) -> R:
        with watch(probes=probes, steps=steps, run_dir=folder, rank=_rank()):
            return train_loop(*args, **kwargs)

    return worker


def _rank() -> tuple[int, int] | None:
    """Return the rank of this worker and how many there are, as Ray Train counts them; None outside of its workers."""
    from ray import train

    try:
        context = train.get_context()
        rank, size = context.get_world_rank(), context.get_world_size()
    except Exception:  # of versions that raise where there is no worker
        return None
    return (int(rank), int(size)) if rank is not None and size is not None else None
