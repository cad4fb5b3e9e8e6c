"""A ledger as predicted after a remedy, next to the fixed twin's ledger, by call site and kind of work.

Lines of a script and its twin are matched by their text. The saving of a remedy comes from the entries that its finding
owns, in proportion, so the predicted ledger differs from the recorded one in these only.
"""

from __future__ import annotations

import difflib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import PurePath
from typing import Literal, NamedTuple

from tfperfkit.ledger.call_tree import Entry, Ledger

#: ``removed``: owned by the finding; ``rest``: at lines that both scripts have; ``new``: at lines of the twin alone.
Group = Literal["removed", "rest", "new"]
_MOSTLY = 0.5


class Site(NamedTuple):
    """A line of the user's code: the faulty script's number, or that of the twin if the twin alone has the line. ``""``
    and 0 for time that no line is known for."""

    file: str
    line: int
    in_twin: bool = False

    def __str__(self) -> str:
        return f"{self.file}:{self.line}{' of the twin' if self.in_twin else ''}" if self.line else "no line"


class Node(NamedTuple):
    """Time at one call site of one kind of work: as recorded, as predicted after the remedy, and of the twin."""

    site: Site
    kind: str
    group: Group
    before: float
    predicted: float
    twin: float


class Residual(NamedTuple):
    """The errors of a prediction, in the unit of the ledgers.

    ``removed`` is what the finding owns, ``left_predicted`` and ``left`` the remaining part. The rest is all else at
    lines that both scripts have; ``new`` is at lines of the twin alone. ``rest_predicted`` is less than
    ``rest_before`` if more is predicted to go than the finding owns.
    """

    nodes: tuple[Node, ...]
    removed: float
    left_predicted: float
    left: float
    rest_before: float
    rest_predicted: float
    rest_after: float
    new: float

    @property
    def predicted(self) -> float:
        """Return the time that was predicted to go."""
        return self.removed + self.rest_before - self.left_predicted - self.rest_predicted

    @property
    def measured(self) -> float:
        """Return the time that the twin saves; negative if it takes more."""
        return self.removed + self.rest_before - self.left - self.rest_after - self.new

    @property
    def errors(self) -> dict[str, float]:
        """Return the twin's time beyond the prediction, by part."""
        return {
            "what is left": self.left - self.left_predicted,
            "the rest": self.rest_after - self.rest_predicted,
            "new in the twin": self.new,
        }


class Lines(NamedTuple):
    """How the lines of one file correspond: from a line of the twin to the faulty script's, where there is one."""

    from_twin: Mapping[int, int]

    @classmethod
    def match(cls, faulty: Sequence[str], twin: Sequence[str]) -> Lines:
        """Match lines by their text; an edited block stands for the first line of what it replaces."""
        found: dict[int, int] = {}
        for kind, begin, end, twin_begin, twin_end in difflib.SequenceMatcher(None, faulty, twin, False).get_opcodes():
            same = kind == "equal" or (kind == "replace" and end - begin == twin_end - twin_begin)
            for offset in range(twin_end - twin_begin if kind in ("equal", "replace") else 0):
                found[twin_begin + offset + 1] = (begin + offset if same else begin) + 1
        return cls(found)


def compare_ledgers(
    faulty: Ledger,
    twin: Ledger,
    owned: frozenset[int],
    saved: float,
    lines: Mapping[str, Lines],
    kind_of: Callable[[Entry], str],
    owned_parts: Collection[str] = (),
) -> Residual:
    """Compare two ledgers node by node.

    ``owned``: the numbers of the faulty ledger's entries that the finding owns, of which ``saved`` (in the unit of
    the ledgers) is predicted to go. ``lines`` by the file name of the twin, without folders; the faulty script's name
    is the same without ``_fixed``. ``kind_of``: the kind of work of an entry. ``owned_parts``: parts that the finding
    owns where no stack is known for them.
    """
    before: Counter[tuple[Site, str]] = Counter()
    mine: Counter[tuple[Site, str]] = Counter()
    for number, entry in enumerate(faulty.entries):
        key = _find_site(entry, {}), kind_of(entry)
        before[key] += entry.value  # type: ignore[assignment]
        mine[key] += entry.value if number in owned else 0.0  # type: ignore[assignment]
    after: Counter[tuple[Site, str]] = Counter()
    for entry in twin.entries:
        after[_find_site(entry, lines), kind_of(entry)] += entry.value  # type: ignore[assignment]
    nowhere = Site("", 0)
    for ledger, into in ((faulty, before), (twin, after)):
        for part, value in ledger.unplaced.items():
            into[nowhere, part] += value  # type: ignore[assignment]
    for part, value in faulty.unplaced.items():
        mine[nowhere, part] += value if part in owned_parts else 0.0  # type: ignore[assignment]
    removed = sum(mine.values())
    share_left = max(removed - saved, 0.0) / removed if removed else 1.0
    whole_site: defaultdict[Site, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for (site, kind), value in before.items():
        whole_site[site][0] += value
        whole_site[site][1] += mine[site, kind]
    nodes = []
    for key in {**before, **after}:
        site, kind = key
        of_site, owned_of_site = whole_site[site] if site.line else (0.0, 0.0)
        is_owned = mine[key] >= _MOSTLY * before[key] if before[key] else owned_of_site > _MOSTLY * of_site
        group: Group = "new" if site.in_twin else "removed" if is_owned else "rest"
        predicted = before[key] - mine[key] * (1 - share_left)
        nodes.append(Node(site, kind, group, before[key], predicted, after[key]))
    nodes.sort(key=lambda node: -max(node.before, node.twin))
    rest_before = sum(before.values()) - removed
    rest = [node for node in nodes if node.group == "rest"]
    return Residual(
        nodes=tuple(nodes),
        removed=removed,
        left_predicted=removed * share_left,
        left=sum(node.twin for node in nodes if node.group == "removed"),
        rest_before=rest_before,
        rest_predicted=max(rest_before - max(saved - removed, 0.0), 0.0),
        rest_after=sum(node.twin for node in rest),
        new=sum(node.twin for node in nodes if node.group == "new"),
    )


def _find_site(entry: Entry, lines: Mapping[str, Lines]) -> Site:
    if not entry.stack.frames:
        return Site("", 0)
    leaf = entry.stack.frames[-1]
    name = PurePath(leaf.file).name
    if name not in lines:
        return Site(name, leaf.line)
    line = lines[name].from_twin.get(leaf.line)
    known = name.replace("_fixed.py", ".py")
    return Site(known, line) if line is not None else Site(known, leaf.line, True)
