"""INP002, INP011: a file that the step loads again, and a function that returns the same value in each step.

An audit hook counts the files that each line of the script opens for reading. Values that hot functions return are
compared by type, shape and a sample of their bytes. The share comes from stack samples and the step's trace, which each
may be half right.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

import msgspec
from tfperfkit_probes.input.loaders import Opened, loaders
from tfperfkit_probes.input.model import ConstantFunction, InputData, Loader

from tfperfkit import gain
from tfperfkit.calibration import Derived, Threshold
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.pricing import Part, price
from tfperfkit.records.convert import each
from tfperfkit.records.samples import MIN, TENSORFLOW, FunctionKey, Place, Samples
from tfperfkit.remedy import Hoist
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.feed import name_at
from tfperfkit_rules.measures.kinds import kind_of
from tfperfkit_rules.measures.step_shares import interval, share_of, window

RELOAD_RATE = Threshold(
    shared.NEARLY_ALWAYS.value,
    "number",
    "minimum number of opens of a file per step, for 'in every step'",
    Derived("see NEARLY_ALWAYS"),
)
ONLY_LOADS = Threshold(
    shared.NEARLY_ALWAYS.value,
    "share",
    "minimum share of a call's samples on lines that load, for a call that only loads",
    Derived("see NEARLY_ALWAYS"),
)

FLOOR = gain.LOW
TITLES = {"INP002": "A file is reloaded on every step", "INP011": "A function returns the same value in every step"}
#: Kinds of work that turn an open file into data.
_READS = frozenset({"reading", "parsing", "images", "sound"})
#: A loader, where it stands, and the samples of its lines by activity.
_Row = tuple[Loader, tuple[SourceSpan, ...], Counter[str]]


def reloads(evidence: Evidence) -> Iterator[Finding]:
    """INP002: a file that the user's code opens again at (nearly) every step."""
    samples, step_ms = evidence.samples, evidence.step_ms
    if step_ms is None or samples.count < MIN:
        return
    by_place: dict[tuple[str, int], list[_Row]] = {}
    for loader in opened_files(evidence):
        if loader.opens_per_step < RELOAD_RATE.value:
            continue
        depth, doing = _extent(loader, evidence)
        if share_of(evidence, doing) < FLOOR:
            continue
        where = tuple(reversed(loader.chain[: depth + 1])) if depth else (loader.chain[0], *loader.chain[1:3])
        where = (*where, *_inside(samples, where))
        by_place.setdefault((where[0].file, where[0].line), []).append((loader, where, doing))
    found = sorted(by_place.values(), key=lambda rows: -max(sum(row[2].values()) for row in rows))
    for rows in found[: shared.MAX_FINDINGS.value]:
        yield _reload(evidence, step_ms, rows)


def opened_files(evidence: Evidence) -> tuple[Loader, ...]:
    """The user's lines that open files while the steps, or the iterations of a work, go by."""
    data = evidence.offer(InputData)
    if evidence.work is not None:
        found = _in_work(evidence)
    elif data is not None:
        found = data.loaders
    else:  # the probe did not run; the session saw the files all the same
        opens, sites = evidence.records("opens"), evidence.sites()
        found = loaders(evidence.steps, opens, sites, evidence.samples, evidence.step_ms)
    own = evidence.run.directory  # what we read ourselves is not the script's
    return tuple(item for item in found if not (own and item.path.startswith(own.rstrip("/\\") + os.sep)))


def _in_work(evidence: Evidence) -> tuple[Loader, ...]:
    """The same of a loop that trains nothing: files that it opened more than once. Without iterations that were counted
    all of the loop is one step."""
    stretch = evidence.log.whole
    if not stretch or evidence.work is None or evidence.work.kind != "loop":
        return ()
    (begin, end) = stretch[0]
    opens = [row for row in each(evidence.records("opens"), Opened) if row.first_ns <= end and row.last_ns >= begin]
    counted = evidence.work.iterations is not None
    found = loaders(
        evidence.steps,
        (msgspec.to_builtins(row) for row in opens),
        evidence.sites(),
        evidence.samples,
        evidence.step_ms,
        **({} if counted else {"min_steps": 1}),
    )
    return tuple(item for item in found if item.opens > item.paths)


