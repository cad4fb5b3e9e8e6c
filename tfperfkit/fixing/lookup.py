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
    Remove,
    ReplaceOps,
    Rewrite,
    Setting,
)

if TYPE_CHECKING:
    from tfperfkit.fixing.case import Fixer


#: Fixers whose patches always need a trial, because the source proves none of them.
_CANDIDATES = frozenset({
    "batched_calls", "before_loop", "compiled.RELAXED", "compiled_stretch", "dropped.STATEMENT", "dropped.XLA",
    "fewer_operations.BLOCKS", "fewer_operations.CROP", "fewer_operations.TRIDIAGONAL", "gathered_windows",
    "graph_loop", "hoist.REUSED", "kept_expression", "read_whole",
})  # fmt: skip


def is_mechanical(remedy: Remedy) -> bool:
    """Return whether a fixer makes patches that the source proves."""
    return not _CANDIDATES.issuperset(_fixer_modules(remedy))


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
            return "compiled.STEP", "step_from_loop", "split_step", "compiled_stretch"
        case Compile("loop"):
            return "compiled.LOOP", "step_from_loop", "split_step", "compiled_stretch"
        case Compile("function"):
            return "compiled.FUNCTION", "compiled.RELAXED", "step_from_loop", "compiled_stretch", "batched_calls"
        case Compile("jacobian"):
            return ("compiled.JACOBIAN",)
        case CallDirectly("predict"):
            return "predict_to_call", "batch_methods.PREDICT", "batched_calls"
        case CallDirectly("fit"):
            return "batch_methods.FIT", "batch_methods.FIT_LOSS"
        case Compile("model"):
            return "predict_to_call", "compiled_model", "batched_calls"
        case BatchSize("predict"):
            return "predict_to_call", "batched_calls"
        case BatchLoop("call"):
            return "batched_calls", "compiled.FUNCTION", "compiled_stretch"
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
            return "batch_first.BATCH_FIRST", "batch_first.VECTORIZED", "gathered_windows"
        case ChangeStage("order"):
            return "stage_order.EARLIER", "stage_order.LATER", "stage_order.CACHE_EARLIER"
        case ChangeStage("less_python"):
            return "read_whole", "kept_expression"
        case Hoist("file" | "value"):
            return (
                "hoist", "kept_attribute", "keep_result.FUNCTION", "keep_result.STATEMENT", "opened_once",
                "before_loop", "kept_expression",
            )  # fmt: skip
        case Hoist("model"):
            return "loaded_once", "kept_expression", "hoist.REUSED"
        case Hoist("operations"):
            return "kept_expression", "hoist"
        case Hoist("iterator" | "pipeline"):
            return "hoist", "kept_expression"
        case ReplaceOps("one_pass"):
            return ("joined_runs",)
        case ReplaceOps("kept_results"):
            return "kept_attribute", "before_loop", "kept_expression"
        case ReplaceOps("gradient_blocks"):
            return ("fewer_operations.BLOCKS",)
        case ReplaceOps("crop"):
            return ("fewer_operations.CROP",)
        case ReplaceOps("banded"):
            return ("fewer_operations.TRIDIAGONAL",)
        case Hoist("array"):
            return "captured_arrays", "kept_expression"
        case Hoist("reader"):
            return "keep_result.FUNCTION", "keep_result.STATEMENT", "opened_once", "kept_expression"
        case KeepTrace("number"):
            return ("tensor_arguments",)
        case KeepTrace("function"):
            return "defined_once", "kept_expression"
        case KeepTrace("keras" | "models"):
            return ("hoist.REUSED",)
        case KeepTrace("object" | "instance"):
            return "before_loop", "hoist.REUSED"
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
            return "stages.DROP_REMAINDER", "dropped.XLA"
        case Remove("statement"):
            return ("dropped.STATEMENT",)
        case Rewrite("repeated"):
            return "before_loop", "kept_expression"
        case Rewrite("unrolled"):
            return ("graph_loop",)
        case Rewrite("python"):
            return ("read_whole",)
        case Every("save"):
            return "saving.BY_EPOCH", "saving.BY_COUNTER", "saving.BINARY_ARRAYS"
        case Every("collect"):
            return ("switches.COLLECTIONS",)
    return ()
