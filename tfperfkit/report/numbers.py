"""Numbers as a reader wants them: three significant digits, thousands separated, no scientific notation.

Alone, a time changes its unit to stay readable: microseconds below 0.1 ms, seconds from 10,000 ms. In a column all
values share one unit, which is in the heading: seconds only from 100,000 ms, so that small times in the same column
stay visible. Bytes are in KiB, MiB, GiB (powers of 1024).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from tfperfkit.model import Unit
from tfperfkit.report.terminal import UNICODE, Symbols

Value = str | int | float | None

#: Alone, ms turn into s (and us into ms) from here on.
SCALE_ALONE = 10_000.0
#: In a column, by its largest value.
SCALE_COLUMN = 100_000.0
#: No measurement reaches this; beyond it, the digits of a float mean nothing and would fill lines.
_ABSURD = 1e15
_BYTES = ("B", "KiB", "MiB", "GiB", "TiB")
#: Units whose columns are lined up at the decimal point.
_ALIGNED = frozenset({"ms", "us", "bytes", "number", "count"})
NUMERIC = frozenset({"count", "ms", "us", "bytes", "share", "ratio", "number"})


class NumberColumn(msgspec.Struct, frozen=True):
    """The texts of a column of numbers, and the unit that its heading has to name (empty: none)."""

    unit: str
    cells: tuple[str, ...]


def is_number(value: object) -> bool:
    """Return whether a value is a finite int or float (a bool is none)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or math.isfinite(value)


def plain(value: float, decimals: int = 3) -> str:
    """Three significant digits, but all digits before the point, and at most ``decimals`` after it.

    512.3 -> "512", 10498.9 -> "10,499", 5.1 -> "5.10", 0.0123 -> "0.012", 0.0001 -> "<0.001", 7 -> "7".
    """
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < _ABSURD else _absurd(value)
    if abs(value) >= _ABSURD:
        return _absurd(value)
    if value == 0:
        return "0"
    exponent = int(f"{abs(value):.2e}".partition("e")[2])  # after rounding: 9.999 counts as 10.0
    digits = max(0, min(decimals, 2 - exponent))
    text = f"{value:,.{digits}f}"
    if float(text.replace(",", "")) == 0:
        lower = f"{10.0**-decimals:.{decimals}f}"
        return f"<{lower}" if value > 0 else f">-{lower}"
    return text


def _absurd(value: float) -> str:
    try:
        return f"{float(value):.3g}"
    except OverflowError:
        return "inf" if value > 0 else "-inf"


