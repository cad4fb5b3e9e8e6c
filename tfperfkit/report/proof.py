"""Whether trials have proven a patch, in words."""

from __future__ import annotations

from tfperfkit.model import Measured
from tfperfkit.records.plural import plural
from tfperfkit.report import numbers
from tfperfkit.report.trials import outputs_words, results_words

#: A smaller gain is not looked for.
_GAINED = 1.05


def shortfall(item: Measured | None) -> str:
    """Why a patch is not proven: it fails, changes results or gains nothing; "" if it is proven."""
    if item is None:
        return "it was not measured"
    if item.verdict == "failed":
        return f"the patched script fails: {item.reason}"
    if item.verdict == "not applicable":
        return item.reason or "it does not apply"
    if item.results == "differ":
        return results_words(item)
    if item.outputs == "differ":
        return outputs_words(item)
    if item.verdict == "slower":
        return "the patched script is slower"
    if item.verdict == "no difference" and not gains_processor_time(item):
        return "these runs show no gain"
    if item.verdict == "undecided":
        return f"undecided{f': {item.reason}' if item.reason else ''}; try a longer --time-limit"
    if item.results == "unknown" and item.outputs == "unknown":
        return "neither weights nor output could be compared"
    return ""


def gains_processor_time(item: Measured) -> bool:
    """Return whether it takes surely less processor time, and the wall-clock gain is likely: other programs on a busy
    machine make wall-clock times vary far more."""
    sure = item.processor_interval is not None and min(item.processor_interval) > _GAINED
    return sure and item.speedup is not None and item.speedup > _GAINED


def proof_words(item: Measured) -> str:
    """Return the parts that were equal in the runs that prove a patch."""
    same = [results_words(item)] if item.results != "unknown" else []
    same += [outputs_words(item)] if item.outputs != "unknown" else []
    if item.verdict == "no difference" and item.processor_interval is not None:
        low, high = map(numbers.speedup, item.processor_interval)
        same.append(f"by processor time {low} to {high}")
    return ", ".join(same)


def measured_words(item: Measured | None) -> str:
    """``measured 8.1x (95 %: 7.0x to 9.3x, 3 pairs)``"""
    if item is None or item.speedup is None:
        return "not measured"
    if item.interval is None:
        return f"measured {numbers.speedup(item.speedup)} in {plural(item.pairs, 'pair')}"
    low, high = map(numbers.speedup, item.interval)
    return f"measured {numbers.speedup(item.speedup)} (95 %: {low} to {high}, {plural(item.pairs, 'pair')})"
