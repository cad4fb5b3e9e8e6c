"""The result of the probe ``lines``: tables by line, and functions that ran as graphs."""

from __future__ import annotations

import statistics

import msgspec

from tfperfkit.clock import ms
from tfperfkit.model import Column, ProbeResult, Table
from tfperfkit.probe import Capture
from tfperfkit.records.convert import each, read
from tfperfkit.records.plural import plural
from tfperfkit.records.samples import Samples, read_samples
from tfperfkit.records.steps import Marker, Site
from tfperfkit_probes.lines.graph import result
from tfperfkit_probes.lines.graph.data import GraphFunction
from tfperfkit_probes.lines.model import Function, Line, LinesData

MAX_TABLES = 6
MAX_ROWS = 24
#: Lines under this share of the step are left out of the console's table (the JSON has all).
SMALL_SHARE = 0.002


class _Window(msgspec.Struct, frozen=True):
    """``end_ns``: when the measuring ended, which may be before the window did; 0 in older recordings."""

    ns: int = 0
    end_ns: int = 0


class _Measured(msgspec.Struct, frozen=True):
    file: str
    line: int
    function: str
    lines: tuple[tuple[int, int, int], ...] = ()  # number, hits, ns


class _Spanning(msgspec.Struct, frozen=True, array_like=True):
    """A call that was under way when the window opened, and the line that it stood on."""

    file: str
    first: int
    function: str
    line: int


class _Traced(msgspec.Struct, frozen=True, array_like=True):
    """A record of the session's stream ``traces``."""

    file: str
    line: int
    function: str


def report(capture: Capture) -> ProbeResult:
    """Make the result from what was recorded; from samples alone when no exact window came about."""
    samples = read_samples(capture)
    windows = read(capture, "window", _Window)
    window_ns = sum(row.ns for row in windows)
    functions = _exact(capture, window_ns)
    method = "exact" if functions else "sampled"
    if not functions:
        functions = _sampled(samples)
    compiled = result.report(capture)
    graphs = _graphs(capture, compiled.functions)
    ended = max((row.end_ns for row in windows), default=0)
    inside = [step for step in capture.steps.in_window("lines") if not ended or step.begin_ns < ended]
    steps = len(inside)
    notes = list(capture.notes)
    unseen = [g for g in graphs if not g.lines]
    if unseen:
        names = ", ".join(f"{g.function} ({_short(g.file)}:{g.line})" for g in unseen)
        notes.append(
            f"compiled by tf.function: {names}. Their Python lines ran only while tracing, so they show no time here."
        )
    devices = [name for name in capture.run.machine.get("devices", ()) if "GPU" in str(name)]
    if devices:
        notes.append("A GPU works on after a line has returned: a line's time is its time on the host.")
    held_ns = sum(step.end_ns - step.begin_ns for step in inside)
    if steps and window_ns > 1.3 * held_ns:
        notes.append(
            f"the window held {ms(window_ns - held_ns):,.0f} ms outside of steps too (an epoch's end, validation)"
        )
    notes += compiled.notes
    data = LinesData(
        tuple(functions),
        tuple(graphs),
        ms(window_ns),
        method,
        compiled.step_ms,
        compiled.outside_ms,
        compiled.cost_share,
    )
    total = sum(f.window_ms for f in functions[:1])
    if method == "exact":
        over = f"{plural(steps, 'step')}" if steps else f"{ms(window_ns) / 1000:.1f} s"
        summary = f"{plural(len(functions), 'function')} measured by line_profiler over {over}"
    elif functions:
        sampled = f"{plural(samples.count, 'stack sample')} over {samples.span_s:.1f} s"
        summary = f"{plural(len(functions), 'function')}, by {sampled}{'; no exact window' * bool(total)}"
    else:
        summary = ""
    # A function that stood on one call all the time (main) tells nothing that the function it called does not.
    telling = [f for f in functions if not _stands_on_one_line(f) and not _next_to_nothing(f)] or functions
    tables = tuple(_table(f, capture, method, max(steps, 1)) for f in telling[:MAX_TABLES])
    return ProbeResult(
        data=data,
        tables=compiled.tables + tables,
        summary=summary,
        notes=tuple(notes),
        offers=(compiled.computed,) if compiled.computed is not None else (),
    )


def _stands_on_one_line(function: Function) -> bool:
    return len(function.lines) == 1 and function.lines[0].share > 0.99 and (function.lines[0].hits or 0) <= 1


def _next_to_nothing(function: Function) -> bool:
    return sum(row.share for row in function.lines) < SMALL_SHARE


