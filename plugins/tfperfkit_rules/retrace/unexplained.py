"""RET014: steady steps go on tracing, and no cause of the probe ``retrace`` explains it.

The step's account gives the time in tracing. The source shows whether a loop calls ``compile``, creates a model, or
calls ``tape.jacobian`` outside a compiled function.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable

from tfperfkit import calibration, gain
from tfperfkit.calibration import Chosen, Derived, Threshold
from tfperfkit.clock import MS_PER_S
from tfperfkit.model import Finding, Measurement, Severity, SourceSpan
from tfperfkit.offers import TraceCounts
from tfperfkit.pricing import Part
from tfperfkit.records.samples import Place, Samples
from tfperfkit.remedy import Compile, KeepTrace, Remedy
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call, Expression
from tfperfkit.syntax.module import Syntax
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.called import name_receiver
from tfperfkit_rules.measures.eager_maps import advise_compiling, name_map
from tfperfkit_rules.measures.eager_stacks import split_eager_samples
from tfperfkit_rules.measures.new_models import find_making_line
from tfperfkit_rules.measures.source_calls import find_methods
from tfperfkit_rules.measures.source_text import (
    Loop,
    find_evaluating_loops,
    find_frame_loops,
    find_function,
    find_loops,
)
from tfperfkit_rules.measures.step_shares import span
from tfperfkit_rules.retrace import first_runs, without
from tfperfkit_rules.retrace.cost import ORDINARY, pay_first
from tfperfkit_rules.retrace.dataset_calls import Tracing, find_dataset_call, find_joined_datasets
from tfperfkit_rules.retrace.evaluated_again import evaluated_again

#: The titles of the findings' pages.
TITLES = {"RET014": "New model or compile() in a loop causes retracing"}

MIN_TRACING = Threshold(
    calibration.SEVERITY_MEDIUM.value,
    "share",
    "minimum share of steady steps in tracing that no cause explains",
    Derived("XProf's moderate share of one part of a step"),
)
LATE_TRACING = Threshold(
    0.25,
    "share",
    "minimum share of tracing in the later half of the clean steps, or of work without counted iterations: "
    "tracing goes on",
    Chosen("half of what even tracing would have there; what is traced once is at the beginning"),
)
CERTAIN = Threshold(
    0.7, "share", "minimum share of the tracing in the account that is saved", Chosen("some tracing was needed")
)


def traced_again(evidence: Evidence) -> Iterable[Finding]:
    """Report steady steps that go on tracing: after ``compile``, with a new model or optimizer, in a pipeline's maps.

    Absorbed by every finding of ``avoidable_traces``, which knows the cause of the traces that it blames.
    """
    share = evidence.share("tracing")
    account = evidence.account
    if account is None or share < MIN_TRACING.value:
        return
    samples = _choose_samples(evidence)
    lines = [place for place in samples.leaves() if samples.doing_innermost(place)["tracing"] >= 2]
    lines.sort(key=lambda place: -samples.doing_innermost(place)["tracing"])
    steps = [step for step in evidence.steps.clean if evidence.tracing.overlap(step.begin_ns, step.end_ns)]
    if not lines or not steps:
        return
    if not _goes_on_tracing(evidence, len(steps)) or _traces_each_once(evidence, len(steps)):
        return
    compiles = _find_compiles(evidence, lines)
    places = [*(SourceSpan(file, call.line) for file, call in compiles), *(SourceSpan(*place) for place in lines)][
        : shared.MAX_PLACES.value
    ]
    new = _find_new_model(evidence, lines) if not compiles else None
    makes = bool(compiles) or new is not None
    gained = _price(evidence, share, makes)
    apart = sum(step.count for step in evidence.steps.clean) / max(sum(step.count for step in steps), 1)
    remedy: Remedy = KeepTrace("keras")
    severity: Severity = "low"
    if compiles:
        name = name_receiver(compiles[0][1], "the model")
        title = f"compile() in {evidence.unit.loop} causes retracing"
        file, call = compiles[0]
        at = find_making_line(call, find_evaluating_loops(evidence, file, call))
        made = SourceSpan(file, at) if at is not None else _find_maker(evidence, file, call, lines)
        if made is not None:
            title = f"New model in each iteration of {evidence.unit.loop} causes retracing"
            places = list(dict.fromkeys((made, *places)))[: shared.MAX_PLACES.value]
        advice = (
            _advise_keeping(evidence, made)
            if made is not None
            else (
                f"Call {name}.compile once, before the loop. Or, if compile changes a setting in the loop: use one "
                f"model per state (trainable), or a variable: {name}.optimizer.learning_rate.assign(value)."
            )
        )
    elif new is not None:
        where = f"call of {new.function}" if new.function else f"iteration of {evidence.unit.loop}"
        title = f"New model in each {where} causes retracing"
        advice = _advise_keeping(evidence, new)
        places = list(dict.fromkeys((new, *places)))[: shared.MAX_PLACES.value]
    elif (jacobian := _find_jacobian(evidence, lines)) is not None:
        title = f"{jacobian.method} outside tf.function causes retracing in {evidence.unit.loop}"
        advice, remedy = jacobian.advice, Compile("jacobian")
    elif (mapped := _find_map(evidence, samples)) is not None:
        title = f"{mapped.method} outside tf.function causes retracing in {evidence.unit.loop}"
        advice, remedy = mapped.advice, Compile("map")
        places = list(dict.fromkeys((mapped.at, *places)))[: shared.MAX_PLACES.value]
    elif (joined := find_joined_datasets(evidence, samples)) is not None:
        title = f"{joined.method} is traced for each of many joined datasets"
        advice, remedy = joined.advice, KeepTrace("unknown")
        places = list(dict.fromkeys((joined.at, *places)))[: shared.MAX_PLACES.value]
    elif (asked := find_dataset_call(evidence, samples)) is not None:
        title = f"{asked.method} in {evidence.unit.loop} causes retracing"
        advice, remedy = asked.advice, KeepTrace("unknown")
        places = list(dict.fromkeys((asked.at, *places)))[: shared.MAX_PLACES.value]
    else:
        many = f"{len(steps)} of {len(evidence.steps.clean)} clean steps"
        where = many if evidence.work is None else evidence.unit.loop
        remedy, severity = KeepTrace("unknown"), "info"  # nothing names what to change
        title = f"Unknown cause of retracing in {where}"
        advice = "Create models, optimizers, tf.functions and tf.data pipelines once, before the loop, and reuse them."
    yield Finding(
        code="RET014",
        remedy=remedy,
        title=title,
        severity=severity,
        share_of_step=max(share, gained.surely) if gained.bounds else share,
        gain=gained,
        where=tuple(places),
        evidence=(
            Measurement(f"time in tracing {evidence.unit.per}", evidence.part("tracing"), "ms", "breakdown"),
            Measurement("clean steps that traced", len(steps), "count", "baseline"),
        ),
        advice=advice,
        absorbs=("CMP004", *(("EAG006",) if makes else ())),  # without, each fit traces what is its own
        elsewhere=(
            *(pay_first(evidence.steps, gained, apart=apart) if evidence.work is None else ()),
            *(evaluated_again(evidence) if makes else ()),
        ),
    )


def _choose_samples(evidence: Evidence) -> Samples:
    """Return those of the steps; of all clean ones where those that were sampled closely hold no trace."""
    found = evidence.samples
    if evidence.work is not None or any(stack.activity == "tracing" for stack in found.stacks):
        return found
    return evidence.log.samples([(step.begin_ns, step.end_ns) for step in evidence.steps.clean])


#: Methods that trace the functions of a Keras model.
_TRACES = ("fit", "train_on_batch", "evaluate", "predict")
_KEEP = (
    "Create and compile one model before the loop{made} and reset it in each iteration, unless shapes differ. Once: "
    "{model}.optimizer.build({model}.trainable_variables); state = [*{model}.variables, *{model}.optimizer.variables]; "
    "first = [v.numpy() for v in state]. In each iteration: for v, value in zip(state, first): v.assign(value)."
)


def _find_map(evidence: Evidence, samples: Samples) -> Tracing | None:
    """Find the call of ``tf.vectorized_map`` or the like that most of the tracing is below."""
    part = split_eager_samples(evidence).get("maps")
    traced = {stack: count for stack, count in samples.stacks.items() if stack.activity == "tracing"}
    inside = sum(count for stack, count in traced.items() if part is not None and stack in part.stacks)
    if part is None or inside < shared.MOSTLY.value * sum(traced.values()):
        return None
    place = part.lines.most_common(1)[0][0]
    name = name_map(evidence, part, place)
    return Tracing(f"tf.{name}", advise_compiling(evidence, place, name), span(evidence, *place))


def _find_jacobian(evidence: Evidence, lines: list[Place]) -> Tracing | None:
    """TensorFlow vectorises the loop of a jacobian by tracing it: in a compiled function once, else in each call."""
    for file, call in find_methods(evidence, "jacobian", "batch_jacobian"):
        if not any(file == where and line in call.lines for where, line in lines):
            continue
        method, function = call.function.text, find_function(evidence, file, call.line)
        put = "Put the tape and this call into a function with @tf.function"
        if function is not None:
            put = f"Put @tf.function on {function.name} (line {function.line})"
        return Tracing(
            method,
            f"{put}. Outside a compiled function, {method} traces the loop over its rows in each call.",
            SourceSpan(file, call.line),
        )
    return None


def _advise_keeping(evidence: Evidence, new: SourceSpan) -> str:
    """In the names of the statement that makes the model, which is to be moved."""
    function, syntax = find_function(evidence, new.file, new.line), evidence.syntax(new.file)
    assignments = syntax.assignments if syntax is not None else []
    made = next((item for item in assignments if item.line == new.line), None)
    if made is None or made.targets[0].kind != "name":
        return _KEEP.format(made="", model="model")
    model, text = made.targets[0].text, made.value.text
    text = f"{model} = {text}" if len(text) <= shared.MAX_LINE.value else f"line {new.line}"
    out = f", out of {function.name}, which gets {model} as an argument" if function is not None else ""
    return _KEEP.format(made=f" ({text}{out})", model=model)


def _find_new_model(evidence: Evidence, lines: list[tuple[str, int]]) -> SourceSpan | None:
    """Find where the model is made that a traced line trains or asks, in the loop around it or in its function, which
    is called in each iteration then: its functions are traced for each model."""
    for file, call in find_methods(evidence, *_TRACES):
        if not any(file == where and line in call.lines for where, line in lines):
            continue
        function = find_function(evidence, file, call.line)
        body = (function,) if function is not None else ()
        made = find_making_line(call, (*find_evaluating_loops(evidence, file, call), *body))
        if made is not None:
            return SourceSpan(file, made, function.name if function is not None else "")
    return None


def _find_maker(evidence: Evidence, file: str, call: Call, lines: list[tuple[str, int]]) -> SourceSpan | None:
    """Find where the loop gets its model from a function that makes it and compiles it, too."""
    function = find_function(evidence, file, call.line)
    body = (function,) if function is not None else ()
    return _find_new_model(evidence, lines) if find_making_line(call, body) is not None else None


def _price(evidence: Evidence, share: float, makes: bool) -> gain.Gain:
    """Return the gain of keeping the graphs that are there.
    ``makes``: a model is made or compiled again, so that none of its traces behind the first steps had to be."""
    clean = evidence.steps.clean
    traced = sum(bool(evidence.tracing.overlap(step.begin_ns, step.end_ns)) for step in clean)
    certain = CERTAIN.value * share
    if evidence.work is not None:
        again = _list_retraced(evidence)
        first = first_runs.beyond(evidence, [(name, count) for name, count, _ in again])
        whole = sum(took for _, _, took in again)
        needed = sum(took / (count + 1) for _, count, took in again) / whole if whole else 0.0
        times = evidence.work.seconds * MS_PER_S / (evidence.step_ms or math.inf)
        if first is None:  # functions of TensorFlow's own, or of open size
            first, times = first_runs.idle(evidence), 1.0
        certain = max(certain, share * (1 - needed)) if again else certain
        return without.price_kept(evidence, without.saved_with(evidence, certain, first, times), certain)
    known = without.saved(evidence) if len(clean) - traced < ORDINARY.value else None
    upper = known.high if known else share
    if makes:
        certain, upper = gain.interval(share, 0)[0], max(upper, _share_excess(evidence))
    return without.price_kept(evidence, Part(min(certain, upper), max(certain, upper)), certain)


def _share_excess(evidence: Evidence) -> float:
    """Return the share of the clean steps by which those that trace are longer than the others: what goes with a
    trace, the first execution and the Python that makes a model's functions and variables, included. 0 where too few
    do not."""
    clean = evidence.steps.clean
    traced = {id(step) for step in clean if evidence.tracing.overlap(step.begin_ns, step.end_ns)}
    others = [step.duration_ns for step in clean if id(step) not in traced]
    if len(others) < ORDINARY.value:
        return 0.0
    usual = statistics.median(others)
    longer = sum(step.end_ns - step.begin_ns - usual * step.count for step in clean if id(step) in traced)
    return min(max(longer, 0.0) / sum(step.end_ns - step.begin_ns for step in clean), shared.MAX_STEP_SHARE.value)


def _list_retraced(evidence: Evidence) -> list[tuple[first_runs.Traced, int, float]]:
    """List the functions that were traced more than once: how often beyond the first time, and ms of all their
    traces."""
    counts = evidence.offer(TraceCounts)
    rows = [row for row in counts.functions if row.traces > 1] if counts is not None else []
    return [((row.file, row.line, row.function), row.traces - 1, row.ms) for row in rows]


def _goes_on_tracing(evidence: Evidence, steps: int) -> bool:
    """Whether functions go on being traced: each is traced once when it is first called, be it in a late step."""
    work = evidence.work
    if work is not None and work.iterations is None:
        return _traces_late(evidence) and (work.kind == "loop" or _traces_in_loop(evidence))
    return steps > 1 and _traces_late(evidence)


def _traces_in_loop(evidence: Evidence) -> bool:
    """Whether a loop of the user's traces, within one long call; saving a model traces many functions, each once."""
    seen = {stack: count for stack, count in evidence.samples.stacks.items() if stack.activity == "tracing"}
    again = sum(
        count for stack, count in seen.items() if any(find_frame_loops(evidence, frame) for frame in stack.frames)
    )
    return again >= shared.LOOP_SHARE.value * sum(seen.values())


