"""Say what to do about each cause of a retrace, with the names of the arguments."""

from __future__ import annotations

from collections.abc import Sequence

from tfperfkit_probes.retrace.cause import changed_dimensions, main_difference, sizes
from tfperfkit_probes.retrace.model import Blame, Difference, Trace, TracedFunction

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.model import SourceSpan
from tfperfkit.syntax.expression import Call
from tfperfkit.syntax.module import parse

EPOCH_APART = Threshold(
    5,
    "steps",
    "minimum number of steps between retraces that may come from the ends of epochs",
    Chosen("shorter epochs are no training"),
)
REMAINDERS = Threshold(
    3,
    "count",
    "maximum number of new batch sizes that may all be remainders",
    Chosen("of training, validation and test data"),
)
MAX_SIGNATURE = Threshold(
    4, "count", "maximum number of arguments of an input_signature that is written out", Chosen("one line of advice")
)

_REDUCING = "@tf.function(reduce_retracing=True)"
#: The beginning of advice that leaves changing sizes open from the second trace on.
REDUCED = f"Leave the size open with {_REDUCING}"


def partial_batch(traces: Sequence[Trace]) -> bool:
    """Whether the sizes look like full batches and remainders.

    Every new size is smaller than the usual one, and there are few of them or they come now and then: a dataset whose
    length changes leaves another rest at the end of each epoch.
    """
    seen: list[int] = []
    new: set[int] = set()
    for trace in traces:
        for difference in trace.cause:
            if difference.way != "shape" or changed_dimensions(difference) != [0]:
                continue
            before, after = sizes(difference.before), sizes(difference.after)
            if before and after and before[0].isdigit() and after[0].isdigit():
                seen.append(int(before[0]))
                new.add(int(after[0]))
    if not seen or max(new) >= max(seen):
        return False
    numbers = [trace.step for trace in traces]
    gaps = [later - earlier for earlier, later in zip(numbers, numbers[1:], strict=False)]
    if len(new) <= REMAINDERS.value:
        return True
    return min(numbers) > 0 and min(gaps, default=0) >= EPOCH_APART.value


def remark(difference: Difference, partial: bool) -> str:
    """Return a few words behind the difference: ``dim 0: a partial batch``."""
    if difference.way == "shape":
        axes = changed_dimensions(difference)
        where = "dim " + " and ".join(map(str, axes)) if axes else "shape"
        return f"{where}: a partial batch" if partial and axes == [0] else f"{where} changed"
    words = {
        "value": "Python value",
        "rank": "rank",
        "dtype": "dtype",
        "object": "another object",
        "type": "kind of argument",
        "structure": "structure",
        "keyword": "keyword",
        "context": "same arguments, other context",
        "alias": "which variables are the same",
        "function_object": "created again",
    }
    return words.get(difference.way, "")


def advise(blame: Blame, function: TracedFunction, traces: Sequence[Trace], batches: bool = True) -> str:
    """Return sentences that say what to change. ``batches``: whether a dataset may have made the batches."""
    paths = {found.path for trace in traces if (found := main_difference(trace.cause)) is not None}
    name = paths.pop() if len(paths) == 1 else "the arguments"
    if function.owner == "keras":
        return _keras(blame, name)
    signature = open_signature(traces)
    if blame == "python_value" and not _are_numbers(traces):
        return (
            f"Pass {name} as a tensor, if {function.function} only passes it on to TensorFlow functions. Or: keep few "
            f"values, for each value of {name} is traced once."
        )
    if blame == "python_value":
        return (
            f"Pass {name} as a tensor of the dtype that {function.function} computes with: "
            "tf.constant(..., tf.float32), since a whole number alone becomes an int32. Or: keep it in a tf.Variable "
            "and assign to it."
        )
    if blame == "varying_batch" and partial_batch(traces) and not batches:
        return f"Leave the size open with {signature}. Or: pass pieces of one size."
    if blame == "varying_batch" and partial_batch(traces):
        return f"Drop the partial batch: dataset.batch(n, drop_remainder=True). Or: keep it, with {signature}."
    if blame in ("varying_batch", "varying_length"):
        pad = (
            "ad to a few lengths: padded_batch(n, padded_shapes=[128]), or bucket_by_sequence_length(..., "
            "pad_to_bucket_boundary=True)."
        )
        if function.jit_compile:
            return f"P{pad} With jit_compile, XLA compiles again for each size even if the trace leaves it open."
        return f"Leave the size open with {signature}. Or: p{pad}"
    if blame == "varying_rank":
        return f"Give {name} one rank before the call: tf.reshape, tf.expand_dims. Or: write one tf.function per rank."
    if blame == "varying_dtype":
        return f"Cast {name} to one dtype before the call: tf.cast({name}, ...). Or: cast it in the dataset's map."
    if blame == "varying_structure":
        return (
            f"Pass {name} in the same form in each call: the same keys and lengths, and a tensor instead of a Python "
            "value or None."
        )
    if blame == "object_identity":
        return (
            f"Create the object passed as {name} once and reuse it. Or: pass the tensors that it holds, for TensorFlow "
            "compares other objects by identity."
        )
    if blame == "made_in_loop":
        return f"Create the tf.function once, outside the loop, and call that. Each new one traces {function.function}."
    if blame == "per_instance":
        return (
            f"Create the {function.instance_of} once and reuse it. Or: make {function.function} a plain method that is "
            "called inside one tf.function."
        )
    if blame == "context":
        return _context(name, function.function)
    if blame == "failing":
        return (
            "Fix the exception raised during tracing, or avoid the call. TensorFlow does not cache failed traces, so "
            "every call retraces."
        )
    if blame == "pipeline_rebuilt":
        return "Build the tf.data pipeline once, before the loop, and iterate over it again."
    return f"Keep {name} the same in each call."


