"""Methods of datasets that trace the function that they are given, called again and again: what to do instead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.model import SourceSpan
from tfperfkit.records.samples import Frame, Place, Samples, Stack
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call, Expression
from tfperfkit.syntax.function import Function
from tfperfkit.syntax.module import get_file
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.source_text import find_function
from tfperfkit_rules.measures.step_shares import span

#: The modules of datasets, whose methods take functions.
_DATASETS = "tensorflow.python.data.ops."


class Tracing(NamedTuple):
    """An API that traces in each call. ``method``: as the user calls it; ``at``: the line of the call."""

    method: str
    advice: str
    at: SourceSpan


def find_dataset_call(evidence: Evidence, samples: Samples) -> Tracing | None:
    """Find the method of a dataset that most of the tracing is in: it traces the function that it is given in each
    call."""
    found: Counter[tuple[str, Place]] = Counter()
    for stack, count in samples.stacks.items():
        if method := _name_method(stack):
            found[method, (stack.frames[-1].file, stack.frames[-1].line)] += count
    for (method, place), count in found.most_common(1):
        if count >= shared.MOSTLY.value * _count_traced(samples):
            return Tracing(
                f"Dataset.{method}",
                f"Call {method} once, before the loop, or put the code around it into a function with @tf.function "
                f"that is defined once. Outside of one, {method} traces the function that it is given in each call.",
                span(evidence, *place),
            )
    return None


def find_joined_datasets(evidence: Evidence, samples: Samples) -> Tracing | None:
    """Find the line that makes many datasets, one after the other, which are then joined to one, if most of the tracing
    is in their methods."""
    found: Counter[tuple[Place, str]] = Counter()
    for stack, count in samples.stacks.items():
        if _name_method(stack):
            making = next((frame for frame in stack.frames[:-1] if _is_joined(evidence, frame)), None)
            if making is not None:
                found[(making.file, making.line), stack.frames[-1].name] += count
    for (place, maker), count in found.most_common(1):
        if count >= shared.MOSTLY.value * _count_traced(samples):
            name = maker if maker.isidentifier() else "make"
            return Tracing(
                name,
                f"Make one dataset of the names, and let it make the others: "
                f"tf.data.Dataset.from_tensor_slices(names).flat_map({name}). Then TensorFlow traces {name} and its "
                f"functions once, and {name} gets each name as a tensor. Or: .interleave({name}, "
                "num_parallel_calls=tf.data.AUTOTUNE), which reads several at the same time, in another order.",
                span(evidence, *place),
            )
    return None


def _name_method(stack: Stack) -> str:
    """Name the method of a dataset in which a sample traces; "" for none."""
    leaf = stack.frames[-1] if stack.activity == "tracing" and stack.frames else None
    module, _, method = (leaf.calls[0] if leaf is not None and leaf.calls else "").rpartition(":")
    return method if module.startswith(_DATASETS) and not method.startswith("_") else ""


def _count_traced(samples: Samples) -> int:
    return sum(count for stack, count in samples.stacks.items() if stack.activity == "tracing" and stack.frames)


def _is_joined(evidence: Evidence, frame: Frame) -> bool:
    """Whether the datasets that a line makes are joined to one by the function around the line."""
    function = find_function(evidence, frame.file, frame.line)
    syntax = evidence.syntax(frame.file)
    if syntax is None:
        return False
    calls = function.calls if function is not None else syntax.calls
    return any(frame.line in _find_origins(item, function) for call in calls for item in _list_joined(call))


def _list_joined(call: Call) -> Iterator[Expression]:
    """Yield what a call joins to one dataset: the datasets in a dataset, for ``flat_map(lambda each: each)``; the
    dataset that ``concatenate`` adds in a loop."""
    if call.method in ("flat_map", "interleave") and call.receiver is not None:
        given = call.get_argument("map_func", 0)
        functions = [item for item in get_file(call).lambdas if given is not None and item.node is given.node]
        if any(item.parameters[:1] == [part.text for part in item.body_parts] for item in functions):
            yield call.receiver
    elif call.method == "concatenate" and call.is_in_loop:
        yield from call.given


def _find_origins(expression: Expression, function: Function | None) -> set[int]:
    """Find the lines of the expressions that a value is made of, in its function: through names, and what is appended
    to them."""
    syntax = get_file(expression)
    pending, lines, seen = [expression], set[int](), set[Expression]()
    while pending:
        here = pending.pop()
        if here in seen:
            continue
        seen.add(here)
        lines.update(here.lines)
        for part in here.parts:
            if part.kind == "name" and part.is_read:
                added = [
                    call
                    for call in syntax.find_calls("append")
                    if call.receiver is not None and call.receiver.text == part.text
                ]
                values = (*part.assigned, *added)
                pending += [item for item in values if syntax.find_function(item.line) == function]
    return lines
