"""The input that the step waits for: its pipeline, the slowest section, and the time left after a change there."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence

import msgspec
from tfperfkit_probes.input.bound import PARALLEL
from tfperfkit_probes.input.model import InputData, Pipeline, Stage

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.clock import MS_PER_S
from tfperfkit.model import Measurement, SourceSpan
from tfperfkit.offers import MappedFunctions, RanOperations, StepBreakdown
from tfperfkit.pricing import Left, costs
from tfperfkit.pricing.overlap import Overlap
from tfperfkit.rule import Evidence, Unit
from tfperfkit_rules.measures import evaluated, shared
from tfperfkit_rules.measures.epochs import epochs
from tfperfkit_rules.measures.evaluated import evaluated_wait
from tfperfkit_rules.measures.input_bounds import MIN_WAIT
from tfperfkit_rules.measures.source_text import find_loop

KEEPS_UP = Threshold(
    0.5,
    "share",
    "maximum share of the step in the slowest section of a pipeline that keeps up, so that the wait is jitter",
    Chosen("the pipeline could be twice as fast as the step"),
)
LOST_SHARE = Threshold(
    0.3,
    "share",
    "minimum share of the step in a wait that is more than jitter",
    Chosen("the same share makes a step an outlier"),
)
FILLING = Threshold(
    0.5,
    "share",
    "minimum share of the wait at the beginning of epochs, for buffers that fill again",
    Chosen("the larger half"),
)
MIN_MS = costs.FETCH_MS.value


class Feed(msgspec.Struct, frozen=True, kw_only=True):
    """The step and the training pipeline. Times are ms of the mean clean step.

    ``wait_ms``: the step waits, first batches of epochs included (``epoch_ms``: the part in which buffers fill again;
    ``unseen_ms``: the part that a work's account has under other names, because a compiled function fetches its
    batches; ``guessed_ms``: the part that the steps' account estimates by how much longer the first steps of epochs
    take). ``overlaps``: batches are prepared while the step computes (a prefetch, or calls in parallel).
    ``stalled_ms``: in compiled functions, beyond the own time of their operations: calling them, and waiting for the
    interpreter's lock or a processor that the pipeline holds. ``batches``: that the pipeline gives in the step.
    ``ordinary_ms``: the step without outliers. ``mapped_ms``: what the functions of the pipeline's maps took of a
    trace, by file and line.
    """

    pipeline: Pipeline
    step_ms: float
    wait_ms: float
    epoch_ms: float
    overlaps: bool
    cpus: int
    stalled_ms: float = 0.0
    batches: float = 1.0
    unseen_ms: float = 0.0
    guessed_ms: float = 0.0
    ordinary_ms: float = math.inf
    mapped_ms: dict[tuple[str, int], float] = {}

    @property
    def share(self) -> float:
        return min(self.wait_ms / self.step_ms, 1.0)

    @property
    def other_ms(self) -> float:
        """The step without the wait."""
        return max(self.step_ms - self.wait_ms, shared.MIN_REST_MS.value)

    @property
    def min_other_ms(self) -> float:
        """The step without the wait and without what its compiled functions stood still: see ``stalled_ms``."""
        return max(self.other_ms - self.stalled_ms, shared.LEFT_MIN.value * self.other_ms)

    @property
    def bound(self) -> Stage | None:
        """The stage that sets the pace."""
        if self.lost:
            return max(
                (item for item in self.pipeline.stages if not _waits(item)),
                key=lambda item: item.trace_self_ms_per_step or 0.0,
                default=None,
            )
        index = self.pipeline.bound_by
        if index is None:
            return self.left_over or self.described
        return self.pipeline.stages[index] if index < len(self.pipeline.stages) else None

    @property
    def left_over(self) -> Stage | None:
        """A trace does not time what runs in parallel, as does a map that TensorFlow has joined with its batch. It is
        the only such stage that computes where the others take far less than is waited for; of several maps the one
        whose function's operations take nearly all of the time that those of all take."""
        stages = self.pipeline.stages
        unknown = [
            item
            for item in stages
            if item.self_ms_per_output is None
            and not item.fused
            and (item.kind.startswith(PARALLEL) or (item.elements is not None and not item.kind.startswith("Prefetch")))
        ]
        known = sum(item.self_ms_per_output or 0.0 for item in stages)
        unknown = unknown if len(unknown) == 1 else busiest(unknown, self.mapped_ms)
        if self.pipeline.measured != "trace" or not unknown or self.filling:
            return None
        return unknown[0] if known * self.batches < KEEPS_UP.value * self.wait_ms else None

    def own_ms_max(self, stage: Stage) -> float:
        """Own time of a stage for a batch, all threads together; at most, where that was not measured."""
        if stage.self_ms_per_output is not None:
            return stage.self_ms_per_output
        return self.section_ms / self.batches * self.count_threads(stage)

    def count_threads(self, stage: Stage) -> int:
        """Return how many threads of a stage may run at the same time."""
        calls = stage.parameters.get("num_parallel_calls")
        threads = min(calls, self.cpus) if isinstance(calls, int) and calls > 0 else self.cpus
        return threads if stage.kind.startswith(PARALLEL) else 1

    @property
    def described(self) -> Stage | None:
        """Return, if nothing was measured, the only stage that computes, by its function's operations. None where
        several do, or one that runs Python or reads files, whose time no number of operations tells."""
        if self.pipeline.measured:
            return None
        working = [item for item in self.pipeline.stages if item.mapped is not None or item.is_python]
        if any(item.is_python for item in working):
            return working[0] if len(working) == 1 else None
        every = sum(item.ops for item in working)
        largest = max(working, key=lambda item: item.ops, default=None)
        return largest if largest is not None and largest.ops >= shared.NEARLY_ALWAYS.value * every > 0 else None

    @property
    def lost(self) -> bool:
        """The step waits far longer than the model's times explain: TensorFlow forgets them where a stage is exhausted,
        as below ``repeat``. Then the trace's times are taken, if there are some."""
        slowest = self._slowest_ms
        if slowest is None or self.filling or self.share < LOST_SHARE.value:
            return False
        if not any(item.trace_self_ms_per_step for item in self.pipeline.stages):
            return False
        index = self.pipeline.bound_by
        if index is not None and self.pipeline.stages[index].kind == "Prefetch" and not self.forgotten:
            return False
        return slowest * self.batches < KEEPS_UP.value * self.section_ms

    @property
    def _slowest_ms(self) -> float | None:
        """Return the ms of the slowest section for a batch. Its calls in parallel share it only as far as processors
        are free: where the step waits for long all the same, they were not, and its stage takes what all of them take
        together."""
        slowest, index = self.pipeline.bound_ms_per_output, self.pipeline.bound_by
        if slowest is None or index is None or self.share < LOST_SHARE.value:
            return slowest
        return max(slowest, self.pipeline.stages[index].self_ms_per_output or 0.0)

    @property
    def forgotten(self) -> bool:
        """Below a ``repeat`` hardly anything was counted of what went on from there: each epoch's stages are new, and
        the readings fell on its end, as they do where one call is one epoch."""
        stages = [item for item in self.pipeline.stages if item.elements is not None and item.nested is None]
        pairs = zip(stages, stages[1:], strict=False)
        return any(
            above.kind == "Repeat" and (below.elements or 0.0) < shared.MOSTLY.value * (above.elements or 0.0)
            for above, below in pairs
        )

    @property
    def filling(self) -> bool:
        """The wait is at the beginnings of epochs, for buffers that fill again."""
        return self.epoch_ms >= FILLING.value * self.wait_ms

    @property
    def keeps_up(self) -> bool:
        """By its own measured times the pipeline is the faster side: no change of it helps."""
        slowest = self._slowest_ms
        if slowest is None or self.filling or not self.overlaps or self.lost:
            return False
        if self.bound is not None and self.bound.kind == "Prefetch":
            return True  # it only hands over: what it takes is its thread's wait for a processor
        return slowest * self.batches < KEEPS_UP.value * min(self.step_ms, self.ordinary_ms)

    @property
    def section_ms(self) -> float:
        """Return the slowest section's ms for a step: the whole step if the section works at the same time."""
        return self.step_ms if self.overlaps else self.wait_ms

    def part(self, stage: Stage) -> float:
        """Return the share (0 to 1) that a stage has of the slowest section; 1 when nothing tells."""
        if self.lost:
            traced = [item.trace_self_ms_per_step or 0.0 for item in self.pipeline.stages if not _waits(item)]
            return (stage.trace_self_ms_per_step or 0.0) / sum(traced) if sum(traced) else 1.0
        whole = self.pipeline.bound_ms_per_output
        if not whole or stage.self_ms_per_output is None:
            return 1.0
        return min(stage.self_ms_per_output / max(stage.parallelism or 1.0, 1.0) / whole, 1.0)

    @property
    def freed_other_ms(self) -> float:
        """The step without the wait on processors that the pipeline's work has left: at best it gets faster by as much
        as that work kept them busy. (A parallel map that was relieved by batching first: 12.5 ms became 7.1 ms.)"""
        worked = sum(stage.self_ms_per_output or 0.0 for stage in self.pipeline.stages)
        busy = min(worked * self.batches / (self.cpus * self.step_ms), 1.0)
        return self.other_ms / (1 + busy) if self.overlaps else self.other_ms

    def relieved(self, left_min: float, left_max: float, likely: float | None = None) -> Left:
        """``after``, for a change that takes work away instead of moving it."""
        best = self.rerun(max(self.freed_other_ms, left_min), self.step_ms).low
        return self.after(left_min, left_max, likely)._replace(low=best)

    def after(self, left_min: float, left_max: float, likely: float | None = None) -> Left:
        """Return what is left of the step if the slowest section takes ``left_min`` to ``left_max`` ms instead, and
        most likely ``likely`` ms."""
        return self._overlap.run_next_to(left_min, left_max, left_max, likely)

    def move_ahead(self, section_min: float, section_max: float, added: float) -> Left:
        """Return what is left if the wait at the beginning of epochs goes: then the section takes ``section_min`` to
        ``section_max`` ms for a step, ``added`` ms of them in addition to what it does next to the steps today."""
        return self._overlap.run_next_to(section_min, section_max, added)

    def rerun(self, best_ms: float, worst_ms: float, likely_ms: float | None = None) -> Left:
        """Return what is left of a step that takes ``best_ms`` to ``worst_ms``; nothing gets slower."""
        return self._overlap.rerun(best_ms, worst_ms, likely_ms)

    @property
    def _overlap(self) -> Overlap:
        return Overlap(self.step_ms, self.other_ms, self.cpus)


