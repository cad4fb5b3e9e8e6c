"""The words of EAG008: its places, what to change, and what stays outside of the compiled function."""

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
    " Its loop in Python would be traced iteration by iteration: work on all iterations at once, by operations on "
    "whole batches, or loop over tf.range."
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
    if is_compiled(function):
        return f"{function.name} is a tf.function that is made to run eagerly: see what switches it off."
    looped = graph_loops(evidence, place)
    heads = {line for loop in looped for line in range(loop.line, loop.line + 2)}
    lines = [line for line in reads(evidence, place) if line not in heads]
    before = _loops_of_the_graph(looped)
    if lines:
        named = ", ".join(f"{file.rpartition('/')[2]}:{line}" for line in lines[:3])
        before += f" Before that, replace what reads values of tensors inside it ({named}) by TensorFlow."
    return (
        f"Put @tf.function on {function.name}, so that TensorFlow compiles it once and runs it as one graph. Give it "
        f"tensors of one shape, not Python numbers.{before}"
    )


def of_callback(evidence: Evidence, part: EagerPart) -> str:
    """Of operations that a callback of Keras' calls around each batch: what to change. "" for others."""
    unit = evidence.unit
    method = called_by_batch(part.stacks) if evidence.work is None else ""
    if not method:
        return ""
    assigns = any(
        "resource_variable_ops:assign" in call for stack in part.stacks for call in stack.frames[-1].calls or ()
    )
    average = (
        f" What follows the weights slowly, as an average of them, the optimizer itself keeps within {unit.the}: "
        "use_ema=True, ema_momentum=..."
    )
    return (
        f"Put what {method} does with tensors into a function of its own with @tf.function and call that: a "
        "loop over variables may stand in it, where they are used from outside of it. Or do it for every tenth batch, "
        f"where that is enough.{average if assigns else ''}"
    )


def wrap_library(evidence: Evidence, part: EagerPart, place: Place | None) -> str:
    """Of operations that another library runs below one call, where no function of the user's is around them: how to
    compile that call. "" for others."""
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
        f"Compile the call: {kept} = tf.function({name}) once{looped}, and call {kept} in line {frame.line}. Give it "
        f"tensors of one shape, not Python numbers. It works as far as {library} computes with TensorFlow's operations."
    )


def of_update(evidence: Evidence, part: EagerPart) -> str:
    """Of operations that are mostly an optimizer's update, which Python asks for beside a compiled function: what to
    change. "" for others."""
    applied = Counter[int]()
    for stack, count in part.stacks.items():
        if any(is_calling(evidence, frame, UPDATE) for frame in stack.frames[-1:]):
            applied[stack.frames[-1].line] += count
    if evidence.work is not None or applied.total() <= shared.MOSTLY.value * part.seen:
        return ""
    return (
        f"Make the update of line {applied.most_common(1)[0][0]} in a compiled function too: at the end of the one "
        "that computes the gradients; or, where it comes after several of them, in one of its own (@tf.function, "
        "def update(gradients): optimizer.apply_gradients(zip(gradients, variables))), which is given tensors. What "
        "sums gradients up adds to tensors or tf.Variables, in a compiled function."
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
        f" In it {rows.tape}.jacobian({rows.tensor}, {rows.sources}) computes at once what line {rows.line} takes a "
        f"gradient each for, of every number of {rows.tensor}; persistent=True can go then. Not compiled it would be "
        "traced in every call."
    )


def _loops_of_the_graph(looped: list[Loop]) -> str:
    if not looped:
        return ""
    at = f"line {looped[0].line}" if len(looped) == 1 else f"lines {', '.join(str(loop.line) for loop in looped[:3])}"
    return (
        f" The while loop in {at} becomes a loop of the graph, since its head reads a tensor: what its iterations "
        "append to a list has to be a tf.TensorArray then, and a tensor whose shape changes needs shape_invariants "
        "(tf.autograph.experimental.set_loop_options)."
    )


def all_at_once(evidence: Evidence, apart: BatchLoop, place: Place | None) -> str:
    there = f" ({place[1].name})" if place is not None and _called_in(evidence, apart, place[1].name) else ""
    return (
        f"No iteration of the loop in line {apart.loop.line} needs another: do all of them at once, by the same "
        f"operations{there} on a batch of their inputs (tf.stack, or the array itself; sums and gradients along the "
        f"other axes), some hundreds at a time where memory asks for it.{_further(apart)} Where they can't be one "
        "batch, put @tf.function on what the loop does: that gains less."
    )


def _called_in(evidence: Evidence, apart: BatchLoop, name: str) -> bool:
    """Whether a line of the loop calls a function of that name."""
    syntax = evidence.syntax(apart.file)
    inside = range(apart.loop.line, apart.loop.last + 1)
    return syntax is not None and any(call.line in inside for call in syntax.find_calls(name))


def _further(apart: BatchLoop) -> str:
    outer = apart.outer
    return f" Nor does one of the loop in line {outer.loop.line} around it: better still, all of both." if outer else ""


def also_moved(lines: Counter[int]) -> str:
    known = sorted(line for line, _ in lines.most_common(3))
    what = f"line {known[0]}" if len(known) == 1 else f"lines {', '.join(map(str, known))}"
    return f" Operations stand beside it, too ({what}): move them into it, or into a function around both."


def detail(evidence: Evidence, part: EagerPart, rest: Left) -> str:
    largest = f"Most of them: {', '.join(rest.types)}." if rest.types else ""
    if rest.traced_s is not None:
        once = f"Tracing it once, {rest.traced_s:,.1f} s or so, is in the figure: what runs longer gains more."
        largest = f"{largest} {once}".strip()
    kept = _kept(evidence, part)
    if kept is None:
        return largest
    named = f"{kept.called} at " if kept.called else ""
    at = f"{kept.file.rpartition('/')[2]}:{kept.line}"
    what = "an environment in Python" if kept.environment else "what lives in Python"
    stays = (
        f"{named}{at} changes {what}, outside of TensorFlow: a compiled function would do that once, while it is "
        "traced. Leave it out of the function."
    )
    return f"{stays} {largest}".strip()


def _kept(evidence: Evidence, part: EagerPart) -> PythonState | None:
    """Return what a function around these operations changes in Python: of the innermost one in the work that does."""
    for stack, _ in part.stacks.most_common(3):
        for frame in reversed(below_a_loop(evidence, stack)):
            function = find_function(evidence, frame.file, frame.line)
            found = find_python_state(evidence, frame.file, function) if function is not None else None
            if found is not None:
                return found
    return None
