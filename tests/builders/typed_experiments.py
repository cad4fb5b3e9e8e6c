"""Every installed experiment, as it may be typed."""

from __future__ import annotations

from tfperfkit import registry

NAMES = sorted(registry.experiments())
#: One of each, as it may be typed.
TYPED = {
    "batch": "batch=x4",
    "env": "env:OMP_NUM_THREADS=1",
    "fit-without": "fit-without=validation",
    "gpu-thread-mode": "gpu-thread-mode=gpu_private",
    "input": "input=first-batch",
    "last-batch": "last-batch=drop",
    "metrics": "metrics=off",
    "mixed": "mixed=bfloat16",
    "onednn": "onednn=on",
    "pad-to": "pad-to=32",
    "predict-batch": "predict-batch=1024",
    "python-calls": "python-calls=last",
    "shuffle": "shuffle=1000",
    "longer-epochs": "longer-epochs=20",
    "steps-per-execution": "steps-per-execution=16",
    "threads": "threads=2,1",
    "without-line": "without-line:train.py:31",
} | dict.fromkeys(
    ["graph", "once", "one-pass", "relaxed-shapes", "same-arguments", "same-objects", "tensor-arguments", "without"], ""
)


def typed(name: str) -> str:
    return TYPED.get(name, name) or f"{name}:train_step"