def _exact(capture: Capture, window_ns: int) -> list[Function]:
    functions = []
    rows = read(capture, "functions", _Measured)
    measured = {(row.file, row.line): row for row in rows}
    spanning: dict[tuple[str, int], int] = {}
    for call in read(capture, "spanning", _Spanning):
        file, first, line = call.file, call.first, call.line
        # Outermost first: as long as the calls further out did not move on, this is the same call that stood here
        # when the window opened.
        spanning[file, first] = line
        if (file, first) not in measured:
            rows.append(_Measured(file=file, line=first, function=call.function))
        elif any(hits for _, hits, _ in measured[file, first].lines):
            break
    for row in rows:
        timings = {number: [hits, time] for number, hits, time in row.lines}
        edge = spanning.get((row.file, row.line))
        if edge is not None:
            # The call ran before the window opened and after it closed, so line_profiler never saw the line that was
            # under way at the opening. A call that spans the window takes all of it.
            missing = window_ns - sum(time for _, time in timings.values())
            cell = timings.setdefault(edge, [0, 0])
            cell[1] += max(missing, 0)
            cell[0] = max(cell[0], 1)
        lines = tuple(
            Line(number, hits, ms(time), time / window_ns if window_ns else 0.0)
            for number, (hits, time) in sorted(timings.items())
        )
        functions.append(Function(row.function, row.file, row.line, sum(x.ms for x in lines), lines))
    return sorted(functions, key=lambda f: -f.window_ms)


def _sampled(samples: Samples) -> list[Function]:
    functions = []
    for (file, first, name), lines in samples.by_function().items():
        rows = tuple(Line(line, None, share * samples.span_s * 1000, share) for line, share in sorted(lines.items()))
        functions.append(Function(name, file, first, sum(x.ms for x in rows), rows))
    return sorted(functions, key=lambda f: -f.window_ms)


def _graphs(capture: Capture, measured: tuple[GraphFunction, ...]) -> list[GraphFunction]:
    """The user's functions that were traced: by line where a trace has them (``measured``), else with the time of
    their calls where these are the step's update."""
    timed: dict[str, list[int]] = {}
    names = {}
    for site in each(capture.session_records("sites"), Site):
        if site.kind in ("call", "loop_call"):
            names[site.id] = site.name
    clean = capture.steps.clean
    span = (clean[0].begin_ns, clean[-1].end_ns) if clean else (0, 0)
    inside = set(names.values())
    for marker in each(capture.session_records("markers"), Marker) if inside else ():
        if marker.site in names and span[0] <= marker.begin_ns <= span[1]:
            timed.setdefault(names[marker.site], []).append(marker.end_ns - marker.begin_ns)
    found = {(item.file, item.line, item.function): item for item in measured}
    for traced in each(capture.session_records("traces"), _Traced):
        file, line, name = traced.file, traced.line, traced.function
        calls = timed.get(name)
        per_step = ms(statistics.median(calls)) * len(calls) / max(len(clean), 1) if calls else None
        found.setdefault((file, line, name), GraphFunction(function=name, file=file, line=line, ms_per_step=per_step))
    return list(found.values())


def _table(function: Function, capture: Capture, method: str, steps: int) -> Table:
    source = capture.source(function.file)
    strong = sorted(function.lines, key=lambda x: -x.ms)[:MAX_ROWS]
    shown = [x for x in function.lines if x in strong and (x.share >= SMALL_SHARE or len(function.lines) <= 8)]
    costliest = max((x.ms for x in shown), default=0.0)
    rows = []
    for x in shown:
        text = source[x.line - 1].rstrip("\n") if 0 < x.line <= len(source) else None
        per_hit = x.ms / x.hits if x.hits else None
        rows.append((x.line, x.hits, x.ms / steps, per_hit, x.share, text))
    left_out = len(function.lines) - len(shown)
    marked = tuple(i for i, x in enumerate(shown) if x.ms == costliest and x.share >= 0.1)
    columns: tuple[Column, ...] = (
        Column("line", "number"),
        Column("hits", "count"),
        Column("ms/step" if steps > 1 else "ms", "ms"),
        Column("ms/hit", "ms"),
        Column("% step" if capture.steps.count else "% time", "share"),
        Column("source", "source"),
    )
    if method == "sampled":
        keep = (0, 2, 4, 5)
        columns = tuple(columns[i] for i in keep)
        rows = [tuple(row[i] for i in keep) for row in rows]  # type: ignore[misc]
    more = f"{plural(left_out, 'more line')}"
    note = f"{more} took under {100 * SMALL_SHARE:.1f} % each" if left_out > 0 else ""
    return Table(
        title=f"{function.function} ({_short(function.file)}:{function.line})",
        columns=columns,
        rows=tuple(rows),
        marked=marked,
        note=note,
    )


def _short(file: str) -> str:
    return file.rpartition("/")[2]
