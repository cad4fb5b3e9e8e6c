"""The budget in ``[tool.tfperf.budget]`` of pyproject.toml."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from tfperfkit.config import own_table
from tfperfkit.errors import UsageError

#: By how much slower than the base a step may be, as a share, where the budget has no ``slowdown``.
DEFAULT_SLOWDOWN = 0.05


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """Upper bounds; None: not asked for. ``findings``: codes that may not be found, with ``*`` and ``?``."""

    retraces: float | None = None
    eager_ops_per_step: float | None = None
    host_syncs_per_step: float | None = None
    graph_ops: float | None = None
    input_share: float | None = None
    peak_memory_mb: float | None = None
    memory_growth_mb_per_step: float | None = None
    slowdown: float | None = None
    findings: tuple[str, ...] = ()

    @property
    def limits(self) -> dict[str, float]:
        """Return the bounds of one run, by name, in the order of the fields."""
        found = {name: getattr(self, name) for name in self.__struct_fields__ if name not in ("slowdown", "findings")}
        return {name: value for name, value in found.items() if value is not None}

    @property
    def is_empty(self) -> bool:
        """Return whether it asks nothing of a single run."""
        return not self.limits and not self.findings


def read_budget(folder: Path) -> tuple[Budget, Path]:
    """Return the budget of the nearest pyproject.toml and that file; an empty one where there is none. Raises
    UsageError for a key that we do not know and a value that is none."""
    file, table = own_table(folder, "budget")
    return parse(table, str(file)), file


def parse(table: Mapping[str, Any], file: str) -> Budget:
    """Return the budget of a table; ``file`` is named in what is wrong with it."""
    where = f"{file}: [tool.tfperf.budget]"
    known = Budget.__struct_fields__
    for name, value in table.items():
        if name not in known:
            raise UsageError(f"{where} has no {name!r:.80}; known are {', '.join(known)}")
        if name == "findings":
            if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
                raise UsageError(f'{where}: findings takes a list of codes, such as ["RET*", "EAG001"]')
        elif isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < math.inf:
            raise UsageError(f"{where}: {name} takes a number from 0 on, not {value!r:.80}")
        elif name == "input_share" and value > 1:
            raise UsageError(f"{where}: input_share is a share from 0 to 1 (0.2: a fifth of the step), not {value}")
    return Budget(**{**table, "findings": tuple(table.get("findings", ()))})
