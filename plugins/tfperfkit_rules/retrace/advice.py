"""What to do about each cause: the remedy in words, with the names of the very arguments."""

from __future__ import annotations

from collections.abc import Sequence

from tfperfkit_probes.retrace.cause import changed_dimensions, main_difference, sizes
from tfperfkit_probes.retrace.model import Difference, Trace, TracedFunction

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.model import SourceSpan
from tfperfkit.syntax.expression import Call
from tfperfkit.syntax.module import parse
from tfperfkit_rules.retrace import codes

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
#: How advice begins that leaves the sizes open which were seen to change: from the second trace on.
REDUCED = f"leave the size open with {_REDUCING}"


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
        "function_object": "made again",
    }
    return words.get(difference.way, "")


def remedy(code: str, function: TracedFunction, traces: Sequence[Trace], batches: bool = True) -> str:
    """One or two sentences: what to change in the code. ``batches``: whether a dataset may have made the batches."""
    paths = {found.path for trace in traces if (found := main_difference(trace.cause)) is not None}
    name = paths.pop() if len(paths) == 1 else "the arguments"
    if function.owner == "keras":
        return _keras(code, name)
    signature = open_signature(traces)
    if code == codes.PYTHON_VALUE and not _are_numbers(traces):
        return (
            f"a Python value is part of the graph, so each value of {name} is traced once: keep few values, or pass it "
            "as a tensor if the function only hands it to TensorFlow's functions"
        )
    if code == codes.PYTHON_VALUE:
        return (
            f"pass {name} as a tensor of the dtype that {function.function} computes with, "
            "tf.constant(..., tf.float32) (a whole number alone makes an int32, which does not mix with floats), or "
            "keep it in a tf.Variable and assign to it; a Python value is part of the graph"
        )
    if code == codes.VARYING_BATCH and partial_batch(traces) and not batches:
        return f"leave the size open with {signature}, or give it pieces of one size"
    if code == codes.VARYING_BATCH and partial_batch(traces):
        return f"drop the rest with dataset.batch(n, drop_remainder=True), or {signature}"
    if code in (codes.VARYING_BATCH, codes.VARYING_LENGTH):
        pad = "pad or bucket to a few lengths (padded_batch, bucket_by_sequence_length)"
        if function.jit_compile:
            return f"{pad}: with jit_compile XLA compiles again for each size even where the trace leaves it open"
        return f"leave the size open with {signature}; or {pad}"
    if code == codes.VARYING_RANK:
        return f"give {name} one rank before the call (tf.reshape, tf.expand_dims), or write one tf.function for each"
    if code == codes.VARYING_DTYPE:
        return f"cast {name} to one dtype before the call: tf.cast({name}, ...), or in the dataset's map"
    if code == codes.VARYING_STRUCTURE:
        return (
            f"call it always with the same arguments: give {name} in the same form each time, a tensor where a "
            "Python value or None stands now, and the same keys and lengths"
        )
    if code == codes.OBJECT_IDENTITY:
        return (
            f"make the object passed as {name} once and pass it again, or pass the tensors it holds; "
            "an object is compared by its identity, so each new one is a new trace"
        )
    if code == codes.MADE_IN_LOOP:
        return f"make the tf.function once, outside of the loop, and call that: each new one traces {function.function}"
    if code == codes.PER_INSTANCE:
        return (
            f"make the {function.instance_of} once and reuse it, or make {function.function} a plain method that is "
            "called inside one tf.function: a tf.function method is traced for each instance"
        )
    if code == codes.CONTEXT:
        return _context(name)
    if code == codes.FAILING:
        return "mend what raises inside the function, or don't call it where it fails: a failed trace is not kept"
    if code == codes.PIPELINE_REBUILT:
        return "build the tf.data pipeline once, before the loop, and iterate it again; each map traces its function"
    return f"look at what changes in {name} from call to call and keep it the same"


def _are_numbers(traces: Sequence[Trace]) -> bool:
    """Whether all Python values that differ are numbers, as far as their type is known from their text."""
    values = [found for trace in traces for found in trace.cause if found.way == "value"]
    return not any(
        text in ("True", "False", "None") or text[:1] in ("'", '"')
        for found in values
        for text in (found.before, found.after)
    )


def _context(path: str) -> str:
    if path == "context.strategy_scope":
        return (
            "call it always from the same side of the strategy: inside strategy.run, not once in the scope and once "
            "outside"
        )
    if path == "context.enclosing_graph":
        return "don't call it inside tf.Graph().as_default(): each graph traces it again"
    return "call it under the same circumstances each time"


def _keras(code: str, name: str) -> str:
    if code in (codes.VARYING_BATCH, codes.VARYING_LENGTH):
        return "feed the model batches of one shape (drop_remainder=True, padding), or a dataset that leaves it open"
    if code == codes.VARYING_DTYPE:
        return "feed the model one dtype: cast in the dataset's map, or convert NumPy arrays to float32 once"
    return f"feed the model data of one form each time: {name} differs from call to call"


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
