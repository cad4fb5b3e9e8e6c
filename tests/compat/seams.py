"""Every seam of TensorFlow, Keras and line_profiler that an instrument patches, calls or reads, and what the report
says when it is another one. One run of ``tfperf`` breaks all the seams of a group at once.

A seam without words is one whose loss costs nothing that a reader would miss: another way leads to the same result,
or a value that is only shown is left out.
"""

from __future__ import annotations

from probe_seams import PROBE_SEAMS
from seam import CONTEXT, ITERATORS, KERAS, OPS, POLYMORPHIC, Seam

STEPS = {
    "batches that a loop takes from a dataset": (ITERATORS, "OwnedIterator.__next__"),
    "batches of a distributed dataset": ("tensorflow.python.distribute.input_lib", "DistributedIteratorBase.__next__"),
    "calls of tf.functions": (f"{POLYMORPHIC}polymorphic_function", "Function._call"),
    "calls of concrete functions and of the signatures of SavedModels": (
        f"{POLYMORPHIC}concrete_function",
        "ConcreteFunction._call_impl",
    ),
    "updates by tf.compat.v1 optimizers": ("tensorflow.python.training.optimizer", "Optimizer.apply_gradients"),
    "batches of Model.fit": (f"{KERAS}callbacks.callback_list", "CallbackList.on_train_batch_begin"),
    "the ends of Model.fit's batches": (f"{KERAS}callbacks.callback_list", "CallbackList.on_train_batch_end"),
    "the ends of Model.fit's epochs": (f"{KERAS}callbacks.callback_list", "CallbackList.on_epoch_end"),
    "updates by Keras' optimizers": (f"{KERAS}optimizers.base_optimizer", "BaseOptimizer.apply"),
    "calls of train_on_batch": (f"{KERAS}backend.tensorflow.trainer", "TensorFlowTrainer.train_on_batch"),
    "runs of sessions": ("tensorflow.python.client.session", "BaseSession._run"),
    "calls of predict": (f"{KERAS}backend.tensorflow.trainer", "TensorFlowTrainer.predict"),
    "calls of evaluate": (f"{KERAS}backend.tensorflow.trainer", "TensorFlowTrainer.evaluate"),
}

SEAMS = (
    *(
        Seam(
            f"steps {how}",
            "hooks.method_seam steps.markers steps.seam_table steps.work_calls steps.named_function steps.fit_batches",
            module,
            path,
            "absent" if (how, path) == ("inherited", "DistributedIteratorBase.__next__") else how,
            "",
            f"steps: {what} can't be seen",
        )
        for how in ("inherited", "compiled")
        for what, (module, path) in STEPS.items()
    ),
    Seam(
        "steps compiled",
        "graphs.session_runs",
        "tensorflow.python.client.session",
        "BaseSession._do_run",
        "compiled",
        "ops",
        "what sessions fetch can't be seen",
    ),
    Seam(
        "eager",
        "steps.markers",
        CONTEXT,
        "executing_eagerly",
        "renamed",
        "",
        "steps other than Model.fit's can't be seen: this TensorFlow has no executing_eagerly",
    ),
    Seam(
        "eager",
        "input.iterator_model",
        "tensorflow.python.eager.execute",
        "quick_execute",
        "renamed",
        "input",
        "a pipeline could not be read",
    ),
    # --- traces
    *(
        Seam(
            "traces signature",
            instruments,
            f"{POLYMORPHIC}tracing_compilation",
            "_create_concrete_function",
            "signature",
            probe,
            words,
        )
        for instruments, probe, words in (
            ("graphs.tracing", "retrace", "its _create_concrete_function takes other arguments"),
            ("graphs.first_run", "ops", "the operations of functions are not recorded"),
            (
                "devices.placement devices.source devices.copies",
                "devices",
                "where their operations run is not recorded",
            ),
            (
                "graphs.sources graphs.reading graphs.snapshot",
                "lines",
                "traces are counted, but their arguments",
            ),
        )
    ),
    Seam(
        "traces renamed", "graphs.tracing", f"{POLYMORPHIC}tracing_compilation", "_create_concrete_function", "renamed"
    ),
    Seam(
        "traces renamed",
        "graphs.tracing memory.live_objects",
        f"{POLYMORPHIC}transform",
        "CONCRETE_FUNCTION_CALLBACKS",
        "renamed",
        "memory",
        "graphs are not counted: traces can't be seen in this TensorFlow",
    ),
    Seam("traces renamed", "steps.functions steps.batch_size", OPS, "get_default_graph", "renamed"),
    Seam(
        "cache",
        "graphs.tracing",
        "tensorflow.core.function.polymorphism.function_cache",
        "FunctionCache._primary",
        "renamed",
        "retrace",
        "this TensorFlow is not known: its traces can't be read",
    ),
    *PROBE_SEAMS,
)
