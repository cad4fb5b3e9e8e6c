"""Every number that these rules use, with its unit and its source: one module for each family, ``shared`` for all.

A rule takes them from here, as ``calibrated.TINY.value``; a test looks for others. See ``tfperfkit.calibration``.
"""

from __future__ import annotations

from tfperfkit_rules.calibration import (
    batch,
    compile,
    device,
    distribution,
    eager,
    graph,
    headroom,
    input,
    memory,
    precision,
    retrace,
    shared,
    step,
    work,
)

MODULES = (
    shared,
    batch,
    compile,
    device,
    distribution,
    eager,
    graph,
    headroom,
    input,
    memory,
    precision,
    retrace,
    step,
    work,
)
