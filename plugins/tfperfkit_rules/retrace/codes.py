"""The codes of the retrace findings. A code is stable and never reused; each has a page ``docs/findings/<code>.md``."""

from __future__ import annotations

from tfperfkit_probes.retrace.model import Blame

from tfperfkit.remedy import Hoist, KeepTrace, Remedy

PYTHON_VALUE = "RET001"
VARYING_BATCH = "RET002"
VARYING_LENGTH = "RET003"
VARYING_RANK = "RET004"
VARYING_DTYPE = "RET005"
VARYING_STRUCTURE = "RET006"
OBJECT_IDENTITY = "RET007"
MADE_IN_LOOP = "RET008"
PER_INSTANCE = "RET009"
CONTEXT = "RET010"
FAILING = "RET011"
PIPELINE_REBUILT = "RET012"
OTHER = "RET013"
UNEXPLAINED = "RET014"

#: The remedy of each finding.
REMEDIES: dict[str, Remedy] = {
    PYTHON_VALUE: KeepTrace("number"),
    VARYING_BATCH: KeepTrace("batch"),
    VARYING_LENGTH: KeepTrace("length"),
    VARYING_RANK: KeepTrace("rank"),
    VARYING_DTYPE: KeepTrace("dtype"),
    VARYING_STRUCTURE: KeepTrace("structure"),
    OBJECT_IDENTITY: KeepTrace("object"),
    MADE_IN_LOOP: KeepTrace("function"),
    PER_INSTANCE: KeepTrace("instance"),
    CONTEXT: KeepTrace("context"),
    FAILING: KeepTrace("failure"),
    PIPELINE_REBUILT: Hoist("pipeline"),
    OTHER: KeepTrace("other"),
}

#: The code for each blame of the probe ``retrace``.
OF_BLAME: dict[Blame, str] = {
    "python_value": PYTHON_VALUE,
    "varying_batch": VARYING_BATCH,
    "varying_length": VARYING_LENGTH,
    "varying_rank": VARYING_RANK,
    "varying_dtype": VARYING_DTYPE,
    "varying_structure": VARYING_STRUCTURE,
    "object_identity": OBJECT_IDENTITY,
    "made_in_loop": MADE_IN_LOOP,
    "per_instance": PER_INSTANCE,
    "context": CONTEXT,
    "failing": FAILING,
    "pipeline_rebuilt": PIPELINE_REBUILT,
    "other": OTHER,
}

#: The title of each code, which is the heading of its page. A finding fills in numbers and the user's names.
TITLES = {
    PYTHON_VALUE: "tf.function retraced because a Python value changes",
    VARYING_BATCH: "tf.function retraced because the batch size changes",
    VARYING_LENGTH: "tf.function retraced because an argument's shape changes",
    VARYING_RANK: "tf.function retraced because an argument's rank changes",
    VARYING_DTYPE: "tf.function retraced because an argument's dtype changes",
    VARYING_STRUCTURE: "tf.function retraced because an argument's structure changes",
    OBJECT_IDENTITY: "tf.function retraced because an argument is a new object",
    MADE_IN_LOOP: "tf.function created in a loop, so traced every time",
    PER_INSTANCE: "tf.function method traced again for each new instance",
    CONTEXT: "tf.function retraced because its calling context changes",
    FAILING: "tf.function trace fails and is retried every time",
    PIPELINE_REBUILT: "tf.data pipeline rebuilt, so its functions are traced again",
    OTHER: "tf.function retraced because an argument changes",
    UNEXPLAINED: "New model or compile() in a loop causes retracing",
}
