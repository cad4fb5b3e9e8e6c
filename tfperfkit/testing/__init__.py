"""For people's own tests, ``assert_no_retrace``, ``assert_compiled`` and ``max_ops``; for authors of probes and rules,
a recording and a capture on a temporary folder, the checks of the contract, made-up evidence.

In pytest::

    from tfperfkit.testing import assert_no_retrace

    def test_step():
        with assert_no_retrace():
            for batch in batches:
                train_step(batch)
"""

from tfperfkit.testing.assertions import Operations, Traces, assert_compiled, assert_no_retrace, max_ops, watch_traces
from tfperfkit.testing.contract import check_probe, check_result, missing_pages
from tfperfkit.testing.fakes import FakeCapture, FakeRecording, capture_of, even_steps, evidence_of

__all__ = [
    "FakeCapture",
    "FakeRecording",
    "Operations",
    "Traces",
    "assert_compiled",
    "assert_no_retrace",
    "capture_of",
    "check_probe",
    "check_result",
    "even_steps",
    "evidence_of",
    "max_ops",
    "missing_pages",
    "watch_traces",
]
