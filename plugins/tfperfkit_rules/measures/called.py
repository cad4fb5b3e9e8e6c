"""The call that a line of the user's made, and its activity: by the library frames below the line on the stack samples.

A function written in C has no frame; then the syntax tree says which call the line was in, and the imports say which
library it belongs to. Recordings older than these frames are read by the syntax tree alone.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple
from weakref import WeakKeyDictionary

from tfperfkit.records.samples import Frame, Place
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call, Expression
from tfperfkit.syntax.names import UNKNOWN
from tfperfkit_rules.measures.source_text import find_line_calls, find_running, find_running_calls


class Api(NamedTuple):
    """Functions of a library. ``modules``: beginnings of the modules that their frames are of; ``functions``: their
    names there, all if empty; ``methods``: how they are called, for what has no frames; ``roots``: beginnings of the
    names of the objects that have these methods, besides objects that are not known."""

    modules: tuple[str, ...]
    functions: frozenset[str] = frozenset()
    methods: frozenset[str] = frozenset()
    roots: tuple[str, ...] = ("keras.", "tensorflow.")


def _trainer(*names: str) -> Api:
    modules = ("keras.src.backend.tensorflow.trainer", "keras.src.trainers.trainer", "keras.src.engine.training")
    return Api(modules, frozenset(names), frozenset(names))


FIT, PREDICT, EVALUATE = _trainer("fit"), _trainer("predict", "predict_on_batch"), _trainer("evaluate")
TRAIN_ON_BATCH = _trainer("train_on_batch")
#: One call of a compiled function, for a batch that is there, without training.
ON_BATCH = _trainer("predict_on_batch", "test_on_batch")
TRAINER = _trainer("fit", "predict", "predict_on_batch", "evaluate", "train_on_batch", "test_on_batch")
#: A compiled function is called.
COMPILED = Api(("tensorflow.python.eager.polymorphic_function.",))
#: A model or a layer is called.
LAYER = Api(("keras.src.layers.", "keras.src.models.", "keras.src.engine."), frozenset({"__call__"}))
WEIGHTS = Api(
    ("keras.src.layers.", "keras.src.models.", "keras.src.engine."),
    frozenset({"get_weights", "set_weights"}),
    frozenset({"get_weights", "set_weights"}),
)
#: A preprocessing layer learns from data.
ADAPT = Api(("keras.src.layers.preprocessing.",), frozenset({"adapt"}), frozenset({"adapt"}))
METRIC = Api(
    ("keras.src.metrics.", "keras.src.utils.metrics_utils"),
    methods=frozenset({"update_state", "result", "reset_state", "reset_states"}),
)
GRADIENT = Api(
    ("tensorflow.python.eager.backprop",),
    frozenset({"gradient", "jacobian", "batch_jacobian"}),
    frozenset({"gradient", "jacobian", "batch_jacobian"}),
)
UPDATE = Api(
    ("keras.src.optimizers.", "keras.src.backend.tensorflow.optimizer"),
    methods=frozenset({"apply_gradients", "apply", "minimize"}),
)
#: Several rules ask, for each sample.
_DOING: WeakKeyDictionary[Evidence, dict[Frame, tuple[str, ...]]] = WeakKeyDictionary()
_OPEN = ("builtins.open", "io.open")
_MADE = ("keras.layers.", "keras.Model", "keras.Sequential", "keras.models.", "keras.applications.")


def is_calling(evidence: Evidence, frame: Frame, api: Api) -> bool:
    """Whether a frame of the user's called one of these functions."""
    if frame.calls and not _passes_calls_on(frame.calls[0]):
        return _is_frame_of(frame.calls[0], api)  # what that called in its turn is not the line's doing
    # What was called has just returned, or the recording is older: the source tells what it was.
    return frame.calls != () and any(_is_call_of(call, api) for call in _find_calls(evidence, frame))


def find_call(evidence: Evidence, frame: Frame, api: Api) -> Call | None:
    """Find the call in the source by which a frame called one of these functions."""
    if frame.span is not None and (running := _find_calls(evidence, frame)):
        return running[0]
    here = find_line_calls(evidence, frame.file, frame.line)
    return next((call for call in here if _is_call_of(call, api)), here[0] if len(here) == 1 else None)


