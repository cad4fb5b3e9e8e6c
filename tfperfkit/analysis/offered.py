"""What a probe's result offers to others, checked once: a record that is not what it says never reaches a rule."""

from __future__ import annotations

import dataclasses
from typing import Any

import msgspec

from tfperfkit.model import ProbeResult
from tfperfkit.rule import LIVE, Offer
from tfperfkit.storage.stream_writer import plain


def offered(name: str, made: ProbeResult, data: Any) -> tuple[tuple[Offer, ...], list[str]]:
    """The offers of the probe of this name, its ``data`` (as builtins) included, and why something that it offers is
    none."""
    offers: list[Offer] = []
    refused = []
    try:
        given = tuple(made.offers)
    except TypeError:
        given, refused = (), [f"what it offers is left out: {type(made.offers).__name__} is no tuple"]
    for each in given:
        kind = type(each)
        if isinstance(each, LIVE):
            offers.append(Offer(name, kind, each))
            continue
        try:
            if not isinstance(each, msgspec.Struct) and not dataclasses.is_dataclass(kind):
                raise TypeError("it is neither a msgspec Struct nor a dataclass")
            value = msgspec.to_builtins(each, str_keys=True, enc_hook=plain)
            msgspec.convert(value, kind, strict=False)
            offers.append(Offer(name, kind, value))
        except Exception as error:  # foreign records: whatever is wrong with them must not reach a rule
            refused.append(f"what it offers as {kind.__name__} is left out: {error}")
    if isinstance(data, dict) and data and type(made.data) is not dict:
        offers.append(Offer(name, type(made.data), data))
    return tuple(offers), refused
