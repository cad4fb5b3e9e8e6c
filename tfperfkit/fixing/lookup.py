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
    """Whether there are fixers for it."""
    return bool(_names(remedy))


def find_fixers(remedy: Remedy) -> Iterator[Fixer]:
    """Yield the fixers for a remedy in the order in which they are tried."""
    for name in _names(remedy):
        module, _, own = name.partition(".")
        fixer: Fixer = getattr(import_module(f"tfperfkit.fixing.fixers.{module}"), own or "FIXER")
        yield fixer


def _names(remedy: Remedy) -> tuple[str, ...]:
    """The modules of ``fixers``, with the name in it where there are several."""
    match remedy:
        case Compile("step"):
            return "compile_step", "step_from_loop"
        case Compile("function"):
            return ("compile_function",)
        case Compile("jacobian"):
            return ("compile_jacobian",)
        case Compile("model") | CallDirectly("predict") | BatchSize("predict"):
            return ("predict_to_call",)
        case Setting("run_eagerly" | "debug_mode" | "check_numerics") | Every("print"):
            return ("debug_switch",)
        case Setting("precision", "float32"):
            return ("precision_switch.FLOAT32",)
        case Setting("precision", "float16 on GPUs"):
            return ("precision_switch.WHERE_GPU",)
        case Setting("steps_per_execution"):
            return ("steps_per_execution",)
        case ChangeStage("keep_up" | "parallel"):
            return ("parallel_map",)
        case ChangeStage("prefetch"):
            return ("prefetch",)
        case ChangeStage("cache"):
            return ("keep_results",)
        case ChangeStage("batch_first"):
            return ("batch_first",)
        case Hoist("file" | "value"):
            return ("hoist",)
        case KeepTrace("number"):
            return ("tensor_arguments",)
        case KeepTrace("batch"):
            return "reduce_retracing", "drop_remainder"
        case KeepTrace("length"):
            return ("reduce_retracing",)
        case KeepTrace("shape"):
            return ("drop_remainder",)
        case Every("save"):
            return "save_seldom.BY_EPOCH", "save_seldom.BY_COUNTER", "binary_arrays"
        case Every("collect"):
            return ("collections",)
    return ()
