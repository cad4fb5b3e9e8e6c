"""Trials: a change that is made to a run from outside, the tasks of a trial's process, and the result."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, Protocol

import msgspec

Keeps = Literal["results", "mathematics", "nothing", "ceiling"]
Verdict = Literal["faster", "slower", "no difference", "undecided", "not applicable", "failed"]
#: How the results of the changed run compare: the same bits; a difference as small as two plain runs show, or as
#: rounding makes; a larger one; "unknown": nothing could be compared.
Results = Literal["same bits", "within noise", "rounding", "differ", "unknown"]

#: The same of what was printed and of the files that were written.
Outputs = Literal["same", "differ", "unknown"]

_TEXT = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9_.-]*)(?::(?P<target>[^=]*))?(?:=(?P<value>.*))?", re.DOTALL)


class Change(msgspec.Struct, frozen=True):
    """An experiment with its parameters: ``jit:train_step``, ``threads=2,2``, ``env:OMP_NUM_THREADS=2``."""

    experiment: str
    target: str = ""
    value: str = ""

    @property
    def text(self) -> str:
        """As it is typed after ``--with``."""
        target = f":{self.target}" if self.target else ""
        return f"{self.experiment}{target}{f'={self.value}' if self.value else ''}"


def parse_change(text: str) -> Change:
    """Of ``NAME[:TARGET][=VALUE]``; raises ValueError."""
    match = _TEXT.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no experiment: NAME, NAME:TARGET, NAME=VALUE or NAME:TARGET=VALUE")
    return Change(match["name"], (match["target"] or "").strip(), (match["value"] or "").strip())


class TrialPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks of the process of a trial.

    It ends itself after ``steps`` steps (somewhat more, where these take less than a second), or, where that is None,
    once ``seconds`` of them and ``min_steps`` have passed after ``warm_steps``, then at a ``multiple`` of steps: a run
    that makes several in one call can end there too.
    ``whole``: it runs to its own end. ``limit_s``: no step begins later than that. ``nudge``: unless 0,
    after the first step each weight is changed by a few roundings of its dtype, at random by this seed.
    """

    changes: list[Change] = []
    steps: int | None = None
    min_steps: int = 20
    max_steps: int = 5000
    warm_steps: int = 3
    seconds: float = 4.0
    multiple: int = 16
    limit_s: float = 120.0
    whole: bool = False
    nudge: int = 0


class TrialEnd(msgspec.Struct, frozen=True, kw_only=True):
    """``trial.json``: what the process of a trial says of itself at its end.

    ``applied``: how often each change took effect, by its text; ``refused``: why it did not. ``digest`` of all
    trainable weights after ``steps`` steps, of which ``weights.npy`` holds some; ``losses`` that ``fit`` had reported
    by then, and ``updates`` of all optimizers of Keras, 0 if they are not known. ``first_steps``: the steps after which
    ``first_weights.npy`` was kept, one unless a call makes several. ``nudged``: so many variables were, see
    ``TrialPlan``. ``whole_processor_ns``: processor time since the process began, all threads together.
    """

    stopped: bool = False
    steps: int = 0
    applied: dict[str, int] = {}
    refused: dict[str, str] = {}
    digest: str = ""
    losses: list[float] = []
    first_steps: int = 0
    nudged: int = 0
    updates: int = 0
    whole_processor_ns: int = 0


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """Measurements of a change by trials.

    ``speedup``: time per example (per step or per run where examples are not known) of the baseline over that of the
    changed run, with its 95 % ``interval``; ``first_minute``: examples done in the first minute over the baseline's.
    ``processor``: the same ratio by processor time, which other programs disturb less, and which excludes waiting, with
    its 95 % ``processor_interval``. ``memory_bytes``: the difference of peak memory. ``results``: see ``Results``;
    ``distance`` of the weights at the end, relative to their norm, and ``own_distance`` between two plain runs.
    ``needed_pairs``: how many would show a difference of 5 %. ``outputs``: how the printed output, without times, and
    the written files compare. ``combined``: it was tried together with others, of which this is the text.
    """

    experiment: str
    keeps: Keeps
    verdict: Verdict
    reason: str = ""
    speedup: float | None = None
    interval: tuple[float, float] | None = None
    first_minute: float | None = None
    processor: float | None = None
    processor_interval: tuple[float, float] | None = None
    memory_bytes: float | None = None
    pairs: int = 0
    results: Results = "unknown"
    distance: float | None = None
    own_distance: float | None = None
    loss: float | None = None
    needed_pairs: int | None = None
    outputs: Outputs = "unknown"
    outputs_differ: str = ""  # the first difference
    finding: str = ""  # the code of the finding that named it
    place: str = ""  # and its first place, FILE:LINE


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """The runs without a change. ``unit``: what ``ms`` is the time of; ``spread``: of ``ms``, largest over smallest."""

    runs: int
    unit: Literal["step", "run"] = "step"
    ms: float = 0.0
    batch_size: int = 0
    steps: int = 0
    warm_s: float = 0.0
    memory_bytes: float = 0.0
    spread: float = 1.0


class TrialReport(msgspec.Struct, frozen=True, kw_only=True):
    """All that ``tfperf try`` measured. ``ended``: why it ended where it did; "" when complete."""

    schema: int
    argv: tuple[str, ...]
    way: str
    baseline: Baseline | None
    measured: tuple[Measured, ...]
    seconds: float = 0.0
    ended: str = ""
    notes: tuple[str, ...] = ()


class _Placed(Protocol):
    @property
    def where(self) -> Sequence[Any]: ...


def place_of(finding: _Placed) -> str:
    """Return the first place of a finding, FILE:LINE; "" for none."""
    return f"{finding.where[0].file}:{finding.where[0].line}" if finding.where else ""


#: Version of the JSON of ``tfperf try``, and of the file in a run directory.
TRIALS_SCHEMA = 1
#: Name of the file in the run directory.
PROOF = "proof.json"
