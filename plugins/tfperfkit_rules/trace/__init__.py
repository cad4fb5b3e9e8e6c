"""Rules about traces that somebody else recorded (``tfperf report``)."""

from __future__ import annotations

from tfperfkit_rules.collecting import collect_rules

RULES = collect_rules(__name__)
