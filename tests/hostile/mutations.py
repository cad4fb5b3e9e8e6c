"""Damage to a recorded run, from one bit to whole files: what a random source picks. Used by hypothesis and by hand."""

from __future__ import annotations

import base64
import copy
import functools
import json
import os
import shutil
import socket
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

MARKS = "[red]x[/red] [link=http://example.org]y[/link] <script>alert(1)</script> &amp; \x1b[31m \x1b]0;t\x07 \x9b31m"
BIDI = "a\u202eb\u2066c\u200bd\ufeff\u061c\xad\U000e0041\U000e0100\ufe0f e\u0301\u0301 \r\n\t\0 \x7f"
LONG = "n" * 100_000
#: A hundred times more under TFPERF_LONG: see ``make test-long``.
MANY = bool(os.environ.get("TFPERF_LONG"))


def _nested(levels: int) -> Any:
    value: Any = 1
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


_VALUES: list[Callable[[], Any]] = [
    *(
        functools.partial(copy.copy, value)
        for value in (
            None,
            True,
            False,
            0,
            1,
            -1,
            2,
            7,
            2**31,
            2**53,
            2**63 - 1,
            -(2**63),
            2**64 - 1,
            2**64,
            10**30,
            10**300,
            0.5,
            -0.0,
            1e308,
            -1e308,
            5e-324,
            1e18,
            "",
            "0",
            "-1",
            "nan",
            "inf",
            "x",
            MARKS,
            BIDI,
            "\udcff\ud800",
            "/etc/passwd",
            "../../../../etc/passwd",
            "a/../../b",
            "/dev/zero",
            "\0",
            "CPU:0",
            "python",
            "step",
        )
    ),
    lambda: LONG,
    list,
    dict,
    lambda: [[]],
    lambda: [None],
    lambda: {"": None},
    lambda: [[1, 2], [3]],
    lambda: _nested(40),
    lambda: _nested(300),
    lambda: [0] * 1000,
    lambda: {str(i): i for i in range(500)},
]


_TOKENS = [
    b"NaN",
    b"Infinity",
    b"1e999",
    b"-1e999",
    b"\xef\xbb\xbf",
    b"[" * 2000,
    b'{"a":' * 500,
    b"\xed\xa0\x80",
    b"\0",
]
_NUMBERS = [b"\xff\xff\xff\xff\x0f", b"\xff" * 9 + b"\x01", b"\x80", b"\0\0", b"\n"]  # of protobuf


def damage(random: Random, run: Path) -> str:
    """Change something in the run directory; says what, for whoever reads of a failure."""
    files = sorted(path for path in run.rglob("*") if path.is_file() and not path.is_symlink())
    if not files:
        return "nothing is left"
    path = random.choice(files)
    name = path.relative_to(run).as_posix()
    if random.random() < 0.06:
        return f"{name}: {_replaced(random, path)}"
    if path.suffix in (".json", ".jsonl") and random.random() < 0.85:
        return f"{name}: {_records(random, path)}"
    return f"{name}: {_bytes(random, path)}"


def _records(random: Random, path: Path) -> str:
    lines = path.read_bytes().splitlines(keepends=True)
    if not lines:
        return "empty"
    number = random.randrange(len(lines))
    try:
        record = json.loads(lines[number])
    except (ValueError, RecursionError):
        return _bytes(random, path)
    kind = random.random()
    if kind < 0.05:
        lines[number : number + 1] = [lines[number]] * random.choice([0, 2, 3, 200])
        what = f"line {number} repeated"
    elif kind < 0.10:
        other = random.randrange(len(lines))
        lines[number], lines[other] = lines[other], lines[number]
        what = f"lines {number} and {other} swapped"
    else:
        record, what = _changed(random, record)
        # Not ASCII only: the file has a control character as an escape, all else as itself.
        text = json.dumps(record, ensure_ascii=random.random() < 0.5)
        lines[number] = text.encode("utf-8", random.choice(["surrogatepass", "backslashreplace"])) + b"\n"
        what = f"line {number}: {what}"
    path.write_bytes(b"".join(lines))
    return what


