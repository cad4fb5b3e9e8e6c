"""The fixers, by the name of the remedy that they carry out (``Finding.remedies``)."""

from __future__ import annotations

from tfperfkit.fixing.case import Fixer
from tfperfkit.fixing.fixers import (
    batch_first,
    binary_arrays,
    collections,
    compile_function,
    compile_jacobian,
    compile_step,
    debug_switch,
    drop_remainder,
    hoist,
    keep_results,
    parallel_map,
    precision_switch,
    predict_to_call,
    prefetch,
    reduce_retracing,
    save_seldom,
    step_from_loop,
    steps_per_execution,
    tensor_arguments,
)

FIXERS: dict[str, Fixer] = {
    "batch-first": batch_first.FIXER,
    "binary-arrays": binary_arrays.FIXER,
    "collections": collections.FIXER,
    "compile-function": compile_function.FIXER,
    "compile-jacobian": compile_jacobian.FIXER,
    "compile-step": compile_step.FIXER,
    "debug-switch": debug_switch.FIXER,
    "drop-remainder": drop_remainder.FIXER,
    "hoist": hoist.FIXER,
    "keep-results": keep_results.FIXER,
    "parallel-map": parallel_map.FIXER,
    "precision-float32": precision_switch.FLOAT32,
    "precision-where-gpu": precision_switch.WHERE_GPU,
    "predict-to-call": predict_to_call.FIXER,
    "prefetch": prefetch.FIXER,
    "reduce-retracing": reduce_retracing.FIXER,
    "save-by-counter": save_seldom.BY_COUNTER,
    "save-by-epoch": save_seldom.BY_EPOCH,
    "step-from-loop": step_from_loop.FIXER,
    "steps-per-execution": steps_per_execution.FIXER,
    "tensor-arguments": tensor_arguments.FIXER,
}
