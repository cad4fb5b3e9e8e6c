"""Rules about devices, threads and what waits for them."""

from __future__ import annotations

from tfperfkit.rule import Rule
from tfperfkit_rules.device.host_syncs import host_syncs
from tfperfkit_rules.device.machine_limits import swapping, throttled
from tfperfkit_rules.device.placement import copies, missing_device, unused_gpu
from tfperfkit_rules.device.threads import onednn_off, threads

RULES: tuple[Rule, ...] = (
    unused_gpu,
    missing_device,
    copies,
    host_syncs,
    threads,
    onednn_off,
    throttled,
    swapping,
)
