"""Evidence for a rule: everything that a run left behind, read once, in typed and neutral form.

A rule (entry point group ``tfperfkit.rules``) is a pure function ``(Evidence) -> Iterable[Finding]``. It reads no file
and keeps nothing. Whatever was not recorded is None or empty, and the rule stays silent. A rule that reports what no
other rule explains is a ``LastRule``.
"""

from __future__ import annotations

import copy
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from tfperfkit.graph.recorded import RecordedGraphs
from tfperfkit.graph.sessions import SessionRuns
from tfperfkit.ledger.call_tree import Ledger
from tfperfkit.ledger.step_ledger import make_step_ledger
from tfperfkit.model import Finding, History, RunAccount, RunInfo, SourceSpan, StepAccount, WarmUp, Work
from tfperfkit.offers import (
    CompiledFunctions,
    ComputedStep,
    ComputedStretch,
    FunctionCalls,
    LayerWork,
    LineCosts,
    StepPhases,
)
from tfperfkit.records.convert import each
from tfperfkit.records.parts import PartName
from tfperfkit.records.samples import SampleLog, Samples
from tfperfkit.records.spans import Spans
from tfperfkit.records.steps import Marker, Site, StepTable
from tfperfkit.syntax.module import Syntax, parse

#: The version of this contract.
RULES_API = 1
T = TypeVar("T")
#: Types of offers that hold more than a record: they are not copied.
LIVE = (RecordedGraphs, SessionRuns)
#: Types of offers that are about the traced steps: of other work only a trace of that work tells.
_OF_STEPS = (ComputedStep, CompiledFunctions, FunctionCalls, StepPhases, LayerWork, LineCosts)
_MAX_OF_LINE = 500  # characters
_WORD = re.compile(r"\w+")


class Offer(NamedTuple):
    """Offer of a probe: a record of this type, as builtins until somebody asks for it.

    An offer of the types in ``LIVE`` is used as it is.
    """

    probe: str
    kind: type
    value: Any


class Offers:
    """Offers of the probes of a run, in their order."""

    def __init__(self, offers: Iterable[Offer] = ()) -> None:
        self._offers = tuple(offers)
        self._made: dict[int, Any] = {}

    def first(self, kind: type[T]) -> T | None:
        """Return the first record of this type, or None."""
        found = self._find(kind)
        return found[1] if found is not None else None

    def instead(self, kind: type | tuple[type, ...], *others: Offer) -> Offers:
        """Return these offers, with the others instead of those of a kind, or of several."""
        return Offers((*(offer for offer in self._offers if not issubclass(offer.kind, kind)), *others))

    def maker(self, kind: type) -> str:
        """Return the probe that made it; "" when there is none."""
        found: tuple[str, Any] | None = self._find(kind)
        return found[0] if found is not None else ""

    def _find(self, kind: type[T]) -> tuple[str, T] | None:
        for index, offer in enumerate(self._offers):
            if issubclass(offer.kind, kind):
                if index not in self._made:
                    self._made[index] = _converted(offer)
                if self._made[index] is not None:
                    return offer.probe, self._made[index]
        return None


def _converted(offer: Offer) -> Any:
    if isinstance(offer.value, LIVE):
        return offer.value
    try:
        return msgspec.convert(offer.value, offer.kind, strict=False)
    except (msgspec.ValidationError, TypeError):
        return None


class Unit(NamedTuple):
    """The words for what the account is of: a step, an iteration of a loop, or a single call.

    A rule writes them into its texts: ``f"{unit.The} waits for its input"``. A single call has no "each".
    """

    a: str  # "a step"
    the: str  # "the step"
    loop: str  # what repeats it: "the training loop"

    @property
    def is_single(self) -> bool:
        """Return whether it happens once: a call."""
        return self.a.startswith("the ")

    @property
    def each(self) -> str:
        """``each step``; of a single call ``the call``."""
        return self.the if self.is_single else f"each {self._noun}"

    @property
    def every(self) -> str:
        """``every step``; of a single call ``the call``."""
        return self.the if self.is_single else f"every {self._noun}"

    @property
    def per(self) -> str:
        """``per step``; of a single call ``in the call``."""
        return f"in {self.the}" if self.is_single else f"per {self._noun}"

    @property
    def per_a(self) -> str:
        """``a step``, as in "three times a step"; of a single call ``in the call``."""
        return self.per if self.is_single else self.a

    @property
    def A(self) -> str:
        """``A step``, to begin a sentence."""
        return _capitalize(self.a)

    @property
    def The(self) -> str:
        """``The step``, to begin a sentence."""
        return _capitalize(self.the)

    @property
    def Each(self) -> str:
        """``Each step``, to begin a sentence."""
        return _capitalize(self.each)

    @property
    def Every(self) -> str:
        """``Every step``, to begin a sentence."""
        return _capitalize(self.every)

    @property
    def _noun(self) -> str:
        return self.the.removeprefix("the ")


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