def _waits(stage: Stage) -> bool:
    """Whether a stage's time in a trace is its wait for threads of its own: of a prefetch, of calls in parallel, also
    where TensorFlow runs in parallel what was written as a plain map."""
    by_itself = stage.autotuned and (stage.parallelism or 0) > 1
    return by_itself or stage.kind.startswith(("Prefetch", *PARALLEL))


def feed(evidence: Evidence, *, lower: float = MIN_WAIT.value, believed: bool = True) -> Feed | None:
    """Return the pipeline for which the steps wait; None when they do not, or when none is known. ``believed``: also
    None if the pipeline's own times say that it keeps up."""
    data = evidence.offer(InputData)
    step_ms = evidence.step_ms
    if data is None or not step_ms:
        return None
    pipeline = next((item for item in feeding(evidence, data) if item.stages), None)
    if pipeline is None:
        return None
    found, inside = epochs(evidence), evaluated_wait(evidence, pipeline)
    waited = evidence.part("input") + (found.unseen_ms if found else 0.0) + inside.ms
    waited = min(waited, step_ms)
    if waited < max(lower * step_ms, MIN_MS):
        return None
    made = Feed(
        pipeline=pipeline,
        step_ms=step_ms,
        wait_ms=waited,
        epoch_ms=found.late_ms if found else 0.0,
        overlaps=overlaps(pipeline),
        cpus=evidence.cpus,
        stalled_ms=_stalled(evidence),
        unseen_ms=found.unseen_ms if found else 0.0,
        guessed_ms=evidence.account.input_in_graph_ms if evidence.account is not None else 0.0,
        ordinary_ms=(evidence.account.ordinary_ms if evidence.account is not None else 0.0) or math.inf,
        mapped_ms=mapped_ms(evidence),
        batches=inside.batches or pipeline.outputs_per_step or _fetched(evidence, pipeline) or 1.0,
    )
    return None if believed and made.keeps_up and not inside.traced else made


