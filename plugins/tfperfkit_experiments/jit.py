"""``jit[:FUNCTION]``: compiles functions and ``fit`` with XLA; ``jit[:FUNCTION]=off`` compiles them without it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.model import Finding, Report
from tfperfkit.remedy import KeepTrace, Setting
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import Seams


class Jit(Base):
    """Rounding differs: XLA fuses operations."""

    name = "jit"
    keeps = "mathematics"
    usage = "jit, jit:FUNCTION, jit=off"
    remedies = (Setting("jit_compile"), KeepTrace("shape"))
    headroom = 0.7

    def problem(self, change: Change, /) -> str | None:
        """Accept on, off or nothing, for a function or for all."""
        return None if change.value in ("", "on", "off") else self.needs("on or off")

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """Off if XLA itself is the cause, else on."""
        yield self.with_value("" if finding.remedy == Setting("jit_compile", "on") else "off")

    def apply(self, seams: Seams, change: Change) -> None:
        """Pass ``jit_compile`` to ``tf.function``, and to Keras' ``compile`` unless a function is named."""

        def compiled(arguments: dict[str, Any]) -> None:
            arguments["jit_compile"] = change.value != "off"
            seams.applied()

        seams.on_tf_function(change.target, compiled)
        if not change.target:
            seams.on_compile(compiled)