class Evidence:
    """See the module. Times are ns of ``clock.now_ns`` unless a name says otherwise."""

    def __init__(
        self,
        *,
        run: RunInfo,
        steps: StepTable,
        account: StepAccount | None,
        warm_up: WarmUp | None,
        samples: Samples,
        log: SampleLog,
        settings: Mapping[str, Any],
        machine_gflops: float | None,
        tracing: Spans,
        collections: Spans,
        data: Mapping[str, Any],
        sources: Mapping[str, tuple[str, ...]],
        records: Callable[[str], Iterable[Any]],
        offers: Offers | None = None,
        run_account: RunAccount | None = None,
        waited_share: float | None = None,
        history: History | None = None,
        run_ledger: Ledger | None = None,
    ) -> None:
        self.run = run
        self.steps = steps
        #: Account of the mean clean step; None when no step was seen.
        self.account = account
        self.warm_up = warm_up
        #: Account of the whole run's time; its ``total_s`` is the base of shares of the run.
        self.run_account = run_account
        #: The same by call site, in seconds; empty if the account is not known.
        self.run_ledger = run_ledger or Ledger()
        self._ledger: Ledger | None = None
        #: Stack samples of the steady steps (of all of the run without such).
        self.samples = samples
        #: All samples with their times.
        self.log = log
        #: ``tfperfkit.instruments.settings``.
        self.settings = settings
        #: Rate of a float32 matmul on this machine, in GFLOP/s; None if it was not measured.
        self.machine_gflops = machine_gflops
        #: Share of the steady time in which the training thread was ready but had no CPU core (0 to 1); None: not
        #: known.
        self.waited_share = waited_share
        #: For a run in watch mode, its step times over all of its time, by periods: of ``steps`` it has the first and
        #: the last ones (``StepTable.gaps``). None without watch mode.
        self.history = history
        #: When functions were being traced, and garbage collected (``offers.GarbageCollections``).
        self.tracing = tracing
        self.collections = collections
        #: Each probe's data as builtins, by probe.
        self.raw = data
        #: The work outside of training steps that this evidence is of: its iterations being the steps; or None.
        self.work: Work | None = None
        self._offers = offers or Offers()
        self._sources = sources
        self._records = records
        self._typed: dict[tuple[str, Any], Any] = {}
        self._syntax: dict[str, Syntax | None] = {}
        self._words: dict[str, frozenset[str]] = {}

    def narrowed(
        self,
        *,
        work: Work,
        steps: StepTable,
        account: StepAccount | None,
        samples: Samples,
        log: SampleLog,
        traced: ComputedStretch | None = None,
    ) -> Evidence:
        """Return the same of one work outside of training steps. ``traced``: a trace that lay in it."""
        made = copy.copy(self)
        made.work, made.steps, made.account, made.samples, made.log = work, steps, account, samples, log
        made.warm_up = made.history = None
        made._ledger = None
        mine: list[Offer] = []
        if traced is not None and traced.wall_ms > 0 and account is not None:
            mine = [Offer(traced.window, type(each), each) for each in traced.scale_to(account.mean_ms)]
        made._offers = self._offers.instead(_OF_STEPS, *mine)
        return made

    def within(
        self, *, account: StepAccount, samples: Samples, offers: Iterable[Offer], without: tuple[type, ...]
    ) -> Evidence:
        """Return the same of what runs elsewhere while the step waits for it, as if the step called it: ``offers``
        instead of those of their types, none that are about the step's own compiled functions, and none of the types
        ``without``."""
        made = copy.copy(self)
        made.account, made.samples, made._ledger, made._typed = account, samples, None, {}
        made._offers = self._offers.instead((*_OF_STEPS, *without))
        for offer in offers:
            made._offers = made._offers.instead(offer.kind, offer)
        return made

    @property
    def ledger(self) -> Ledger:
        """Return the mean step, or the iteration of the work, by call site, in ms. Empty if samples are too few."""
        if self._ledger is None:
            clean = [(step.begin_ns, step.end_ns) for step in self.steps.clean]
            timed: dict[PartName, Spans] = {"gc": self.collections, "tracing": self.tracing}
            self._ledger = make_step_ledger(self.account, self.samples, self.log, clean, timed)
        return self._ledger

    def offer(self, kind: type[T]) -> T | None:
        """Return the offer of this kind (see ``tfperfkit.offers``), whichever probe made it: of several the first.

        A probe's ``data`` is on offer under its own type. None when no probe of the run does.
        """
        return self._offers.first(kind)

    def offered_by(self, kind: type) -> str:
        """Return the probe that ``offer`` takes it from, which is also the name of its window; "" for none."""
        return self._offers.maker(kind)

    def data(self, probe: str, kind: type[T]) -> T | None:
        """Return the record of the probe of this name as ``kind``; None when it was not run or has another form.
        ``offer`` does not depend on a name."""
        key = (probe, kind)
        if key not in self._typed:
            try:
                self._typed[key] = msgspec.convert(self.raw[probe], kind, strict=False) if probe in self.raw else None
            except (msgspec.ValidationError, TypeError):
                self._typed[key] = None
        return self._typed[key]  # type: ignore[no-any-return]

    def records(self, stream: str) -> Iterator[Any]:
        """Return the session's records: ``traces``, ``sites``, ``markers``, ``opens``, ``events``."""
        return iter(self._records(stream))

    def sites(self) -> list[Site]:
        """Return the places from which steps were made, see ``steps.Site``."""
        return list(each(self.records("sites"), Site))

    def markers(self) -> Iterator[Marker]:
        """Return the calls from which steps were made, see ``steps.Marker``."""
        return each(self.records("markers"), Marker)

    @property
    def unit(self) -> Unit:
        """Return the words for the subject of the account: a training step, or a work outside of training steps."""
        if self.work is None:
            return Unit("a step", "the step", "the training loop")
        it = f"the {self.work.kind} at {self.work.name}"
        if self.work.iterations is not None:
            return Unit("an iteration", "the iteration", it)
        return Unit(it, f"the {self.work.kind}", it)

    @property
    def step_ms(self) -> float | None:
        """Return the mean clean step in ms: what every share is a share of."""
        return self.account.mean_ms if self.account is not None else None

    def part(self, *names: PartName) -> float:
        """ms of the mean clean step in these parts (``records.parts``); 0 when unknown."""
        return sum(self.account.parts_ms.get(name, 0.0) for name in names) if self.account is not None else 0.0

    def share(self, *names: PartName) -> float:
        """``part`` as a share of the mean clean step (0 to 1)."""
        return self.part(*names) / self.account.mean_ms if self.account is not None and self.account.mean_ms else 0.0

    @property
    def cpus(self) -> int:
        """Processors that the script might use."""
        value = self.run.machine.get("cpus", 1)
        return value if isinstance(value, int) and value > 0 else 1

    @property
    def accelerated(self) -> bool:
        """Return whether TensorFlow had a GPU or a TPU."""
        devices = self.run.machine.get("devices") or ()
        return any("GPU" in str(name) or "TPU" in str(name) for name in devices)

    def files(self) -> list[str]:
        """Return the user's files whose source was kept."""
        return list(self._sources)

    def is_user(self, file: str) -> bool:
        """Return whether a file is the user's own, as far as its source was kept."""
        return file in self._sources

    def line(self, file: str, line: int) -> str:
        """Return a line of the user's source, stripped; "" if it was not kept. Of one with data in it the begin only:
        rules search it with patterns, some of which take the square of its length."""
        lines = self._sources.get(file, ())
        return lines[line - 1][:_MAX_OF_LINE].strip() if 0 < line <= len(lines) else ""

    def source(self, file: str) -> tuple[str, ...]:
        """Return the lines of a file; empty if it was not kept."""
        return self._sources.get(file, ())

    def syntax(self, file: str) -> Syntax | None:
        """Return the syntax of a file, which tells what its names stand for; None if it was not kept or can't be
        parsed."""
        if file not in self._syntax:
            self._syntax[file] = parse(self.source(file)) if file in self._sources else None
        return self._syntax[file]

    def calls(self, *names: str) -> list[SourceSpan]:
        """Return the lines of the user's that call these functions, named as ``syntax.names`` does, whatever they were
        imported as: ``calls("numpy.random.choice")``."""
        return [
            SourceSpan(file, call.line)
            for file in self._sources
            if self.mentions(file, *names) and (syntax := self.syntax(file)) is not None
            for call in syntax.find_api_calls(*names)
        ]

    def mentions(self, file: str, *names: str) -> bool:
        """Tell whether a file contains the last word of one of these names: without the word nothing in the file is
        called so.
        """
        if file not in self._words:
            self._words[file] = frozenset(_WORD.findall("\n".join(self.source(file))))
        return any(name.rpartition(".")[2].removesuffix("()") in self._words[file] for name in names)

    def find(self, pattern: str) -> list[SourceSpan]:
        """Lines of the user's files that match a regular expression, comments left out."""
        wanted = re.compile(pattern)
        return [
            SourceSpan(file, number)
            for file, lines in self._sources.items()
            for number, text in enumerate(lines, 1)
            if wanted.search(text.partition("#")[0])
        ]


class LastRule:
    """A rule that is asked after all others, with what they found. Use it as a decorator.

    The function gets the evidence and all findings of the ordinary rules, of the training steps and of all other work
    (``Finding.work`` says which). Its findings are reported as they are: they are not merged with other findings.
    """

    __name__: str

    def __init__(self, find: Callable[[Evidence, Sequence[Finding]], Iterable[Finding]]) -> None:
        self._find = find
        functools.update_wrapper(self, find)

    def __call__(self, evidence: Evidence, findings: Sequence[Finding]) -> Iterable[Finding]:
        return self._find(evidence, findings)


Rule = Callable[[Evidence], Iterable[Finding]]
