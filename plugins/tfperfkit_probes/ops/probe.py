"""The probe ``ops``: what each concrete function executes, operation by operation, and what each of them costs."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.model import ProbeResult
from tfperfkit.option import Option
from tfperfkit.picture import Picture
from tfperfkit.probe import API_VERSION, Capture, Cost, Recording


class OpsProbe:
    """Operations of each compiled function: how many, FLOPs by line, constants, loops, and slow operations.

    Reads a graph once, when it was traced, and once when it is first executed: nothing on the steady path.
    """

    api: ClassVar[int] = API_VERSION
    name: ClassVar[str] = "ops"
    cost: ClassVar[Cost] = Cost.FREE
    claims: ClassVar[frozenset[str]] = frozenset()
    options: ClassVar[tuple[Option, ...]] = (
        Option(
            name="dump",
            default="",
            metavar="FUNCTION",
            in_report=True,
            help="List all operations of a tf.function.",
        ),
        Option(
            name="autograph",
            default="",
            metavar="FUNCTION",
            flag="--ops-autograph",
            help="Show the code that AutoGraph made of a function.",
        ),
        Option(name="keras", type="flag", default=False, in_report=True, help="Include Keras' own functions."),
        Option(
            name="xla",
            type="flag",
            default=False,
            help="Ask XLA which functions it can compile: about 0.5 s per function.",
        ),
    )

    def record(self, recording: Recording, /) -> AbstractContextManager[None]:
        """Append the streams of ``record``. Raises ``Unavailable`` without a known seam."""
        from tfperfkit_probes.ops.record import recorded

        return recorded(recording)

    def prepare(self, capture: Capture, /) -> None:
        """Import what ``analyze`` needs."""
        import tfperfkit_probes.ops.result  # noqa: F401

    def analyze(self, capture: Capture, /) -> ProbeResult:
        """Count; write the dump that was asked for next to the records."""
        from tfperfkit_probes.ops.result import result

        return result(capture)

    def pictures(self, capture: Capture, result: ProbeResult, /) -> Iterable[Picture]:
        """See ``tfperfkit.picture``."""
        from tfperfkit_probes.ops.pictures import pictures

        return pictures(result.data)