def alone(value: Value, unit: str, symbols: Symbols = UNICODE) -> str:
    """One value with its unit: ``512 ms``, ``12.5 s``, ``97.9 %``, ``1.40x``, ``3.20 MiB``, ``7`` (count).

    A unit that is not one of the model's is put after the number as it is (``31 steps``): it must be harmless.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return symbols.dash
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if unit == "share":
        return f"{_percent(value)} %"
    if unit == "ratio":
        return f"{_ratio(value)}x"
    if unit == "bytes":
        size, shown = _byte_unit(abs(value))
        return f"{plain(value / size if size > 1 else value)} {shown}"
    if unit in ("ms", "us", "µs", "ns", "s"):
        return _time(value, unit, symbols)
    if unit == "count" and float(value).is_integer() and abs(value) < _ABSURD:
        return plain(int(value))
    return plain(value) if unit in ("count", "number", "") else f"{plain(value)} {unit}"


def beside(part_ms: float, whole_ms: float, symbols: Symbols = UNICODE) -> str:
    """Return a part of a time, in a unit that all parts of that time have: µs under 1 ms, else ms."""
    if whole_ms < 1:
        return f"{plain(part_ms * 1e3)} {symbols.micro}s"
    return f"{plain(float(part_ms))} ms"


def _time(value: float, unit: str, symbols: Symbols) -> str:
    milliseconds = value * {"s": 1e3, "ms": 1.0, "us": 1e-3, "µs": 1e-3, "ns": 1e-6}[unit]
    size = abs(milliseconds)
    if unit == "s" or size >= SCALE_ALONE:
        return f"{plain(milliseconds / 1e3)} s"
    if 0 < size < 0.1 or (size == 0 and unit not in ("ms", "s")):
        return f"{plain(milliseconds * 1e3)} {symbols.micro}s"
    return f"{plain(milliseconds)} ms"


def _percent(share: float) -> str:
    text = f"{share * 100:,.1f}" if abs(share) < _ABSURD else _absurd(share)
    return "0.0" if text == "-0.0" else text


def _ratio(value: float) -> str:
    return f"{value:,.2f}" if abs(value) < 100 else plain(float(value))


def speedup(factor: float) -> str:
    """Return a gain as people say it, to two digits: ``12x``, ``1.4x``; a small one as ``1.05x``."""
    if not math.isfinite(factor) or abs(factor) >= _ABSURD:
        return f"{factor:.2g}x"
    return f"{factor:,.{0 if factor >= 9.95 else 1 if factor >= 1.095 else 2}f}x"


_OFF = 0.2


def short(value: float | None, unit: str, symbols: Symbols = UNICODE) -> str:
    """Return a time or a share in two significant digits, but all digits before the point: ``1.9 s``, ``512 ms``, ``81
    %``."""
    if value is None or not math.isfinite(value):
        return symbols.dash
    if unit == "share":
        return f"{_two_digits(100 * value)} %" if value >= 0.01 or value <= 0 else f"{100 * value:.1g} %"
    milliseconds = value * {"s": 1e3, "ms": 1.0}[unit]
    if abs(milliseconds) >= 999.5:
        return f"{_two_digits(milliseconds / 1e3)} s"
    if 0 < abs(milliseconds) < 0.995:
        return f"{_two_digits(milliseconds * 1e3)} {symbols.micro}s"
    return f"{_two_digits(milliseconds)} ms"


def is_wide(value: float | None, ends: tuple[float, float] | None) -> bool:
    """Whether a figure may be off by more than a fifth to either side, so that its two digits promise too much."""
    return value is not None and ends is not None and ends[1] - ends[0] > 2 * _OFF * value


def _two_digits(value: float) -> str:
    """Return ``88``, ``1.9``, ``0.42``, ``1,234``."""
    if value == 0 or abs(value) >= _ABSURD:
        return "0" if value == 0 else _absurd(value)
    exponent = int(f"{abs(value):.1e}".partition("e")[2])  # after rounding: 9.96 counts as 10
    return f"{value:,.{max(0, min(3, 1 - exponent))}f}"


def _byte_unit(largest: float) -> tuple[float, str]:
    power = 0
    while largest >= 1024 and power < len(_BYTES) - 1:
        largest /= 1024
        power += 1
    return 1024.0**power, _BYTES[power]


def column(values: Sequence[Value], unit: Unit, *, fixed: bool = False, symbols: Symbols = UNICODE) -> NumberColumn:
    """Return the texts of one column of numbers, lined up at their decimal points.

    ``fixed`` keeps the unit (the heading names it already). A value that is no number keeps its own words.
    """
    numbers = [float(value) for value in values if is_number(value) and abs(value) < 1e300]  # type: ignore[arg-type]
    largest = max(map(abs, numbers), default=0.0)
    factor, shown = _column_unit(unit, largest, fixed, symbols)
    decimals = 3 if largest * factor < 100 else 2
    texts = [_cell(value, unit, factor, decimals, symbols) for value in values]
    return NumberColumn(unit=shown, cells=tuple(_line_up(texts) if unit in _ALIGNED else texts))


def _column_unit(unit: Unit, largest: float, fixed: bool, symbols: Symbols) -> tuple[float, str]:
    """Return the factor to multiply the values with, and the unit they are in then."""
    if unit == "share":
        return 100.0, "%"
    if unit == "bytes":
        size, shown = (1.0, "") if fixed else _byte_unit(largest)
        return 1 / size, shown
    names = {"ms": ("ms", "s"), "us": (f"{symbols.micro}s", "ms")}.get(unit)
    if names is None:
        return 1.0, ""
    return (1e-3, names[1]) if largest >= SCALE_COLUMN and not fixed else (1.0, names[0])


def _cell(value: Value, unit: Unit, factor: float, decimals: int, symbols: Symbols) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return symbols.dash
    if isinstance(value, bool | str) or not is_number(value):
        return str(value)
    if unit == "share":
        return _percent(value)
    if unit == "ratio":
        return f"{_ratio(value)}x"
    if unit == "number" and isinstance(value, int):
        return str(value) if abs(value) < _ABSURD else _absurd(value)  # line numbers, ids: no separators
    return plain(value * factor if factor != 1.0 else value, decimals)


def _line_up(texts: Sequence[str]) -> list[str]:
    """Spaces after the shorter fractions, so that right-aligned texts have their points below each other."""
    fraction = max((len(text) - text.index(".") for text in texts if _has_point(text)), default=0)
    return [
        text + " " * (fraction - (len(text) - text.index(".") if _has_point(text) else 0))
        if _has_point(text) or text.replace(",", "").lstrip("-").isdecimal() or len(text) == 1
        else text
        for text in texts
    ]


def _has_point(text: str) -> bool:
    whole, point, fraction = text.partition(".")
    return bool(point) and fraction.isdecimal()
