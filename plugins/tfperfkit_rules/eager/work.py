"""EAG008: a loop outside of training, a long call, or what stands beside a compiled training step, runs TensorFlow
operation by operation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tfperfkit.calibration import LONG_OPERATIONS
from tfperfkit.gain import LOW, MEDIUM, middle, severity
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers import HostReads
from tfperfkit.records.parts import PartName
from tfperfkit.records.samples import MIN, Frame, Stack
from tfperfkit.rule import Evidence
from tfperfkit_rules.calibration import eager as calibrated
from tfperfkit_rules.calibration import shared
from tfperfkit_rules.eager.work_gain import Left, left
from tfperfkit_rules.measures.called import LAYER, call_of, callee, calls
from tfperfkit_rules.measures.eager_stacks import EagerPart, eager_parts
from tfperfkit_rules.measures.loop_of_batch import BatchLoop, loop_of_batch
from tfperfkit_rules.measures.making import frames_inside, making
from tfperfkit_rules.measures.python_state import PythonState, python_state
from tfperfkit_rules.measures.source_calls import is_compiled
from tfperfkit_rules.measures.source_text import Function, enclosing, loop_at, loops
from tfperfkit_rules.measures.step_place import step_place
from tfperfkit_rules.measures.step_shares import span
from tfperfkit_rules.measures.trace_window import reached
from tfperfkit_rules.measures.value_reads import first_read

_Place = tuple[str, Function]
_PARTS: tuple[PartName, ...] = ("eager_ops", "dispatch")
_LOOPS = (
    " Its loop in Python would be traced turn by turn: work on all turns at once, by operations on whole batches, or "
    "loop over tf.range."
)


def eager_work(evidence: Evidence) -> Iterable[Finding]:
    """The finding, for the operations that no other cause explains."""
    samples = evidence.samples
    if samples.count < MIN or (evidence.work is None and not _compiled_step(evidence)):
        return
    part = eager_parts(evidence).get("operations")
    share = part.seen / samples.count if part is not None else 0.0
    if evidence.work is None:  # a trace may have told the parts of a step: what is in none of them can't be gained
        share = min(share, evidence.share(*_PARTS))
    if part is None or share < calibrated.MIN_SHARE.value:
        return
    if sum(count for stack, count in part.stacks.items() if stack.activity == "eager_ops") < LOW * samples.count:
        return  # a graph of TensorFlow 1 is being built
    model = _model(evidence, part)
    place = _function(evidence, part) if model is None and making(evidence) is None else None
    most: Left | None = None
    moved = Counter[int]()
    apart = loop_of_batch(evidence, part.stacks) if model is None and making(evidence) is None else None
    if apart is not None:
        reads = _read(evidence, apart)
        share = min(share + reads / samples.count, shared.MAX_STEP_SHARE.value)
        turns = apart.turns if apart.turns is not None else float(calibrated.MIN_TURNS.value)
        otherwise = calibrated.MAPS_LEFT_MIN.value, calibrated.MAPS_LEFT_MAX.value
        rest = left(evidence, share, None, otherwise, (apart.held + reads) / (part.seen + reads), turns)
    else:
        otherwise = calibrated.EAGER_LEFT_MIN.value, calibrated.EAGER_LEFT_MAX.value
        times, inside = _times(evidence, part, place), _inside(part, place)
        rest = left(evidence, share, times, otherwise, inside)
        moved = _beside(evidence, part, place)
        if moved.total() >= MEDIUM * part.seen:
            most = left(evidence, share, times, otherwise, min(inside + moved.total() / part.seen, 1.0))
    if rest.operations is None and evidence.part("dispatch") < LONG_OPERATIONS.value * evidence.part("eager_ops"):
        return  # handing them out takes next to nothing beside them: they are long, and a graph would run them too
    if rest.operations is not None and rest.operations < calibrated.SEVERAL.value:
        return
    bounds = rest.bounds(share, samples.count)
    if most is not None:
        bounds = bounds[0], most.bounds(share, samples.count)[1]
    if model is not None:
        yield _called(evidence, part, model, rest, bounds)
        return
    where = _where(evidence, part, place)
    if apart is not None:
        where = tuple(dict.fromkeys((span(evidence, apart.file, apart.loop.line), *where)))
    what = _capital(evidence.unit.a)
    known = rest.operations is not None
    if evidence.work is None:
        number = f"{rest.operations:,.0f} " if known else ""
        many = f"has {number}operations beside its compiled function,"
    else:
        many = f"runs as {rest.operations:,.0f} separate operations," if known else "runs eagerly, its operations"
    yield Finding(
        code="EAG008",
        family="eager",
        title=f"{what} {many} called one by one from Python",
        severity=severity(1 - 1 / middle(bounds)),
        share_of_step=share,
        predicted_speedup=middle(bounds),
        predicted_range=bounds,
        where=where,
        evidence=(
            Measurement("time in them and in handing them out", share, "share", "samples"),
            *rest.evidence,
            Measurement("samples", float(samples.count), "count", "baseline"),
        ),
        advice=_all_at_once(apart, place)
        if apart is not None
        else _advice(evidence, place)
        + (_moved(moved) if most is not None else "")
        + (_LOOPS if rest.loops and place is not None else ""),
        detail=_detail(evidence, part, rest),
        absorbs_here=("LIN001",),
        parts=_PARTS,
    )


def _read(evidence: Evidence, apart: BatchLoop) -> int:
    """The samples that read values of tensors in the loop: of a batch one read does."""
    first, last = apart.loop.line, apart.loop.last
    return sum(
        count
        for stack, count in evidence.samples.stacks.items()
        if stack.activity == "host_sync"
        and any(frame.file == apart.file and first <= frame.line <= last for frame in stack.frames)
    )


def _all_at_once(apart: BatchLoop, place: _Place | None) -> str:
    name = place[1].name if place is not None else ""
    there = f" ({name})" if name and name != "<module>" else ""
    return (
        f"No turn of the loop in line {apart.loop.line} needs another: do all of them at once, by the same "
        f"operations{there} on a batch of their inputs (tf.stack, or the array itself; sums and gradients along the "
        "other axes), some hundreds at a time where memory asks for it. Where they can't be one batch, put "
        "@tf.function on what the loop does: that gains less."
    )


def _compiled_step(evidence: Evidence) -> bool:
    """Whether the steps are a loop of the person's whose updates no line of Python makes: a compiled function does."""
    place = step_place(evidence)
    return evidence.steps.source == "custom" and place is None


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _times(evidence: Evidence, part: EagerPart, place: _Place | None) -> float | None:
    """How often what is to be compiled is called: a function, or the body of the loop."""
    if place is not None:
        return reached(evidence, place[0], place[1].line + 1, place[1].last)
    own = evidence.work.where if evidence.work is not None else None
    loop = loop_at(evidence, own.file, own.line) if own is not None else None
    if own is not None and loop is not None:
        return reached(evidence, own.file, loop.line, loop.last)
    file, line = part.lines.most_common(1)[0][0]
    return reached(evidence, file, line, line)


