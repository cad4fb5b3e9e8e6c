"""``one-iterator``: continues the last iterator over a dataset when the script makes another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import Hoist
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import DATASET, Seams


class OneIterator(Base):
    """Training gets other batches: one after another, not the first ones again."""

    name = "one-iterator"
    keeps = "nothing"
    remedies = (Hoist("iterator"),)

    def apply(self, seams: Seams, change: Change) -> None:
        """Keep an iterator for each dataset and line of user code."""
        kept: dict[Any, tuple[Any, Continued]] = {}

        def iterate(original: Any, dataset: Any) -> Any:
            frame = seams.caller()
            if not seams.is_user_code(frame.f_code.co_filename):
                return original(dataset)
            key = (id(dataset), frame.f_code, frame.f_lineno)
            known = kept.get(key)
            if known is not None and not known[1].ended:
                seams.applied()
                return known[1].reused()
            kept[key] = (dataset, Continued(lambda: original(dataset)))
            return kept[key][1]

        seams.replace(DATASET, "__iter__", iterate)


class Continued:
    """An iterator that continues where it was when it is reused; its other attributes are the iterator's.

    If it is reused at its end, it begins again, as the iterator that the script makes would: a script that takes one
    batch of each iterator never reaches the end of the data.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._iterator = make()
        self._begins = False
        self.ended = False

    def reused(self) -> Continued:
        """Return it once more."""
        self._begins = True
        return self

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        begins, self._begins = self._begins, False
        try:
            return next(self._iterator)
        except StopIteration:
            if begins:
                self._iterator = self._make()
                return next(self._iterator)
            self.ended = True
            raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self._iterator, name)