def _traces_each_once(evidence: Evidence, steps: int) -> bool:
    """Whether each of several models is traced once: those that a loop goes over and compiles, or that stand one after
    the other in calls outside of all loops, which are as many as the ``steps`` that trace, or more."""
    own = _find_own_models(evidence)
    seen = {stack: count for stack, count in _choose_samples(evidence).stacks.items() if stack.activity == "tracing"}
    inside, paths, again = False, set[tuple[Place, ...]](), 0
    for stack, count in seen.items():
        around = [(frame.file, loop.line) for frame in stack.frames for loop in find_frame_loops(evidence, frame)]
        if not around:
            paths.add(tuple((frame.file, frame.line) for frame in stack.frames))
        inside = inside or any(loop in own for loop in around)
        again += count * (bool(around) and not any(loop in own for loop in around))
    several = evidence.work is None and 1 < steps <= len(paths)
    return (inside or several) and again <= (1 - shared.NEARLY_ALWAYS.value) * sum(seen.values())


def _find_own_models(evidence: Evidence) -> set[Place]:
    """Find the outermost loops that compile what they go over: another model in each iteration."""
    found = set[Place]()
    for file, call in find_methods(evidence, "compile"):
        around = find_evaluating_loops(evidence, file, call)
        if around and name_receiver(call, "") in around[0].targets:
            found.add((file, around[0].line))
    return found


