"""The record of a traced function that several probes share: its owner, and the types of its arguments."""

from __future__ import annotations

from typing import Literal

import msgspec

#: Whose code a traced function is.
Owner = Literal["user", "keras", "tensorflow", "tf.data"]


class Argument(msgspec.Struct, frozen=True, omit_defaults=True):
    """A leaf of the arguments' types. ``shape`` is None unless it is a tensor of known rank; -1: any size."""

    path: str
    text: str
    kind: str
    dtype: str = ""
    shape: list[int] | None = None
