"""INP005: Python prepares the batches.

Reported if the step waits for a stage that calls Python, if that Python holds the interpreter lock which the training
thread needs, or if it takes a CPU core that matmuls and convolutions could use. Samples of TensorFlow's threads name
the line. The gain assumes that none to half of this Python remains.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.input.model import InputData, KerasInput, Pipeline, Stage

from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers import GarbageCollections
from tfperfkit.pricing import Left, Part, price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.records.spans import Spans
from tfperfkit.remedy import ChangeStage
from tfperfkit.rule import Evidence, Unit
from tfperfkit.syntax.expression import Call
from tfperfkit_rules.input.also_validated import also_validated
from tfperfkit_rules.input.batch_lines import CALLED, READING, BatchLine, batch_line, called_line, find_epoch_work
from tfperfkit_rules.input.core_taken import Core, core_taken
from tfperfkit_rules.input.interpreter_lock import Lock, lock, work
from tfperfkit_rules.input.waiting_in_turn import InTurn, wait_in_turn
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.feed import Feed, feed, feeding, overlaps, own_time, place, places, waiting
from tfperfkit_rules.measures.input_bounds import MIN_PART
from tfperfkit_rules.measures.late_skips import TWO_AN_EPOCH
from tfperfkit_rules.measures.list_tensors import advise_array
from tfperfkit_rules.measures.source_calls import list_files

#: Functions through which a pipeline runs Python.
_PYTHON_FUNCTIONS = ("tensorflow.py_function", "tensorflow.numpy_function", "tensorflow.py_func")
PYTHON_LEFT = Threshold(
    0.5,
    "share",
    "maximum share of batch-preparing Python that remains if it is written for whole batches",
    Chosen("half: no measurement bounds what a script's Python does"),
)
PYTHON_LEFT_LIKELY = Threshold(
    0.05,
    "share",
    "median share of batch-preparing Python that remains if it is written for whole batches",
    Measured(
        "in four fixed scripts the steps wait 0.03 to 0.6 ms for batches for which they waited 14 to 66 ms",
        TWO_BUSY_CORES,
        4,
    ),
)

#: Rules that take the training thread's waiting for the lock for the cost of its calls.
_SAME_WAITING = ("BAT001", "STP002")
TITLES = {"INP005": "Python prepares the batches (generator, PyDataset, py_function)"}
_IN_THREADS = (
    "Only one thread runs Python at a time: num_parallel_calls does not speed this Python up, and the training thread "
    "waits for it."
)
_IN_PROCESSES = (
    "The worker processes compete with the training thread and each other for CPU cores, and a single process makes "
    "each batch."
)


_TOGETHER = (
    " NumPy releases the interpreter lock, which draws samples to some lines: the lines named are measured together."
)
_GARBAGE = " Its lists also cause garbage collections, which stop the Python of all threads; NumPy arrays cause none."


@also_validated
def python_input(evidence: Evidence) -> Iterator[Finding]:
    """INP005: a generator, py_function or PyDataset sets the pace."""
    item = feed(evidence)
    if item is None or item.bound is None:
        return
    stage = python_stage(item.pipeline, item.bound)
    if stage is None or item.part(stage) < MIN_PART.value:
        return
    source = keras_input(evidence, item.pipeline)
    worked = item.section_ms * item.part(stage)
    rest = item.section_ms - worked
    worst_ms = _find_worst_ms(item, rest + PYTHON_LEFT.value * worked)
    # The generator's Python also held the lock that the training thread needs.
    disturbs = item.overlaps and not (source is not None and source.use_multiprocessing)
    held = lock(evidence, item.pipeline, stage) if disturbs else Lock()
    worst_ms = min(worst_ms, item.step_ms - held.lower_ms)
    line = _line(evidence, stage, source)
    if line is not None and (turn := wait_in_turn(evidence, item, stage, source, line)) is not None:
        yield _wait_together(evidence, item, stage, source, line, turn)
        return
    computes = disturbs and not held.upper_ms and _computes(line)
    core = core_taken(evidence, item.pipeline, stage) if computes else Core()
    other = min(held.left(item.min_other_ms), (1 - core.taken) * item.min_other_ms)
    best_ms = max(other, rest)
    again = _find_epoch_work(evidence, item.pipeline, source)
    garbage = collected_ms(evidence) if evidence.work is None else 0.0
    left = item.rerun(
        _without_garbage(item, best_ms, garbage),
        _without_garbage(item, worst_ms, garbage * (1 - PYTHON_LEFT.value)),
        _without_garbage(item, max(other, rest + PYTHON_LEFT_LIKELY.value * worked), garbage),
    )
    yield Finding(
        code="INP005",
        remedy=ChangeStage("less_python"),
        title=f"Python prepares the batches ({python_words(evidence, stage, source)}{_doing(line)})"
        if again is None
        else f"{again.function.text} repeats the same work in every epoch ({python_words(evidence, stage, source)})",
        share_of_step=min(item.share + garbage / item.step_ms, 1.0),
        gain=price(ChangeStage("less_python"), left=left),
        where=_where(line, _places(evidence, item.pipeline, stage, source))
        if again is None or source is None
        else places(evidence, *_find_again(again, source), *_places(evidence, item.pipeline, stage, source)),
        evidence=(
            *waiting(item, evidence.unit),
            *_garbage(garbage, evidence.unit),
            *held.measured,
            *core.measured,
            *own_time(stage),
            *_sampled(line),
            *_setup(source),
        ),
        advice=_told(line, stage, source) if again is None else _keep_results(again, stage, source),
        detail=(_IN_PROCESSES if source is not None and source.use_multiprocessing else _IN_THREADS)
        + (_GARBAGE if garbage else "")
        + (_TOGETHER if line is not None and line.block is not None else ""),
        parts=("input", "python", "other", "tracing", "gc") if garbage else (),
        absorbs=(
            *("INP001", "INP003", "INP004", "OPS004"),
            *(_SAME_WAITING if held.upper_ms else ()),
            *(("STP017",) if garbage else ()),
        ),
    )


def _wait_together(
    evidence: Evidence, item: Feed, stage: Stage, source: KerasInput | None, line: BatchLine, turn: InTurn
) -> Finding:
    """INP005: the Python mostly waits, so calls next to each other take as long as one."""
    return Finding(
        code="INP005",
        remedy=ChangeStage("less_python"),
        title=(
            f"Python prepares the batches ({python_words(evidence, stage, source)}) and waits for "
            f"{'one' if turn.at_once < 2 else 'few'} at a time, {turn.words}"
        ),
        share_of_step=item.share,
        gain=price(ChangeStage("less_python"), left=turn.left),
        where=_where(line, _places(evidence, item.pipeline, stage, source)),
        evidence=(
            *waiting(item, evidence.unit),
            Measurement("share of batch preparation that waits", line.waited, "share", "run"),
            Measurement("calls that wait at the same time", turn.at_once, "count", "run"),
            *own_time(stage),
            *_sampled(line),
            *_setup(source),
        ),
        advice=turn.advice,
        detail=turn.detail,
        absorbs=("INP001", "INP003", "INP004", "OPS004"),
    )


def _find_epoch_work(evidence: Evidence, pipeline: Pipeline, source: KerasInput | None) -> Call | None:
    """Find what each epoch of a PyDataset computes again; None if there may be one epoch only."""
    if source is None or source.kind != "PyDataset" or pipeline.iterators <= TWO_AN_EPOCH.value:
        return None
    return find_epoch_work(evidence, source.place)


def _find_again(again: Call, source: KerasInput) -> tuple[SourceSpan, ...]:
    return (SourceSpan(source.place.file, again.line, source.place.function),) if source.place is not None else ()


def _keep_results(again: Call, stage: Stage, source: KerasInput | None) -> str:
    return (
        f"Compute {again.text} once for each element, before training, and keep the results, such as in an array that "
        "__init__ makes. Let __getitem__ take rows of that array: nothing that the call reads changes between epochs. "
        f"Or, if the results don't fit into memory: {_advice(stage, source)[:1].lower()}{_advice(stage, source)[1:]}"
    )


def _find_worst_ms(item: Feed, left_ms: float) -> float:
    """Return what the step takes at worst if the section takes ``left_ms`` of today's time. If it works next to the
    step, it takes its core from the step today: with less to do, it can't hold the step up more."""
    if not item.overlaps:
        return item.step_ms * item.after(left_ms, left_ms).high
    return min(item.step_ms, max(item.other_ms, left_ms))


