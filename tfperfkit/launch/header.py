"""The one line that we print before the script starts."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from tfperfkit import registry
from tfperfkit.config import runs_folder
from tfperfkit.launch.arguments import Split
from tfperfkit.other_python import tensorflow_missing
from tfperfkit.report.text import one_line
from tfperfkit.version import __version__

#: tfperf options that scripts often have too.
_COMMON = ("--output", "--json", "--window")


def print_header(
    file: TextIO,
    parts: Split,
    names: tuple[str, ...],
    folder: Path,
    reason: str | None,
    source: bytes,
    left_out: Mapping[str, str],
) -> None:
    """``reason``: why nothing can be recorded. ``source`` of the script: an option it names it may have meant.
    ``left_out``: why the windows of these probes are."""
    shown = folder.name if folder.parent == runs_folder() else str(folder)
    items = [f"tfperf {__version__}", f"probes {', '.join(names) or 'none'}", f"run {shown}"]
    if reason:
        items.append(reason)
    elif _tensorflow_missing():
        items.append(f"TensorFlow is not installed for this Python ({tensorflow_missing()})")
    items += [f"the window of {probe} is {why}" for probe, why in left_out.items()]
    flags = " ".join(ambiguous(parts, source))
    if flags:
        module = "-m " if parts.is_module else ""
        items.append(f"{flags} taken as ours; to give it to the script: {module}{parts.target} -- {flags} ...")
    # Plain ASCII: rich, which would know what the terminal can show, is imported for the report only.
    try:
        print(one_line(" | ".join(items), unicode=False), file=file, flush=True)
    except OSError:
        pass


def ambiguous(parts: Split, source: bytes) -> list[str]:
    """Return the tfperf options after SCRIPT that may be meant for the script."""
    common = {*_COMMON, *(f"--{probe}" for probe in registry.available())}  # a probe's option of one word
    names = [word.partition("=")[0] for word in parts.taken if word.startswith("--")]
    return [
        name
        for name in dict.fromkeys(names)
        if name in common or f'"{name}"'.encode() in source or f"'{name}'".encode() in source
    ]


def _tensorflow_missing() -> bool:
    try:
        return importlib.util.find_spec("tensorflow") is None
    except (ImportError, ValueError):
        return True
