"""A compiled function that computes in float64 (OPS003)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from tfperfkit_probes.ops.model import Brief

from tfperfkit import calibration
from tfperfkit.calibration import Derived, Measured, Threshold
from tfperfkit.graph.bounds import SOLVES
from tfperfkit.graph.optable import plain
from tfperfkit.model import Finding, SourceSpan
from tfperfkit.offers import ComputedStep
from tfperfkit.pricing import Part, costs
from tfperfkit.pricing.machines import MEASURED_ON
from tfperfkit.remedy import Setting
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.entrances import entrances
from tfperfkit_rules.graph.functions import counted, definition, largest_first, name_function, of_step, once, places
from tfperfkit_rules.measures import graph_time, shared
from tfperfkit_rules.measures.asked_float64 import find_asked_float64
from tfperfkit_rules.measures.ran_functions import measure_computed_share, name_call

TITLES = {"OPS003": "tf.function computes in float64"}

MIN_FLOAT64 = Threshold(
    calibration.SEVERITY_LOW.value,
    "share",
    "minimum share of a function's FLOPs in float64: a loss or a metric in it costs nothing",
    Derived("the least share that is reported"),
)
FLOAT64_SAVED_MIN = Threshold(
    0.2,
    "share",
    "minimum share of float64 arithmetic that float32 saves",
    Measured(
        "0.64 to 0.86, median 0.72; by hand 0.27 to 0.85. Half the bytes and twice the numbers per instruction say 0.5",
        MEASURED_ON,
        15,
        "float64",
    ),
)
FLOAT64_SAVED_MAX = Threshold(
    0.8,
    "share",
    "maximum share of float64 arithmetic that float32 saves",
    Measured("see FLOAT64_SAVED_MIN", MEASURED_ON, 15, "float64"),
)
FLOAT64_SAVED_LIKELY = Threshold(
    0.72,
    "share",
    "median share of float64 arithmetic that float32 saves",
    Measured("see FLOAT64_SAVED_MIN", MEASURED_ON, 15, "float64"),
)
FLOAT64_MOVED_LIKELY = Threshold(
    0.5,
    "share",
    "likely share that float32 saves of work that is mostly no product: copies, element by element, random numbers",
    Derived("half of the bytes; a transcendental function or a random number takes about as long for each"),
)

FLOAT64_WIDTH = Threshold(
    2.0,
    "number",
    "ratio of the time in float64 to that in float32, of work that grows with the numbers",
    Derived("twice the bytes"),
)

_DECOMPOSED = (
    "Keep float64 for decomposing and inverting matrices, which take most of the time: float32 often has too few "
    "digits for that. Cast the computation before and after it to float32, if it is large: tf.cast(x, tf.float32)."
)
_DECOMPOSED_HERE = (
    "Keep float64 for decomposing and solving with matrices: float32 often has too few digits for that. Cast the "
    "computation before and after it to float32, if it is large: tf.cast(x, tf.float32)."
)
_CHOSEN = (
    "Remove set_floatx('float64'), which makes every layer compute in float64, and set dtype='float64' only for layers "
    "that need its digits. float64 moves twice the bytes and runs at half the speed or less on a CPU, at a fraction on "
    "a GPU."
)
_ASKED = (
    "Compute in float32 if it has enough digits: pass tf.float32, and make arrays float32 where they enter: "
    "array.astype('float32'). The script asks for float64, which scientific code may need."
)


def float64(evidence: Evidence) -> Iterator[Finding]:
    """OPS003: priced by its part of the FLOPs in the step, of a work by the samples in the function; not at all where
    neither calls it, as a metric outside."""
    found = (
        (function, finding) for function in largest_first(evidence) for finding in _judge_function(evidence, function)
    )
    functions = {finding: function for function, finding in found}
    for finding in once(functions):
        yield _priced(evidence, functions[finding], finding)


def _name_arguments(function: Brief, inputs: Sequence[str]) -> str:
    """Which arguments are float64; those of Keras' own functions have names that only Keras knows."""
    if not inputs:
        return ""
    if function.owner == "keras":
        return "The argument is float64. "
    plural = len(inputs) > 1
    return f"The argument{'s' * plural} {', '.join(inputs[:4])} {'are' if plural else 'is'} float64. "


def _judge_function(evidence: Evidence, function: Brief) -> Iterator[Finding]:
    share, marks = function.float64_flops_share, function.marks
    if share < MIN_FLOAT64.value or not function.flops:
        return
    ops = sum(each.ops for each in marks.float64)
    starts = [each for each in marks.float64_sources if each.where is not None]
    own = [each for each in starts if each.where is not None and evidence.is_user(each.where.file)] or starts
    inputs = marks.float64_arguments
    # The start of a chain first; without one (arguments and variables are float64 already) their makers, then the lines
    # that compute.
    made = [] if starts or share < shared.MOSTLY.value else entrances(evidence, function.file, function.line)
    where: list[SourceSpan | None] = [*made, *(each.where for each in (*own, *marks.float64))]
    begins = _name_arguments(function, inputs)
    if own:
        kinds = ", ".join(dict.fromkeys(f"{each.type} ({each.types})" for each in own[:3]))
        begins += f"float64 begins at {kinds}. "
    name = (name_call(evidence, function) if function.owner == "keras" else "") or name_function(function)
    yield Finding(
        code="OPS003",
        family="precision",
        remedy=Setting("precision", "float32"),
        share_of_step=0.0,
        title=f"{name} computes {100 * share:.0f} % of its FLOPs in float64",
        where=places([*where, definition(function)]),
        evidence=(
            counted("float64 operations", ops),
            counted("share of FLOPs in float64", share, "share"),
            counted("operations of the function", function.operations),
        ),
        advice="Cast to float32 where the data enters: array.astype('float32') (NumPy makes float64), and make "
        "variables as float32 too. Or: tf.cast(x, tf.float32) in the dataset's map.",
        detail=begins.strip(),
    )