def _model(evidence: Evidence, part: EagerPart) -> str | None:
    """The model or layer whose call makes most of these operations, as the person writes it: the outermost call in the
    work, for a model may be of the person's own layers, which call others."""
    called: Counter[Frame] = Counter()
    for stack, count in part.stacks.items():
        frame = next((frame for frame in _in_the_loop(evidence, stack) if calls(evidence, frame, LAYER)), None)
        if frame is not None:
            called[frame] += count
    if called.total() < shared.LOOP_SHARE.value * part.seen:
        return None
    return callee(call_of(evidence, called.most_common(1)[0][0], LAYER), "the model")


def _called(evidence: Evidence, part: EagerPart, model: str, rest: Left, bounds: tuple[float, float]) -> Finding:
    """EAG004, for a model that is called directly."""
    samples = evidence.samples
    return Finding(
        code="EAG004",
        family="eager",
        title=f"{model} is called operation by operation inside {evidence.unit.loop}",
        severity=severity(1 - 1 / middle(bounds)),
        share_of_step=part.seen / samples.count,
        predicted_speedup=middle(bounds),
        predicted_range=bounds,
        where=_where(evidence, part, None),
        evidence=(
            Measurement("time in the call", part.seen / samples.count, "share", "samples"),
            *rest.evidence,
            Measurement("samples", float(samples.count), "count", "baseline"),
        ),
        advice=(
            f"Compile the call once, before the loop: call = tf.function({model}, reduce_retracing=True), and give it "
            "tensors. Where several inputs are there at a time, call it once for all of them."
        ),
        detail="Outside of a compiled function Python hands out each operation of the model.",
        absorbs_here=("LIN001",),
        parts=_PARTS,
    )