def _extent(loader: Loader, evidence: Evidence) -> tuple[int, Counter[str]]:
    """(how many calls outwards of the open still do nothing but load, the samples of that by activity)."""
    samples, data = evidence.samples, evidence.offer(InputData)
    same = {(row.file, row.function.rpartition(".")[2]) for row in data.constant_functions} if data else set()
    watched = {name for _, name in same} if data is not None and data.watched else None
    upper = loader.chain.index(loader.loader) if loader.loader in loader.chain else 0
    depth = 0
    for index in range(1, upper + 1):
        callee = loader.chain[index - 1]
        name = callee.function.rpartition(".")[2]
        # Without the probe input nobody watched what functions return: then a call that only leads to the file counts
        # as loading as a whole, with what it makes of the data.
        if data is not None and (callee.file, name) not in same:
            key = function_at(samples, callee)
            whole = sum(samples.doing_in(key).values()) if key is not None else 0
            if (
                watched is not None
                or not whole
                or sum(_loading(evidence, key, loader).values()) < ONLY_LOADS.value * whole
            ):
                break
        depth = index
    if depth:
        place = loader.chain[depth]
        return depth, samples.doing((place.file, place.line))
    first = loader.chain[0]
    loading = _loading(evidence, function_at(samples, first), loader)
    return 0, loading or samples.doing((first.file, first.line))


def _inside(samples: Samples, where: tuple[SourceSpan, ...]) -> list[SourceSpan]:
    """The lines below the first place that take most: what else points there is the same finding."""
    top, places_of_calls = (where[0].file, where[0].line), {(place.file, place.line) for place in where}
    below = [
        place
        for place in samples.leaves()
        if place not in places_of_calls
        and samples.within(place, top) >= ONLY_LOADS.value
        and samples.leaf_share(place) >= FLOOR
    ]
    return [SourceSpan(*place) for place in below[:3]]


def function_at(samples: Samples, span: SourceSpan) -> FunctionKey | None:
    """The sampled function that a place of a chain lies in: the last of its name that begins at or before it."""
    name = span.function.rpartition(".")[2]
    keys = [
        key
        for key in samples.functions()
        if key[0] == span.file and key[2].rpartition(".")[2] == name and key[1] <= span.line
    ]
    return max(keys, key=lambda key: key[1], default=None)


def _loading(evidence: Evidence, key: FunctionKey | None, loader: Loader) -> Counter[str]:
    """The samples of ``loading_lines`` by activity."""
    found: Counter[str] = Counter()
    for line in loading_lines(evidence, evidence.samples, key, loader):
        found += evidence.samples.doing((key[0] if key is not None else "", line))
    return found


def loading_lines(evidence: Evidence, samples: Samples, key: FunctionKey | None, loader: Loader) -> list[int]:
    """The lines of a function that load: those on the way to the file, and from there on those that a library reads
    below (``archive["x"]``, ``json.load(file)``), also one in C, which has no frames (``pickle.load(file)``)."""
    if key is None:
        return []
    found = []
    chain = {(place.file, place.line) for place in loader.chain}
    lines = samples.by_function().get(key, {})
    first = min((line for file, line in chain if file == key[0] and line in lines), default=key[1])
    for line in lines:
        below = samples.below((key[0], line))
        library = sum(n for name, n in below.items() if name != "own" and name not in TENSORFLOW)
        read = _read_in_c(evidence, samples, (key[0], line)) if line > first else 0
        if (key[0], line) in chain or (line > first and library + read >= shared.MOSTLY.value * sum(below.values())):
            found.append(line)
    return found


def _read_in_c(evidence: Evidence, samples: Samples, place: Place) -> int:
    """The samples of a line in a call that reads or takes apart what was opened, with no frame below."""
    frames = samples.innermost(place)
    return sum(count for frame, count in frames.items() if not frame.calls and kind_of(evidence, frame).word in _READS)


