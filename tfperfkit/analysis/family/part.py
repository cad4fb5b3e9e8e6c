"""One child, from its part of the run directory or its row in the file of sums."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from tfperfkit.analysis.family.moments import Work, top, work
from tfperfkit.clock import NS_PER_S, start_ticks
from tfperfkit.errors import RunDirectoryError
from tfperfkit.records.children import CHILDREN, Child, End, RestRow
from tfperfkit.records.samples import read_log
from tfperfkit.storage.run_directory import Manifest, RunDirectory

_MAX_WORDS, _MAX_CHARACTERS = 6, 80
_FLAG = re.compile(r"-[A-Za-z]+")


class Read(msgspec.Struct, frozen=True):
    """A child, what it was at work on, and the function of the user's that it was most often in."""

    child: Child
    done: list[Work] = []
    function: str = ""


def read_part(root: Path, name: str, started_ns: int, over: bool) -> Read | None:
    """``over``: the run has ended, and with it the child, but for one that outlives the script.

    Return None if the folder has no part of a child.
    """
    try:
        run, manifest = RunDirectory.open(root / CHILDREN / name)
    except RunDirectoryError:
        return None
    origin = manifest.child
    if origin is None or manifest.children:  # all children are listed below the script's own run
        return None
    about: dict[str, Any] = {}
    for row in run.records("child/about.jsonl"):
        if isinstance(row, dict):
            about.update(row)
    usage = [row for row in run.records("child/usage.jsonl") if _numbers(row, 2)]
    ends = [row for row in run.records("child/end.jsonl") if _numbers(row, 3)]
    early = read_log(run.records("child/samples.jsonl"))
    done = work(early, manifest.started_ns)
    later = read_log(run.records("session/samples.jsonl"))
    if later.whole:
        done += work(later, early.whole[0][1] if early.whole else later.whole[0][0])
    last = [*usage[-1:], *ends[-1:]]
    end_ns = max([manifest.started_ns, *(row[0] for row in last), *(span[1] for span in later.whole)])
    functions = Counter[str]()
    for each in done:
        functions[each.function] += each.end - each.begin
    child = Child(
        part=f"{CHILDREN}/{name}",
        method=origin.method,
        pid=origin.pid,
        parent_pid=origin.parent_pid,
        process=str(about.get("process", "")),
        target=str(about.get("target", "")),
        command=command(manifest) if origin.method == "subprocess" else "",
        began_s=(manifest.started_ns - started_ns) / NS_PER_S,
        wall_s=(end_ns - manifest.started_ns) / NS_PER_S,
        cpu_s=max((row[1] for row in last), default=0) / NS_PER_S,
        ended=("failed" if ends[-1][2] else "finished") if ends else _unseen(origin.pid, origin.ticks, over),
        busy_s=sum(each.end - each.begin for each in done) / NS_PER_S,
        lines=top((each.line, each.end - each.begin) for each in done),
        trains=origin.trains,
    )
    return Read(child, done, functions.most_common(1)[0][0] if functions else "")


def read_rest(rows: Sequence[Any], started_ns: int, over: bool) -> list[Read]:
    """Return the children that have no part; the last row of each counts."""
    latest: dict[tuple[int, int], RestRow] = {}
    for raw in rows:
        try:
            row = msgspec.convert(raw, RestRow)
        except msgspec.ValidationError:
            continue
        latest[row.pid, row.began_ns] = row
    return [_of_row(row, started_ns, over) for row in latest.values()]


def _of_row(row: RestRow, started_ns: int, over: bool) -> Read:
    lines = [((file, line, function), ns) for file, line, function, ns in row.lines]
    child = Child(
        method=row.method,
        pid=row.pid,
        parent_pid=row.parent_pid,
        process=row.process,
        target=row.target,
        command=_join_arguments(row.argv) if row.method == "subprocess" else "",
        began_s=(row.began_ns - started_ns) / NS_PER_S,
        wall_s=max(row.now_ns - row.began_ns, 0) / NS_PER_S,
        cpu_s=row.cpu_ns / NS_PER_S,
        ended=row.ended or _unseen(row.pid, row.ticks, over),
        busy_s=sum(ns for _, ns in lines) / NS_PER_S,
        lines=top(lines),
    )
    return Read(child, [], lines[0][0][2] if lines else "")


def command(manifest: Manifest) -> str:
    """``worker.py --rank 1``: what a child was started with, without the interpreter and its flags."""
    return _join_arguments(manifest.argv)


def _join_arguments(argv: Sequence[str]) -> str:
    """Return the command line as text."""
    words = list(argv[1:])
    while words and _FLAG.fullmatch(words[0]) and words[0] not in ("-c", "-m"):
        words.pop(0)
    if words[:1] == ["-c"]:
        words = ["-c", *(words[1].strip().splitlines() or [""])[:1]] if len(words) > 1 else words
    elif words and words[0] != "-m":
        words[0] = os.path.basename(words[0])
    text = " ".join(words[:_MAX_WORDS])
    return text if len(text) <= _MAX_CHARACTERS else text[: _MAX_CHARACTERS - 1] + "…"


def _unseen(pid: int, ticks: int | None, over: bool) -> End:
    """Return the status of a child that ended abruptly."""
    if ticks is not None and start_ticks(pid) == ticks:
        return "running"
    return "no goodbye" if over else "unknown"


def _numbers(row: Any, count: int) -> bool:
    return isinstance(row, list) and len(row) >= count and all(isinstance(item, int) for item in row[:count])
