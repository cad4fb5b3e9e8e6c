"""Rules about too little work in a step."""

from __future__ import annotations

from tfperfkit.evidence import Rule

RULES: tuple[Rule, ...] = ()
