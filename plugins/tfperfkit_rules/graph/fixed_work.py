"""GRF009: layers that are not trained compute the same for each example in every epoch."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from tfperfkit_probes.input.model import InputData, Pipeline

from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers import ComputedOperation, ComputedStep, FixedOperations, FixedWork, RanOperations
from tfperfkit.pricing import Left, Part, price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.remedy import ReplaceOps
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.traced_step import WINDOW
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.late_skips import TWO_AN_EPOCH
from tfperfkit_rules.measures.source_calls import find_given

TITLES = {"GRF009": "Frozen layers recompute the same features every epoch"}

FIXED_MIN = Threshold(
    0.1,
    "share",
    "minimum share of the step in operations with the same result in each epoch: with less a second script is not "
    "worth it",
    Chosen("a tenth; keeping results changes the form of the script"),
)
FIXED_LEFT_MAX = Threshold(
    0.1,
    "share",
    "maximum share of what frozen layers take that reading their kept results takes",
    Measured(
        "a convolutional base at 64 x 64 with a new head: 41.5 ms a step became 2.2; MobileNetV2: 88 and 103 ms became "
        "5 and 6, of which most is the call of the step",
        TWO_BUSY_CORES,
        3,
    ),
)

_RANDOM_ORDER = ("Shuffle",)


def fixed_work(evidence: Evidence) -> Iterator[Finding]:
    """Yield the finding, where the data come again, and come as they were."""
    work, step, data = evidence.offer(FixedWork), evidence.offer(ComputedStep), evidence.offer(InputData)
    if evidence.work is not None or work is None or step is None or data is None or not evidence.step_ms:
        return
    pipeline = next((item for item in data.pipelines if item.in_training and item.stages), None)
    if pipeline is None or not _comes_again(pipeline) or not _comes_as_it_was(pipeline):
        return
    if work.writers or _assigns(evidence):
        return  # variables that no function of the step changes may change next to it: a teacher that follows slowly
    whole = step.ms
    for function in work.functions:
        rows = _rows(function, step) if _takes_the_batch(function, pipeline) else []
        took = sum(row.ms for row in rows)
        if not whole or not rows:
            continue
        share = evidence.share("graph") * took / whole
        if share >= FIXED_MIN.value:
            yield _make_finding(evidence, function, pipeline, rows, share, step)
            return


def _assigns(evidence: Evidence) -> bool:
    """Whether Python assigns to variables in the steps, whichever they are."""
    ran = evidence.offer(RanOperations)
    rows = ran.rows if ran is not None else ()
    times = sum(row.count for row in rows if row.where == "eager" and row.type.startswith("Assign"))
    return ran is not None and times >= shared.MOSTLY.value * max(ran.steps, 1)


def _comes_again(pipeline: Pipeline) -> bool:
    """Whether an example is trained on more than once: iterators made again, or a repeat."""
    repeats = any(stage.kind == "Repeat" and stage.parameters.get("count") != 1 for stage in pipeline.stages)
    return pipeline.iterators >= 2 or repeats


def _comes_as_it_was(pipeline: Pipeline) -> bool:
    """Whether nothing in the pipeline changes an example by chance, or in Python. Keras' own stages and a shuffle only
    change the order."""
    return not any(
        stage.is_python or (stage.stateful_or_random and stage.by == "user" and stage.kind not in _RANDOM_ORDER)
        for stage in pipeline.stages
    )


def _takes_the_batch(function: FixedOperations, pipeline: Pipeline) -> bool:
    """Keras' step gets what the pipeline gives; one of the user's does where it takes what has the same types."""
    if function.owner == "keras":
        return True
    element = next((stage.element for stage in pipeline.stages if stage.element), "")
    return [_rank(text) for text in function.arguments] == [_rank(text) for text in element.split(", ")]


def _rank(text: str) -> tuple[str, int]:
    dtype, _, shape = text.partition("[")
    return dtype, shape.count(",")


def _rows(function: FixedOperations, step: ComputedStep) -> list[ComputedOperation]:
    """Return the traced operations that are among these; the runtime puts the names of the calls around before
    theirs."""
    names = set(function.operations)
    found = []
    for row in step.operations:
        parts = row.name.split("/")
        if row.stage == "forward" and any("/".join(parts[begin:]) in names for begin in range(len(parts))):
            found.append(row)
    return found


def _make_finding(
    evidence: Evidence,
    function: FixedOperations,
    pipeline: Pipeline,
    rows: list[ComputedOperation],
    share: float,
    step: ComputedStep,
) -> Finding:
    unit = evidence.unit
    name = _layers(rows, step)
    kept = _kept(evidence, function, pipeline, step.batch)
    return Finding(
        code="GRF009",
        remedy=ReplaceOps("kept_results"),
        title=f"Frozen layers ({name}) recompute the same features every epoch",
        share_of_step=share,
        gain=price(ReplaceOps("kept_results"), Part.exactly(share), Left(0.0, FIXED_LEFT_MAX.value)),
        where=_where(evidence, rows),
        evidence=(
            Measurement(f"share of {unit.the}", share, "share", WINDOW),
            Measurement(f"time {unit.per}", share * (evidence.step_ms or 0.0), "ms", WINDOW),
            Measurement("operations of the frozen part", float(len(rows)), "count", WINDOW),
            *([Measurement("size of the features of all examples", kept, "bytes", "run")] if kept else []),
        ),
        advice=(
            f"Run {name} once over all data and train the other layers on the features: "
            "features = frozen.predict(x), then head.fit(features, y). Or: "
            "dataset.map(lambda x, y: (frozen(x, training=False), y)).cache() before shuffle."
        ),
        detail=(
            "This part depends on the batch alone: none of its variables is trained, and nothing before it is random. "
            "Random augmentation, or training these layers later, would need it in each epoch."
        ),
        absorbs=("GRF003", "GRF007"),
        parts=("graph",),
    )


def _layers(rows: list[ComputedOperation], step: ComputedStep) -> str:
    """Return the layers that most of it is in: the innermost that holds nearly all, or the costliest of several where
    that one has trained layers too."""
    # Reading a frozen variable is no work on the batch either: what is trained is known by its gradients.
    trained = [_path(row) for row in step.operations if row.stage == "backward"]
    paths = [(_path(row), row.ms) for row in rows]
    whole = sum(took for _, took in paths)
    within: tuple[str, ...] = ()
    while True:
        inner: dict[str, float] = defaultdict(float)
        for path, took in paths:
            if path[: len(within)] == within and len(path) > len(within):
                inner[path[len(within)]] += took
        names = sorted(inner, key=lambda name: -inner[name])
        if not names or inner[names[0]] < shared.NEARLY_ALWAYS.value * whole:
            break
        within = (*within, names[0])
    mixed = any(path[: len(within)] == within for path in trained)
    if not names or (len(within) > 1 and not mixed):
        return within[-1] if within else "what stands before the trained layers"
    first, *others = names
    several = f"{first} and {len(others)} other layer{'s' if len(others) > 1 else ''}" if others else first
    return f"{several} of {within[-1]}" if len(within) > 1 else several


def _path(row: ComputedOperation) -> tuple[str, ...]:
    return tuple(row.layer.split("/")) if row.layer else ()


def _kept(evidence: Evidence, function: FixedOperations, pipeline: Pipeline, batch: int) -> float | None:
    """Bytes of its results for all examples, at most: of the steps of an epoch."""
    is_open = any("?" in text for text in function.arguments)
    if function.kept_bytes is None or (is_open and not batch):
        return None
    an_epoch = TWO_AN_EPOCH.value if pipeline.way else 1.0
    epochs = max(pipeline.iterators / an_epoch, 1.0)
    return function.kept_bytes * (batch if is_open else 1) * evidence.steps.count / epochs


def _where(evidence: Evidence, rows: list[ComputedOperation]) -> tuple[SourceSpan, ...]:
    """Return the lines that freeze layers, then the line on which most of it is computed."""
    frozen = find_given(evidence, "trainable", lambda value: value.is_constant(False))
    places: Counter[SourceSpan] = Counter()
    for row in rows:
        if row.file:
            places[SourceSpan(row.file, row.line)] += int(row.busy_ms) + 1
    return tuple(dict.fromkeys((*frozen[:2], *(place for place, _ in places.most_common(1)))))