def feeding(evidence: Evidence, data: InputData) -> list[Pipeline]:
    """Return the pipelines that the steps take their batches from; of a work those whose iterators were made in its
    loop, at the line of its call, or where it evaluates or predicts. If the iterators are unknown, the only pipeline
    outside of compiled functions."""
    if evidence.work is None:
        return [item for item in data.pipelines if item.in_training]
    where = evidence.work.where
    loop = find_loop(evidence, where.file, where.line) if evidence.work.kind == "loop" else None
    last = loop.last if loop is not None else where.line
    found = [item for item in data.pipelines if item.file == where.file and where.line <= item.line <= last]
    if not found:
        seen = evaluated.lines(evidence)
        found = [item for item in data.pipelines if item.way in evaluated.WAYS and (item.file, item.line) in seen]
    outside = [item for item in data.pipelines if not item.in_graph]
    return found or (outside if len(outside) == 1 and not data.steps else _inside(evidence, data))


def _inside(evidence: Evidence, data: InputData) -> list[Pipeline]:
    """Return the pipeline over which a compiled function of a work iterates: the one that a trace saw there, else the
    only one."""
    inside = [item for item in data.pipelines if item.in_graph and not (data.steps and item.in_training)]
    traced = [item for item in inside if item.fetches_per_s]
    found = traced or inside
    return found if len(found) == 1 and evidence.part("graph") else []


