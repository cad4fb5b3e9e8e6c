"""Rules about devices, threads and what waits for them."""

from __future__ import annotations

from tfperfkit_rules.collecting import collect_rules

RULES = collect_rules(__name__)
