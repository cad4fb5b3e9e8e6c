"""Rules about work inside of compiled functions of which far less would give the same result.

The probe ``ops`` finds it by the structure of the graph; here it gets its share of the step from the trace, its gain,
and its words.
"""

from __future__ import annotations

from tfperfkit.rule import Rule

RULES: tuple[Rule, ...] = ()
