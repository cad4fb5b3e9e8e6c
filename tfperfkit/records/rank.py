"""Which of several processes of one training this is, as launchers tell it in the environment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

#: More processes than this no training has; the environment may say anything.
_MAX_SIZE = 1_000_000
#: Of TF_CONFIG's cluster, in the order of ranks. An evaluator stands outside of the cluster.
_ROLES = ("chief", "master", "worker", "ps")


class Rank(msgspec.Struct, frozen=True, kw_only=True):
    """``rank`` counts from 0; ``role``: worker, chief, ps, evaluator; ``source``: the variable that says so."""

    rank: int
    size: int
    role: str = "worker"
    source: str = ""

    @property
    def folder(self) -> str:
        """Return the folder of this process's part in the folder of the whole run."""
        return f"rank-{self.rank:04}" if self.role != "evaluator" else f"evaluator-{self.rank:04}"

    @property
    def in_step(self) -> bool:
        """Return whether it trains the same steps as the others: evaluators and parameter servers have work of their
        own."""
        return self.role not in ("evaluator", "ps")


#: (rank, size) by launcher; the last is torchrun's and that of many scripts. SLURM_PROCID is there in a batch script
#: too, which is no rank: srun alone sets SLURM_STEP_ID.
_PAIRS = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("HOROVOD_RANK", "HOROVOD_SIZE"),
    ("PMIX_RANK", "PMIX_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
    ("RANK", "WORLD_SIZE"),
)


class _Task(msgspec.Struct):
    type: str = ""
    index: int = 0


class _Config(msgspec.Struct):
    cluster: dict[str, list[str]] = {}
    task: _Task = msgspec.field(default_factory=_Task)


def rank_of(environ: Mapping[str, str]) -> Rank | None:
    """Return the rank of this process; None if it trains alone, or what is said makes no sense. TF_CONFIG counts
    first."""
    found = _of_config(environ.get("TF_CONFIG", ""))
    if found is not None:
        return found
    for rank_name, size_name in _PAIRS:
        rank, size = _number(environ.get(rank_name)), _number(environ.get(size_name))
        if rank_name == "SLURM_PROCID" and "SLURM_STEP_ID" not in environ:
            continue
        if rank is not None and size is not None and 1 < size <= _MAX_SIZE and rank < size:
            return Rank(rank=rank, size=size, source=rank_name)
    return None


def _of_config(text: str) -> Rank | None:
    try:
        config = msgspec.json.decode(text, type=_Config, strict=False)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    size = sum(len(config.cluster.get(role, ())) for role in _ROLES)
    if config.task.type == "evaluator" and 0 <= config.task.index < _MAX_SIZE:
        return Rank(rank=config.task.index, size=size, role="evaluator", source="TF_CONFIG")
    before = 0
    for role in _ROLES:
        count = len(config.cluster.get(role, ()))
        if role == config.task.type and 0 <= config.task.index < count and 1 < size <= _MAX_SIZE:
            known = "chief" if role == "master" else role
            return Rank(rank=before + config.task.index, size=size, role=known, source="TF_CONFIG")
        before += count
    return None


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdecimal() and len(text) < 10 else None


def holds_parts(folder: Path) -> bool:
    """Return whether a folder holds the parts of several ranks, and no run of its own."""
    try:
        return not (folder / "run.json").exists() and any(folder.glob("rank-*/run.json"))
    except OSError:
        return False