def _fetched(evidence: Evidence, pipeline: Pipeline) -> float:
    """Batches in all of a work, at the pace at which a trace saw them fetched."""
    if evidence.work is None or evidence.work.iterations:
        return 0.0
    return (pipeline.fetches_per_s or 0.0) * (evidence.step_ms or 0.0) / MS_PER_S


def _stalled(evidence: Evidence) -> float:
    traced, breakdown = evidence.offer(RanOperations), evidence.offer(StepBreakdown)
    graph = breakdown.parts_ms.get("graph", 0.0) if breakdown is not None else 0.0
    if traced is None or not traced.steps or not graph:
        return 0.0
    worked = sum(op.self_ms for op in traced.rows if op.where in ("graph", "xla")) + traced.rest_ms
    return evidence.part("graph") * max(1 - worked / traced.steps / graph, 0.0)


def overlaps(pipeline: Pipeline) -> bool:
    """Whether a stage with threads of its own stands before the stage that sets the pace, or is it."""
    last = pipeline.bound_by if pipeline.bound_by is not None else len(pipeline.stages) - 1
    return any(stage.kind.startswith((*PARALLEL, "Prefetch")) for stage in pipeline.stages[: last + 1])


def place(stage: Stage | None, pipeline: Pipeline) -> SourceSpan:
    """Return where a stage stands; the pipeline's line for one that TensorFlow added."""
    if stage is not None and stage.file and stage.line:
        return SourceSpan(stage.file, stage.line, stage.function)
    return SourceSpan(pipeline.file, pipeline.line, pipeline.function)