def _without_garbage(item: Feed, ms: float, garbage_ms: float) -> float:
    """Return what a step of ``ms`` takes without collections."""
    return max(ms - garbage_ms, shared.LEFT_MIN.value * item.other_ms) if garbage_ms else ms


def _garbage(took_ms: float, unit: Unit) -> tuple[Measurement, ...]:
    return (Measurement(f"garbage collection on its threads {unit.per}", took_ms, "ms", "baseline"),) if took_ms else ()


def python_beside(evidence: Evidence) -> Iterator[Finding]:
    """INP005: the pipeline keeps up, but its Python slows the training thread's."""
    unit = evidence.unit
    data, step_ms = evidence.offer(InputData), evidence.step_ms
    if data is None or not step_ms or feed(evidence) is not None:
        return  # it waits for batches: the rules about that know more
    pipeline = next((item for item in feeding(evidence, data) if item.stages), None)
    if pipeline is None or not overlaps(pipeline):
        return
    stage = max((row for row in pipeline.stages if row.is_python), key=lambda row: work(pipeline, row), default=None)
    source = keras_input(evidence, pipeline)
    if stage is None or (source is not None and source.use_multiprocessing):
        return  # it has an interpreter of its own
    held = lock(evidence, pipeline, stage)
    if not held.upper_ms:
        yield from _on_a_core(evidence, pipeline, stage, source)
        return
    left = Left.of_step(held.left(step_ms), step_ms - held.lower_ms, step_ms)
    yield Finding(
        code="INP005",
        remedy=ChangeStage("less_python"),
        title=f"Python prepares the batches ({python_words(evidence, stage, source)}) "
        f"and slows {unit.the}'s own Python",
        share_of_step=0.0,  # what it waits is not measured
        gain=price(ChangeStage("less_python"), left=left),
        where=_places(evidence, pipeline, stage, source),
        evidence=(*held.measured, *own_time(stage), *_setup(source)),
        advice=_advice(stage, source),
        detail=(
            f"Only one thread runs Python at a time. {unit.The} hardly waits for batches, but each of its calls waits "
            "until the pipeline's Python releases the interpreter lock."
        ),
        absorbs=("INP001", "INP003", "INP004", "OPS004", *_SAME_WAITING),
    )


