"""Texts about work that runs as eager operations: its places, what to change, and what stays outside the function."""

from __future__ import annotations

from collections import Counter

from tfperfkit.gain import MEDIUM
from tfperfkit.model import SourceSpan
from tfperfkit.records.samples import TENSORFLOW, Frame
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call
from tfperfkit_rules.eager.work.gain import Left
from tfperfkit_rules.eager.work.place import Place, below_a_loop, graph_loops, reads
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.batch_callbacks import called_by_batch
from tfperfkit_rules.measures.called import UPDATE, is_calling
from tfperfkit_rules.measures.eager_stacks import EagerPart
from tfperfkit_rules.measures.jacobian_rows import JacobianRows, find_jacobian_rows
from tfperfkit_rules.measures.loop_of_batch import BatchLoop
from tfperfkit_rules.measures.python_state import PythonState, find_python_state
from tfperfkit_rules.measures.source_calls import is_compiled
from tfperfkit_rules.measures.source_text import Loop, find_function, find_loops, find_running
from tfperfkit_rules.measures.step_shares import span

LOOPS = (
    " Replace its Python loop, which would be traced iteration by iteration, with operations on whole batches. Or: "
    "loop over tf.range."
)


def places(evidence: Evidence, part: EagerPart, place: Place | None) -> tuple[SourceSpan, ...]:
    hot = [span(evidence, *line) for line, _ in part.lines.most_common(2)]
    loop = evidence.work.where if evidence.work is not None else None
    around = [span(evidence, loop.file, loop.line)] if loop is not None else []
    if place is None:
        return tuple(dict.fromkeys((*hot, *around)))
    return tuple(dict.fromkeys((SourceSpan(place[0], place[1].line, place[1].name), *hot, *around)))


def advise(evidence: Evidence, part: EagerPart, place: Place | None) -> str:
    """Say what to compile, and how."""
    special = of_callback(evidence, part) or of_update(evidence, part) or wrap_library(evidence, part, place)
    return special or _advise_compiling(evidence, place)


def _advise_compiling(evidence: Evidence, place: Place | None) -> str:
    if evidence.settings.get("functions_run_eagerly"):
        return (
            "Remove tf.config.run_functions_eagerly(True), which makes all functions run eagerly. Then make sure that "
            "a @tf.function does the work."
        )
    if place is None:
        name = "loop" if evidence.work is None or evidence.work.kind == "loop" else "call"
        return (
            f"Move the tensor operations of the {name} into a function with @tf.function that takes and returns "
            "tensors. Let it work on whole batches."
        )
    file, function = place
    if is_compiled(function):
        return f"Find and remove the setting that makes the tf.function {function.name} run eagerly."
    looped = graph_loops(evidence, place)
    heads = {line for loop in looped for line in range(loop.line, loop.line + 2)}
    lines = [line for line in reads(evidence, place) if line not in heads]
    before = _loops_of_the_graph(looped)
    if lines:
        named = ", ".join(f"{file.rpartition('/')[2]}:{line}" for line in lines[:3])
        before += f" First replace the lines that read tensor values ({named}) with TensorFlow operations."
    return f"Put @tf.function on {function.name}. Pass it tensors of one shape, not Python numbers.{before}"


def of_callback(evidence: Evidence, part: EagerPart) -> str:
    """Say what to change if a Keras callback runs the operations around each batch; "" for others."""
    unit = evidence.unit
    method = called_by_batch(part.stacks) if evidence.work is None else ""
    if not method:
        return ""
    assigns = any(
        "resource_variable_ops:assign" in call for stack in part.stacks for call in stack.frames[-1].calls or ()
    )
    average = f" Or: let the optimizer keep an average of the weights within {unit.the}: use_ema=True, ema_momentum=..."
    return (
        f"Put the tensor operations of {method} into their own @tf.function and call that; use variables from outside "
        f"it, not as arguments. Or: run them for every tenth batch only.{average if assigns else ''}"
    )


def wrap_library(evidence: Evidence, part: EagerPart, place: Place | None) -> str:
    """Say how to compile one call of another library that runs most of the operations, if no function of the user is
    around them; "" for others."""
    if place is not None or evidence.settings.get("functions_run_eagerly"):
        return ""
    leaves = Counter[Frame]()
    for stack, count in part.stacks.items():
        leaves[stack.frames[-1]] += count
    frame = leaves.most_common(1)[0][0]
    seen = sum(count for leaf, count in leaves.items() if (leaf.file, leaf.line) == (frame.file, frame.line))
    library = (frame.calls or ("",))[0].partition(":")[0].partition(".")[0]
    call = next((node for node in find_running(evidence, frame) if isinstance(node, Call)), None)
    if not library or library in TENSORFLOW or seen < shared.MOSTLY.value * part.seen or call is None:
        return ""
    name = call.function.dotted
    if not name:
        return ""
    kept = name if call.method and not call.name.startswith(f"{library}.") else f"compiled_{name.rpartition('.')[2]}"
    looped = ", before the loop" if find_loops(evidence, frame.file, frame.line) else ""
    return (
        f"Compile the call once{looped}: {kept} = tf.function({name}). Call {kept} in line {frame.line}, with tensors "
        f"of one shape. This works if {library} computes with TensorFlow operations."
    )


