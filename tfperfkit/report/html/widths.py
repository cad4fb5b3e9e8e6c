"""Lengths of bars as CSS rules: the page's policy forbids ``style`` attributes, which hostile text could make."""

from __future__ import annotations


class Rules:
    """Hands out class names for lengths and colours, and writes the rules that they stand for."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def width(self, share: float) -> str:
        """Return a class for a width of this share (0 to 1) of the element around it."""
        return self._class(f"width:{_percent(share)}%")

    def grow(self, share: float) -> str:
        """Return a class for this share of a row of boxes."""
        return self._class(f"flex:{_percent(share)} 1 0")

    def left(self, share: float) -> str:
        """Return a class for a place from the left."""
        return self._class(f"left:{_percent(share)}%")

    def color(self, part: str) -> str:
        """Return a class for the colour of a part of an account, one of the page's own."""
        return self._class(f"background:var(--c-{part});color:var(--t-{part})")

    @property
    def css(self) -> str:
        return "".join(f".{name}{{{rule}}}" for rule, name in self._names.items())

    def _class(self, rule: str) -> str:
        return self._names.setdefault(rule, f"w{len(self._names)}")


def _percent(share: float) -> str:
    return f"{min(max(share, 0.0), 1.0) * 100:.3f}".rstrip("0").rstrip(".")
