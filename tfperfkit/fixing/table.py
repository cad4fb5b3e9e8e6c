"""Which fixers a finding has, in the order in which they are tried."""

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

#: By the code of the finding.
FIXERS: dict[str, tuple[Fixer, ...]] = {
    "CMP001": (drop_remainder.FIXER,),
    "EAG001": (compile_step.FIXER, step_from_loop.FIXER),
    "EAG003": (debug_switch.FIXER,),
    "EAG004": (predict_to_call.FIXER,),
    "EAG008": (compile_function.FIXER,),
    "INP001": (parallel_map.FIXER,),
    "INP002": (hoist.FIXER,),
    "INP003": (parallel_map.FIXER,),
    "INP004": (prefetch.FIXER,),
    "INP006": (keep_results.FIXER,),
    "INP007": (batch_first.FIXER,),
    "INP011": (hoist.FIXER,),
    "INP016": (debug_switch.FIXER,),
    "OPS006": (debug_switch.FIXER,),
    "OPS003": (precision_switch.FLOAT32,),
    "PRC003": (precision_switch.WHERE_GPU,),
    "RET001": (tensor_arguments.FIXER,),
    "RET002": (reduce_retracing.FIXER, drop_remainder.FIXER),
    "RET003": (reduce_retracing.FIXER,),
    "RET014": (compile_jacobian.FIXER,),
    "STP001": (save_seldom.BY_EPOCH, save_seldom.BY_COUNTER, binary_arrays.FIXER),
    "STP002": (steps_per_execution.FIXER,),
    "STP005": (collections.FIXER,),
    "STP009": (steps_per_execution.FIXER,),
}