def _priced(evidence: Evidence, function: Brief, finding: Finding) -> Finding:
    if evidence.settings.get("floatx") == "float64":
        where = [*evidence.calls("keras.backend.set_floatx", "keras.config.set_floatx"), *finding.where]
        finding = msgspec.structs.replace(finding, where=tuple(dict.fromkeys(where)), advice=_CHOSEN)
    if evidence.work is not None:
        if "not counted" in function.flops_note and not graph_time.rows(evidence):
            # An open size counts as 1, so the float64 part may be as small a part of the function's time.
            return msgspec.structs.replace(finding, severity="info")
        share = (
            measure_computed_share(evidence, function)
            * function.float64_flops_share
            * _of_its_numbers(evidence, function)
        )
        return _told(evidence, function, finding, share)
    in_step = [(brief, n) for brief, n in graph_time.list_called(evidence) if brief.flops]
    flops = sum((brief.flops or 0.0) * n for brief, n in in_step)
    here = (function.file, function.line, function.function)
    mine = [(brief, n) for brief, n in in_step if (brief.file, brief.line, brief.function) == here]
    wide = sum((brief.flops or 0.0) * n * brief.float64_flops_share for brief, n in mine)
    if not wide:  # no step calls it, or only by way of another, which is reported itself
        return finding
    share = evidence.share("graph") * wide / flops * _of_its_numbers(evidence, function)
    return _told(evidence, function, finding, share)


def _of_its_numbers(evidence: Evidence, function: Brief) -> float:
    """The part (0 to 1) of the function's time that grows with its numbers, at most, and with their width so: starting
    thousands of operations on a few numbers each takes as long in float32. 1 where it is most, or not known."""
    growing = graph_time.growing_ms(evidence, function)
    if growing is None:
        return 1.0
    growing *= FLOAT64_WIDTH.value
    starting = function.operations * costs.GRAPH_OP_MIN_MS.value
    return growing / starting if growing < shared.MOSTLY.value * starting else 1.0


def _told(evidence: Evidence, function: Brief, finding: Finding, share: float) -> Finding:
    """With its price; a remark where the digits may be needed: what is decomposed takes most of the time, or, where no
    trace tells that, the function decomposes and nobody made float64 the default."""
    chosen = evidence.settings.get("floatx") != "float64" and not graph_time.rows(evidence)
    if chosen and any(each.type in SOLVES for each in function.marks.float64):
        return msgspec.structs.replace(finding, severity="info", advice=_DECOMPOSED_HERE)
    if _decomposing(evidence) >= shared.MOSTLY.value * share > 0:
        return msgspec.structs.replace(finding, advice=_DECOMPOSED)
    likely = FLOAT64_MOVED_LIKELY.value if _mostly_moves(evidence) else FLOAT64_SAVED_LIKELY.value
    priced = of_step(
        finding,
        share,
        Part(FLOAT64_SAVED_MIN.value * share, FLOAT64_SAVED_MAX.value * share, likely * share),
        f"float64 arithmetic, of {evidence.unit.the}",
    )
    files = {span.file for span in finding.where}
    if evidence.settings.get("floatx") == "float64" or not find_asked_float64(evidence, files):
        return priced
    much = share >= calibration.SEVERITY_MEDIUM.value
    return msgspec.structs.replace(priced, severity="info", headroom=much, advice=_ASKED)


def _mostly_moves(evidence: Evidence) -> bool:
    """Whether a trace shows that products and convolutions take the lesser part of the compiled functions."""
    if not graph_time.rows(evidence):
        return False
    return graph_time.share(evidence, graph_time.is_arithmetic) < shared.MOSTLY.value * evidence.share("graph")


def _decomposing(evidence: Evidence) -> float:
    """The share of the step that decomposes matrices or solves with them; their gradients, which are products of
    matrices for the most part, are of it where it is known whose they are."""
    data = evidence.offer(ComputedStep)
    solves = {row.of or row.name for row in data.operations if plain(row.type) in SOLVES} if data is not None else set()
    if data is None or not solves:
        return graph_time.share(evidence, lambda row: row.type in SOLVES)
    took = sum(row.ms for row in data.operations if plain(row.type) in SOLVES or row.of in solves)
    return evidence.share("graph") * took / sum(row.ms for row in data.operations)
