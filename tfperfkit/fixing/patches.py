"""From findings to patches: each on top of those before it, so that all of them can be applied in their order."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field

from tfperfkit.fixing.case import Case, Fixer, NoOffers, Offers
from tfperfkit.fixing.edit import Edit, NoFix, applied
from tfperfkit.fixing.files import Files
from tfperfkit.fixing.lookup import find_fixers
from tfperfkit.model import Finding

#: The reason for which a finding needs no patch of its own.
DONE = "another finding's patch does it already"


@dataclass(frozen=True)
class Patch:
    """Of one finding. ``steps``: file, content before and after. ``reason``: why there is none."""

    identity: str
    finding: Finding
    fixer: Fixer | None = None
    steps: tuple[tuple[str, bytes, bytes], ...] = ()
    reason: str = ""


@dataclass
class Patches:
    """Collects edits; ``after`` holds the files as all of them leave them."""

    files: Files
    offers: Offers = NoOffers()
    after: dict[str, bytes] = field(default_factory=dict)
    _edits: list[Edit] = field(default_factory=list)

    def make_patch(self, identity: str, finding: Finding) -> Patch:
        """Return the patch of the first fixer that makes one, or the reasons why none does."""
        reasons = []
        for fixer in find_fixers(finding.remedy):
            try:
                steps = self._steps(fixer.fix(Case(finding, self.files.module, self.offers)))
            except NoFix as error:
                if str(error) == DONE:
                    return Patch(identity, finding, reason=DONE)
                reasons.append(str(error))
                continue
            return Patch(identity, finding, fixer, steps)
        return Patch(identity, finding, reason="; ".join(reasons))

    def _steps(self, edits: Sequence[Edit]) -> tuple[tuple[str, bytes, bytes], ...]:
        steps = []
        for file in dict.fromkeys(edit.file for edit in edits):
            before = self.after.get(file, self.files.contents[file])
            mine = [edit for edit in (*self._edits, *edits) if edit.file == file]
            after = applied(self.files.module(file).tree, mine)
            try:
                ast.parse(after)
            except (SyntaxError, ValueError) as error:
                raise NoFix("the patched file would be no Python") from error
            if after != before:
                steps.append((file, before, after))
        if not steps:
            raise NoFix(DONE)
        self._edits += edits
        self.after.update({file: after for file, _, after in steps})
        return tuple(steps)


_NO_END = "\0"


def unified(name: str, before: bytes, after: bytes, encoding: str = "utf-8") -> list[str]:
    """Return the lines of a unified diff as Git writes it; a carriage return stays on its line."""
    old, new = (_split_lines(text.decode(encoding, "surrogateescape")) for text in (before, after))
    made: list[str] = []
    for line in difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", lineterm=""):
        made += [line[:-1], "\\ No newline at end of file"] if line.endswith(_NO_END) else [line]
    return made


def _split_lines(text: str) -> list[str]:
    """Return the lines, the last one marked if it has no end."""
    lines = text.split("\n")
    return [*lines[:-1], *([lines[-1] + _NO_END] if lines[-1] else [])]