def _reload(evidence: Evidence, step_ms: float, rows: list[_Row]) -> Finding:
    unit = evidence.unit
    first, where, doing = max(rows, key=lambda row: sum(row[2].values()))
    share = share_of(evidence, doing)
    name = os.path.basename(first.path)
    files = sum(row[0].paths for row in rows)
    evidence_rows = [
        Measurement(f"file opens {unit.per}", sum(row[0].opens_per_step for row in rows), "count", "run"),
        Measurement(f"share of {unit.the} in loading", share, "share", window(evidence)),
        Measurement(f"time loading {unit.per}", step_ms * share, "ms", window(evidence)),
        Measurement(f"size of the files opened {unit.per}", max(row[0].bytes_per_step for row in rows), "bytes", "run"),
    ]
    if files > 1:
        evidence_rows.append(Measurement("different files opened", float(files), "count", "run"))
    line = evidence.line(where[0].file, where[0].line)
    if files <= 2:
        title = f"{name} is reloaded on {unit.every}"
        if evidence.work is not None:
            title = f"{name} is reloaded {sum(row[0].opens for row in rows):,} times in {evidence.unit.loop}"
        advice = f"Load {name} once, before {evidence.unit.loop}, and keep the arrays"
        if _is_known(evidence, first, where[0]):
            advice += f": move {_quoted(line)} out of {unit.the}, which should only pick its batch."
        else:
            advice += f"; the call at {name_at(evidence, where[0])} should only pick its batch."
    else:
        title = f"Files like {name} are read inside {evidence.unit.the}"
        advice = (
            f"Read the files ahead of {unit.the}, in a tf.data pipeline that ends with .prefetch(tf.data.AUTOTUNE). "
            "Or: read all of them once, before the loop, if they fit into memory."
        )
    return Finding(
        code="INP002",
        remedy=Hoist("file"),
        title=title,
        share_of_step=share,
        gain=price(Hoist("file"), Part(*interval(evidence, doing))),
        where=where,
        evidence=tuple(evidence_rows),
        advice=advice,
        absorbs=("INP001", "INP011", "STP017"),
        absorbs_here=("LIN001",),
    )


def _is_known(evidence: Evidence, loader: Loader, place: SourceSpan) -> bool:
    """Whether what a line gives is the same each time, so that it can be moved as it is: it opens the file itself, or
    what the functions on the way return was watched. Else the line may pick a batch as well."""
    data = evidence.offer(InputData)
    return place == loader.chain[0] or (data is not None and bool(data.watched))


def _quoted(line: str) -> str:
    limit = shared.MAX_LINE.value
    return f'"{line if len(line) <= limit else line[: limit - len("...")] + "..."}"' if line else "it"


def constant_values(evidence: Evidence) -> Iterator[Finding]:
    """INP011: a function gives the same value at every step."""
    unit = evidence.unit
    data, samples, step_ms = evidence.offer(InputData), evidence.samples, evidence.step_ms
    if data is None or step_ms is None or samples.count < MIN:
        return
    found = []
    for row in data.constant_functions:
        doing, call = _called_from(evidence, row)
        if (share := share_of(evidence, doing)) >= FLOOR:
            found.append((share, doing, row, call))
    found.sort(key=lambda item: -item[0])
    places_of_calls: list[SourceSpan] = []
    for share, doing, row, call in found[: shared.MAX_FINDINGS.value]:
        if call in places_of_calls:
            continue
        places_of_calls.append(call)
        line = evidence.line(call.file, call.line)
        where = tuple(dict.fromkeys((call, SourceSpan(row.file, row.line, row.function))))
        yield Finding(
            code="INP011",
            remedy=Hoist("value"),
            title=f"{row.function} returns the same value in {unit.every}",
            share_of_step=share,
            gain=price(Hoist("value"), Part(*interval(evidence, doing))),
            where=(*where, *_inside(samples, where)),
            evidence=(
                Measurement(f"share of {unit.the} in this function", share, "share", window(evidence)),
                Measurement(f"time in this function {unit.per}", step_ms * share, "ms", window(evidence)),
                Measurement("calls that returned an equal value", row.calls, "count", "run"),
                Measurement("size of the returned value", row.size, "bytes", "run"),
            ),
            advice=f"Call {row.function} once, before {unit.loop}, and keep the result: move {_quoted(line)} there.",
            detail=f"Each watched call returned the same {row.returns}.",
            absorbs_here=("LIN001",),
            absorbs=("INP001",),
        )


def _called_from(evidence: Evidence, row: ConstantFunction) -> tuple[Counter[str], SourceSpan]:
    """(the samples of the function by activity, the line that calls it most), from the sampled stacks."""
    name = row.function.rpartition(".")[2]
    clean = [(step.begin_ns, step.end_ns) for step in evidence.steps.clean]
    calls: Counter[tuple[str, int, str]] = Counter()
    for _, stack in evidence.log.inside(clean):
        for index, frame in enumerate(stack.frames):
            if frame.file == row.file and frame.name.rpartition(".")[2] == name and frame.first == row.line:
                if index:
                    above = stack.frames[index - 1]
                    calls[above.file, above.line, above.name] += 1
                break
    keys = [key for key in evidence.samples.functions() if (key[0], key[1]) == (row.file, row.line)]
    doing = evidence.samples.doing_in(keys[0]) if keys else Counter[str]()
    if not calls:
        return doing, SourceSpan(row.file, row.line, row.function)
    (file, line, function), _ = calls.most_common(1)[0]
    return doing, SourceSpan(file, line, function)
