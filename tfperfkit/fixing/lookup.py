"""Which fixers carry out a remedy. Known without LibCST, whose import takes as long as a whole report."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING

from tfperfkit.remedy import (
    BatchLoop,
    BatchSize,
    CallDirectly,
    ChangeStage,
    Compile,
    Every,
    Hoist,
    KeepTrace,
    Remedy,
    ReplaceOps,
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
            return "compiled.STEP", "step_from_loop", "split_step"
        case Compile("loop"):
            return "compiled.LOOP", "step_from_loop", "split_step"
        case Compile("function"):
            return ("compiled.FUNCTION",)
        case Compile("jacobian"):
            return ("compiled.JACOBIAN",)
        case CallDirectly("predict"):
            return "predict_to_call", "batch_methods.PREDICT"
        case CallDirectly("fit"):
            return "batch_methods.FIT", "batch_methods.FIT_LOSS"
        case Compile("model"):
            return "predict_to_call", "compiled_model"
        case BatchSize("predict"):
            return ("predict_to_call",)
        case Setting("run_eagerly" | "debug_mode" | "check_numerics") | Every("print"):
            return ("switches.DEBUGGING",)
        case Setting("precision", "float32"):
            return ("switches.FLOAT32",)
        case Setting("precision", "float16 on GPUs"):
            return ("switches.WHERE_GPU",)
        case Setting("steps_per_execution"):
            return ("options.STEPS_PER_EXECUTION",)
        case ChangeStage("keep_up"):
            return "stages.PARALLEL_MAP", "batch_first.BATCH_FIRST", "batch_first.VECTORIZED"
        case ChangeStage("parallel"):
            return ("stages.PARALLEL_MAP",)
        case ChangeStage("prefetch"):
            return ("stages.PREFETCH",)
        case ChangeStage("cache"):
            return "stages.CACHE", "stages.CACHE_BEFORE_SHUFFLE"
        case ChangeStage("batch_first"):
            return "batch_first.BATCH_FIRST", "batch_first.VECTORIZED"
        case ChangeStage("order"):
            return "stage_order.EARLIER", "stage_order.LATER", "stage_order.CACHE_EARLIER"
        case Hoist("file" | "value"):
            return "hoist", "kept_attribute", "keep_result.FUNCTION", "keep_result.STATEMENT", "opened_once"
        case Hoist("model"):
            return ("loaded_once",)
        case ReplaceOps("one_pass"):
            return ("joined_runs",)
        case Hoist("array"):
            return ("captured_arrays",)
        case Hoist("reader"):
            return "keep_result.FUNCTION", "keep_result.STATEMENT", "opened_once"
        case KeepTrace("number"):
            return ("tensor_arguments",)
        case KeepTrace("function"):
            return ("defined_once",)
        case ReplaceOps("all_rows"):
            return ("vectorized_map",)
        case ReplaceOps("fewer"):
            return ("kept_attribute",)
        case ReplaceOps("array"):
            return ("arrays.LIST",)
        case BatchLoop("element"):
            return ("arrays.MESSAGE",)
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
