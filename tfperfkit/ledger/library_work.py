"""Which library's code runs below the user's lines in a part of the time: what is not the script's own Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.ledger.call_tree import Ledger
from tfperfkit.records.parts import PartName


class LibraryWork(NamedTuple):
    """``package``: ``scipy``; ``function``: the innermost of its functions that samples name in most of that time, as
    ``scipy.optimize._optimize._minimize_bfgs``."""

    package: str
    function: str

    @property
    def words(self) -> str:
        """``Python of scipy (_minimize_bfgs)``"""
        return f"Python of {self.package} ({self.function.rpartition('.')[2]})"


def find_library_work(ledger: Ledger, part: PartName = "python") -> LibraryWork | None:
    """Find the package that has the larger half of a part; None if that is the user's own Python."""
    packages: Counter[str] = Counter()
    functions: Counter[str] = Counter()
    for calls, took in list_calls(ledger, part):
        package = calls[0].partition(":")[0].partition(".")[0] if calls else ""
        packages[package] += took  # type: ignore[assignment]
        if calls:
            functions[calls[-1].replace(":", ".")] += took  # type: ignore[assignment]
    package, most = packages.most_common(1)[0] if packages else ("", 0)
    if not package or 2 * most <= packages.total():
        return None
    return LibraryWork(package, functions.most_common(1)[0][0])


def list_calls(ledger: Ledger, part: PartName) -> Iterator[tuple[tuple[str, ...], float]]:
    """List the library functions that the user's innermost lines call in a part, with ms of the step."""
    for entry in ledger.entries:
        if entry.part == part and entry.stack.frames:
            yield entry.stack.frames[-1].calls or (), entry.value
