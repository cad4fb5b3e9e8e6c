"""The one audit hook. CPython can't remove one: after the run it stays, as one look into an empty table."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from tfperfkit.instruments.hooks.interrupts import raise_later

_listeners: dict[str, Callable[..., object]] = {}
_hooked = False


def subscribe(event: str, heard: Callable[..., object]) -> None:
    """Call ``heard`` with the arguments of each audit event of this name; it takes the place of an earlier one."""
    global _hooked
    _listeners[event] = heard
    if not _hooked:
        _hooked = True
        sys.addaudithook(_hook)


def unsubscribe(event: str, heard: Callable[..., object]) -> None:
    """Hear of the event no more, unless another does by now."""
    if _listeners.get(event) == heard:
        del _listeners[event]


def _hook(event: str, arguments: tuple[Any, ...], listeners: dict[str, Any] = _listeners) -> None:
    if event not in listeners:  # an argument: as the interpreter ends, the module's names go
        return
    try:
        listeners[event](*arguments)
    except Exception:  # an audit hook that raises would abort the script's call
        pass
    except BaseException as error:
        raise_later(error)
