"""Find the calls of objects whose classes the source does not show, by the frames of libraries that samples saw below
them, and by what a library gives to the functions that it calls."""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence
from tfperfkit.syntax.effects import find_effect
from tfperfkit.syntax.expression import Call
from tfperfkit.syntax.function import Function
from tfperfkit.syntax.iteration import KnownCalls
from tfperfkit.syntax.module import Syntax
from tfperfkit_rules.measures.called import EVALUATE, LAYER, PREDICT, find_call, is_calling
from tfperfkit_rules.measures.source_text import find_running_calls

_KNOWN: WeakKeyDictionary[Evidence, dict[str, KnownCalls]] = WeakKeyDictionary()
_NAMES = {LAYER: "layer.__call__", PREDICT: "layer.predict", EVALUATE: "layer.evaluate"}
#: Types of the table of effects, by the modules that define their methods.
_TYPES = {
    "keras.src.layers.": "layer",
    "keras.src.models.": "layer",
    "pandas.core.": "frame",
    "scipy.sparse.": "sparse",
    "transformers.": "tokenizer",
}
#: Functions that call another one with an array as its first argument.
_GIVE_ARRAY = tuple(
    f"scipy.optimize.{name}"
    for name in (
        *("approx_fprime", "basinhopping", "brute", "check_grad", "differential_evolution", "direct", "dual_annealing"),
        *("fmin", "fmin_bfgs", "fmin_cg", "fmin_cobyla", "fmin_l_bfgs_b", "fmin_ncg", "fmin_powell", "fmin_slsqp"),
        *("fmin_tnc", "fsolve", "least_squares", "leastsq", "minimize", "root", "shgo"),
    )
)


def find_known_calls(evidence: Evidence, file: str) -> KnownCalls:
    """Return the calls of a file that were seen to be of a model, a table or the like, by their names in the table of
    effects."""
    known = _KNOWN.setdefault(evidence, {})
    if file not in known:
        frames = {frame for stack in evidence.samples.stacks for frame in stack.frames if frame.file == file}
        seen = {
            calls[0].node: name
            for frame in frames
            if (name := _name_method(frame)) and (calls := _find(evidence, frame))
        }
        syntax = evidence.syntax(file)
        rows = _find_methods_of_arrays(syntax) if syntax is not None else ()
        given = {call.node: name for call, name in rows}
        known[file] = (
            given
            | seen
            | {
                call.node: name
                for frame in frames
                for api, name in _NAMES.items()
                if frame.calls
                and is_calling(evidence, frame, api)
                and (call := find_call(evidence, frame, api)) is not None
            }
        )
    return known[file]


def _name_method(frame: Frame) -> str:
    """Name the method of a library that a frame called, as the table of effects has it; "" if it has none."""
    module, _, method = frame.calls[0].rpartition(":") if frame.calls else ("", "", "")
    kind = next((kind for prefix, kind in _TYPES.items() if f"{module}.".startswith(prefix)), "")
    name = f"{kind}.{method}"
    return name if kind and find_effect(name) is not None else ""


def _find(evidence: Evidence, frame: Frame) -> list[Call]:
    """Find the call that a frame was in, if it is of a method with that name: ``table.to_numpy()``."""
    calls = find_running_calls(evidence, frame)
    method = (frame.calls or ("",))[0].rpartition(":")[2]
    return [call for call in calls if call.function.last_name == method and call.receiver is not None]


def _find_methods_of_arrays(syntax: Syntax) -> Iterator[tuple[Call, str]]:
    """Find the calls of methods of arrays that a library gives to a function of the file: ``x.reshape(1, -1)`` in the
    function that ``scipy.optimize.minimize`` is given."""
    for call in syntax.find_api_calls(*_GIVE_ARRAY):
        given = {item.text for item in call.given}
        for function in (*syntax.functions, *syntax.lambdas):
            if function.name in given and not function.owner and function.parameters:
                yield from _find_methods_of(function, function.parameters[0])


def _find_methods_of(function: Function, name: str) -> Iterator[tuple[Call, str]]:
    """Find the calls of methods of an array under a name, up to the line that gives the name to something else."""
    bound = [part.line for part in function.parts if part.kind == "name" and part.text == name and not part.is_read]
    for call in function.calls:
        api = f"ndarray.{call.method}"
        is_its = call.receiver is not None and call.receiver.text == name
        if is_its and call.line <= min(bound, default=call.line) and find_effect(api) is not None:
            yield call, api
