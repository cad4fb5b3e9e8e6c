"""The whole run's account as a line of text, where the run is more than its training steps."""

from __future__ import annotations

import math

from rich.text import Text

from tfperfkit import calibration
from tfperfkit.model import BEFORE_TENSORFLOW, RunAccount
from tfperfkit.records.parts import PLACED, RunPart, name_run_part
from tfperfkit.report import numbers
from tfperfkit.report.layout import joined
from tfperfkit.report.paths import name, short_path
from tfperfkit.report.terminal import Screen

#: A line is named that has this share of its part.
_MAX = 0.5


def run_lines(account: RunAccount | None, screen: Screen) -> list[Text]:
    """``run 47.3 s: prediction 41.0 s (vae.py:88) · training 3.10 s``; nothing where training is nearly all."""
    if account is None or not _finite(account) or account.training_share >= calibration.TRAINING_SHARE.value:
        return []
    total = sum(account.parts_s.values())
    by_size = sorted(account.parts_s.items(), key=lambda item: -item[1])
    large = [(part, s) for part, s in by_size if s >= calibration.RUN_PART.value * total]
    texts = [_part_text(account, part, seconds, screen) for part, seconds in large]
    rest = total - sum(seconds for _, seconds in large)
    if rest > 0 and len(by_size) > len(large):
        texts.append(f"other {numbers.alone(rest, 's')}")
    return joined([f"run {numbers.alone(account.total_s, 's')}: {texts[0]}", *texts[1:]], screen) if texts else []


def _finite(account: RunAccount) -> bool:
    values = list(account.parts_s.values())
    return bool(values) and all(math.isfinite(value) and value >= 0 for value in values) and 0 < sum(values) < math.inf


def _part_text(account: RunAccount, part: RunPart, seconds: float, screen: Screen) -> str:
    """Return the text of a part of the run."""
    text = f"{name_run_part(part, account.parts_s)} {numbers.alone(seconds, 's')}"
    line = next(iter(account.lines.get(part, ())), None)
    if part in PLACED and line is not None and line.seconds >= _MAX * seconds:
        text += f" ({short_path(line.where.file, screen.folder)}:{line.where.line})"
    before = account.imports_s.get(BEFORE_TENSORFLOW, 0.0)
    if part == "imports" and before >= _MAX * seconds:  # not all of that need be imports
        text += f" ({numbers.alone(before, 's')} of it before TensorFlow's)"
    return name(text, screen)
