"""LIN001: the script's own Python keeps the step waiting."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable

from tfperfkit.gain import interval, middle, severity, speedups
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit_rules.calibration import shared
from tfperfkit_rules.calibration import step as calibrated
from tfperfkit_rules.measures.called import doing, frames_at, package_of
from tfperfkit_rules.measures.source_text import enclosing, loops
from tfperfkit_rules.measures.step_place import sites
from tfperfkit_rules.measures.step_shares import LineShare, callers, heaviest_loop, line_shares, span, text_of, window
from tfperfkit_rules.step.side_work import WRITES, does

HOT, MIN_SAMPLES, ALONE = calibrated.HOT.value, calibrated.MIN_SAMPLES.value, calibrated.ALONE.value
#: What is left of the work at best when it is moved or rewritten, and at worst.
LEFT = calibrated.LEFT_MIN.value, calibrated.LEFT_MAX.value
#: For NumPy that works on whole arrays already.
_WHOLE_ARRAYS = (
    "Do what is the same for each step once, before the loop; put the rest into tf.data with prefetch, so that it runs "
    "while the step computes"
)
#: What to do, by what ran, as ``called.doing`` names it. What has "?" is a method in C of an object that is not known.
_REMEDIES: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"^time\.sleep$|^asyncio\."),  # a coroutine that waits has no frame, the event loop has one
        "It waits: take the pause out, or let another thread do what it waits for",
    ),
    (
        re.compile(
            r"^(requests|urllib|urllib3|http|socket|ssl|boto3|botocore|redis|sqlite3|psycopg2?|pymysql|pymongo|sqlalchemy|"
            r"aiohttp|httpx|grpc)\.|^\?\.(execute|executemany|fetchone|fetchmany|fetchall|recv)$"
        ),
        "It waits for another machine: fetch ahead of the step (a thread with a queue, or tf.data with prefetch)",
    ),
    (
        re.compile(r"^(PIL|cv2|imageio|skimage)\."),
        "Decode and resize images in a tf.data map (tf.io.decode_jpeg, tf.image.resize) with "
        "num_parallel_calls=tf.data.AUTOTUNE and prefetch, or once before the loop",
    ),
    (
        re.compile(r"^pandas\."),
        "Take the columns out of pandas once, before the loop (df.to_numpy()), and pick batches from the arrays",
    ),
    (
        re.compile(
            r"^(json|pickle|_pickle|yaml|csv|gzip|zipfile|marshal|h5py)\.|^builtins\.open|^numpy\.(load|.*npyio)"
        ),
        "Read and parse it once, before the loop",
    ),
    (
        re.compile(r"^(gym|gymnasium|pettingzoo|ale_py|dm_env|dm_control|procgen|mujoco)\."),
        "Step several environments at a time, in processes of their own, so that they run while the network learns",
    ),
    (
        re.compile(r"^numpy\.random\..*choice$|^random\.(Random\(\)\.)?choices$|^\?\.choice$"),
        "Drawing with probabilities goes over all of them each time: keep a running sum (a sum tree), or draw many at "
        "a time",
    ),
    (
        re.compile(r"^copy\.|^numpy\.copy$|^numpy\..*\(\)\.copy$|^\?\.copy$"),
        "Copy only what changes, or keep it in one array that is written in place",
    ),
    (re.compile(r"^(numpy|scipy)\."), _WHOLE_ARRAYS),
)
#: What is work of the person's own on a line that calls the compiled step.
_WORK = re.compile(r"^(numpy|scipy|random|time)\.")
_CALLS = ("next", "call", "loop_call", "batch", "train_on_batch")
_PLAIN = (
    "Write it for whole arrays with NumPy or TensorFlow instead of one element at a time, do it once before the loop, "
    "or prepare batches ahead in tf.data with prefetch"
)


def hot_python(evidence: Evidence) -> Iterable[Finding]:
    """The function of the person's whose own lines take most; two at most."""
    rows = [row for row in line_shares(evidence, ("python",)) if not _is_plain_call(evidence, row)]
    functions: dict[tuple[str, str, int], list[LineShare]] = defaultdict(list)
    for row in rows:
        function = enclosing(evidence, *row.place)
        key = (row.place[0], function.name if function else "", function.line if function else 0)
        functions[key].append(row)
    for name, own in _joined(evidence, functions)[:2]:
        if sum(row.share for row in own) >= HOT and sum(row.samples for row in own) >= MIN_SAMPLES:
            yield _finding(evidence, name, own)


