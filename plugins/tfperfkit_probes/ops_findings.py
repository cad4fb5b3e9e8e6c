"""From the functions' figures to findings: what is wrong with a graph, where, and what to do."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

import msgspec

from tfperfkit.model import Family, Finding, Measurement, Severity, SourceSpan
from tfperfkit_probes import ops_codes as codes
from tfperfkit_probes.ops_model import Constant, Control, Function, Marked

#: A loop is told from so many operations and so many copies of its body on. A model of a hundred layers, built by
#: loops over its layers, stays below; a loop over time steps or examples does not.
UNROLLED_OPS, UNROLLED_COPIES = 1000, 64
#: So many operations make tracing and Grappler take many seconds.
MANY_OPS = 3000
#: Tables of positions and vocabularies are smaller; data sets are not.
TOLD_BYTES, LOW_BYTES, MEDIUM_BYTES = 1 << 20, 8 << 20, 32 << 20
#: Float64 is told from this share of a function's FLOPs on: a loss or a metric in float64 costs nothing.
FLOAT64_SHARE = 0.02
FLOAT64_MUCH = 0.25
_MOST_PLACES = 5


def findings(functions: Iterable[Function], is_user: Callable[[str], bool]) -> list[Finding]:
    """The findings of all functions; what is in a function and in the one that calls it, once."""
    found: dict[tuple[str, object], Finding] = {}
    largest_first = sorted(functions, key=lambda function: -function.operations)
    for function in largest_first:
        for finding in _of(function, is_user):
            place = finding.where[0] if finding.where else SourceSpan("", 0)
            key = (finding.code, (place.file, place.line))
            known = found.setdefault(key, finding)
            if known is not finding and finding.code == codes.BIG_CONSTANT and function.first_execution_ms is not None:
                found[key] = _with_times_of(known, finding)  # each function that runs by itself pays for its copy
    return list(found.values())


def _with_times_of(finding: Finding, other: Finding) -> Finding:
    """A finding whose times and operations are those of both."""
    more = {each.name: each.value for each in other.evidence}
    added = tuple(
        msgspec.structs.replace(each, value=each.value + more.get(each.name, 0.0))
        if each.name in ("trace_ms", "first_execution_ms", "operations") else each
        for each in finding.evidence
    )
    return msgspec.structs.replace(finding, evidence=added)


def _of(function: Function, is_user: Callable[[str], bool]) -> Iterable[Finding]:
    yield from _unrolled(function)
    yield from _constants(function)
    yield from _float64(function, is_user)
    yield from _python_calls(function)
    yield from _side_effects(function)
    yield from _prints(function, is_user)


def _finding(
    code: str, family: Family, severity: Severity, title: str, where: Sequence[SourceSpan | None],
    evidence: Sequence[Measurement], advice: str, detail: str = "",
) -> Finding:
    places = tuple(dict.fromkeys(place for place in where if place is not None))[:_MOST_PLACES]
    return Finding(
        code=code, family=family, title=title, severity=severity, share_of_step=0.0, predicted_speedup=None,
        where=places, evidence=tuple(evidence), advice=advice, detail=detail,
    )


def _count(name: str, value: float, unit: str = "count") -> Measurement:
    return Measurement(name, value, unit, "run")


def definition(function: Function) -> SourceSpan | None:
    """Where the function stands; None for Keras' own, whose source is nothing to change."""
    if function.owner != "user" or not function.file:
        return None
    return SourceSpan(function.file, function.line, function.function)


def called(function: Function) -> str:
    """What to call it in a sentence."""
    return function.function if function.owner == "user" else f"Keras' {function.function}"


