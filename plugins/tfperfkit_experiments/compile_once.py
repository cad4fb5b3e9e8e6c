"""``compile-once``: compiles a model the first time only, so that its traces are kept."""

from __future__ import annotations

import weakref
from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import Compile, KeepTrace
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import Seams


class CompileOnce(Base):
    """Later calls change nothing: the optimizer, for example, or the trained layers stay as they were."""

    name = "compile-once"
    keeps = "ceiling"
    remedies = (KeepTrace("keras"), KeepTrace("unknown"), Compile("jacobian"))

    def apply(self, seams: Seams, change: Change) -> None:
        """Ignore every ``compile`` of a model but the first."""
        done: weakref.WeakSet[Any] = weakref.WeakSet()

        def compile(original: Any, model: Any, /, *arguments: Any, **named: Any) -> Any:
            if model in done:
                seams.applied()
                return None
            result = original(model, *arguments, **named)
            done.add(model)  # only now: a class may call its base's
            return result

        seams.refuse("no model is compiled a second time")
        seams.replace_in_models("compile", compile)
