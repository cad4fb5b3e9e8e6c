"""Names that rules written for version 1 import: ``tfperfkit.rule`` was called so."""

from tfperfkit.rule import RULES_API, Evidence, Rule

__all__ = ["RULES_API", "Evidence", "Rule"]
