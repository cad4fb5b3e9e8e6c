"""The patches of a report, kept in the run directory: LibCST, whose import takes as long as all else, is imported once
for a run.

They hold as long as what they were made from is the same: the findings, the sources (of the run, and on the disk), what
probes offer to fixers, and the fixers themselves.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from tfperfkit.model import Finding
from tfperfkit.offers import VaryingArguments
from tfperfkit.rule import Evidence
from tfperfkit.storage import safe_reader
from tfperfkit.version import __version__

FILE = "patches.json"
_FIXERS = Path(__file__).parent


class KeptPatches(msgspec.Struct, frozen=True):
    """``patches``: of each finding that may have one, in their order; "" for none. ``made_from``: see ``digest``."""

    made_from: str
    patches: tuple[str, ...]


def digest(findings: Sequence[Finding], evidence: Evidence, folder: str) -> str:
    """Of everything that patches are made from. ``folder``: the one that the sources' names start from."""
    made = hashlib.sha256(msgspec.json.encode([__version__, findings, evidence.offer(VaryingArguments)]))
    for path in sorted(_FIXERS.rglob("*.py")):
        state = path.stat()
        made.update(f"{path}\0{state.st_size}\0{state.st_mtime_ns}\0".encode())
    for file in evidence.files():
        try:
            now = Path(folder, file).read_bytes()
        except (OSError, ValueError):
            now = b"not there"
        for text in (file, "".join(evidence.source(file))):
            made.update(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
        made.update(hashlib.sha256(now).digest())
    return made.hexdigest()


def read(folder: Path, made_from: str) -> tuple[str, ...] | None:
    """Return the patches kept in a run directory; None if there is none, it is damaged, or something is another now."""
    with suppress(msgspec.ValidationError):
        kept = msgspec.convert(safe_reader.read_json(folder, FILE), KeptPatches)
        return kept.patches if kept.made_from == made_from else None
    return None


def write(folder: Path, made_from: str, patches: Sequence[str]) -> None:
    """Keep them; silent where that can't be done: the report has them."""
    with suppress(Exception):
        safe_reader.write_file(folder, FILE, msgspec.json.encode(KeptPatches(made_from, tuple(patches))))