def of_update(evidence: Evidence, part: EagerPart) -> str:
    """Say what to change if most operations are an optimizer's update that Python calls next to a compiled function;
    "" for others."""
    applied = Counter[int]()
    for stack, count in part.stacks.items():
        if any(is_calling(evidence, frame, UPDATE) for frame in stack.frames[-1:]):
            applied[stack.frames[-1].line] += count
    if evidence.work is not None or applied.total() <= shared.MOSTLY.value * part.seen:
        return ""
    return (
        f"Move the update of line {applied.most_common(1)[0][0]} into the compiled function that computes the "
        "gradients. Or: if it follows several such functions, put it into its own @tf.function, def update(gradients): "
        "optimizer.apply_gradients(zip(gradients, variables)), and sum gradients in a compiled function too."
    )


def rows_of(evidence: Evidence, part: EagerPart, place: Place | None) -> JacobianRows | None:
    """Return the loop in a function that takes a gradient for each number, where that is a good part of the time in
    it."""
    if place is None:
        return None
    file, function = place
    rows = find_jacobian_rows(evidence, file, range(function.line, function.last + 1))
    return rows if rows is not None and part.lines[file, rows.line] >= MEDIUM * part.seen else None


def as_jacobian(rows: JacobianRows) -> str:
    return (
        f" In it, replace the loop in line {rows.line} with {rows.tape}.jacobian({rows.tensor}, {rows.sources}), which "
        "computes all gradients at once. Outside a compiled function, every call would trace it."
    )


def _loops_of_the_graph(looped: list[Loop]) -> str:
    if not looped:
        return ""
    at = f"line {looped[0].line}" if len(looped) == 1 else f"lines {', '.join(str(loop.line) for loop in looped[:3])}"
    return (
        f" The while loop in {at} becomes a graph loop: use a tf.TensorArray in it instead of a list, and "
        "shape_invariants (tf.autograph.experimental.set_loop_options) for tensors whose shape changes."
    )


def all_at_once(evidence: Evidence, apart: BatchLoop, place: Place | None) -> str:
    there = f" ({place[1].name})" if place is not None and _called_in(evidence, apart, place[1].name) else ""
    return (
        f"Batch the loop in line {apart.loop.line}, for its iterations are independent: run the same operations{there} "
        "on all inputs at once (tf.stack, or the array itself), with sums and gradients along the other axes."
        f"{_further(apart)} Or, for less gain: put @tf.function on the loop's body."
    )


def _called_in(evidence: Evidence, apart: BatchLoop, name: str) -> bool:
    """Whether a line of the loop calls a function of that name."""
    syntax = evidence.syntax(apart.file)
    inside = range(apart.loop.line, apart.loop.last + 1)
    return syntax is not None and any(call.line in inside for call in syntax.find_calls(name))


def _further(apart: BatchLoop) -> str:
    outer = apart.outer
    return f" Better still, batch the loop in line {outer.loop.line} around it, too." if outer else ""


def also_moved(lines: Counter[int]) -> str:
    known = sorted(line for line, _ in lines.most_common(3))
    what = f"line {known[0]}" if len(known) == 1 else f"lines {', '.join(map(str, known))}"
    return f" Move the eager operations of {what} into it, too."


def detail(evidence: Evidence, part: EagerPart, rest: Left) -> str:
    largest = f"Most frequent operations: {', '.join(rest.types)}." if rest.types else ""
    if rest.traced_s is not None:
        once = f"The gain includes tracing once, about {rest.traced_s:,.1f} s, so a longer run gains more."
        largest = f"{largest} {once}".strip()
    kept = _kept(evidence, part)
    if kept is None:
        return largest
    named = f"{kept.called} at " if kept.called else ""
    at = f"{kept.file.rpartition('/')[2]}:{kept.line}"
    what = "an environment" if kept.environment else "state"
    return (
        f"{named}{at} changes {what} in Python. Keep it outside the function: compiled, it would run only during "
        "tracing."
    )


def _kept(evidence: Evidence, part: EagerPart) -> PythonState | None:
    """Return what a function around these operations changes in Python: of the innermost one in the work that does."""
    for stack, _ in part.stacks.most_common(3):
        for frame in reversed(below_a_loop(evidence, stack)):
            function = find_function(evidence, frame.file, frame.line)
            found = find_python_state(evidence, frame.file, function) if function is not None else None
            if found is not None:
                return found
    return None
