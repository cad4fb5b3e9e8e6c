"""Limits of a process's memory, and the containers in which a script keeps objects."""

from __future__ import annotations

import msgspec


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """Something that ends the process, or makes allocations fail, when it is used up."""

    source: str  # "machine", "control group", "address space (ulimit -v)"
    limit_bytes: int
    virtual: bool = False  # counts addresses, not resident memory
    free_bytes: int | None = None  # not used by anybody when recording began; None: not known


class Container(msgspec.Struct, frozen=True, kw_only=True):
    """A container under a name of the script. ``length`` counts elements, of an array or tensor too.

    ``function`` is "" for a global. ``element`` is the type of the newest element ("EagerTensor"), and
    ``element_bytes`` its size, None if that is unknown without running code of the script.
    """

    name: str
    kind: str  # "list", "dict", "set", "deque", "ndarray", "tensor"
    length: int
    file: str
    function: str
    line: int  # of the function's def; 0 for a global
    element: str = ""
    element_bytes: int | None = None

    @property
    def key(self) -> tuple[str, str, str, str]:
        return (self.file, self.function, self.name, self.kind)
