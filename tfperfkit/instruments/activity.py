"""What a sampled Python stack is doing, told by the frames of TensorFlow and Keras on it.

File and function names are all that is looked at, so an unknown TensorFlow only makes the answer coarser: ``dispatch``
(its Python ran) instead of, say, ``host_sync``.
"""

from __future__ import annotations

from typing import NamedTuple

#: What a moment of the training thread counts as, in the order in which the first that applies wins.
ACTIVITIES = ("tracing", "saving", "summary", "input", "host_sync", "graph", "eager_ops", "dispatch", "python")
#: Or ``waiting``, by the sampler: the thread does nothing where it lets go of an object (a dataset's iterator).
#: Around it: ``evaluate`` (validation, also predict), ``callback`` of Keras, ``build`` (layers and variables).
CONTEXTS = ("evaluate", "callback", "build")

TRACING, SAVING, SUMMARY, INPUT, SYNC, CALL, EXECUTE, EVALUATE, CALLBACK, BUILD = (1 << i for i in range(10))
#: These count only where they are the innermost frame, or below the person's code.
_INNERMOST = SYNC | EXECUTE

_READS = dict.fromkeys(
    ("_numpy", "_numpy_internal", "numpy", "__array__", "__float__", "__int__", "__bool__", "__index__", "__format__"),
    SYNC,
)
_BUILDS = dict.fromkeys(("build", "_maybe_build", "build_wrapper", "add_weight", "_initialize"), BUILD)
_TRAINER = {"evaluate": EVALUATE, "predict": EVALUATE}
#: By the end of a file's path: a mark for each function ("*": for all others).
_FILES: dict[str, dict[str, int]] = {
    "tensorflow/python/eager/execute.py": {"*": EXECUTE},
    "tensorflow/python/eager/context.py": {"call_function": CALL, "sync_executors": SYNC, "async_wait": SYNC},
    "tensorflow/python/framework/ops.py": _READS,
    "tensorflow/python/framework/func_graph.py": {"func_graph_from_py_func": TRACING},
    "tensorflow/python/eager/polymorphic_function/tracing_compilation.py": {"_create_concrete_function": TRACING},
    "tensorflow/python/data/ops/iterator_ops.py": dict.fromkeys(("__next__", "_next_internal", "get_next"), INPUT),
    "tensorflow/python/distribute/input_lib.py": dict.fromkeys(("__next__", "get_next"), INPUT),
    "tensorflow/python/ops/summary_ops_v2.py": {"*": SUMMARY},
    "keras/src/backend/tensorflow/trainer.py": _TRAINER,
    "keras/src/engine/training.py": _TRAINER,
    "keras/src/layers/layer.py": _BUILDS,
    "keras/src/optimizers/base_optimizer.py": _BUILDS,
}
_FOLDERS = (
    ("tensorflow/python/checkpoint/", {"*": SAVING}),
    ("tensorflow/python/saved_model/", {"*": SAVING}),
    ("keras/src/saving/", {"*": SAVING}),
    ("keras/src/callbacks/", {"*": CALLBACK}),
)


TENSORFLOW = ("tensorflow", "keras", "tf_keras")


class FileFacts(NamedTuple):
    """What is known of a source file by its name. ``marks``: by function; None if there are none."""

    own: bool
    package: str
    marks: dict[str, int] | None


def facts(filename: str, own: bool) -> FileFacts:
    """Looked up once for each file."""
    package = "python"
    for marker in ("site-packages/", "dist-packages/"):
        _, found, rest = filename.rpartition(marker)
        if found:
            package = rest.partition("/")[0]
    if own or package not in TENSORFLOW:
        return FileFacts(own, package, None)
    name = filename.replace("\\", "/").replace("tf_keras/src/", "keras/src/")
    for end, marks in _FILES.items():
        if name.endswith(end):
            return FileFacts(own, package, marks)
    if "tensorflow/python/ops/gen_" in name:
        return FileFacts(own, package, {"*": EXECUTE})
    if name.endswith("keras/src/callbacks/callback_list.py"):
        return FileFacts(own, package, None)
    marked = next((marks for folder, marks in _FOLDERS if folder in name), None)
    return FileFacts(own, package, marked)


def activity(bits: int, innermost: int, library: bool) -> str:
    """One of ``ACTIVITIES``. ``bits``: the marks of the whole stack; ``innermost``: of its innermost frame;
    ``library``: TensorFlow or Keras ran below the person's code."""
    if bits & TRACING:
        return "tracing"
    if bits & SAVING:
        return "saving"
    if bits & SUMMARY:
        return "summary"
    if bits & INPUT:
        return "input"
    if innermost & SYNC:
        return "host_sync"
    if innermost & EXECUTE:
        return "graph" if bits & CALL else "eager_ops"
    return "dispatch" if library else "python"


def context(bits: int) -> str:
    """One of ``CONTEXTS`` or ""."""
    if bits & EVALUATE:
        return "evaluate"
    if bits & BUILD:
        return "build"
    return "callback" if bits & CALLBACK else ""