def _on_a_core(evidence: Evidence, pipeline: Pipeline, stage: Stage, source: KerasInput | None) -> Iterator[Finding]:
    """INP005: the pipeline keeps up, but its Python takes a CPU core that the compiled step could use."""
    unit, core, line = evidence.unit, core_taken(evidence, pipeline, stage), _line(evidence, stage, source)
    if not core.taken or not _computes(line):
        return
    what = python_words(evidence, stage, source)
    yield Finding(
        code="INP005",
        remedy=ChangeStage("less_python"),
        title=f"Python prepares the batches ({what}) on a CPU core that {unit.the} lacks",
        share_of_step=core.taken,
        gain=price(ChangeStage("less_python"), Part(*core.saved(PYTHON_LEFT.value))),
        where=_where(line, _places(evidence, pipeline, stage, source)),
        evidence=(*core.measured, *own_time(stage), *_sampled(line), *_setup(source)),
        advice=_advice(stage, source),
        detail=(
            f"{unit.The} hardly waits for batches, but its matmuls and convolutions compute on all {evidence.cpus} "
            "cores, and this Python takes one of them."
        ),
        parts=("graph",),
    )


def _computes(line: BatchLine | None) -> bool:
    """Whether samples show that the Python which makes the batches computes: it neither waits nor reads files."""
    return line is not None and bool(line.samples) and not line.reads and line.waits is None


def python_stage(pipeline: Pipeline, bound: Stage) -> Stage | None:
    """Return the bounding stage itself, or the generator that runs inside it."""
    if bound.is_python:
        return bound
    index = pipeline.stages.index(bound)
    return next((stage for stage in pipeline.stages if stage.nested == index and stage.is_python), None)