def _function(evidence: Evidence, part: EagerPart) -> _Place | None:
    """Of the functions that the loop calls and that hold most of these operations, the outermost that reads no value;
    the outermost where all do. None where each of them changes what lives in Python, as an environment does."""
    held: Counter[_Place] = Counter()
    for stack, count in part.stacks.items():
        around = dict.fromkeys(
            (frame.file, function)
            for frame in _below_a_loop(evidence, stack)
            if (function := enclosing(evidence, frame.file, frame.line)) is not None
        )
        for item in around:
            held[item] += count
    # The outermost hold most; those that hold as much stand in the order of the stacks.
    every = [item for item, count in held.most_common() if count >= shared.LOOP_SHARE.value * part.seen]
    wide = [item for item in every if python_state(evidence, *item) is None]
    # What the loop stands in is not called by it: compiled, it would be traced turn by turn.
    wide = [item for item in wide if not _around(evidence, item)] or wide
    within = next((item for item in wide if not _reads(evidence, item)), wide[0] if wide else None)
    return within or _calling(evidence)


def _calling(evidence: Evidence) -> _Place | None:
    """The function that makes one long call of a library's that runs all of it, as a sampler of a chain does; None
    where it reads values or changes what lives in Python."""
    work = evidence.work
    if work is None or work.kind != "call" or work.iterations is not None:
        return None
    function = enclosing(evidence, work.where.file, work.where.line)
    place = (work.where.file, function) if function is not None else None
    if place is None or python_state(evidence, *place) is not None or _reads(evidence, place):
        return None
    return place


def _around(evidence: Evidence, place: _Place) -> bool:
    """Whether the work is a loop within this function."""
    work, (file, function) = evidence.work, place
    own = work.where if work is not None and work.kind == "loop" else None
    return own is not None and own.file == file and function.line <= own.line <= function.last


def _inside(part: EagerPart, place: _Place | None) -> float:
    """The share of these operations that the function makes; without a function the whole loop is to be compiled."""
    if place is None:
        return 1.0
    file, function = place
    there = sum(
        count
        for stack, count in part.stacks.items()
        if any(frame.file == file and function.line <= frame.line <= function.last for frame in stack.frames)
    )
    return there / part.seen


def _beside(evidence: Evidence, part: EagerPart, place: _Place | None) -> Counter[int]:
    """The samples of operations in the work's own loop, beside the function that is to be compiled, by their lines:
    they may be moved into it. None where it is called on the way of them, or where there is no such loop."""
    own = evidence.work.where if evidence.work is not None and evidence.work.kind == "loop" else None
    loop = loop_at(evidence, own.file, own.line) if own is not None else None
    found = Counter[int]()
    if own is None or loop is None or place is None:
        return found
    for stack, count in part.stacks.items():
        leaf = stack.frames[-1]
        if leaf.file == own.file and loop.line < leaf.line <= loop.last:
            found[leaf.line] += count
    return found


def _moved(lines: Counter[int]) -> str:
    known = sorted(line for line, _ in lines.most_common(3))
    what = f"line {known[0]}" if len(known) == 1 else f"lines {', '.join(map(str, known))}"
    return f" Operations stand beside it, too ({what}): move them into it, or into a function around both."


