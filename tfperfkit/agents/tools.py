"""Tools: each is one of our commands, and its answer is short; a long result is in a file that the answer names.

No figure is made here. Answers are what ``tfperf report``, ``try``, ``compare`` and ``check`` say.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio

from tfperfkit.agents.process import Tell, call
from tfperfkit.report.agents import LIMIT
from tfperfkit.report.text import shorten, visible

_TFPERF = ("-m", "tfperfkit")
_WORKER = ("-m", "tfperfkit.agents.worker")
#: Exit statuses of ``tfperf check`` that are no mistake.
_CHECKED = {0: "pass", 1: "fail", 3: "undecided"}
#: Limits for the script's output, if it failed: lines, characters of each, and bytes read from the end of the file.
_TAIL, _LINE, _READ = 15, 200, 20_000
_MISTAKE = 2
#: Bytes of a patch or draft: 2,000 tokens hold as much code.
PATCH_LIMIT = 6_000


class Refused(Exception):
    """Why there is no answer, in a sentence or two."""


class Tools:
    """``files``: a folder for what is large; it is removed when the server ends."""

    def __init__(self, files: Path) -> None:
        self._files = files
        self._numbers = itertools.count(1)
        # Two measurements at the same time would disturb each other.
        self._alone = anyio.Lock()

    async def run(
        self, script: str, arguments: Sequence[str], steps_from: str, max_seconds: float, folder: str, tell: Tell
    ) -> str:
        """Run a script under ``tfperf run``; it is interrupted, as by Ctrl-C, after ``max_seconds``."""
        report, output, text = self._new("report.json"), self._new("output.txt"), self._new("report.txt")
        words = [*_TFPERF, "run", "--json", str(report), "--output", str(text)]
        words += ["--steps-from", steps_from] if steps_from else []
        words += _script(script, arguments)
        async with self._alone:
            status, interrupted = await self._call(words, folder, output, output, max_seconds, tell)
        document = _read_json(report)
        run = document.get("run")
        if not isinstance(run, dict):
            raise Refused(_tail(output, 3) or _tail(text, 3) or f"no report was made; exit status {status}")
        steps = document.get("steps") or {}
        headline = str(document.get("headline") or "Nothing can be said: no training step was seen.")
        lines = [visible(shorten(headline, 400))]
        ended = f", interrupted after {max_seconds:.0f} s as asked" if interrupted else ""
        lines.append(f"status: {run.get('status')}, exit status {run.get('exit_code')}{ended}")
        lines.append(f"steps: {steps.get('count')}, of them clean (nothing invasive ran) {steps.get('clean')}")
        lines.append(f"run: {run.get('directory')}")
        lines.append(f"files: whole report {report}, as text {text}, what the script printed {output}")
        if run.get("exit_code") not in (0, None) and not interrupted:
            lines += ["the script's last lines:", _tail(output, _TAIL)]
        lines.append('next: findings(run="...") with that run')
        return "\n".join(lines)

    async def findings(self, run: str, folder: str, tell: Tell) -> str:
        """Under 4 kB."""
        return await self._read(run, folder, tell)

    async def explain(self, identity: str, run: str, folder: str, tell: Tell) -> str:
        """One finding of a run, with the page of its code."""
        return await self._read(run, folder, tell, identity)

    async def try_change(
        self, what: str, run: str, script: str, arguments: Sequence[str], seconds: float, folder: str, tell: Tell
    ) -> str:
        """Measure a change in pairs of runs: of a run (kept in the run directory), or of a script."""
        file, text = self._new("trials.json"), self._new("trials.txt")
        common = ["--time-limit", f"{seconds:g}s", "--json", str(file)]
        if script:
            words = [*_TFPERF, "try", "--with", _name(what), *common, *_script(script, arguments)]
        else:
            words = [*_TFPERF, "try", _name(run), "--only", _name(what), *common]
        return await self._measured(words, folder, text, file, (0,), tell)

    async def fix(self, identity: str, run: str, folder: str, tell: Tell) -> str:
        """Return the patch of a finding, or a draft in the script's own lines; nothing is written."""
        text = self._new("fix.txt")
        words = [*_TFPERF, "fix", _name(run), _name(identity)]
        return await self._measured(words, folder, text, text, (0,), tell, alone=False, limit=PATCH_LIMIT)

    async def prove(self, identity: str, run: str, seconds: float, folder: str, tell: Tell) -> str:
        """Return the patch of a finding with its measured gain, if pairs of runs prove it; nothing is written."""
        text = self._new("prove.txt")
        words = [*_TFPERF, "fix", _name(run), _name(identity), "--prove", "--time-limit", f"{seconds:g}s"]
        return await self._measured(words, folder, text, text, (0,), tell, limit=PATCH_LIMIT)

    async def compare(self, a: str, b: str, folder: str, tell: Tell) -> str:
        """Run B against run A."""
        file, text = self._new("compared.json"), self._new("compared.txt")
        words = [*_TFPERF, "compare", "--json", str(file), _name(a), _name(b)]
        return await self._measured(words, folder, text, file, (0,), tell, alone=False)

    async def check(
        self, script: str, arguments: Sequence[str], base: str, seconds: float, folder: str, tell: Tell
    ) -> str:
        """Check a script against its budget, and against a base."""
        file, text = self._new("checked.json"), self._new("checked.txt")
        words = [*_TFPERF, "check", "--json", str(file), "--time-limit", f"{seconds:g}s"]
        words += [*(["--base", base] if base else []), *_script(script, arguments)]
        return await self._measured(words, folder, text, file, tuple(_CHECKED), tell)

    async def _measured(
        self,
        words: Sequence[str],
        folder: str,
        text: Path,
        file: Path,
        statuses: tuple[int, ...],
        tell: Tell,
        alone: bool = True,
        limit: int = LIMIT,
    ) -> str:
        """Return the text that a command wrote to standard output, and the file that holds the whole text."""
        errors = self._new("errors.txt")
        if alone:
            async with self._alone:
                status, _ = await self._call(words, folder, text, errors, None, tell)
        else:
            status, _ = await self._call(words, folder, text, errors, None, tell)
        if status not in statuses:
            raise Refused(_tail(errors, _TAIL) or f"exit status {status}")
        outcome = f"outcome: {_CHECKED[status]}\n" if len(statuses) > 1 else ""
        return outcome + _shortened(text.read_text(encoding="utf-8", errors="replace"), text, file, limit)

    async def _read(self, run: str, folder: str, tell: Tell, *identity: str) -> str:
        text, report, errors = self._new("answer.txt"), self._new("report.json"), self._new("errors.txt")
        words = [*_WORKER, _name(run), str(text), str(report), *identity]
        status, _ = await self._call(words, folder, self._new("printed.txt"), errors, None, tell)
        if status:
            # For a user's mistake the last line says what is wrong; other errors are tfperf's.
            raise Refused(_tail(errors, 1 if status == _MISTAKE else _TAIL) or f"exit status {status}")
        return text.read_text(encoding="utf-8", errors="replace")

    async def _call(
        self, words: Sequence[str], folder: str, out: Path, err: Path, limit_s: float | None, tell: Tell
    ) -> tuple[int, bool]:
        place = Path(folder or ".").expanduser().absolute()
        if not place.is_dir():
            raise Refused(f"no such folder: {visible(str(place))}")
        try:
            return await call(words, place, out, err, limit_s, tell)
        except (OSError, ValueError) as error:
            raise Refused(f"can't start tfperf: {error}") from error

    def _new(self, name: str) -> Path:
        return self._files / f"{next(self._numbers):03}-{name}"


