"""Every seam of TensorFlow, Keras and line_profiler that an instrument patches, calls or reads, and what the report
says when it is another one. One run of ``tfperf`` breaks all the seams of a group at once.

A seam without words is one whose loss costs nothing that a reader would miss: another way leads to the same result,
or a value that is only shown is left out.
"""

from __future__ import annotations

from typing import NamedTuple


class Seam(NamedTuple):
    """``how``: see ``breaking``. ``probe``: whose row must hold ``words``; "" for the notes of the whole report."""

    group: str
    instruments: str
    module: str
    path: str
    how: str
    probe: str = ""
    words: str = ""


_POLYMORPHIC = "tensorflow.python.eager.polymorphic_function."
_CONTEXT = "tensorflow.python.eager.context"
_OPS = "tensorflow.python.framework.ops"
_ITERATORS = "tensorflow.python.data.ops.iterator_ops"
_KERAS = "keras.src."
_PROFILER = "tensorflow.python.profiler."
_ADAPTERS = "keras.src.trainers.data_adapters."

STEPS = {
    "batches that a loop takes from a dataset": (_ITERATORS, "OwnedIterator.__next__"),
    "batches of a distributed dataset": ("tensorflow.python.distribute.input_lib", "DistributedIteratorBase.__next__"),
    "calls of tf.functions": (f"{_POLYMORPHIC}polymorphic_function", "Function._call"),
    "updates by tf.compat.v1 optimizers": ("tensorflow.python.training.optimizer", "Optimizer.apply_gradients"),
    "batches of Model.fit": (f"{_KERAS}callbacks.callback_list", "CallbackList.on_train_batch_begin"),
    "the ends of Model.fit's batches": (f"{_KERAS}callbacks.callback_list", "CallbackList.on_train_batch_end"),
    "the ends of Model.fit's epochs": (f"{_KERAS}callbacks.callback_list", "CallbackList.on_epoch_end"),
    "updates by Keras' optimizers": (f"{_KERAS}optimizers.base_optimizer", "BaseOptimizer.apply"),
    "calls of train_on_batch": (f"{_KERAS}backend.tensorflow.trainer", "TensorFlowTrainer.train_on_batch"),
    "runs of sessions": ("tensorflow.python.client.session", "BaseSession.run"),
    "calls of predict": (f"{_KERAS}backend.tensorflow.trainer", "TensorFlowTrainer.predict"),
    "calls of evaluate": (f"{_KERAS}backend.tensorflow.trainer", "TensorFlowTrainer.evaluate"),
}