def _in_the_loop(evidence: Evidence, stack: Stack) -> tuple[Frame, ...]:
    """The frames from the line in the loop on."""
    below = _below_a_loop(evidence, stack)
    return stack.frames[max(0, len(stack.frames) - len(below) - 1) :]


def _below_a_loop(evidence: Evidence, stack: Stack) -> tuple[Frame, ...]:
    """The frames below the outermost loop; without a loop, those below the work's line."""
    for index, frame in enumerate(stack.frames):
        if loops(evidence, frame.file, frame.line):
            return stack.frames[index + 1 :]
    return tuple(frames_inside(evidence, stack)) if evidence.work is not None else stack.frames[1:]


def _reads(evidence: Evidence, place: _Place) -> list[int]:
    """The lines of a function at which Python reads the value of a tensor."""
    file, function = place
    data = evidence.offer(HostReads)
    rows = data.rows if data is not None else ()
    found = {row.line for row in rows if row.file == file and not row.through}
    lines = sorted(line for line in found if function.line <= line <= function.last)
    if lines:
        return lines
    read = first_read(evidence, file, function.line, function.last)
    return [read] if read is not None else []


def _where(evidence: Evidence, part: EagerPart, place: _Place | None) -> tuple[SourceSpan, ...]:
    hot = [span(evidence, *line) for line, _ in part.lines.most_common(2)]
    loop = evidence.work.where if evidence.work is not None else None
    around = [span(evidence, loop.file, loop.line)] if loop is not None else []
    if place is None:
        return tuple(dict.fromkeys((*hot, *around)))
    return tuple(dict.fromkeys((SourceSpan(place[0], place[1].line, place[1].name), *hot, *around)))


def _advice(evidence: Evidence, place: _Place | None) -> str:
    if evidence.settings.get("functions_run_eagerly"):
        return (
            "tf.config.run_functions_eagerly(True) makes all functions run like this: take it out. Then see that what "
            "this loop calls is a @tf.function."
        )
    if place is None:
        name = "the loop" if evidence.work is None or evidence.work.kind == "loop" else "the call"
        return (
            f"Move what {name} does with tensors into a function with @tf.function that takes and returns tensors, and "
            "work on whole batches: TensorFlow compiles it once and runs it as one graph."
        )
    file, function = place
    if is_compiled(evidence, file, function):
        return f"{function.name} is a tf.function that is made to run eagerly: see what switches it off."
    lines = _reads(evidence, place)
    before = ""
    if lines:
        named = ", ".join(f"{file.rpartition('/')[2]}:{line}" for line in lines[:3])
        before = f" Before that, replace what reads values of tensors inside it ({named}) by TensorFlow."
    return (
        f"Put @tf.function on {function.name}, so that TensorFlow compiles it once and runs it as one graph. Give it "
        f"tensors of one shape, not Python numbers.{before}"
    )


def _detail(evidence: Evidence, part: EagerPart, rest: Left) -> str:
    most = f"Most of them: {', '.join(rest.types)}." if rest.types else ""
    if rest.traced_s is not None:
        once = f"Tracing it once, {rest.traced_s:,.1f} s or so, is in the figure: what runs longer gains more."
        most = f"{most} {once}".strip()
    kept = _kept(evidence, part)
    if kept is None:
        return most
    named = f"{kept.called} at " if kept.called else ""
    at = f"{kept.file.rpartition('/')[2]}:{kept.line}"
    what = "an environment in Python" if kept.environment else "what lives in Python"
    stays = (
        f"{named}{at} changes {what}, outside of TensorFlow: a compiled function would do that once, while it is "
        "traced. Leave it out of the function."
    )
    return f"{stays} {most}".strip()


def _kept(evidence: Evidence, part: EagerPart) -> PythonState | None:
    """What a function around these operations changes in Python: of the innermost one in the work that does."""
    for stack, _ in part.stacks.most_common(3):
        for frame in reversed(_below_a_loop(evidence, stack)):
            function = enclosing(evidence, frame.file, frame.line)
            found = python_state(evidence, frame.file, function) if function is not None else None
            if found is not None:
                return found
    return None