def _unrolled(function: Function) -> Iterable[Finding]:
    loops = [each for each in function.control if each.became == "unrolled" and not each.per_variable]
    told = [each for each in loops if each.ops >= UNROLLED_OPS and each.copies >= UNROLLED_COPIES]
    inner = {(each.file, each.line) for each in told for other in told if _holds(other, each)}
    for loop in told:
        if (loop.file, loop.line) in inner:
            continue
        share = min(1.0, loop.ops / max(function.operations, 1))
        evidence = [
            _count("operations_of_the_loop", loop.ops), _count("copies_of_its_body", loop.copies),
            _count("operations", function.operations), _count("trace_ms", function.trace_ms, "ms"),
            _count("operations_of_gradients", _gradients(function)), _count("traces", function.traces),
        ]
        first = ""
        if function.first_execution_ms is not None:
            evidence.append(_count("first_execution_ms", function.first_execution_ms, "ms"))
            first = f" and its first run {_time(function.first_execution_ms)}"
        known = "" if function.lines_known > 0.98 else "at least "
        yield _finding(
            codes.UNROLLED_LOOP, "graph", "medium" if loop.ops >= MANY_OPS and share >= 0.3 else "low",
            f"the {_name(loop)} in {loop.function} is unrolled: {known}{loop.copies:,} copies of its body, "
            f"{known}{loop.ops:,} operations",
            [SourceSpan(loop.file, loop.line, loop.function), definition(function)], evidence,
            _loop_advice(loop),
            f"{called(function)} has {function.operations:,} operations; its trace took {_time(function.trace_ms)}"
            f"{first}. Both grow with every turn of the loop, and each new trace pays them again.",
        )


def _gradients(function: Function) -> int:
    """Operations of gradients: by their names, or at lines that compute nothing else (sums don't carry the name)."""
    lines = sum(row.ops for row in function.by_line if row.flops and row.backward_flops >= row.flops)
    return max(function.backward_operations, lines)


def _holds(outer: Control, inner: Control) -> bool:
    return outer is not inner and outer.function == inner.function and outer.ops >= inner.ops and (
        outer.line < inner.line and outer.copies <= inner.copies
    )


def _name(loop: Control) -> str:
    return "comprehension" if loop.statement == "comprehension" else f"{loop.statement} loop"


def _loop_advice(loop: Control) -> str:
    if loop.statement == "comprehension":
        return "Compute all elements in one operation, or use tf.vectorized_map or tf.map_fn."
    if loop.statement == "while":
        return "Make the condition a tensor, so that AutoGraph makes one tf.while_loop of it."
    return (
        "Loop over a tensor, for i in tf.range(n), so that AutoGraph makes one tf.while_loop of it; better still, work "
        "on the whole axis in one operation."
    )


def _constants(function: Function) -> Iterable[Finding]:
    by_place: dict[SourceSpan | None, list[Constant]] = {}
    for constant in function.constants:
        by_place.setdefault(constant.where, []).append(constant)
    for place, constants in by_place.items():
        total = sum(constant.bytes for constant in constants)
        largest = max(constants, key=lambda constant: constant.bytes)
        if total < TOLD_BYTES or (place is None and total < LOW_BYTES):
            continue
        severity: Severity = "medium" if total >= MEDIUM_BYTES else "low" if total >= LOW_BYTES else "info"
        name = largest.type if len(constants) == 1 else f"{len(constants)} arrays, the largest {largest.type}"
        yield _finding(
            codes.BIG_CONSTANT, "input" if total >= MEDIUM_BYTES else "graph", severity,
            f"{_size(total)} of constants are baked into {called(function)}: {name}",
            [place, definition(function)],
            [
                _count("constant_bytes", total, "bytes"), _count("constants", len(constants)),
                _count("constants_bytes_of_the_function", function.constants_bytes, "bytes"),
                _count("traces", function.traces), _count("trace_ms", function.trace_ms, "ms"),
                _count("first_execution_ms", function.first_execution_ms or 0.0, "ms"),
                _count("operations", function.operations),
            ],
            "Pass the array as an argument, feed it with a tf.data.Dataset, or make it a tensor before the function "
            "(tf.constant, tf.Variable): then it is captured by reference. A NumPy array used inside is copied into "
            "every trace, through Grappler, and into every SavedModel.",
        )