def places(evidence: Evidence, *spans: SourceSpan | None) -> tuple[SourceSpan, ...]:
    """Return the places that are the user's own, each once."""
    known = dict.fromkeys((span.file, span.line) for span in spans if span is not None)
    by_line = {(span.file, span.line): span for span in spans if span is not None}
    own = tuple(by_line[key] for key in known if evidence.is_user(key[0]) or not evidence.files())
    return own or tuple(by_line.values())


def waiting(item: Feed, unit: Unit) -> list[Measurement]:
    """Return the measured wait, for the evidence of a finding."""
    rows = [
        Measurement(f"share of {unit.the} waiting for input", item.share, "share", "breakdown"),
        Measurement(f"time waiting for input {unit.per}", item.wait_ms, "ms", "breakdown"),
    ]
    if item.epoch_ms > 0:
        rows.append(
            Measurement(f"time waiting at the beginning of epochs {unit.per}", item.epoch_ms, "ms", "breakdown")
        )
    if item.unseen_ms >= shared.MOSTLY.value * item.wait_ms:
        rows.append(
            Measurement("time waiting inside compiled functions (counted as graph)", item.unseen_ms, "ms", "breakdown")
        )
    if item.guessed_ms >= shared.MOSTLY.value * item.wait_ms:
        name = "time waiting inside compiled functions, from their longer first runs"
        rows.append(Measurement(name, item.guessed_ms, "ms", "breakdown"))
    return rows


def own_time(stage: Stage) -> list[Measurement]:
    """Return a stage's own time, if it was measured."""
    if stage.self_ms_per_output is None:
        return []
    name = (
        "time of the distributed dataset per batch" if is_distributed(stage) else f"self time of {stage.kind} per batch"
    )
    return [Measurement(name, stage.self_ms_per_output, "ms", "run")]


def is_distributed(stage: Stage) -> bool:
    """Whether the stage takes batches out of a dataset that a strategy distributes, whose own stages run elsewhere:
    ``tf.distribute`` puts such a generator before each device."""
    return stage.kind == "Generator" and stage.added


#: Methods of a dataset by the kind of their stage, where the name is another.
_METHODS = {
    "FlatMap": "flat_map",
    "Generator": "from_generator",
    "PaddedBatch": "padded_batch",
    "Tensor": "from_tensors",
    "TensorSlice": "from_tensor_slices",
}


def name_stage(stage: Stage) -> str:
    """Return how to call a stage in a sentence: "map(load)"."""
    name = stage.kind.replace("Parallel", "")
    word = _METHODS.get(name, name.lower())
    return f"{word}({stage.mapped.function})" if stage.mapped is not None and name != "Generator" else word


def name_at(evidence: Evidence, where: SourceSpan) -> str:
    """ "file.py:12"."""
    return f"{os.path.basename(where.file)}:{where.line}"


#: The ms of the trace by file and line of a function.
Taken = Mapping[tuple[str, int], float]


def mapped_ms(evidence: Evidence) -> dict[tuple[str, int], float]:
    """Return the time of the functions of the pipelines' maps in the trace, on all threads; empty without a trace."""
    traced = evidence.offer(MappedFunctions)
    return {(each.file, each.line): each.ms for each in traced.functions} if traced is not None else {}


def busiest(maps: Sequence[Stage], taken: Taken) -> list[Stage]:
    """Choose the map that sets the pace: its function took nearly all of the time of all. None if one was not seen.

    A trace times no parallel map as a stage, only what its function does.
    """
    places = [item.mapped for item in maps if item.mapped is not None]
    times = [taken.get((place.file, place.line), 0.0) for place in places]
    if not maps or len(times) < len(maps) or not all(times):
        return []
    largest = max(times)
    return [maps[times.index(largest)]] if largest >= shared.NEARLY_ALWAYS.value * sum(times) else []
