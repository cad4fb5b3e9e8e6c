"""A comparison of two times in words: how much longer, between what bounds, and what could not have been seen."""

from __future__ import annotations

from tfperfkit.report import numbers
from tfperfkit.statistics.comparison import Comparison

#: From this factor on a change is a factor; below it a percentage says more.
_FACTOR = 2.0


def sentence(compared: Comparison, what: str) -> str:
    """``slower: a step takes 5.2 % longer (95 % interval 3.1 % to 7.3 %)``; ``what`` is "a step"."""
    words = f"{what} takes {longer(compared.ratio)}"
    if compared.low is None or compared.high is None:
        return f"{words}; whether that is more than chance is unknown: {compared.reason}"
    bounds = f"95 % interval {signed(compared.low)} to {signed(compared.high)}"
    return f"{compared.verdict}: {words} ({bounds})"


def change(compared: Comparison) -> str:
    """``+5.2 % (95 % interval +3.1 % to +7.3 %)``"""
    if compared.low is None or compared.high is None:
        return signed(compared.ratio)
    return f"{signed(compared.ratio)} (95 % interval {signed(compared.low)} to {signed(compared.high)})"


def limits(compared: Comparison) -> str:
    """Return the difference that these runs could have detected, with its assumptions; "" if there is no interval."""
    if compared.smallest is None:
        return ""
    a, b = compared.samples
    of = f"{a} {compared.unit}" if compared.unit == "pairs" else f"{a} and {b} {compared.unit} of steps"
    seen = f"{compared.smallest * 100:.1f} %" if compared.smallest < 1 else f"{1 + compared.smallest:.1f}x"
    return f"These runs can detect differences of {seen} or more (80 % power; {of}). {compared.assumption}"


def longer(ratio: float) -> str:
    """``5.2 % longer``, ``20.0 % less``, ``as long``, ``3.1x as long``, ``1/3.1 of the time``."""
    if ratio >= _FACTOR:
        return f"{numbers.speedup(ratio)} as long"
    if ratio <= 1 / _FACTOR:
        return f"1/{numbers.speedup(1 / ratio)[:-1]} of the time"
    percent = abs(ratio - 1) * 100
    if percent < 0.05:
        return "as long"
    return f"{percent:.1f} % {'longer' if ratio > 1 else 'less'}"


def signed(ratio: float) -> str:
    """``+5.2 %``, ``-20.0 %``; factors from 2 on."""
    if ratio >= _FACTOR:
        return numbers.speedup(ratio)
    return f"{(ratio - 1) * 100:+.1f} %"