def _find_calls(evidence: Evidence, frame: Frame) -> list[Call]:
    """Find the call that a frame is in; all calls on its line if the recording has no column."""
    if frame.span is None:
        return find_line_calls(evidence, frame.file, frame.line)
    return find_running_calls(evidence, frame)


def find_call_at(evidence: Evidence, place: Place, api: Api) -> Call | None:
    """Find the call at a line of one of these functions, as far as samples or names tell."""
    for frame, _ in count_frames_at(evidence, place).most_common():
        if is_calling(evidence, frame, api):
            found = find_call(evidence, frame, api)
            if found is not None:
                return found
    return next((call for call in find_line_calls(evidence, *place) if _is_call_of(call, api)), None)


def name_receiver(call: Call | None, otherwise: str = "model") -> str:
    """Return the object whose method is called, as the user writes it."""
    return _write_short(call.receiver if call is not None else None, otherwise)


def name_callee(call: Call | None, otherwise: str) -> str:
    """Return what is called, as the user writes it."""
    return _write_short(call.function if call is not None else None, otherwise)


def _write_short(node: Expression | None, otherwise: str) -> str:
    return node.text if node is not None and node.kind in ("name", "attribute", "subscript") else otherwise


def count_frames_at(evidence: Evidence, place: Place, activity: str = "") -> Counter[Frame]:
    """Count the samples whose innermost line of the user's this is, by frame; of one activity if it is given."""
    found: Counter[Frame] = Counter()
    for stack, count in evidence.samples.stacks.items():
        leaf = stack.frames[-1] if stack.frames else None
        if leaf is not None and (leaf.file, leaf.line) == place and activity in ("", stack.activity):
            found[leaf] += count
    return found


def name_apis(evidence: Evidence, frame: Frame) -> tuple[str, ...]:
    """Name what a frame was in, by name: the functions of libraries below it (``pandas.core.frame.apply``), and the API
    that the running call of its line stands for (``time.sleep``)."""
    known = _DOING.setdefault(evidence, {})
    if frame not in known:
        below = [name.replace(":", ".") for name in (frame.calls or ())[:1]]
        known[frame] = (*below, *filter(None, map(_name_api, find_running(evidence, frame))))
    return known[frame]


def name_package(names: Iterable[str]) -> str:
    """Name the package that the first of these names which tells it is of; "" for Python and its library."""
    for name in names:
        top = name.partition(".")[0]
        if top and top != UNKNOWN:
            return "" if top == "builtins" or top in sys.stdlib_module_names else top
    return ""


def _name_api(node: Expression) -> str:
    if not isinstance(node, Call):
        return node.api
    return f"{node.name}().write" if node.name in _OPEN and _opens_for_writing(node) else node.name


def _opens_for_writing(call: Call) -> bool:
    """Whether a call of ``open`` opens a file for writing."""
    mode = call.get_argument("mode", 1)
    return mode is not None and mode.is_constant() and not set("wax").isdisjoint(str(mode.value))


def _passes_calls_on(name: str) -> bool:
    """Whether a function only passes calls on, as TensorFlow's and Keras' filters of tracebacks do."""
    module = name.partition(":")[0]
    return module.endswith(".utils.traceback_utils") or module.startswith("tensorflow.python.util.")


@lru_cache(maxsize=4096)
def _is_frame_of(name: str, api: Api) -> bool:
    module, _, function = name.removeprefix("tf_").rpartition(":")
    return module.startswith(api.modules) and (not api.functions or function in api.functions)


def find_written_calls(evidence: Evidence, file: str, first: int, last: int, api: Api) -> list[Call]:
    """Find the calls in these lines that are calls of one of these functions by the file's own imports."""
    syntax = evidence.syntax(file)
    inside = (call for call in syntax.calls if first <= call.line <= last) if syntax is not None else ()
    return [call for call in inside if _is_call_of(call, api, sure=True)]


def _is_call_of(call: Call, api: Api, *, sure: bool = False) -> bool:
    if api is LAYER:
        return call.name.startswith(_MADE) and call.name.endswith("()")
    owner, _, method = call.name.rpartition(".")
    return method in api.methods and ((owner == UNKNOWN and not sure) or f"{owner}.".startswith(api.roots))
