"""Detect the activity of a sampled Python stack by the frames of TensorFlow and Keras on it.

File and function names are all that is looked at, so an unknown TensorFlow only makes the answer coarser: ``dispatch``
(its Python ran) instead of, say, ``host_sync``.
"""

from __future__ import annotations

import os
from typing import Literal, NamedTuple

from tfperfkit.records.parts import Activity, Context
from tfperfkit.records.samples import FOLDER, PASSES_ON, RESTORED
from tfperfkit.user_code import installed_as

TRACING, SAVING, SUMMARY, INPUT, SYNC, CALL, EXECUTE, EVALUATE, CALLBACK, BUILD, PASSES = (1 << i for i in range(11))

_READS = dict.fromkeys(
    ("_numpy", "_numpy_internal", "numpy", "__array__", "__float__", "__int__", "__bool__", "__index__", "__format__"),
    SYNC,
)
_BUILDS = dict.fromkeys(("build", "_maybe_build", "build_wrapper", "add_weight", "_initialize"), BUILD)
#: A layer that is called with symbolic tensors adds itself to a model, by a look at a graph that is thrown away.
_SYMBOLIC = {**_BUILDS, "symbolic_call": BUILD, "_functional_construction_call": BUILD}
_TRAINER = {"evaluate": EVALUATE, "predict": EVALUATE}
#: Calling what was loaded saves and loads nothing.
_RESTORED: dict[str, dict[str, int]] = {
    f"{FOLDER}{module}.py": {"*": SAVING, **{name: PASSES if name == PASSES_ON else 0 for name in functions}}
    for module, functions in RESTORED.items()
}
#: A mark for each function ("*": for all others), by the end of a file's path.
_FILES: dict[str, dict[str, int]] = {
    "tensorflow/python/eager/execute.py": {"*": EXECUTE},
    "tensorflow/python/eager/context.py": {"call_function": CALL, "sync_executors": SYNC, "async_wait": SYNC},
    "tensorflow/python/client/session.py": dict.fromkeys(
        ("_call_tf_sessionrun", "_call_tf_sessionprun"), CALL | EXECUTE
    ),
    "tensorflow/python/framework/ops.py": _READS,
    "tensorflow/python/framework/func_graph.py": {"func_graph_from_py_func": TRACING},
    "tensorflow/python/eager/polymorphic_function/tracing_compilation.py": {"_create_concrete_function": TRACING},
    "tensorflow/python/data/ops/iterator_ops.py": dict.fromkeys(("__next__", "_next_internal", "get_next"), INPUT),
    "tensorflow/python/distribute/input_lib.py": dict.fromkeys(("__next__", "get_next"), INPUT),
    "tensorflow/python/ops/summary_ops_v2.py": {"*": SUMMARY},
    "keras/src/backend/tensorflow/trainer.py": _TRAINER,
    "keras/src/engine/training.py": _TRAINER,
    "keras/src/layers/layer.py": _SYMBOLIC,
    "keras/src/ops/operation.py": _SYMBOLIC,
    "keras/src/engine/base_layer.py": _SYMBOLIC,
    "keras/src/optimizers/base_optimizer.py": _BUILDS,
    **_RESTORED,
}
_FOLDERS = (
    ("tensorflow/python/checkpoint/", {"*": SAVING}),
    (FOLDER, {"*": SAVING}),
    ("keras/src/saving/", {"*": SAVING}),
    ("keras/src/callbacks/", {"*": CALLBACK}),
)


TENSORFLOW = ("tensorflow", "keras", "tf_keras")


#: Modules whose functions only pass a call on: what a line called is the first function behind them.
_PASSING = (
    "tensorflow.python.util.",
    "keras.src.utils.traceback_utils",
    "tf_keras.src.utils.traceback_utils",
    "functools",
    "contextlib",
    "wrapt.",
)
_LIBRARY = os.path.dirname(os.__file__).replace("\\", "/") + "/"


class FileFacts(NamedTuple):
    """Facts about a source file by its name. ``marks``: by function; None if there are none. ``module``: as it is
    imported ("keras.src.layers.layer"); "" for the user's own and for generated code. ``passing``: its functions only
    pass calls on."""

    own: bool
    package: str
    marks: dict[str, int] | None
    module: str = ""
    passing: bool = False


def facts(filename: str, own: bool) -> FileFacts:
    """Looked up once for each file."""
    name = filename.replace("\\", "/")
    installed = installed_as(filename).replace("\\", "/")
    package = installed.partition("/")[0] or "python"
    inside = installed or (name.removeprefix(_LIBRARY) if name.startswith(_LIBRARY) else "")
    if own:
        return FileFacts(own, package, None)
    module = inside.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return FileFacts(own, package, _marks(name, package), module, module.startswith(_PASSING))


def _marks(name: str, package: str) -> dict[str, int] | None:
    if package not in TENSORFLOW:
        return None
    name = name.replace("tf_keras/src/", "keras/src/")
    for end, marks in _FILES.items():
        if name.endswith(end):
            return marks
    if "tensorflow/python/ops/gen_" in name:
        return {"*": EXECUTE}
    if name.endswith("keras/src/callbacks/callback_list.py"):
        return None
    return next((marks for folder, marks in _FOLDERS if folder in name), None)


def activity(bits: int, innermost: int, library: bool) -> Activity:
    """Return the activity of the stack; the first that applies wins.

    ``bits``: the marks of the whole stack; ``innermost``: of its innermost frame; ``library``: TensorFlow or Keras ran
    below the user's code.
    """
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


def context(bits: int) -> Context | Literal[""]:
    """Return the context of the stack; "" for none."""
    if bits & EVALUATE:
        return "evaluate"
    if bits & BUILD:
        return "build"
    return "callback" if bits & CALLBACK else ""