def keras_input(evidence: Evidence, pipeline: Pipeline) -> KerasInput | None:
    """The PyDataset or generator given to ``fit`` that Keras makes this pipeline of."""
    data = evidence.offer(InputData)
    if data is None:
        return None
    index = data.pipelines.index(pipeline)
    kinds = ("PyDataset", "generator")
    return next((row for row in data.keras if row.pipeline == index and row.kind in kinds), None)


def python_words(evidence: Evidence, stage: Stage, source: KerasInput | None) -> str:
    """Return what runs the user's Python, in a sentence; the function by name if the source calls one of them only."""
    if source is not None:
        return f"PyDataset {source.cls}".strip() if source.kind == "PyDataset" else "a generator given to fit"
    if stage.kind == "Generator":
        return "a generator"
    called = [each for each in _PYTHON_FUNCTIONS if evidence.calls(each)]
    return called[0].replace("tensorflow.", "tf.") if len(called) == 1 else "a py_function or numpy_function"


def _places(evidence: Evidence, pipeline: Pipeline, stage: Stage, source: KerasInput | None) -> tuple[SourceSpan, ...]:
    call = place(stage, pipeline)
    if source is None and stage.by == "keras":  # what Keras was given was not seen: the method, if there is only one
        methods = [
            SourceSpan(file, item.line)
            for file, syntax in list_files(evidence)
            for item in syntax.functions
            if item.owner and item.name == "__getitem__"
        ]
        return places(evidence, methods[0] if len(methods) == 1 else None, call)
    if source is not None:
        return places(evidence, source.place, SourceSpan(source.file, source.line, source.function))
    if stage.kind != "Generator" and stage.mapped is not None:
        return places(evidence, _python_call(evidence, stage.mapped), stage.mapped, call)
    return places(evidence, call, stage.mapped)


def _python_call(evidence: Evidence, function: SourceSpan) -> SourceSpan | None:
    """Return the line of the mapped function that calls Python, the first after its ``def``."""
    lines = evidence.calls(*_PYTHON_FUNCTIONS)
    after = [span.line for span in lines if span.file == function.file and span.line >= function.line]
    return SourceSpan(function.file, min(after), function.function) if after else None


def _setup(source: KerasInput | None) -> list[Measurement]:
    if source is None or source.workers is None:
        return []
    return [Measurement("workers of the PyDataset", float(source.workers), "count", "run")]


def _line(evidence: Evidence, stage: Stage, source: KerasInput | None) -> BatchLine | None:
    if source is not None:
        return batch_line(evidence, source.place, sampled=not source.use_multiprocessing)
    if stage.kind == "Generator":
        return batch_line(evidence, stage.mapped, sampled=True)
    data = evidence.offer(InputData)
    every = [row for item in (data.pipelines if data is not None else ()) for row in item.stages if row.is_python]
    return called_line(evidence) if len({row.mapped for row in every}) == 1 else None


def _doing(line: BatchLine | None) -> str:
    if line is not None and line.lists:
        return f", {line.lists.replace('tensorflow.', 'tf.')} of a list"
    if line is not None and line.reads and line.samples:
        return f", {READING.words}"
    if line is not None and line.block is not None and line.block[0] < line.block[1]:
        return f", lines {line.block[0]}-{line.block[1]} in {line.function.rpartition('.')[2]}"
    return ""


def _where(line: BatchLine | None, known: tuple[SourceSpan, ...]) -> tuple[SourceSpan, ...]:
    """Return the line that was sampled comes first; one that only the source tells, second."""
    if line is None:
        return known
    at, others = SourceSpan(*line.place, line.function), tuple(each for each in known if not _is_at(line, each))
    return (at, *others) if line.samples else (*others[:1], at, *others[1:])


def _is_at(line: BatchLine, at: SourceSpan) -> bool:
    return (at.file, at.line) == line.place


def _sampled(line: BatchLine | None) -> tuple[Measurement, ...]:
    if line is None or not line.samples:
        return ()
    return (
        Measurement(
            f"share of batch preparation {'in this function' if line.block else 'at this line'}",
            line.part,
            "share",
            "run",
        ),
        Measurement("samples of batch preparation", float(line.samples), "count", "run"),
    )


