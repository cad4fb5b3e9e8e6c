"""What the graphs of the probe ``ops`` show, with what each costs in the measured step (OPS001 to OPS006)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
from tfperfkit_probes import ops_codes as codes
from tfperfkit_probes.ops_model import OpsData

from tfperfkit import gain
from tfperfkit.evidence import Evidence
from tfperfkit.model import Finding, Measurement
from tfperfkit_rules import graph_time

#: Of the time of float64 arithmetic, what float32 saves. Half the bytes and twice the numbers per instruction say
#: 0.5, and oneDNN has float32 only: products and convolutions alone took 1.4 to 6.7 times as long in float64, on two
#: busy cores (0.27 to 0.85 saved).
FLOAT64_LEAST, FLOAT64_MOST = 0.2, 0.8
#: Of the time in a call back into Python, what its replacement by operations still takes at worst: a script whose
#: calls took 0.27 of the step gained 1.13 and 1.16 times in two pairs.
PYTHON_LEFT = 0.6
PYTHON_TYPES = ("PyFunc", "EagerPyFunc", "PyFuncStateless")
#: tf.print formats its tensors before it prints them.
PRINT_TYPES = (
    "Print", "PrintV2", "StringFormat", "LogSummary", "Assert", "CheckNumerics", "CheckNumericsV2", "AsString",
)
#: What a constant adds to the trace and the first run of a function, in ms for each MB, against a captured tensor: 20
#: to 77 in six pairs of 4 and 16 MB (TensorFlow 2.21, two cores shared with other work), 181 and 261 in two earlier
#: ones on the same busy machine. The least of them, and never more than the function's own trace and first run took.
CONSTANT_MS_PER_MB = 20.0
#: What tracing and first run need without it, at most: an unrolled graph of 22,614 operations took 4 ms for each.
OP_MS, CALL_MS = 10.0, 1000.0


def graph_findings(evidence: Evidence) -> Iterator[Finding]:
    """The findings of the probe ``ops``, priced."""
    data = evidence.data("ops", OpsData)
    if data is None:
        return
    for finding in data.found:
        price = _PRICES.get(finding.code)
        yield price(evidence, finding) if price is not None else finding


def _value(finding: Finding, name: str) -> float:
    return next((item.value for item in finding.evidence if item.name == name), 0.0)


def _of_run(evidence: Evidence, finding: Finding, lost_ms: float, name: str) -> Finding:
    """With ``lost_ms`` as a share of the whole run, as loud as that."""
    whole = evidence.run.wall_s * 1e3
    share = min(lost_ms / whole, 0.95) if whole > 0 else 0.0
    return msgspec.structs.replace(
        finding, basis="run", share_of_step=share, severity=gain.severity(share),
        evidence=(*finding.evidence, Measurement(name, lost_ms, "ms", "run"),
                  Measurement("share of the run", share, "share", "run")),
    )


def _unrolled(evidence: Evidence, finding: Finding) -> Finding:
    # A gradient of the loop stands at the line that asks for it: its operations are as many times those of the loop.
    forward = _value(finding, "operations") - _value(finding, "operations_of_gradients")
    part = min(1.0, _value(finding, "operations_of_the_loop") / max(forward, 1.0))
    traces = max(_value(finding, "traces"), 1.0)  # the second one where variables are made counts too
    lost = part * (traces * _value(finding, "trace_ms") + _value(finding, "first_execution_ms"))
    return msgspec.structs.replace(_of_run(evidence, finding, lost, "tracing and first run of the loop"),
                                   absorbs=("CMP004",))


def _constant(evidence: Evidence, finding: Finding) -> Finding:
    seen = _value(finding, "trace_ms") + _value(finding, "first_execution_ms")
    lost = min(_value(finding, "constant_bytes") / 1e6 * CONSTANT_MS_PER_MB, seen)
    lost *= max(_value(finding, "traces"), 1.0)
    operations = _value(finding, "operations")
    if operations:  # what is left of the measured time, if that is more
        lost = max(lost, seen - CALL_MS - OP_MS * operations)
    priced = _of_run(evidence, finding, lost, "copying it while tracing, estimated")
    if gain.severity(priced.share_of_step) == "info":  # memory and SavedModels still pay for it
        return msgspec.structs.replace(finding, basis="risk")
    return msgspec.structs.replace(priced, absorbs=("CMP004",))


def _float64(evidence: Evidence, finding: Finding) -> Finding:
    # In the step, only if float64 runs there: a metric outside of it costs nothing.
    if evidence.settings.get("floatx") == "float64":
        places = [*evidence.find(r"set_floatx\s*\("), *finding.where]
        finding = msgspec.structs.replace(finding, where=tuple(dict.fromkeys(places)))
    in_step = [(brief, n) for brief, n in graph_time.called(evidence) if brief.flops]
    flops = sum((brief.flops or 0.0) * n for brief, n in in_step)
    wide = sum((brief.flops or 0.0) * n * brief.float64_flops_share for brief, n in in_step)
    if not flops:
        return finding
    share = evidence.share("graph") * wide / flops
    return _priced(finding, share, FLOAT64_LEAST * share, FLOAT64_MOST * share, "float64 arithmetic, of the step")


def _python(evidence: Evidence, finding: Finding) -> Finding:
    share = graph_time.share(evidence, lambda row: row.type in PYTHON_TYPES)
    return _priced(finding, share, (1 - PYTHON_LEFT) * share, share, "in calls back into Python, of the step",
                   absorbs=("LIN001",))


def _print(evidence: Evidence, finding: Finding) -> Finding:
    share = graph_time.share(evidence, lambda row: row.type in PRINT_TYPES)
    # A print also orders what would run side by side: a pair of runs gained 1.56 times at a share of 0.33.
    return _priced(finding, share, 0.5 * share, 1.25 * share, "printing and checking, of the step")


def _priced(
    finding: Finding, share: float, least: float, most: float, name: str, absorbs: tuple[str, ...] = ()
) -> Finding:
    if share <= 0:
        return finding
    bounds = gain.speedups(least, most)
    return msgspec.structs.replace(
        finding, share_of_step=min(share, 1.0), predicted_range=bounds, predicted_speedup=gain.middle(bounds),
        severity="low", evidence=(*finding.evidence, Measurement(name, share, "share", "breakdown")), absorbs=absorbs,
    )


_PRICES: dict[str, Callable[[Evidence, Finding], Finding]] = {
    codes.UNROLLED_LOOP: _unrolled, codes.BIG_CONSTANT: _constant, codes.FLOAT64: _float64,
    codes.PYTHON_CALL: _python, codes.PRINT: _print,
}