def _are_numbers(traces: Sequence[Trace]) -> bool:
    """Whether all Python values that differ are numbers, as far as their type is known from their text."""
    values = [found for trace in traces for found in trace.cause if found.way == "value"]
    return not any(
        text in ("True", "False", "None") or text[:1] in ("'", '"')
        for found in values
        for text in (found.before, found.after)
    )


def _context(path: str, function: str) -> str:
    if path == "context.strategy_scope":
        return f"Call {function} always inside strategy.run, not once in the strategy's scope and once outside."
    if path == "context.enclosing_graph":
        return f"Call {function} outside tf.Graph().as_default(), because each graph traces it again."
    return f"Call {function} in the same context each time."


def _keras(blame: Blame, name: str) -> str:
    if blame in ("varying_batch", "varying_length"):
        return "Feed batches of one shape: drop_remainder=True, padding. Or: a dataset that leaves the shape open."
    if blame == "varying_dtype":
        return "Feed one dtype: cast in the dataset's map. Or: convert NumPy arrays to float32 once."
    return f"Feed data of the same form in each call: {name} differs from call to call."


def open_signature(traces: Sequence[Trace]) -> str:
    """Return an ``input_signature`` that leaves the varying sizes open, or ``reduce_retracing`` where it can't be
    written."""
    axes: dict[str, set[int]] = {}
    for trace in traces:
        for difference in trace.cause:
            if difference.way == "shape":
                axes.setdefault(difference.path, set()).update(changed_dimensions(difference))
    arguments = [a for a in traces[-1].arguments if a.path != "self"]
    plain = all(a.kind == "tensor" and a.shape is not None and a.path.isidentifier() for a in arguments)
    if not plain or not arguments or len(arguments) > MAX_SIGNATURE.value:
        return _REDUCING
    specs = []
    for argument in arguments:
        shape = argument.shape or []
        open_axes = axes.get(argument.path, set())
        shown = ", ".join("None" if n < 0 or i in open_axes else str(n) for i, n in enumerate(shape))
        specs.append(f"tf.TensorSpec([{shown}], tf.{argument.dtype})")
    return f"input_signature=[{', '.join(specs)}]"


def making_line(function: TracedFunction, site: SourceSpan | None, source: tuple[str, ...]) -> SourceSpan | None:
    """Return the line that makes the tf.function: the nested definition itself, or ``tf.function(name)`` near the call.

    ``site``: where the trace was called from; ``source``: the lines of that file, may be empty.
    """
    if function.nested or function.function == "<lambda>":
        return SourceSpan(file=function.file, line=function.line, function=function.function)
    if site is None or not source:
        return site
    syntax = parse(tuple(source))
    calls = syntax.calls if syntax is not None else ()
    lines = [call.line for call in calls if _compiles(call, function.function)]
    if not lines:
        return site
    nearest = min(lines, key=lambda line: (line > site.line, abs(line - site.line)))
    return SourceSpan(file=site.file, line=nearest, function=site.function)


def _compiles(call: Call, name: str) -> bool:
    """Whether a call makes a ``tf.function`` of the function of this name."""
    made = call.function.name if isinstance(call.function, Call) else call.name  # tf.function(jit_compile=True)(f)
    return made == "tensorflow.function" and [item.last_name for item in call.arguments[:1]] == [name]