def _told(line: BatchLine | None, stage: Stage, source: KerasInput | None) -> str:
    if line is not None and line.lists:
        return (
            f"{advise_array(line.lists, looped=False)} TensorFlow reads a list element by element and "
            "holds the interpreter lock meanwhile."
        )
    if line is None or not line.reads:
        return _advice(stage, source, line.function.rpartition(".")[2] if line is not None and line.samples else "")
    if line.samples:
        return _read_once(line, stage, source)
    return f"{_read_once(line, stage, source)} Line {line.place[1]} reads a file for each batch."


def _read_once(line: BatchLine, stage: Stage, source: KerasInput | None) -> str:
    """Return what is read for each batch can be read once; of chunks each access reads whole ones."""
    how = ' (file["name"][:])' if line.chunks else ""
    if source is not None and source.kind == "PyDataset":
        owner = source.cls or "the class"
        text = f"Read the file into memory once{how}, in {owner}.__init__, and let __getitem__ pick from the array"
    else:
        name = stage.mapped.function if stage.mapped is not None else "the generator"
        text = f"Read the file into memory once{how}, before {name} begins, and let it pick from the array"
    if not line.chunks:
        return f"{text}. Or: read it ahead in tf.data (interleave, map, prefetch) if it does not fit."
    return (
        f"{text}. Or: read chunk by chunk and shuffle within a few chunks if it does not fit. Each access decompresses "
        "every chunk that holds one of its rows, and random rows lie in many chunks."
    )


def _advice(stage: Stage, source: KerasInput | None, costly: str = "") -> str:
    """Return what to do. ``costly``: the function that most samples are in, "" if unknown."""
    if source is not None and source.kind == "PyDataset":
        where = f"{source.cls or 'the class'}.__getitem__"
        text = f"Compute the whole batch at once in {where}, with NumPy functions over arrays."
        if not source.use_multiprocessing:
            text += " Or: prepare batches in other processes: super().__init__(workers=4, use_multiprocessing=True)."
        return text
    name = stage.mapped.function if stage.mapped is not None else "the generator"
    if stage.kind == "Generator":
        generator = f"the generator {name}" if stage.mapped is not None else name
        return (
            f"Replace {generator} with tf.data.Dataset.from_tensor_slices(arrays).shuffle(n).batch(b) if the data fits "
            "into memory, and compute in a map with num_parallel_calls=tf.data.AUTOTUNE. "
            f"Or: let {name} yield whole batches instead of single examples."
        )
    both = f"{name} and {costly}" if costly.isidentifier() and costly != name else name
    return (
        f"Rewrite {both} with TensorFlow operations, so that map(..., num_parallel_calls=tf.data.AUTOTUNE) runs on "
        "all CPU cores."
    )


def collected_ms(evidence: Evidence) -> float:
    """Return the ms of a step that garbage collections take for what the pipeline's Python makes (lists of lists, for
    example).

    After a number of new containers Python looks at all objects, TensorFlow's and Keras' too, and holds the
    interpreter's lock. The thread that made the containers does it. So 0 unless nearly all collections in clean steps
    ran on threads on which TensorFlow was seen to call Python.
    """
    known, clean = evidence.offer(GarbageCollections), evidence.steps.clean
    if known is None or not any(known.threads) or not clean:
        return 0.0
    called = set(_list_called_threads(evidence))
    made = zip(known.spans, known.threads, strict=True)
    every, theirs = Spans(known.spans), Spans(span for span, thread in made if thread in called)
    spans = [(step.begin_ns, step.end_ns) for step in clean]
    whole = sum(every.overlap(*span) for span in spans)
    other = sum(theirs.overlap(*span) for span in spans)
    return evidence.part("gc") if whole and other >= shared.NEARLY_ALWAYS.value * whole else 0.0


def _list_called_threads(evidence: Evidence) -> Iterator[int]:
    """Yield the threads of the samples in Python that TensorFlow calls."""
    for row in evidence.records("samples"):
        match row:
            case [kind, _, _, int(thread)] if kind == CALLED:
                yield thread
