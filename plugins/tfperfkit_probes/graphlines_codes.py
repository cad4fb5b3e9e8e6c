"""The codes of the findings from graph lines. A code is stable and never reused; each has a page in docs/findings."""

from __future__ import annotations

REPEATED_FORWARD = "GRF001"
METRICS = "GRF002"
SLOW_LAYER = "GRF003"

#: What each code means, without numbers or names: the heading of its page.
TITLES = {
    REPEATED_FORWARD: "A step runs the same forward pass twice",
    METRICS: "Metrics or summaries take a good part of every step",
    SLOW_LAYER: "A layer computes far more slowly than its neighbours",
}
