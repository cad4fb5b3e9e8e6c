"""Output of a script, printed and in files, compared between runs: numbers up to rounding, times left out."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from tfperfkit.records.trials import Outputs as Compared

#: Text up to this size is compared line by line; larger files by their digest or their size.
_TEXT_BYTES, _DIGEST_BYTES, _FILES = 1_000_000, 200_000_000, 500
#: Relative difference of two printed fractions that rounding explains. Whole numbers have to be equal.
_ROUNDING = 1e-3
#: Two plain runs may by chance be closer than a third.
_OWN_FACTOR = 2.0

_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_UNIT_AFTER = re.compile(
    r"\s*(?:(?:ns|us|µs|ms|s|secs?|seconds?|min|minutes?|h|hours?)(?![A-Za-z])|\w+ ?(?:/|per) ?(?:s|sec|second|step)\b)"
)
_WORD_BEFORE = re.compile(r"(?:\b|_)(?:time|took|elapsed|duration|seconds|speed|throughput|eta|date)\b[^\d]*$", re.I)

#: A progress bar of Keras, of either version, that shows no value but times: a call that shows none does the same.
_BAR = re.compile(r"\d+/(?:\d+|Unknown) (?:━*|\[[=>.]*\] -) (?:\d+:)*\d+s?(?: \d+(?:us|ms|s)/\w+)?")


class Outputs(msgspec.Struct, frozen=True, kw_only=True):
    """``files``: by path, the text of a file, or the digest of one that is large or no text. ``complete``: the run came
    to its own end, so that nothing is missing."""

    printed: str = ""
    files: Mapping[str, str] = {}
    complete: bool = False


def read_outputs(stdout: Path, roots: Sequence[Path], left_out: Sequence[Path], complete: bool) -> Outputs:
    """Return the contents of the file ``stdout`` and of the files below ``roots``, without those in ``left_out``."""
    files: dict[str, str] = {}
    for root in roots if complete else ():
        for path in sorted(_files(root)):
            if path in left_out or len(files) >= _FILES:
                continue
            files[str(path.relative_to(root))] = _content(path)
    try:
        printed = stdout.read_bytes()[:_TEXT_BYTES].decode("utf-8", "replace")
    except OSError:
        printed = ""
    return Outputs(printed=printed, files=files, complete=complete)


def _files(root: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names:
            path = Path(place, name)
            if path.is_file() and not path.is_symlink():
                yield path


def _content(path: Path) -> str:
    """Return the text, or a null, the size and the digest of what is no text or large."""
    try:
        size = path.stat().st_size
        if size > _DIGEST_BYTES:
            return f"\0{size}"
        content = path.read_bytes()
    except OSError:
        return ""
    if size <= _TEXT_BYTES and b"\0" not in content:
        with suppress(UnicodeDecodeError):
            return content.decode("utf-8")
    return f"\0{size} {hashlib.sha256(content).hexdigest()}"


def compare_outputs(plain: Sequence[Outputs], changed: Outputs, numbers: bool = False) -> tuple[Compared, str]:
    """Return how the outputs of a changed run compare with those of plain ones, and the first difference. ``numbers``:
    they are the same only if a number is, apart from times."""
    complete = changed.complete and all(item.complete for item in plain)
    if not plain:
        return "unknown", ""
    compared, difference = _compare_text([item.printed for item in plain], changed.printed, complete)
    if difference:
        return "differ", f"it prints {difference}"
    compared = compared and (not numbers or any(map(_has_number, _lines(changed.printed))))
    if complete:
        for name in sorted(set.intersection(*(set(item.files) for item in plain))):
            if name not in changed.files:
                return "differ", f"{name} is not written"
            some, difference = _compare_content([item.files[name] for item in plain], changed.files[name])
            if difference:
                return "differ", f"{name} holds {difference}"
            compared = compared or some
    return ("same" if compared else "unknown"), ""


def _compare_content(plain: Sequence[str], changed: str) -> tuple[bool, str]:
    """Compare as ``_compare_text`` does. If a file is no text, other bytes show nothing, since rounding changes them
    too, but another size does."""
    if not any(each.startswith("\0") for each in (*plain, changed)):
        return _compare_text(plain, changed, True)
    sizes = {each.partition(" ")[0] for each in plain}
    if len(sizes) == 1 and changed.partition(" ")[0] not in sizes:
        return True, "another number of bytes"
    return changed in plain, ""


def _compare_text(plain: Sequence[str], changed: str, complete: bool) -> tuple[bool, str]:
    """Return whether a line could be compared, and the first difference."""
    ours, *others = [_lines(text) for text in plain]
    theirs = _lines(changed)
    steady = all(len(other) == len(ours) for other in others)
    if complete and steady and len(theirs) != len(ours):
        return True, f"{len(theirs)} lines instead of {len(ours)}"
    compared = False
    spread: dict[tuple[str, int], float] = {}
    for index, (line, other) in enumerate(zip(ours, theirs, strict=False)):
        twins = [each[index] for each in others if index < len(each)]
        if not _is_same(line, other, twins, spread):
            return True, f"{_shorten(other)!r} instead of {_shorten(line)!r}"
        compared = True
    return compared, ""


def _lines(text: str) -> list[str]:
    """The lines as a terminal leaves them, without those that are empty or a progress bar without values."""
    found = (
        _ESCAPE.sub("", line.rstrip("\r").rpartition("\r")[2]).replace("\b", "").strip() for line in text.split("\n")
    )
    return [line for line in found if line and not _BAR.fullmatch(line)]


def _is_same(line: str, other: str, twins: Sequence[str], spread: dict[tuple[str, int], float]) -> bool:
    """Whether two lines say the same, up to what a plain run's own ``twins`` differ by.

    ``spread``: by the text of the line and the place of a number, the largest such difference in earlier lines; it is
    added to. Two runs that drift apart may be close on one line by chance.
    """
    words = _NUMBER.sub("#", line).split()
    if any(_NUMBER.sub("#", twin).split() != words for twin in twins):
        return True  # the script itself says something else each time
    if _NUMBER.sub("#", other).split() != words:
        return False
    rows = [_NUMBER.findall(each) for each in (line, other, *twins)]
    for place, (match, (one, two, *same)) in enumerate(
        zip(_NUMBER.finditer(line), zip(*rows, strict=True), strict=True)
    ):
        if _is_time(line, match):
            continue
        before = spread.get((" ".join(words), place), 0.0)
        own = max((abs(float(one) - float(each)) for each in same), default=0.0)
        own = spread[" ".join(words), place] = max(own, before if _tolerance(one) else 0.0)
        if abs(float(one) - float(two)) > max(_tolerance(one), _OWN_FACTOR * own):
            return False
    return True


def _has_number(line: str) -> bool:
    """Whether a line has a number that is compared."""
    return any(not _is_time(line, match) for match in _NUMBER.finditer(line))


def _is_time(line: str, number: re.Match[str]) -> bool:
    return bool(_UNIT_AFTER.match(line, number.end()) or _WORD_BEFORE.search(line[: number.start()]))


def _tolerance(number: str) -> float:
    """Return the tolerance of a printed number: the last digit of a fraction, or its rounding; 0 for a whole number."""
    digits, _, power = number.lower().partition("e")
    _, point, decimals = digits.partition(".")
    if not point and not power:
        return 0.0
    last = 10.0 ** (int(power or 0) - len(decimals))
    return max(1.01 * last, _ROUNDING * abs(float(number)))


def _shorten(line: str) -> str:
    return line if len(line) <= 60 else f"{line[:57]}..."
