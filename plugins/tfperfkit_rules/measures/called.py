"""What a line of the user's called, and what it was doing: by the frames of libraries below it on the stack samples.

Where a function written in C ran there is no frame; then the syntax tree says which call the line was in, and its
imports whose it is. Recordings older than these frames are read by the syntax tree alone.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple
from weakref import WeakKeyDictionary

from tfperfkit.records.samples import Frame, Place
from tfperfkit.rule import Evidence
from tfperfkit.syntax.module import Syntax
from tfperfkit.syntax.names import UNKNOWN
from tfperfkit.syntax.nodes import get_argument, get_receiver


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


def calls(evidence: Evidence, frame: Frame, api: Api) -> bool:
    """Whether a frame of the user's called one of these functions."""
    if frame.calls and not _passes_calls_on(frame.calls[0]):
        return _is_frame_of(frame.calls[0], api)  # what that called in its turn is not the line's doing
    syntax = evidence.syntax(frame.file)
    if frame.calls == () or syntax is None:
        return False
    # What was called has just returned, or the recording is older: the source tells what it was.
    here = syntax.running_calls(frame.line, frame.span) if frame.span is not None else syntax.calls_at(frame.line)
    return any(_is_call_of(syntax, call, api) for call in here)


def call_of(evidence: Evidence, frame: Frame, api: Api) -> ast.Call | None:
    """The call in the source by which a frame called one of these functions."""
    syntax = evidence.syntax(frame.file)
    if syntax is None:
        return None
    if frame.span is not None:
        running = syntax.running_calls(frame.line, frame.span)
        if running:
            return running[0]
    here = syntax.calls_at(frame.line)
    return next((call for call in here if _is_call_of(syntax, call, api)), here[0] if len(here) == 1 else None)


def called_at(evidence: Evidence, place: Place, api: Api) -> ast.Call | None:
    """The call in the source at a line by which it called one of these functions, as far as samples or names tell."""
    for frame, _ in frames_at(evidence, place).most_common():
        if calls(evidence, frame, api):
            found = call_of(evidence, frame, api)
            if found is not None:
                return found
    syntax = evidence.syntax(place[0])
    here = syntax.calls_at(place[1]) if syntax is not None else []
    return next((call for call in here if syntax is not None and _is_call_of(syntax, call, api)), None)


def receiver(call: ast.Call | None, otherwise: str = "model") -> str:
    """The object that a method was called on, as the user writes it."""
    return _write_short(get_receiver(call), otherwise)


def callee(call: ast.Call | None, otherwise: str) -> str:
    """What was called, as the user writes it."""
    return _write_short(call.func if call is not None else None, otherwise)


def _write_short(node: ast.expr | None, otherwise: str) -> str:
    return ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) else otherwise


def frames_at(evidence: Evidence, place: Place, activity: str = "") -> Counter[Frame]:
    """The samples whose innermost line of the user's this is, by frame; of one activity if it is given."""
    found: Counter[Frame] = Counter()
    for stack, count in evidence.samples.stacks.items():
        leaf = stack.frames[-1] if stack.frames else None
        if leaf is not None and (leaf.file, leaf.line) == place and activity in ("", stack.activity):
            found[leaf] += count
    return found


def doing(evidence: Evidence, frame: Frame) -> tuple[str, ...]:
    """What a frame was in, by name: the functions of libraries below it (``pandas.core.frame.apply``), and the API
    that the running call of its line stands for (``time.sleep``)."""
    known = _DOING.setdefault(evidence, {})
    if frame not in known:
        below = [name.replace(":", ".") for name in (frame.calls or ())[:1]]
        syntax = evidence.syntax(frame.file)
        if syntax is not None:
            running = syntax.running(frame.line, frame.span)
            below += [name for name in (_name_api(syntax, node) for node in running) if name]
        known[frame] = tuple(below)
    return known[frame]


def package_of(names: Iterable[str]) -> str:
    """The package that the first of these names which tells it is of; "" for Python and its library."""
    for name in names:
        top = name.partition(".")[0]
        if top and top != UNKNOWN:
            return "" if top == "builtins" or top in sys.stdlib_module_names else top
    return ""


def _name_api(syntax: Syntax, node: ast.expr) -> str:
    if not isinstance(node, ast.Call):
        return syntax.name(node)
    name = syntax.name(node.func)
    return f"{name}().write" if name in _OPEN and _opens_for_writing(node) else name


def _opens_for_writing(call: ast.Call) -> bool:
    """Whether a call of ``open`` opens a file for writing."""
    mode = get_argument(call, "mode", 1)
    return isinstance(mode, ast.Constant) and not set("wax").isdisjoint(str(mode.value))


def _passes_calls_on(name: str) -> bool:
    """Whether a function only passes calls on, as TensorFlow's and Keras' filters of tracebacks do."""
    module = name.partition(":")[0]
    return module.endswith(".utils.traceback_utils") or module.startswith("tensorflow.python.util.")


@lru_cache(maxsize=4096)
def _is_frame_of(name: str, api: Api) -> bool:
    module, _, function = name.removeprefix("tf_").rpartition(":")
    return module.startswith(api.modules) and (not api.functions or function in api.functions)


def written(evidence: Evidence, file: str, first: int, last: int, api: Api) -> list[ast.Call]:
    """The calls in these lines that are calls of one of these functions by the file's own imports."""
    syntax = evidence.syntax(file)
    inside = (call for call in syntax.calls if first <= call.lineno <= last) if syntax is not None else ()
    return [call for call in inside if syntax is not None and _is_call_of(syntax, call, api, sure=True)]


def _is_call_of(syntax: Syntax, call: ast.Call, api: Api, *, sure: bool = False) -> bool:
    name = syntax.name(call.func)
    if api is LAYER:
        return name.startswith(_MADE) and name.endswith("()")
    owner, _, method = name.rpartition(".")
    return method in api.methods and ((owner == UNKNOWN and not sure) or f"{owner}.".startswith(api.roots))
