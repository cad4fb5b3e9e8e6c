"""The conclusions of a report, as sentences."""

from __future__ import annotations

from typing import Any

from tfperfkit.diagnosis.headline import conclude


def headline(*given: Any, **options: Any) -> str:
    """Return all sentences of ``conclude``; "" where it concludes nothing."""
    conclusion = conclude(*given, **options)
    return conclusion.text if conclusion is not None else ""
