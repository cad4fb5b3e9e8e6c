"""The title and the detail of a finding about traces: what changed between calls, compared with the closest trace."""

from __future__ import annotations

import os
from collections.abc import Sequence

from tfperfkit_probes.retrace.cause import main_difference
from tfperfkit_probes.retrace.model import Blame, Trace, TracedFunction

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.clock import NS_PER_S, ms
from tfperfkit_rules.retrace import advice
from tfperfkit_rules.retrace.cost import lost_ns

MAX_CAUSES = Threshold(
    4, "count", "number of differences between two traces that are shown", Chosen("the rest is counted")
)


def make_title(blame: Blame, function: TracedFunction, traces: Sequence[Trace]) -> str:
    """Return the title: which function is traced again, how often and why."""
    count, total = len(traces), len(function.traces) + function.earlier
    name = "Keras' compiled step" if function.owner == "keras" else function.function
    times = {1: "once", 2: "twice"}.get(count, f"{count} times")
    paths = {main.path for trace in traces if (main := main_difference(trace.cause)) is not None}
    named = sorted(paths)
    path = named[0] if len(named) == 1 else "its arguments" if named else ""
    if blame == "made_in_loop":
        return f"tf.function {name} created in a loop, so traced {total} times"
    if blame == "per_instance":
        return f"tf.function method {name} traced again for each new {function.instance_of}, {total} times"
    if blame == "pipeline_rebuilt":
        return f"tf.data pipeline rebuilt, so its function {name} is traced {total} times"
    if blame == "failing":
        return f"tf.function trace of {name} fails and is retried {times}"
    why = {
        "python_value": f"the Python value of {path} changes" if len(named) == 1 else "its Python values change",
        "varying_batch": f"the batch size of {path} changes",
        "varying_length": f"the shape of {path} changes",
        "varying_rank": f"the rank of {path} changes",
        "varying_dtype": f"the dtype of {path} changes",
        "varying_structure": f"the structure of {path} changes",
        "object_identity": f"{path} is a new object",
        "context": f"its {path.removeprefix('context.').replace('_', ' ')} changes",
    }.get(blame, f"{path or 'an argument'} changes")
    if blame == "varying_batch" and advice.partial_batch(traces):
        why = f"{why} (partial batch)"
    return f"{name} retraced {times} because {why}"


def make_detail(
    function: TracedFunction, trace: Trace, traces: Sequence[Trace], after: int, median: float | None
) -> str:
    """Return the lines about one trace. ``after``: traces after the fix; ``median``: ns of the median step."""
    head = "TRACE" if trace.kind in ("new_function_object", "expected") else "RETRACE"
    worth = ""
    if median:
        steps = lost_ns(trace) / median
        worth = f", worth {steps:.0f} steps" if steps >= 1.5 else ", worth 1 step" if steps >= 0.5 else ""
    step = f" at step {trace.step}" if trace.step else ""
    place = _place(function.function, function.file, function.line)
    lines = [f"{head} #{trace.number} of {place}{step} · {_time(lost_ns(trace))}{worth}"]
    if trace.call_site is not None:
        site = trace.call_site
        lines.append(f"  called from {_place(site.function, site.file, site.line)}")
    partial, shown = advice.partial_batch(traces), MAX_CAUSES.value
    closest = f"closest trace #{trace.closest}: " if trace.closest else "before: "
    for number, difference in enumerate(trace.cause[:shown]):
        if difference.way == "failed":
            continue
        path = (
            difference.path.removeprefix("context.").replace("_", " ")
            if difference.way == "context"
            else (difference.path)
        )
        label = closest if number == 0 else " " * len(closest)
        said = advice.remark(difference, partial)
        lines.append(f"  {label} {path}  {difference.before} → {difference.after}   {said}".rstrip())
    if len(trace.cause) > shown:
        more = len(trace.cause) - shown
        lines.append(f"  and {more} more difference{'s' * (more != 1)}")
    if trace.error:
        lines.append(f"  the trace failed with {trace.error}")
    if function.pattern:
        lines.append(f"  pattern: {function.pattern}")
    lines.append(f"  after the fix: traces {len(function.traces) + function.earlier} → {after}")
    return "\n".join(lines)


def _place(function: str, file: str, line: int) -> str:
    name = "the module" if function == "<module>" else function
    return f"{name} ({os.path.basename(file)}:{line})" if file else name


def _time(spent_ns: int) -> str:
    if spent_ns >= NS_PER_S:
        return f"{spent_ns / NS_PER_S:.2f} s"
    return f"{ms(spent_ns):.0f} ms" if ms(spent_ns) >= 10 else f"{ms(spent_ns):.1f} ms"
