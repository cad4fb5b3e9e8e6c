"""tf.data's own events in a profiler trace."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfperfkit_probes.input.trace import read_trace
from xspace_builder import SpaceBuilder


def test_of_a_loop_in_a_compiled_function_the_pipeline_is_read_and_not_the_body(tmp_path: Path) -> None:
    loop = "ReduceIterator::Root::Prefetch::Scan"
    builder = SpaceBuilder()
    builder.plane().line(
        "tf_data_prefetch/1",
        *[
            event
            for begin in (0, 100e6)
            for event in (
                (f"{loop}#shape=1#", begin, 90e6, {"id": 3, "parent_id": 2}),  # the body too: 50 ms of it
                (f"{loop}::Batch", begin, 40e6, {"id": 4, "parent_id": 3}),
                (f"{loop}::Batch::Map", begin, 10e6, {"id": 5, "parent_id": 4}),
                (f"{loop}::Batch::Map", begin + 10e6, 20e6, {"id": 5, "parent_id": 4}),
            )
        ],
    )
    builder.plane().line("tf_data_reduce/1", ("ReduceIterator::Root", 0, 190e6, {"id": 1}))
    builder.write(tmp_path / "plugins" / "profile" / "run" / "host.xplane.pb")
    (pipeline,) = read_trace(tmp_path)
    assert pipeline.stages == (("Batch", pytest.approx(20), 2, False), ("Map", pytest.approx(60), 4, False))
    assert (pipeline.fetches, pipeline.wait_ms, pipeline.wall_ms) == (2, pytest.approx(80), pytest.approx(140))


def test_a_reduction_without_a_body_is_read_from_its_end(tmp_path: Path) -> None:
    builder = SpaceBuilder()
    builder.plane().line(
        "tf_data_reduce/1",
        ("ReduceIterator::Root", 0, 50e6, {"id": 1}),
        ("ReduceIterator::Root::Batch", 0, 40e6, {"id": 2, "parent_id": 1}),
    )
    builder.write(tmp_path / "plugins" / "profile" / "run" / "host.xplane.pb")
    (pipeline,) = read_trace(tmp_path)
    assert ([stage[0] for stage in pipeline.stages], pipeline.fetches) == (["Batch"], 1)