def _traces_late(evidence: Evidence) -> bool:
    """Whether the later half still traces."""
    looked = evidence.steps.clean if evidence.work is None else evidence.steps.steps
    begin, end = looked[0].begin_ns, looked[-1].end_ns
    middle = (begin + end) // 2
    return evidence.tracing.overlap(middle, end) >= LATE_TRACING.value * evidence.tracing.overlap(begin, end)


def _find_compiles(evidence: Evidence, lines: list[tuple[str, int]]) -> list[tuple[str, Call]]:
    """Find the calls of ``compile`` inside the loops around the lines that trace, or in functions that are called
    there; and those in a function that a loop calls to trace, which gets the same model each time."""
    around = [(file, loop) for file, line in lines for loop in find_loops(evidence, file, line)]
    seen = [stack.frames[:-1] for stack in _choose_samples(evidence).stacks if stack.activity == "tracing"]
    outer = {(at.file, loop) for frames in seen for at in frames for loop in find_frame_loops(evidence, at)}
    return [
        (file, call)
        for file, call in find_methods(evidence, "compile")
        if any(
            file == where and (loop.line <= call.line <= loop.last or _find_calls_in(evidence, file, call, loop))
            for where, loop in around
        )
        or any(file == where and _keeps_model_in(evidence, file, call, loop) for where, loop in outer)
    ]


