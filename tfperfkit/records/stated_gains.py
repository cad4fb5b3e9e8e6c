"""A gain in the fields that state it in the JSON report, and in findings of rules that were written for version 1."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from tfperfkit.records.gains import AtLeast, Gain, Range, Unknown, UpTo, middle


class Stated(msgspec.Struct, frozen=True, kw_only=True):
    """A finding states its gain by these fields.

    ``predicted_speedup`` is the factor by which the step should get faster if this alone is fixed (1.0: no gain), and
    ``predicted_range`` the interval that it lies in. If no factor can be predicted, ``at_least`` may be its lower end,
    or ``ceiling`` about what is gained if all of the finding's share goes. ``open_ended``: no upper end is known.
    """

    predicted_speedup: float | None
    predicted_range: tuple[float, float] | None = None
    ceiling: float | None = None
    at_least: float | None = None
    open_ended: bool = False

    @classmethod
    def from_gain(cls, gain: Gain) -> Stated:
        """Return the fields of a gain."""
        open_ended = isinstance(gain, AtLeast)
        if gain.likely is not None:
            bounds = None if isinstance(gain, Range) and gain.low == gain.high else gain.bounds
            return cls(predicted_speedup=gain.likely, predicted_range=bounds, open_ended=open_ended)
        ceiling = gain.high if isinstance(gain, UpTo) else None
        return cls(predicted_speedup=None, ceiling=ceiling, at_least=gain.low, open_ended=open_ended)

    @property
    def gain(self) -> Gain:
        """Return the gain that the fields state."""
        likely = self.predicted_speedup
        if self.predicted_range is not None:
            low, high = self.predicted_range
            return Range(low, likely if likely is not None else middle(low, high), high)
        if likely is not None:
            return Range(likely, likely, likely)
        if self.at_least is not None:
            return AtLeast(self.at_least)
        return UpTo(self.ceiling) if self.ceiling is not None else Unknown()


class StatedOnce(msgspec.Struct, frozen=True, kw_only=True):
    """A gain once others are fixed is stated by these fields: a factor, and its range if that has an upper end; a
    factor of None if only ``at_least`` is known."""

    at_least: float
    speedup: float | None = None
    range: tuple[float, float] | None = None

    @classmethod
    def from_gain(cls, gain: Range | AtLeast) -> StatedOnce:
        """Return the fields of a gain."""
        return cls(at_least=gain.low, speedup=gain.likely, range=gain.bounds)

    @property
    def gain(self) -> Gain:
        """Return the gain that the fields state."""
        if self.speedup is None or self.range is None:
            return AtLeast(self.at_least)
        return Range(self.range[0], self.speedup, self.range[1])


#: The fields of a finding, by their names.
FIELDS = Stated.__struct_fields__


#: The family of a finding, unless its rule gives another, by the letters of its code.
FAMILIES = {
    "BAT": "batch",
    "CMP": "compile",
    "DEV": "device",
    "DST": "distribution",
    "EAG": "eager",
    "GRF": "graph",
    "INP": "input",
    "MEM": "memory",
    "OPS": "graph",
    "PRC": "precision",
    "RET": "retrace",
    "SYN": "sync",
}


class TakesStated(type(msgspec.Struct)):  # type: ignore[misc]  # its name is private before msgspec 0.20
    """Makes findings: their family follows from their code, and from the fields by which rules and probes of version 1
    state a gain, the gain."""

    def __call__(cls, *args: Any, **fields: Any) -> Any:
        """Return the record; ``gain`` is made of the fields of version 1 if there are some."""
        fields.setdefault("family", FAMILIES.get(fields.get("code", "")[:3], "step"))
        if not fields.keys().isdisjoint(FIELDS):
            stated = {name: fields.pop(name) for name in FIELDS if name in fields}
            fields["gain"] = Stated(**{"predicted_speedup": None, **stated}).gain
        return super().__call__(*args, **fields)


def state(value: Any) -> Any:
    """Builtins, with the gain of each finding in them replaced by its fields, and without its remedy. Changes them and
    returns them."""
    for item in _inside(value):
        state(item)
    if isinstance(value, dict) and "gain" in value:
        if "evidence" in value:
            value.pop("remedy", None)
            value |= msgspec.to_builtins(Stated.from_gain(msgspec.convert(value.pop("gain"), Gain)))
        elif "codes" in value:
            value |= msgspec.to_builtins(StatedOnce.from_gain(msgspec.convert(value.pop("gain"), Range | AtLeast)))
    return value


def read(value: Any) -> Any:
    """Return builtins of ``state``, with gains instead of the fields. Changes them and returns them. Numbers that were
    not finite are null in a JSON report; of these nothing is known.

    Raises ``msgspec.ValidationError`` if a field is neither a number nor null.
    """
    for item in _inside(value):
        read(item)
    if isinstance(value, dict):
        kinds: tuple[tuple[type[Stated | StatedOnce], str], ...] = ((Stated, "evidence"), (StatedOnce, "codes"))
        for kind, mark in kinds:
            fields = {name: value.pop(name) for name in kind.__struct_fields__ if mark in value and name in value}
            if fields:
                known = {name: item for name, item in fields.items() if item is not None and None not in _inside(item)}
                value["gain"] = msgspec.convert({"predicted_speedup": None, **known}, kind, strict=False).gain
    return value


def _inside(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
