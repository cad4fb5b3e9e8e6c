"""Rules about the input pipeline, loaders and generators."""

from __future__ import annotations

from tfperfkit.evidence import Rule

RULES: tuple[Rule, ...] = ()