def _changed(random: Random, record: Any) -> tuple[Any, str]:
    places: list[tuple[Any, Any]] = []
    _walk(record, places)
    if not places or random.random() < 0.05:
        value = random.choice(_VALUES)()
        return value, f"whole record is {value!r:.60}"
    holder, key = random.choice(places)
    before = holder[key]
    kind = random.random()
    if kind < 0.08:
        del holder[key]
        return record, f"{key!r} of {holder!r:.40} removed"
    if kind < 0.14 and isinstance(holder, dict):
        holder[random.choice([MARKS, "kind", "added", LONG])] = random.choice(_VALUES)()
        return record, "a key added"
    if kind < 0.20 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(random.choice(holder)))
        return record, "an element doubled"
    if kind < 0.30:
        other, name = random.choice(places)
        holder[key] = copy.deepcopy(other[name])
        return record, f"{key!r} takes the value of {name!r}"
    if kind < 0.45 and isinstance(before, str) and before:
        holder[key] = _text(random, before)
        return record, f"{key!r} from {before!r:.40} to {holder[key]!r:.40}"
    if kind < 0.55 and isinstance(before, int | float) and not isinstance(before, bool):
        holder[key] = random.choice(
            [
                -before,
                before * 1000,
                before // 1000,
                before + 1,
                before * 1e200,
                before << 40 if isinstance(before, int) else before,
            ]
        )
        return record, f"{key!r} from {before!r} to {holder[key]!r:.40}"
    holder[key] = random.choice(_VALUES)()
    return record, f"{key!r} from {before!r:.40} to {holder[key]!r:.60}"


def _walk(value: Any, places: list[tuple[Any, Any]], level: int = 0) -> None:
    if level > 60:
        return
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        places.append((value, key))
        _walk(value[key], places, level + 1)


def _text(random: Random, text: str) -> str:
    """Change a text; a packed graph in base64 is changed inside."""
    if len(text) > 100:
        try:
            raw = zlib.decompress(base64.b64decode(text, validate=True))
        except (ValueError, zlib.error):
            pass
        else:
            return base64.b64encode(zlib.compress(_flipped(random, raw))).decode()
    at = random.randrange(len(text) + 1)
    return text[:at] + random.choice(["", MARKS, BIDI, "\udc80", "/../", "9" * 30, "\n"]) + text[at + 1 :]


def _flipped(random: Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice([1, 1, 2, 5, 30])):
        if not changed:
            break
        at = random.randrange(len(changed))
        kind = random.random()
        if kind < 0.5:
            changed[at] = random.randrange(256)
        elif kind < 0.7:
            changed[at : at + 1] = random.choice(_NUMBERS)
        elif kind < 0.85:
            del changed[at : at + random.choice([1, 4, 100])]
        else:
            begin = random.randrange(len(changed))
            changed[at:at] = changed[begin : begin + random.choice([1, 8, 300])]
    return bytes(changed)


def _bytes(random: Random, path: Path) -> str:
    data = path.read_bytes()
    kind = random.random()
    if kind < 0.15:
        data, what = data[: random.randrange(len(data) + 1)], "cut"
    elif kind < 0.2:
        data, what = b"", "emptied"
    elif kind < 0.3:
        at = random.randrange(len(data) + 1)
        data, what = data[:at] + random.choice(_TOKENS) + data[at:], "a token put in"
    else:
        data, what = _flipped(random, data), "bytes flipped"
    path.write_bytes(data)
    return what


def _replaced(random: Random, path: Path) -> str:
    """Replace the file, or its folder, by something else."""
    target = path.parent if random.random() < 0.2 and (path.parent / "run.json").exists() is False else path
    if target.is_dir():
        shutil.rmtree(target)
    else:
        target.unlink()
    kind = random.choice(["nothing", "folder", "pipe", "link", "loop", "socket", "folder link"])
    if kind == "folder":
        target.mkdir()
    elif kind == "pipe":
        os.mkfifo(target)
    elif kind == "link":
        target.symlink_to("/dev/zero")
    elif kind == "loop":
        target.symlink_to(target.name)
    elif kind == "folder link":
        target.symlink_to("/proc")
    elif kind == "socket":
        here = os.getcwd()
        os.chdir(target.parent)  # a socket's path has 107 bytes at most
        try:
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(target.name[:90])
        finally:
            os.chdir(here)
    return f"{kind} instead of {target.name}"
