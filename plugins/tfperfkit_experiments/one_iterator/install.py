"""Iterators that are handed out again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import attribute, caller, seams


class Going:
    """An iterator that goes on where it was when it is handed out again; the person's code may ask it for all that an
    iterator has. Handed out at its end, it begins anew, as the one that the script makes would: a script that takes one
    batch of each never comes to an end."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._iterator = make()
        self._begins = False
        self.ended = False

    def again(self) -> Going:
        """It is handed out once more."""
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


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """By dataset and line of the person's code."""
    going: dict[Any, tuple[Any, Going]] = {}

    def iterating(original: Callable[..., Any]) -> Callable[..., Any]:
        def __iter__(dataset: Any) -> Any:
            frame = caller()
            if not trial.is_user_code(frame.f_code.co_filename):
                return original(dataset)
            key = (id(dataset), frame.f_code, frame.f_lineno)
            known = going.get(key)
            if known is not None and not known[1].ended:
                trial.applied()
                return known[1].again()
            going[key] = (dataset, Going(lambda: original(dataset)))
            return going[key][1]

        return __iter__

    with seams() as made:
        made.replace(attribute("tensorflow.python.data.ops.dataset_ops", "DatasetV2"), "__iter__", iterating)
        yield