def _find_calls_in(evidence: Evidence, file: str, call: Call, loop: Loop) -> list[Call]:
    """Find the calls in a loop of the function around a call."""
    function, syntax = find_function(evidence, file, call.line), evidence.syntax(file)
    if function is None or syntax is None or function.line <= loop.line <= function.last:
        return []
    return [each for each in syntax.find_calls(function.name) if each.line in loop.lines]


def _keeps_model_in(evidence: Evidence, file: str, call: Call, loop: Loop) -> bool:
    """Whether the function around a call of a model's method gets its model from outside of the loop that calls it."""
    syntax, function = evidence.syntax(file), find_function(evidence, file, call.line)
    calls, owner = _find_calls_in(evidence, file, call, loop), name_receiver(call, "")
    if syntax is None or function is None or not calls or not owner.replace(".", "").isidentifier():
        return False
    names = function.parameters
    stored = _find_stored(syntax)
    bound = {node.text for node in stored if node.line in loop.lines or node.line in function.lines}
    if "." in owner:  # set once, where the object is made: any other method may be called in each iteration
        made = [find_function(evidence, file, node.line) for node in stored if node.text == owner]
        return bool(made) and all(each is not None and each.name == "__init__" for each in made)
    if owner not in names:
        return owner not in bound
    given = [each.get_argument(owner, names.index(owner)) for each in calls]
    return owner not in bound and all(each and each.kind == "name" and each.text not in bound for each in given)


def _find_stored(syntax: Syntax) -> list[Expression]:
    """Find the names and attributes that are assigned to, or deleted."""
    return [node for node in syntax.find_expressions("name", "attribute") if not node.is_read]
