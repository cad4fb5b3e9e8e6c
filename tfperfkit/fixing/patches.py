"""From findings to patches: each on top of those before it, so that all of them can be applied in their order."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tfperfkit.fixing.case import Case, Fixer, NoOffers, Offers
from tfperfkit.fixing.edit import Edit, NoFix, applied
from tfperfkit.fixing.files import Files
from tfperfkit.fixing.lookup import find_fixers
from tfperfkit.model import Finding

#: The reason for which a finding needs no patch of its own.
DONE = "another finding's patch does it already"


@dataclass(frozen=True)
class Patch:
    """The change for one finding. ``steps``: file, content before and after. ``reason``: why earlier fixers made none.
    ``assumed``: what it needs and the source does not prove; such a patch is a candidate, and only a trial may offer
    it."""

    identity: str
    finding: Finding
    fixer: Fixer | None = None
    steps: tuple[tuple[str, bytes, bytes], ...] = ()
    reason: str = ""
    assumed: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()

    @property
    def is_candidate(self) -> bool:
        return bool(self.assumed)


@dataclass
class Patches:
    """Collects edits; ``after`` holds the files as all of them leave them."""

    files: Files
    offers: Offers = NoOffers()
    after: dict[str, bytes] = field(default_factory=dict)
    _edits: list[Edit] = field(default_factory=list)

    def make_patch(self, identity: str, finding: Finding) -> Patch:
        """Return the first patch that the source proves, and add it; else the first candidate, which is not added, or
        the reasons why there is none."""
        first = self.list_patches(identity, finding)[0]
        return first if first.is_candidate or first.fixer is None else self.add(first)

    def list_patches(self, identity: str, finding: Finding) -> list[Patch]:
        """Return the patches that fixers make, first those that the source proves, then the candidates; or one without
        a fixer, with the reasons why none does. None is added."""
        reasons: list[str] = []
        made: list[Patch] = []
        for fixer in find_fixers(finding.remedy):
            case = Case(finding, self.files.module, self.offers)
            try:
                edits = tuple(fixer.fix(case))
                steps = self._steps(edits)
            except NoFix as error:
                if str(error) == DONE:
                    return [Patch(identity, finding, reason=DONE)]
                reasons.append(str(error))
                continue
            if all(steps != other.steps for other in made):
                made.append(Patch(identity, finding, fixer, steps, assumed=tuple(case.assumed), edits=edits))
        made.sort(key=lambda patch: patch.is_candidate)
        reason = "; ".join(dict.fromkeys(reasons))
        found = [replace(patch, reason=reason) if patch.is_candidate else patch for patch in made]
        return found or [Patch(identity, finding, reason=reason)]

    def add(self, patch: Patch) -> Patch:
        """Return a patch on top of those before it; one that does nothing more, or fails there, has its reason."""
        try:
            steps = self._steps(patch.edits)
        except NoFix as error:
            return Patch(patch.identity, patch.finding, reason=str(error))
        self._edits += patch.edits
        self.after.update({file: after for file, _, after in steps})
        return replace(patch, steps=steps)

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