def _script(script: str, arguments: Sequence[str]) -> list[str]:
    """As it stands on our command line: ``train.py`` or ``-m package.module``, then what is the script's."""
    module, _, name = script.strip().partition(" ")
    if module == "-m" and name.strip():
        return ["-m", _name(name.strip()), "--", *arguments]
    return [_name(script), "--", *arguments]


def _name(text: str) -> str:
    """Check the name of a script, a run or a change: it must not be an option of tfperf."""
    if not text.strip() or text.startswith("-"):
        raise Refused(f"{text!r:.80} is no name")
    return text


def _shortened(text: str, whole: Path, file: Path, limit: int) -> str:
    foot = f"\nwhole text: {whole}" + (f" | as JSON: {file}" if file != whole else "")
    room = limit - len(foot.encode()) - 80
    lines, size = [], 0
    for line in text.splitlines():
        size += len(line.encode()) + 1
        if size > room:
            lines.append("(the rest is in the file)")
            break
        lines.append(line)
    return "\n".join(lines) + foot


def _read_json(file: Path) -> dict[str, Any]:
    try:
        document = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def _tail(file: Path, count: int) -> str:
    try:
        with file.open("rb") as opened:
            opened.seek(max(file.stat().st_size - _READ, 0))
            lines = opened.read().decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    said = [visible(shorten(line.rstrip("\r"), _LINE)) for line in lines if line.strip()]
    return "\n".join(said[-count:])