SEAMS = (
    *(
        Seam(
            f"steps {how}",
            "hooks.method_seam steps.markers steps.seam_table steps.work_calls steps.named_function steps.fit_loop",
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
        "eager",
        "steps.markers",
        _CONTEXT,
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
            f"{_POLYMORPHIC}tracing_compilation",
            "_create_concrete_function",
            "signature",
            probe,
            words,
        )
        for instruments, probe, words in (
            ("graphs.tracing", "retrace", "its _create_concrete_function takes other arguments"),
            ("graphs.first_run", "ops", "the operations of functions are not recorded"),
            (
                "devices.placement devices.source devices.copies devices.why",
                "devices",
                "where their operations run is not recorded",
            ),
            (
                "graphs.sources graphs.repeats graphs.flops graphs.tensors",
                "lines",
                "traces are counted, but their arguments",
            ),
        )
    ),
    Seam(
        "traces renamed", "graphs.tracing", f"{_POLYMORPHIC}tracing_compilation", "_create_concrete_function", "renamed"
    ),
    Seam(
        "traces renamed",
        "graphs.tracing memory.live_objects",
        f"{_POLYMORPHIC}transform",
        "CONCRETE_FUNCTION_CALLBACKS",
        "renamed",
        "memory",
        "graphs are not counted: traces can't be seen in this TensorFlow",
    ),
    Seam("traces renamed", "steps.updates steps.batch_size", _OPS, "get_default_graph", "renamed"),
    Seam(
        "cache",
        "graphs.tracing",
        "tensorflow.core.function.polymorphism.function_cache",
        "FunctionCache._primary",
        "renamed",
        "retrace",
        "this TensorFlow is not known: its traces can't be read",
    ),
    # --- probes: seams that are not there
    Seam(
        "missing",
        "graphs.first_run graphs.call_counts graphs.same_arguments",
        f"{_POLYMORPHIC}concrete_function",
        "ConcreteFunction._call_flat",
        "renamed",
        "ops",
        "ConcreteFunction has no _call_flat: the first execution of functions can't be seen",
    ),
    Seam(
        "missing",
        "hooks.safe_points",
        "tensorflow.python.util.traceback_utils",
        "is_traceback_filtering_enabled",
        "renamed",
    ),
    Seam(
        "missing",
        "graphs.building",
        "tensorflow.python.eager.execute",
        "record_gradient",
        "renamed",
        "lines",
        "gradients are told by the call for them",
    ),
    Seam(
        "missing",
        "graphs.building",
        "tensorflow.python.eager.record",
        "record_operation",
        "renamed",
        "lines",
        "custom gradients are not told from what they differentiate",
    ),
    Seam(
        "missing",
        "graphs.building",
        f"{_KERAS}backend.tensorflow.core",
        "name_scope",
        "absent",
        "lines",
        "operations are not told by the Keras layer that built them",
    ),
    Seam(
        "missing",
        "graphs.sources",
        f"{_POLYMORPHIC}atomic_function",
        "from_func_graph",
        "renamed",
        "lines",
        "gradients of compiled functions under an eager tape have no lines",
    ),
    Seam("missing", "graphs.stacks", "tensorflow.python.util.tf_stack", "GraphDebugInfoBuilder", "renamed"),
    Seam(
        "missing",
        "hooks.frames",
        "tensorflow.python.util.tf_stack",
        "StackTraceFilter",
        "renamed",
        "",
        "TensorFlow's messages about operations may show a line of tfperf",
    ),
    Seam(
        "missing",
        "hooks.frames",
        "tensorflow.python.util.traceback_utils",
        "_EXCLUDED_PATHS",
        "renamed",
        "",
        "the script's tracebacks may show a line of tfperf",
    ),
    Seam(
        "missing",
        "stacks.call_site",
        "tensorflow.python.util.tf_stack",
        "_source_mapper_stacks",
        "renamed",
        "",
        "for lines that AutoGraph converted the lines that called them are told",
    ),
    Seam(
        "missing",
        "devices.eager",
        "tensorflow.python.framework.op_callbacks",
        "add_op_callback",
        "absent",
        "devices",
        "eager operations can't be seen in this TensorFlow",
    ),
    Seam(
        "missing",
        "devices.host_syncs",
        _OPS,
        "_EagerTensorBase",
        "renamed",
        "devices",
        "reads of eager tensors can't be seen",
    ),
    Seam(
        "missing",
        "memory.live_objects",
        "tensorflow.python.ops.resource_variable_ops",
        "BaseResourceVariable",
        "renamed",
        "memory",
        "variables are not counted: this TensorFlow has no BaseResourceVariable",
    ),
    Seam("missing", "memory.live_objects", _OPS, "_default_graph_stack", "renamed"),
    Seam(
        "missing",
        "input.datasets input.describe",
        "tensorflow.python.data.ops.dataset_ops",
        "DatasetV2.__init__",
        "compiled",
        "input",
        "DatasetV2.__init__ of this tensorflow is not the method that tfperf knows",
    ),
    Seam("missing", "profiler", f"{_PROFILER}trace", "Trace", "renamed", "tfprof", "Trace"),
    Seam("missing", "input.returns memory.containers", _OPS, "EagerTensor", "renamed"),
    Seam("missing", "memory.process", _CONTEXT, "Context.get_memory_info", "absent"),
    Seam("missing", "line_profiler", "line_profiler", "", "unimportable", "lines", "line_profiler can't be imported"),
    Seam("missing", "devices.runtime", "tensorflow.python.platform.sysconfig", "get_build_info", "refused"),
    Seam(
        "missing",
        "devices.runtime",
        "tensorflow.python.framework.config",
        "tensor_float_32_execution_enabled",
        "absent",
    ),
    Seam("missing", "settings", "tensorflow.python.framework.config", "is_op_determinism_enabled", "absent"),
    Seam("missing", "settings", f"{_POLYMORPHIC}eager_function_run", "RUN_FUNCTIONS_EAGERLY", "renamed"),
    # --- probes: seams of another kind
    Seam(
        "kinds",
        "graphs.first_run graphs.call_counts graphs.same_arguments",
        f"{_POLYMORPHIC}concrete_function",
        "ConcreteFunction._call_flat",
        "fixed",
        "ops",
        "ConcreteFunction does not let _call_flat be covered",
    ),
    Seam(
        "kinds",
        "steps.batch_size",
        f"{_POLYMORPHIC}concrete_function",
        "ConcreteFunction.structured_input_signature",
        "raising",
    ),
    Seam(
        "kinds",
        "graphs.building",
        "tensorflow.python.pywrap_tfe",
        "TFE_Py_RegisterGradientFunction",
        "refused",
        "lines",
        "gradients are told by the call for them",
    ),
    Seam("kinds", "graphs.building", "tensorflow.python.eager.record", "record_operation", "signature"),
    Seam(
        "kinds",
        "graphs.building",
        "tensorflow.python.distribute.mirrored_run",
        "_MirroredReplicaThread",
        "absent",
        "lines",
        "lines of replicas do not stand below strategy.run",
    ),
    Seam("kinds", "graphs.building", f"{_KERAS}backend.tensorflow.core", "name_scope.__enter__", "compiled"),
    Seam("kinds", "graphs.sources", f"{_POLYMORPHIC}atomic_function", "from_func_graph", "signature"),
    Seam(
        "kinds",
        "devices.eager",
        "tensorflow.python.framework.op_callbacks",
        "add_op_callback",
        "refused",
        "devices",
        "eager operations can't be seen in this TensorFlow (OtherTensorFlow",
    ),
    Seam(
        "kinds",
        "devices.host_syncs",
        _OPS,
        "_EagerTensorBase._numpy",
        "compiled",
        "devices",
        "reads of eager tensors can't be seen: _EagerTensorBase._numpy of this tensorflow is not the method",
    ),
    Seam(
        "kinds",
        "memory.live_objects",
        "tensorflow.python.ops.resource_variable_ops",
        "BaseResourceVariable.__init__",
        "compiled",
        "memory",
        "variables are not counted: BaseResourceVariable.__init__",
    ),
    Seam(
        "kinds",
        "input.datasets",
        _ITERATORS,
        "OwnedIterator.__init__",
        "compiled",
        "input",
        "OwnedIterator.__init__ of this tensorflow is not the method that tfperf knows",
    ),
    Seam(
        "kinds",
        "profiler",
        f"{_PROFILER}internal._pywrap_profiler",
        "ProfilerSession",
        "refused",
        "tfprof",
        "the TF Profiler could not be started (this is another TensorFlow)",
    ),
    Seam(
        "kinds",
        "line_profiler",
        "line_profiler.line_profiler",
        "LineProfiler.enable_by_count",
        "refused",
        "lines",
        "line_profiler could not be started (OtherTensorFlow",
    ),
    Seam("kinds", "devices.runtime", _CONTEXT, "Context.soft_device_placement", "raising"),
    Seam(
        "kinds",
        "hooks.frames",
        "keras.src.utils.traceback_utils",
        "_EXCLUDED_PATHS",
        "number",
        "",
        "keras.src.utils.traceback_utils has no _EXCLUDED_PATHS",
    ),
    # --- what is only met inside others
    Seam(
        "inside",
        "graphs.first_run",
        _CONTEXT,
        "Context.enable_graph_collection",
        "refused",
        "devices",
        "TensorFlow gave no graphs (OtherTensorFlow)",
    ),
    Seam(
        "inside",
        "graphs.snapshot graphs.stacks graphs.autograph_xla graphs.zeros",
        _OPS,
        "Operation.traceback",
        "raising",
        "ops",
        "a function could not be described (OtherTensorFlow",
    ),
    Seam(
        "inside",
        "graphs.sources",
        _OPS,
        "Operation.traceback",
        "raising",
        "lines",
        "the graph of a function could not be read (OtherTensorFlow",
    ),
    Seam(
        "inside",
        "devices.runtime",
        _CONTEXT,
        "Context.list_logical_devices",
        "refused",
        "devices",
        "TensorFlow's devices could not be listed (OtherTensorFlow",
    ),
    Seam(
        "inside",
        "input.iterator_model",
        "tensorflow.python.ops.gen_experimental_dataset_ops",
        "iterator_get_model_proto",
        "absent",
        "input",
        "this TensorFlow does not tell the times of tf.data stages",
    ),
    Seam(
        "inside",
        "input.keras",
        f"{_ADAPTERS}array_data_adapter",
        "ArrayDataAdapter.__init__",
        "compiled",
        "input",
        "data passed to Keras as arrays can't be described",
    ),
    Seam(
        "inside",
        "input.evaluated_batches",
        f"{_KERAS}callbacks.callback_list",
        "CallbackList.on_test_batch_begin",
        "compiled",
        "input",
        "the pipelines of evaluate and predict are not measured within them",
    ),
    Seam(
        "inside",
        "input.keras",
        f"{_KERAS}trainers.epoch_iterator",
        "EpochIterator._interrupted_warning",
        "compiled",
        "input",
        "data that ran out within Keras can't be seen",
    ),
    Seam("inside", "profiler", f"{_PROFILER}profiler_v2", "_pywrap_profiler", "absent"),
    Seam(
        "inside",
        "line_profiler",
        "line_profiler.line_profiler",
        "LineProfiler._all_paddings",
        "number",
        "lines",
        "line_profiler could not be started (TypeError",
    ),
)