def _joined(
    evidence: Evidence, functions: dict[tuple[str, str, int], list[LineShare]]
) -> list[tuple[str, list[LineShare]]]:
    """Functions by their own time, the largest first; one that only hands work to another is told with it, and so is
    one that the loop which takes the time calls at each turn."""
    ranked = sorted(functions.items(), key=lambda item: -sum(row.share for row in item[1]))
    found: list[tuple[str, list[LineShare]]] = []
    taken: set[tuple[str, str, int]] = set()
    for key, own in ranked:
        if key in taken:
            continue
        host = next((rows for _, rows in found if _called_in_its_loop(evidence, rows, own[0])), None)
        if host is not None:
            host += own
            taken.add(key)
            continue
        together = list(own)
        for place in callers(evidence, own[0].place):
            function = enclosing(evidence, place.file, place.line)
            above = (place.file, function.name if function else "", function.line if function else 0)
            if function is not None and above in functions and above not in taken and above != key:
                together += functions[above]
                taken.add(above)
        taken.add(key)
        found.append((key[1], together))
    for _, rows in found:
        rows.sort(key=lambda row: -row.share)
    return sorted(found, key=lambda item: -sum(row.share for row in item[1]))


def _called_in_its_loop(evidence: Evidence, rows: list[LineShare], row: LineShare) -> bool:
    """Whether a line is reached from within the loop that holds the time of these."""
    loop = heaviest_loop(evidence, rows, lambda row: True)
    if loop is None or _is_training_loop(evidence, loop):
        return False
    return any(
        place.file == loop.file and any(around.line == loop.line for around in loops(evidence, place.file, place.line))
        for place in callers(evidence, row.place)[:1]
    )


def _finding(evidence: Evidence, name: str, own: list[LineShare]) -> Finding:
    share = min(shared.MAX_STEP_SHARE.value, sum(row.share for row in own))
    count = sum(row.samples for row in own)
    hottest = own[0]
    loop = heaviest_loop(evidence, own, lambda row: True)
    if _is_training_loop(evidence, loop):
        loop = None
    place = span(evidence, *hottest.place)
    if hottest.share < ALONE * share and loop is not None:
        place = loop
    lines = tuple(span(evidence, *row.place) for row in own[:3])
    above = callers(evidence, hottest.place)
    total = max(evidence.samples.count, 1)
    low, high = interval(min(share, 1.0), total)
    bounds = speedups(low * (1 - LEFT[1]), high * (1 - LEFT[0]))
    what, remedy = _remedy(evidence, own)
    if place == loop and remedy == _WHOLE_ARRAYS:
        remedy = _PLAIN
    within = f" of {name}" if name else ""
    if hottest.share >= ALONE * share:
        told = "on one line"
    elif place == loop:
        told = "in a loop"
    else:
        told = f"on {len(own)} lines"
    step_ms = evidence.step_ms or 0.0
    return Finding(
        code="LIN001",
        family="step",
        title=f"{100 * share:.0f} % of a step is {what} {told}{within}, outside of TensorFlow",
        severity=severity(1 - 1 / middle(bounds)),
        share_of_step=share,
        predicted_speedup=middle(bounds),
        predicted_range=bounds,
        where=tuple(dict.fromkeys((place, *lines, *above))),
        evidence=(
            Measurement("share of step", share, "share", window(evidence)),
            Measurement("time per step", share * step_ms, "ms", window(evidence)),
            Measurement("samples in it", float(count), "count", "baseline"),
            Measurement("samples", float(total), "count", "baseline"),
        ),
        advice=f"{remedy}.",
        detail=_detail(evidence, own),
    )


def _detail(evidence: Evidence, own: list[LineShare]) -> str:
    if len(own) < 2:
        return ""
    rows = [f"  line {row.place[1]}: {100 * row.share:.0f} %  {text_of(evidence, row.place)[:70]}" for row in own[:4]]
    return "Of the step:\n" + "\n".join(rows)


def _remedy(evidence: Evidence, own: list[LineShare]) -> tuple[str, str]:
    """What ran, in words, and what to do: by most of the samples."""
    packages: Counter[str] = Counter()
    remedies: Counter[str] = Counter()
    for row in own:
        for frame, count in frames_at(evidence, row.place, "python").items():
            names = doing(evidence, frame)
            packages[package_of(names)] += count
            remedies[next((text for what, text in _REMEDIES if any(map(what.search, names))), _PLAIN)] += count
    package = packages.most_common(1)[0][0] if packages else ""
    remedy = remedies.most_common(1)[0][0] if remedies else _PLAIN
    return {"numpy": "NumPy", "": "Python"}.get(package, package), remedy


def _is_plain_call(evidence: Evidence, row: LineShare) -> bool:
    """A line that only fetches a batch or calls the compiled step: what Python does there is letting go of tensors, and
    waiting for the interpreter. Or one that writes, which is told apart."""
    frames = frames_at(evidence, row.place, "python")

    def most(wanted: re.Pattern[str]) -> bool:
        return 2 * sum(count for frame, count in frames.items() if does(evidence, frame, wanted)) >= frames.total()

    if any((site.file, site.line) == row.place and site.kind in _CALLS for site in sites(evidence)):
        return not most(_WORK)
    return most(WRITES)


def _is_training_loop(evidence: Evidence, loop: SourceSpan | None) -> bool:
    counted = evidence.steps.loop
    return loop is not None and counted is not None and (counted.file, counted.line) == (loop.file, loop.line)
