"""Which findings a user silences in pyproject.toml."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Silencing(msgspec.Struct, frozen=True, kw_only=True):
    """``ignore`` and ``per-file-ignores`` of ``[tool.tfperf]``: codes of findings, ``*`` and ``?`` allowed.

    The file patterns of ``per_file`` start at ``folder``, where the pyproject.toml is.
    """

    ignore: tuple[str, ...] = ()
    per_file: Mapping[str, tuple[str, ...]] = {}
    folder: str = ""