def _float64(function: Function, is_user: Callable[[str], bool]) -> Iterable[Finding]:
    share = function.float64_flops_share
    if share < FLOAT64_SHARE or not function.flops:
        return
    ops = sum(each.ops for each in function.float64)
    starts = [each for each in function.float64_sources if each.where is not None]
    own = [each for each in starts if each.where is not None and is_user(each.where.file)] or starts
    inputs = [a.path for a in function.arguments if a.dtype == "float64"]
    by_lines = [each.where for each in function.float64 if each.where is not None]
    # What starts a chain first; without one (arguments and variables are float64 already) the lines that compute.
    places: list[SourceSpan | None] = [*(each.where for each in own), *by_lines, definition(function)]
    begins = f"The arguments {', '.join(inputs[:4])} are float64. " if inputs else ""
    if own:
        kinds = ", ".join(dict.fromkeys(f"{each.type} ({each.types})" for each in own[:3]))
        begins += f"It begins at {kinds}. "
    yield _finding(
        codes.FLOAT64, "precision", "medium" if share >= FLOAT64_MUCH else "low",
        f"{called(function)} computes in float64: {ops:,} operations, {100 * share:.0f} % of its FLOPs", places,
        [
            _count("float64_operations", ops), _count("float64_flops_share", share, "share"),
            _count("operations", function.operations),
        ],
        "Cast to float32 at the entrance (tf.cast, array.astype('float32') or the dataset's map): NumPy makes float64 "
        "by default. It moves twice the bytes and runs at half the speed or less on a CPU, at a fraction on a GPU.",
        begins.strip(),
    )


def _python_calls(function: Function) -> Iterable[Finding]:
    if not function.python_calls:
        return
    count = sum(each.ops for each in function.python_calls)
    calls = "once" if count == 1 else f"{count} times"
    yield _finding(
        codes.PYTHON_CALL, "eager", "medium", f"{called(function)} calls back into Python {calls} in every call",
        [*(each.where for each in function.python_calls), definition(function)],
        [_count("python_calls", count), _count("operations", function.operations)],
        "Write it with TensorFlow operations, or move it into the dataset's map if it prepares data. tf.py_function "
        "and tf.numpy_function run under Python's lock, on the host, with copies from and to the device; XLA and "
        "SavedModel can't hold them.",
    )


def _side_effects(function: Function) -> Iterable[Finding]:
    if not function.side_effects or function.owner == "tensorflow":
        return
    effects = function.side_effects
    names = ", ".join(dict.fromkeys(effect.what for effect in effects))
    yield _finding(
        codes.SIDE_EFFECT, "graph", "info",
        f"Python in {effects[0].function} runs only while it is traced: {names}",
        [SourceSpan(effect.file, effect.line, effect.function) for effect in effects],
        [_count("statements", len(effects)), _count("traces", function.traces)],
        "If it is meant for every call use TensorFlow's own: tf.print, a tf.Variable or tf.TensorArray, tf.random, "
        "tf.timestamp; else leave it. Its value at the time of the trace is part of the graph.",
        "\n".join(f"{os.path.basename(e.file)}:{e.line}  {e.text}" for e in effects[:_MOST_PLACES]),
    )


def _prints(function: Function, is_user: Callable[[str], bool]) -> Iterable[Finding]:
    prints = [each for each in function.prints if each.where is not None and is_user(each.where.file)]
    asserts = [each for each in function.asserts if each.where is not None and is_user(each.where.file)]
    if not prints and not asserts:
        return
    numbers = [_count("prints", _total(prints)), _count("checks", _total(asserts))]
    what = " and ".join(
        f"{_total(found)} {word}{'' if _total(found) == 1 else 's'}"
        for found, word in ((prints, "print"), (asserts, "check")) if found
    )
    yield _finding(
        codes.PRINT, "graph", "low" if prints else "info", f"{called(function)} makes {what} in every call",
        [*(each.where for each in (*prints, *asserts)), definition(function)], numbers,
        "Print every hundredth step from Python, and keep checks behind a flag: each waits for its tensor, copies it "
        "to the host, and keeps operations from being fused or compiled by XLA.",
    )


def _total(found: Sequence[Marked]) -> int:
    return sum(each.ops for each in found)


def _time(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.1f} s" if milliseconds >= 1000 else f"{milliseconds:.0f} ms"


def _size(count: int) -> str:
    return f"{count / (1 << 20):,.0f} MiB" if count >= 10 << 20 else f"{count / (1 << 20):.1f} MiB"
