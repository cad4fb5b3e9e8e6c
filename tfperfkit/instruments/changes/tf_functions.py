"""``tf.function``s of the person's as they are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfperfkit.instruments.changes.replaced import Seams, attribute
from tfperfkit.instruments.steps.updates import own_code

_PLACE = "tensorflow.python.eager.polymorphic_function.polymorphic_function"


def on_function(
    seams: Seams, is_user: Callable[[str], bool], target: str, change: Callable[[dict[str, Any]], None]
) -> None:
    """``change`` may alter the named arguments of each ``Function`` of the person's own code that is made from a
    function called ``target`` ("": of each)."""

    def making(original: Callable[..., Any]) -> Callable[..., Any]:
        def __init__(function: Any, python_function: Any, *arguments: Any, **named: Any) -> None:
            code = own_code(python_function)
            if code is not None and is_user(code.co_filename) and named_so(code, target):
                change(named)
            original(function, python_function, *arguments, **named)

        return __init__

    seams.replace(attribute(_PLACE, "Function"), "__init__", making)


def named_so(code: Any, target: str) -> bool:
    """Whether a code object is what ``target`` names: ``train_step`` or ``Trainer.train_step``; "" is all."""
    return not target or target in (code.co_name, getattr(code, "co_qualname", code.co_name))
