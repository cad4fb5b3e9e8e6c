"""DST007 on made-up records: what a strategy was given, and how it divides that."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import FILE, make_evidence, make_steps
from tfperfkit_probes.input.model import Divided, InputData
from tfperfkit_probes.input.pipelines import divided, random_order
from tfperfkit_probes.ops.model import Exchanged, Marks
from tfperfkit_rules.distribution.sharding import undivided_data
from tfprof_builder import brief, graphs

from tfperfkit.model import Finding, SourceSpan
from tfperfkit.records.pipelines import Description, MadeDataset, Origin

SOURCE = (
    "import tensorflow as tf\n"
    "strategy = tf.distribute.MultiWorkerMirroredStrategy()\n"
    "data = strategy.experimental_distribute_dataset(data)\n"
)
AUTO = Divided(policy="AUTO", reads_files=False, by_hand=None, file=FILE, line=3)
FILES = Divided(policy="AUTO", reads_files=True, by_hand=None, file=FILE, line=3)
BY_DATA = Divided(policy="DATA", reads_files=True, by_hand=None, file=FILE, line=3)
TWICE = Divided(policy="AUTO", reads_files=True, by_hand=SourceSpan(FILE, 2), file=FILE, line=3)


def findings(
    *rows: Divided, waits: float = 6.0, workers: int = 2, source: str = SOURCE, made: str = "_MapDataset", **given: Any
) -> list[Finding]:
    row = Exchanged(
        type="CollectiveReduceV2", dtype="float32", ops=1.0, rounds=1, bytes=1e6, devices=2, replicas=2 * workers
    )
    data = InputData(divided=rows, datasets={made: 1}, **given)
    probes = {"ops": graphs(brief(marks=Marks(exchanged=[row]))), "input": data}
    parts: Any = {"graph": 10.0 - waits, "input": waits}
    return list(undivided_data(make_evidence(parts_ms=parts, steps=make_steps(100, 10.0), source=source, data=probes)))


@pytest.mark.parametrize("row", [AUTO, BY_DATA])
def test_each_worker_makes_all(row: Divided) -> None:
    (found,) = findings(row)
    assert (found.code, found.where, found.basis) == ("DST007", (SourceSpan(FILE, 3),), "step")
    assert found.share_of_step == pytest.approx(0.3) and found.gain.bounds == (1.0, pytest.approx(1 / 0.7))
    assert findings(row, workers=4)[0].share_of_step == pytest.approx(0.45)


def test_what_costs_nothing_or_is_divided_by_files_is_not_told() -> None:
    assert findings(AUTO, waits=0.5) == findings(FILES) == findings(AUTO, workers=1) == []


def test_divided_twice() -> None:
    (found,) = findings(TWICE, waits=0.0)
    assert (found.severity, found.basis, found.where[0]) == ("medium", "risk", SourceSpan(FILE, 2))


def test_nothing_divides_the_data() -> None:
    (found,) = findings()
    assert (found.severity, found.where) == ("medium", (SourceSpan(FILE, 3),)) and "same order" in found.title
    (shuffled,) = findings(random_order=True)
    assert shuffled.severity == "info" and "in its own order" in shuffled.title


@pytest.mark.parametrize(
    "asks",
    [
        'os.environ["TF_CONFIG"]',
        "context.input_pipeline_id",
        "strategy.cluster_resolver.task_id",
        'os.environ["SLURM_PROCID"]',
        "hvd.rank()",
    ],
)
def test_who_asks_which_worker_it_is_may_divide_by_itself(asks: str) -> None:
    assert findings(source=f"{SOURCE}mine = {asks}\n") == []


def test_a_shard_by_hand_divides() -> None:
    assert findings(made="_ShardDataset") == []


def made(number: int, cls: str, *inputs: int, line: int = 1, seed: bool = False, **parameters: Any) -> MadeDataset:
    about = Description(parameters=parameters, seed=seed)
    return MadeDataset(number=number, cls=cls, inputs=inputs, origin=Origin(file=FILE, line=line), about=about)


def test_what_a_strategy_was_given_is_read_from_the_datasets() -> None:
    source = [made(1, "TFRecordDatasetV2"), made(2, "_ShardDataset", 1, line=2), made(3, "_BatchDataset", 2)]
    whole = [*source, made(4, "_AutoShardDataset", 3, line=7, policy="AUTO")]
    (row,) = divided(whole)
    assert (row.policy, row.reads_files, row.by_hand, row.line) == ("AUTO", True, SourceSpan(FILE, 2, ""), 7)
    assert divided(source) == () and divided([*whole, *whole[3:]]) == (row,)


def test_an_order_of_its_own_comes_without_a_seed() -> None:
    assert random_order([made(1, "_ShuffleDataset")])
    assert not random_order([made(1, "_ShuffleDataset", seed=True), made(2, "_MapDataset", 1)])
