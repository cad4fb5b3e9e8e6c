"""Experiments that wrap a function of the user's where it is defined, and what such wrappers share."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

from tfperfkit.experiment import Change, Trial
from tfperfkit.model import Finding, Report
from tfperfkit_experiments.base import Base, is_function_name
from tfperfkit_experiments.findings import functions
from tfperfkit_experiments.seams import Seams

#: How often a function runs before its last result stands for it, so that what it sets up is set up.
_RUNS = 2
_CONSTANTS = (str, int, float, bytes, bool, type(None))


class OnFunction(Base):
    """``NAME:FUNCTION``: ``wrap`` gets the function as it is defined, outside of its own decorators."""

    #: How many of the functions that a finding names are tried.
    limit: ClassVar[int] = 1
    #: Whether the function must be compiled by ``tf.function``.
    compiled: ClassVar[bool] = False

    def problem(self, change: Change, /) -> str | None:
        """Accept a function."""
        fine = change.target and not change.value and is_function_name(change.target)
        return None if fine else self.needs("a function")

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """The first functions that the finding names."""
        for name in functions(finding)[: self.limit]:
            yield Change(self.name, name)

    def edits(self, change: Change, /) -> Iterable[str]:
        """The function."""
        return (change.target,)

    def apply(self, seams: Seams, change: Change) -> None:
        """Say what is reported if ``wrap`` never applies."""
        seams.refuse(f"no function {change.target} of the script's was called in the steps that ran")

    def decorate(self, trial: Trial, change: Change, function: Any, /) -> Any:
        """Wrap the function, or return it as it is if it is not of the kind that is needed."""
        if self.compiled and not hasattr(function, "get_concrete_function"):
            trial.refuse("the function is not compiled")
        elif not callable(function):  # a property
            trial.refuse("it is no plain function")
        else:
            return self.wrap(Seams(trial), function)
        return function

    def wrap(self, seams: Seams, function: Any) -> Any:
        """Return the function that is called instead."""
        raise NotImplementedError


class WithArguments:
    """A compiled function that is called with ``change(arguments, named)`` instead of its arguments.

    Attributes are the function's, and it binds as a method as the function does.
    """

    def __init__(self, function: Any, change: Callable[[tuple[Any, ...], dict[str, Any]], Any]) -> None:
        self.__wrapped__ = function
        self._change = change

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        arguments, named = self._change(arguments, named)
        return self.__wrapped__(*arguments, **named)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        bound = self.__wrapped__.__get__(instance, owner)
        return self if bound is self.__wrapped__ else WithArguments(bound, self._change)

    def __getattr__(self, name: str) -> Any:
        if name == "__wrapped__":
            raise AttributeError(name)
        return getattr(self.__wrapped__, name)


def last_results(seams: Seams, function: Callable[..., Any], key: Callable[..., Any]) -> Callable[..., Any]:
    """Run the function twice for each ``key`` of its arguments, then return the last result of that key."""
    seen: dict[Any, tuple[int, Any]] = {}

    @functools.wraps(function)
    def answer(*arguments: Any, **named: Any) -> Any:
        place = key(*arguments, **named)
        runs, last = seen.get(place, (0, None))
        if runs < _RUNS:
            last = function(*arguments, **named)
            seen[place] = runs + 1, last
        else:
            seams.applied()
        return last

    return answer


def identity(value: Any) -> Any:
    """Equal for the same object and for equal constants of one type. The object must be kept while the key is used."""
    return (type(value), value) if isinstance(value, _CONSTANTS) else id(value)
