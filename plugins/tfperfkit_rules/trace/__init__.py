"""Rules about traces that somebody else recorded (``tfperf read``)."""

from __future__ import annotations

from tfperfkit.rule import Rule
from tfperfkit_rules.trace.collectives import collectives, late_rank_of_timeline
from tfperfkit_rules.trace.compiling import wait_for_compilation
from tfperfkit_rules.trace.copies import copies
from tfperfkit_rules.trace.host import wait_for_host
from tfperfkit_rules.trace.input import wait_for_input
from tfperfkit_rules.trace.launches import launches
from tfperfkit_rules.trace.tensor_cores import unused_tensor_cores

RULES: tuple[Rule, ...] = (
    wait_for_input,
    wait_for_host,
    wait_for_compilation,
    launches,
    copies,
    collectives,
    late_rank_of_timeline,
    unused_tensor_cores,
)
