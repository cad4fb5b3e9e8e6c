"""What a trace says about where the time goes: findings with their figures, and the first line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from tfperfkit import calibration
from tfperfkit.gain import up_to
from tfperfkit.model import Family, Finding, Measurement, Severity
from tfperfkit.reading.activity import Label
from tfperfkit.reading.host import Doing
from tfperfkit.reading.idle import BETWEEN, QUEUED, UNKNOWN
from tfperfkit.reading.machine import is_matrix_product
from tfperfkit.reading.model import CollectiveRow, TraceReport
from tfperfkit.reading.numbers import HOST_SHARE, MANY_COLLECTIVES, MATRIX_SHARE, REPORTED_SHARE, SMALL_COLLECTIVE_MS
from tfperfkit.records.source_span import SourceSpan

#: Families of findings about accelerators that wait, and about those that are busy with other than computing.
_WAITING: tuple[Family, ...] = ("input", "eager", "device", "compile")
_BUSY: tuple[Family, ...] = ("sync", "distribution")
_HOST = (Doing.PYTHON.value, Doing.RUNTIME.value, UNKNOWN)


def find(report: TraceReport) -> tuple[Finding, ...]:
    """The findings, the costliest first."""
    found = [*_idle(report), *_launches(report), *_copies(report), *_collectives(report), *_matrix(report)]
    return tuple(sorted(found, key=lambda finding: -finding.share_of_step))


def headline(report: TraceReport) -> str:
    """The first line: the step, how much of it the accelerators idle, and the main reason."""
    if report.idle_share is None:
        return _host_headline(report)
    used = [row for row in report.devices if row.used]
    who = f"The {len(used)} accelerators idle" if len(used) > 1 else f"{used[0].device} idles" if used else "Idle"
    of = "the step" if report.steps.count else "the recorded time"
    text = f"{who} {report.idle_share * 100:.1f} % of {of}"
    if len(report.hosts) > 1 and len(used) > 1:
        text = f"The {len(used)} accelerators of {len(report.hosts)} hosts idle {report.idle_share * 100:.1f} % of {of}"
    reported = [finding for finding in report.findings if finding.severity != "info"]
    if reported and reported[0].family in _WAITING:
        cause = max(report.waits_share, key=lambda name: report.waits_share[name])
        return f"{text}, most of it waiting for {_WAITS.get(cause, cause)}"
    busy_with = reported and reported[0].family in _BUSY
    if busy_with and reported[0].share_of_step > (report.idle_share or 0.0):
        return f"{reported[0].title}: {reported[0].share_of_step * 100:.1f} % of {of}"
    return text


def _host_headline(report: TraceReport) -> str:
    """Return the first line of a trace without accelerators: what the threads of the host do, or what they compute."""
    of = "the step" if report.steps.count else "the recorded time"
    fetching, nothing = (report.host_share.get(name, 0.0) for name in (Doing.INPUT.value, UNKNOWN))
    if max(fetching, nothing) >= HOST_SHARE.value:
        if fetching >= nothing:
            return f"For {100 * fetching:.0f} % of {of} a thread of the host fetches the next batch"
        return f"For {100 * nothing:.0f} % of {of} no thread of the host is in any event: Python, or waiting"
    if not report.host_operations:
        return ""
    first = report.host_operations[0]
    return f"The costliest operation on the host is {first.name}: {first.own_ms:.3g} ms in {first.runs:,} runs"


_OF_PYTHON = (
    "Take Python out of the step: one tf.function (or jit) for it, several steps in a call "
    "(steps_per_execution, a loop inside of the tf.function), values read seldom."
)
_OF_RUNTIME = (
    "The runtime is at what stands below, not Python: give it less to do for each call (several steps in one, fewer "
    "and larger operations), and record after the warm-up: memory and iterators are made in the first steps, once."
)
_WAITS = {
    Doing.INPUT.value: "input",
    Doing.COMPILE.value: "compilation",
    Doing.COLLECTIVE.value: "other devices",
    Doing.COPY.value: "copies",
    Doing.LAUNCH.value: "kernels to be launched",
    Doing.RUNTIME.value: "the runtime on the host",
    Doing.PYTHON.value: "Python",
    BETWEEN: "the next kernel to start",
    QUEUED: "another stream",
    UNKNOWN: "a host of which nothing is recorded",
}


def finding(
    code: str,
    family: Family,
    title: str,
    share: float,
    evidence: list[Measurement],
    advice: str,
    detail: str = "",
    where: tuple[SourceSpan, ...] = (),
    report: TraceReport | None = None,
    basis: Literal["step", "run"] | None = None,
) -> Finding:
    """A finding of a trace: a ceiling, never a predicted gain."""
    return Finding(
        code=code,
        family=family,
        title=title,
        severity=_severity(share),
        share_of_step=share,
        gain=up_to(share),
        where=where,
        evidence=tuple(evidence),
        advice=advice,
        detail=detail,
        basis=basis or ("step" if report is None or report.steps.count else "run"),
    )


def _severity(share: float) -> Severity:
    if share >= calibration.SEVERITY_HIGH.value:
        return "high"
    return "medium" if share >= calibration.SEVERITY_MEDIUM.value else "low"


def _idle(report: TraceReport) -> Iterator[Finding]:
    shares = report.waits_share
    whole = [Measurement("idle", report.idle_share or 0.0, "share", "accelerators")]
    share = shares.get(Doing.INPUT.value, 0.0)
    if share >= REPORTED_SHARE.value:
        yield finding(
            "TRC001",
            "input",
            "The accelerators wait for input",
            share,
            [
                *whole,
                Measurement("waiting for input", share, "share", "accelerators"),
                *_worst(report, Doing.INPUT.value),
            ],
            "Prefetch to the device, read and map in parallel (num_parallel_calls=tf.data.AUTOTUNE), cache what is "
            "read again. tfperf run on the script names the stage.",
            report=report,
        )
    parts = {name: shares[name] for name in _HOST if shares.get(name, 0.0) > 0}
    share = sum(parts.values())
    if share >= REPORTED_SHARE.value:
        yield finding(
            "TRC002",
            "eager",
            "The accelerators wait for the host",
            share,
            [
                *whole,
                *(Measurement(name, value, "share", "accelerators") for name, value in parts.items()),
                *_worst(report, *_HOST),
            ],
            _OF_RUNTIME if 2 * parts.get(Doing.RUNTIME.value, 0.0) > share else _OF_PYTHON,
            "\n".join(f"{row.what}: {row.idle_ms:.3g} ms" for row in report.host[:5]),
            _places(report),
            report=report,
        )
    share = shares.get(Doing.COMPILE.value, 0.0)
    if share >= REPORTED_SHARE.value:
        yield finding(
            "TRC007",
            "compile",
            "The accelerators wait for tracing or compilation",
            share,
            [
                *whole,
                Measurement("waiting for compilation", share, "share", "accelerators"),
                *_worst(report, Doing.COMPILE.value),
            ],
            "Record after the warm-up; if it goes on, shapes or Python values change from step to step: tfperf run on "
            "the script names the argument.",
            report=report,
        )


def _worst(report: TraceReport, *causes: str) -> list[Measurement]:
    """Of several hosts the one whose accelerators wait longest for these, where that is longer than on the others."""
    shares = {row.host: sum(row.waits_share.get(cause, 0.0) for cause in causes) for row in report.hosts}
    worst = max(shares, key=lambda host: shares[host], default=None)
    mean = sum(report.waits_share.get(cause, 0.0) for cause in causes)
    if worst is None or shares[worst] < mean + REPORTED_SHARE.value:
        return []
    return [Measurement(f"most on {worst}", shares[worst], "share", "accelerators")]


def _places(report: TraceReport) -> tuple[SourceSpan, ...]:
    places = []
    for row in report.host[:3]:
        location, _, function = row.what.partition(" ")
        file, _, line = location.rpartition(":")
        if file.endswith(".py") and line.isdecimal():
            places.append(SourceSpan(file=file, line=int(line), function=function))
    return tuple(places)


def _launches(report: TraceReport) -> Iterator[Finding]:
    launching, between = (report.waits_share.get(cause, 0.0) for cause in (Doing.LAUNCH.value, BETWEEN))
    share = launching + between
    if share < REPORTED_SHARE.value:
        return
    kernels = sum(row.kernels for row in report.devices if row.used)
    short = sum(row.short_kernels for row in report.devices if row.used)
    evidence = [
        Measurement("waiting for launches", launching, "share", "accelerators"),
        Measurement("between kernels", between, "share", "accelerators"),
        Measurement("kernels", kernels, "count", "trace"),
    ]
    if short:
        evidence.append(Measurement("of no more than 10 µs", short, "count", "trace"))
    yield finding(
        "TRC003",
        "device",
        "Much of the step passes between one kernel and the next",
        share,
        evidence,
        "Make fewer and larger kernels: jit_compile=True fuses them, a larger batch gives each more to do, several "
        "small tensors updated together need one launch.",
        report=report,
    )


def _copies(report: TraceReport) -> Iterator[Finding]:
    used = [row for row in report.devices if row.used and row.window_ms > 0]
    whole = sum(row.window_ms for row in used) or 1.0
    share = report.waits_share.get(Doing.COPY.value, 0.0) + min(sum(row.only_copies_ms for row in used) / whole, 1.0)
    if not report.copies or share < REPORTED_SHARE.value:
        return
    evidence = [Measurement("copies and nothing else", share, "share", "accelerators")]
    evidence += [Measurement(f"{row.kind}", row.bytes, "bytes", "trace") for row in report.copies[:3] if row.bytes]
    evidence += [
        Measurement(f"synchronous {row.kind}", row.synchronous, "count", "trace")
        for row in report.copies
        if row.synchronous
    ]
    pageable = sum(row.pageable or 0 for row in report.copies)
    evidence += [Measurement("from pageable memory", pageable, "count", "trace")] * bool(pageable)
    yield finding(
        "TRC004",
        "sync",
        "The accelerators wait for copies",
        share,
        evidence,
        "Offload fewer values to the host's memory, or ask for them earlier: the program is done before they are there."
        if 2 * sum(row.total_ms for row in report.copies if row.awaited) > sum(row.total_ms for row in report.copies)
        else "Copy while computing: prefetch_to_device, values read after several steps. Copies from pageable memory "
        "can't overlap: hand over tensors that TensorFlow allocated, not fresh NumPy arrays.",
        report=report,
    )


def _collectives(report: TraceReport) -> Iterator[Finding]:
    used = [row for row in report.devices if row.used and row.window_ms > 0]
    whole = sum(row.window_ms for row in used)
    if not whole or not report.collectives:
        return
    total = sum(row.total_ms for row in report.collectives)
    hidden = sum(row.hidden_ms or 0.0 for row in report.collectives)
    # Of several at the same time on a device each moment counts once.
    share = min(sum(row.only_collectives_ms for row in used) / whole, 1.0)
    if share < REPORTED_SHARE.value:
        return
    wait = sum(row.wait_ms or 0.0 for row in report.collectives)
    evidence = [
        Measurement("collectives and nothing else", share, "share", "accelerators"),
        Measurement("of them while a kernel computes", hidden / total, "share", "trace"),
    ]
    if any(row.compared for row in report.collectives):
        transfer = sum(row.transfer_ms or 0.0 for row in report.collectives)
        evidence += [
            Measurement("waiting for the last device", wait, "ms", "trace"),
            Measurement("transfer", transfer, "ms", "trace"),
        ]
    if small := _many_small(report, total - hidden):
        yield _small(report, small, share, evidence)
        return
    late: dict[str, float] = {}
    for row in report.collectives:
        late[row.last] = late.get(row.last, 0.0) + (row.wait_ms or 0.0)
    last = max(late, key=lambda name: late[name])
    waits = last and wait > total / 2
    yield finding(
        "TRC005",
        "distribution",
        f"Collectives wait for {last}" if waits else "Collectives take a good part of the step",
        share,
        evidence,
        f"Look at what {last} does before it arrives: its input, its share of the work, its host."
        if waits
        else "Fewer bytes and larger messages: gradients in 16 bits, packed together, and more work per step.",
        report=report,
    )


def _many_small(report: TraceReport, exposed_ms: float) -> list[CollectiveRow]:
    """The small ones, where they are many in a step and take the larger half of what is not hidden."""
    small = [
        row
        for row in report.collectives
        if row.compared and (row.transfer_ms or 0.0) <= SMALL_COLLECTIVE_MS.value * row.compared
    ]
    in_step = sum(row.runs / row.devices for row in small) / max(report.steps.count, 1)
    took = sum(row.total_ms - (row.hidden_ms or 0.0) for row in small)
    return small if in_step >= MANY_COLLECTIVES.value and report.steps.count and 2 * took > exposed_ms else []


def _small(report: TraceReport, small: list[CollectiveRow], share: float, evidence: list[Measurement]) -> Finding:
    """TRC008: many small collectives, which cost what starting them takes."""
    runs = sum(row.runs / row.devices for row in small) / report.steps.count
    each = sum(row.transfer_ms or 0.0 for row in small) / sum(row.compared for row in small)
    size = sum(row.bytes for row in small) / sum(row.runs for row in small)
    return finding(
        "TRC008",
        "distribution",
        f"Devices exchange {runs:,.0f} small values one by one in a step",
        share,
        [
            Measurement("small collectives in a step", runs, "count", "trace"),
            Measurement("transfer of one of them", each, "ms", "trace"),
            *([Measurement("bytes in one of them", size, "bytes", "trace")] if size else []),
            *evidence,
        ],
        "Pack them: all gradients to the optimizer at once, bytes_per_pack=0 (or some MB) in "
        "tf.distribute.CommunicationOptions; under XLA and JAX sum a tree of values in one call.",
        report=report,
    )


def _matrix(report: TraceReport) -> Iterator[Finding]:
    machine = report.machine
    if machine is None or not machine.tensor_flops_per_s:
        return
    slow = [row for row in report.kernels if not row.tensor_cores and is_matrix_product(Label(row.kernel))]
    share_of_kernels = sum(row.share for row in slow)
    if share_of_kernels < MATRIX_SHARE.value:
        return
    share = share_of_kernels * (1 - (report.idle_share or 0.0))
    yield finding(
        "TRC006",
        "precision",
        "Matrix products do not use the tensor cores",
        share,
        [
            Measurement("of the kernels' time", share_of_kernels, "share", "trace"),
            Measurement("kernels of this kind", sum(row.runs for row in slow), "count", "trace"),
        ],
        "Compute in 16 bits: keras.mixed_precision.set_global_policy('mixed_float16') (or 'mixed_bfloat16'), with "
        "sizes that are multiples of 8; in 32 bits allow TF32.",
        "\n".join(f"{row.kernel[:80]}: {row.total_ms:.3g} ms" for row in slow[:3]),
        report=report,
    )
