"""Run by test_retrace_causes.py in a process of its own: one function for each cause, each with its own recording.

Writes ``OUT/<cause>.json``: the ProbeResult of the retrace probe, and what the rule finds in its data.
``python retrace_causes.py OUT``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import retrace_arguments  # noqa: F401  (each adds its causes)
import tensorflow as tf
from retrace_functions import made_before, plain_step
from retrace_run import CAUSES, Run
from tfperfkit_probes.retrace.probe import RetraceProbe
from tfperfkit_rules.retrace.avoidable import avoidable_traces

from tfperfkit.errors import Unavailable
from tfperfkit.instruments.graphs import tracing
from tfperfkit.model import RunInfo
from tfperfkit.records.steps import StepTable
from tfperfkit.testing import capture_of, evidence_of


def seams() -> dict[str, object]:
    """Try a TensorFlow that is not as we know it, and listeners that come and go."""
    from tensorflow.python.eager.polymorphic_function import tracing_compilation, transform

    facts: dict[str, object] = {}
    original, callbacks = tracing_compilation._create_concrete_function, transform.CONCRETE_FUNCTION_CALLBACKS

    def changed(function_type, type_context, func_graph, options):
        return original(function_type, type_context, func_graph, options)

    seen: list[tracing.Traced] = []
    tracing_compilation._create_concrete_function = changed
    unsubscribe = tracing.subscribe(seen.append)
    tf.function(plain_step)(tf.ones([2]))
    facts["limits"] = seen[0].limits
    facts["limited_concrete"] = seen[0].concrete is not None
    unsubscribe()
    facts["callbacks_left"] = len(callbacks)
    del transform.CONCRETE_FUNCTION_CALLBACKS
    try:
        tracing.subscribe(seen.append)
    except Unavailable as reason:
        facts["unavailable"] = str(reason)
    transform.CONCRETE_FUNCTION_CALLBACKS = callbacks
    tracing_compilation._create_concrete_function = original

    function = tf.function(lambda x: x)
    first: list[bool] = []
    second: list[bool] = []
    leave_first = tracing.subscribe(lambda traced: first.append(traced.function is function))
    leave_second = tracing.subscribe(lambda traced: second.append(traced.function is function))
    function(1)
    function(1)  # on the steady path nothing is reported
    leave_first()
    leave_first()
    function(2)
    leave_second()
    function(3)
    facts["first"], facts["second"] = first, second
    facts["restored"] = tracing_compilation._create_concrete_function is original
    return facts


def main(out: Path) -> None:
    devices = tf.config.list_physical_devices("CPU")[:1]
    two = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(devices[0], two)
    from tensorflow.python.eager.polymorphic_function import tracing_compilation
    from tensorflow.python.util import traceback_utils

    original = tracing_compilation._create_concrete_function
    excluded = traceback_utils._EXCLUDED_PATHS
    made_before(tf.ones([4]))
    encoder = msgspec.json.Encoder()
    (out / "seams.json").write_bytes(encoder.encode(seams()))
    for function in CAUSES:
        run = Run(out / function.__name__)
        with RetraceProbe().record(run.recording):
            run.facts["hooked"] = tracing_compilation._create_concrete_function is not original
            function(run)
        run.facts["restored"] = (
            tracing_compilation._create_concrete_function is original and excluded == traceback_utils._EXCLUDED_PATHS
        )
        steps = StepTable(steps=tuple(run.steps), source="custom" if run.steps else "none")
        info = RunInfo(argv=("train.py",), exit_code=0, status="finished", wall_s=10.0)
        result = RetraceProbe().analyze(capture_of(run.recording, steps=steps, run=info))
        sources = {
            file: "\n".join(line.rstrip("\r\n") for line in lines) for file, lines in run.recording.sources.items()
        }
        evidence = evidence_of(steps=steps, wall_s=info.wall_s, data={"retrace": result.data}, sources=sources)
        findings = list(avoidable_traces(evidence))
        document = {"result": result, "findings": findings, "facts": run.facts, "notes": run.recording.notes}
        (out / f"{function.__name__}.json").write_bytes(encoder.encode(document))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
