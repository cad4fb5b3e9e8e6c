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

#: What the findings ask for.
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

#: By what the probe ``retrace`` blames.
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

#: What each code means, without numbers or names: the heading of its page.
TITLES = {
    PYTHON_VALUE: "A Python value that changes makes a tf.function trace again",
    VARYING_BATCH: "Batches of varying size make a tf.function trace again",
    VARYING_LENGTH: "Varying lengths make a tf.function trace again",
    VARYING_RANK: "Tensors of varying rank make a tf.function trace again",
    VARYING_DTYPE: "Tensors of varying dtype make a tf.function trace again",
    VARYING_STRUCTURE: "Arguments of varying structure make a tf.function trace again",
    OBJECT_IDENTITY: "A new Python object as an argument makes a tf.function trace again",
    MADE_IN_LOOP: "A tf.function is made again in code that runs repeatedly",
    PER_INSTANCE: "Each new instance traces its tf.function method again",
    CONTEXT: "A tf.function traces again because it is called under another context",
    FAILING: "A trace that fails is tried again and again",
    PIPELINE_REBUILT: "A tf.data pipeline is built again and again",
    OTHER: "A tf.function traces again and again",
    UNEXPLAINED: "Steady steps go on tracing",
}
