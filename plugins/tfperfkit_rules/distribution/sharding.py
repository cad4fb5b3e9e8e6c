"""DST007: the data of several workers is sharded twice, not at all, or only after each worker has made all data.

The datasets show the strategy's sharding policy, readers of files, and a ``shard`` of the script. A gain is predicted
only if the step waits for its input.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.input.model import Divided, InputData

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.gain import Unknown
from tfperfkit.model import Finding, Measurement, Severity, SourceSpan
from tfperfkit.pricing import Part, price
from tfperfkit.remedy import Rewrite
from tfperfkit.rule import Evidence
from tfperfkit_rules.distribution.exchange import exchanging, workers
from tfperfkit_rules.measures import shared

TITLES = {"DST007": "Dataset is not sharded correctly among the workers"}

MADE_BY_ALL_MIN = Threshold(
    0.05,
    "share",
    "minimum share of a step that waits for examples which other workers drop",
    Chosen("repeated runs show as much"),
)

_GIVEN = (
    "tensorflow.distribute.MultiWorkerMirroredStrategy().experimental_distribute_dataset",
    "tensorflow.distribute.MultiWorkerMirroredStrategy().distribute_datasets_from_function",
)
#: Ways in which a script asks for its worker's number: TensorFlow's attributes, launchers' variables, MPI's ranks.
_WHICH = (
    r"\b(input_pipeline_id|num_input_pipelines|cluster_resolver|task_id|task_index|Get_rank|get_rank)\b"
    r"|\b(TF_CONFIG|RANK|WORLD_SIZE|(OMPI|PMI|PMIX|SLURM|HOROVOD)_\w+)\b|\.rank\(\)"
)
_SHARD = (
    "Shard the data right after its source: strategy.distribute_datasets_from_function(make), and in make(context) "
    "data.shard(context.num_input_pipelines, context.input_pipeline_id)"
)


def undivided_data(evidence: Evidence) -> Iterator[Finding]:
    """Check the recorded datasets: the policy by which a strategy divides them, and whether they use ``shard``."""
    data = evidence.offer(InputData)
    function = exchanging(evidence) if evidence.work is None else None
    if data is None or function is None or not data.datasets:
        return
    count = workers(function.marks.exchanged)
    if count < 2:
        return
    twice = next((row for row in data.divided if row.by_hand is not None), None)
    late = next((row for row in data.divided if not _by_files(row)), None)
    if twice is not None:
        yield _twice(twice, count)
    elif late is not None:
        yield from _all_made(evidence, late, count)
    elif not data.divided and not any("Shard" in name for name in data.datasets) and not evidence.find(_WHICH):
        yield _alike(evidence, data, count)


def _by_files(row: Divided) -> bool:
    return row.policy == "FILE" or (row.policy != "DATA" and row.reads_files)


def _twice(row: Divided, count: int) -> Finding:
    places = (row.by_hand, SourceSpan(row.file, row.line))
    return _make_finding(
        f"Dataset is not sharded correctly among {count} workers: by shard() and again by the strategy",
        "medium",
        places,
        count,
        "Remove .shard(...). Or: give the dataset with options.experimental_distribute.auto_shard_policy = "
        "tf.data.experimental.AutoShardPolicy.OFF.",
        f"Each worker gets one in {count * count} of the examples, and most are never trained on.",
        Measurement("share of the examples that the workers train on", 1 / count, "share", "run"),
    )


def _alike(evidence: Evidence, data: InputData, count: int) -> Finding:
    order = "each in its own order" if data.random_order else "in the same order"
    return _make_finding(
        f"Dataset is not sharded correctly among {count} workers: all train on all examples, {order}",
        "info" if data.random_order else "medium",
        tuple(evidence.calls(*_GIVEN)),
        count,
        f"{_SHARD}. Or: leave the policy at AutoShardPolicy.AUTO with experimental_distribute_dataset.",
        (
            "Nothing shards the data, so in an epoch every worker trains on all examples."
            if data.random_order
            else "Nothing shards the data, so all workers compute the same gradients."
        )
        + " Ignore this if the files differ from host to host.",
    )


def _all_made(evidence: Evidence, row: Divided, count: int) -> Iterator[Finding]:
    """Costs only where the step waits for its input: then at most the part that is made in vain."""
    unit = evidence.unit
    share = min(evidence.share("input") * (1 - 1 / count), shared.MAX_STEP_SHARE.value)
    if share < MADE_BY_ALL_MIN.value:
        return
    yield _make_finding(
        f"Dataset is not sharded correctly among {count} workers: each makes all examples and drops most",
        "low",
        (SourceSpan(row.file, row.line),),
        count,
        f"{_SHARD}. Or: read from at least as many files as workers, which the strategy shards by file.",
        "Without files to shard, the strategy shards examples at the end of the pipeline, so each worker reads, "
        "decodes and maps all of them.",
        Measurement(f"share of {unit.the} waiting for input", evidence.share("input"), "share", "breakdown"),
        share=share,
    )


def _make_finding(
    title: str,
    how: Severity,
    where: tuple[SourceSpan | None, ...],
    count: int,
    advice: str,
    detail: str,
    *more: Measurement,
    share: float = 0.0,
) -> Finding:
    return Finding(
        code="DST007",
        title=title,
        severity=how,
        basis="step" if share else "risk",
        share_of_step=share,
        gain=price(Rewrite(), Part(0.0, share)) if share else Unknown(),
        where=tuple(dict.fromkeys(place for place in where if place is not None and place.file))[
            : shared.MAX_PLACES.value
        ],
        evidence=(Measurement("workers", float(count), "count", "run"), *more),
        advice=advice,
        detail=detail,
        absorbs=("INP001",) if share else (),
        parts=("input",) if share else (),
    )
