"""Which fixers carry out a remedy. Known without LibCST, whose import takes as long as a whole report."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING

from tfperfkit.remedy import (
    BatchSize,
    CallDirectly,
    ChangeStage,
    Compile,
    Every,
    Hoist,
    KeepTrace,
    Remedy,
    Setting,
)

if TYPE_CHECKING:
    from tfperfkit.fixing.case import Fixer


def is_mechanical(remedy: Remedy) -> bool:
    """Return whether there are fixers for it."""
    return bool(_fixer_modules(remedy))


def find_fixers(remedy: Remedy) -> Iterator[Fixer]:
    """Yield the fixers for a remedy in the order in which they are tried."""
    for name in _fixer_modules(remedy):
        module, _, own = name.partition(".")
        fixer: Fixer = getattr(import_module(f"tfperfkit.fixing.fixers.{module}"), own or "FIXER")
        yield fixer


def _fixer_modules(remedy: Remedy) -> tuple[str, ...]:
    """Return the modules of ``fixers``, with the name in the module if it has several fixers."""
    match remedy:
        case Compile("step"):
            return "compiled.STEP", "step_from_loop"
        case Compile("function"):
            return ("compiled.FUNCTION",)
        case Compile("jacobian"):
            return ("compiled.JACOBIAN",)
        case Compile("model") | CallDirectly("predict") | BatchSize("predict"):
            return ("predict_to_call",)
        case Setting("run_eagerly" | "debug_mode" | "check_numerics") | Every("print"):
            return ("switches.DEBUGGING",)
        case Setting("precision", "float32"):
            return ("switches.FLOAT32",)
        case Setting("precision", "float16 on GPUs"):
            return ("switches.WHERE_GPU",)
        case Setting("steps_per_execution"):
            return ("options.STEPS_PER_EXECUTION",)
        case ChangeStage("keep_up" | "parallel"):
            return ("stages.PARALLEL_MAP",)
        case ChangeStage("prefetch"):
            return ("stages.PREFETCH",)
        case ChangeStage("cache"):
            return ("stages.CACHE",)
        case ChangeStage("batch_first"):
            return ("stages.BATCH_FIRST",)
        case Hoist("file" | "value"):
            return ("hoist",)
        case KeepTrace("number"):
            return ("tensor_arguments",)
        case KeepTrace("batch"):
            return "options.REDUCE_RETRACING", "stages.DROP_REMAINDER"
        case KeepTrace("length"):
            return ("options.REDUCE_RETRACING",)
        case KeepTrace("shape"):
            return ("stages.DROP_REMAINDER",)
        case Every("save"):
            return "saving.BY_EPOCH", "saving.BY_COUNTER", "saving.BINARY_ARRAYS"
        case Every("collect"):
            return ("switches.COLLECTIONS",)
    return ()
