"""Steps are counted right in unmodified code, whatever way its training loop is written."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path

import pytest
from warm import run_file_warm

KERAS = tuple(map(int, importlib.metadata.version("keras").split(".")[:2]))
EXPECTED = {
    "fit": (15, "keras"),
    # Keras before 3.4 tells no callback of an execution that the data ran out in.
    "fit_steps_per_execution": (56 if KERAS < (3, 4) else 60, "keras"),
    "fit_of_one_example_each": (12, "keras"),
    "fit_eagerly": (10, "keras"),
    "train_on_batch": (9, "keras"),
    "gan_by_train_on_batch": (8, "keras"),
    "eager_loop": (11, "custom"),
    "eager_loop_with_callbacks_of_keras": (11, "custom"),
    "eager_loop_over_dataset_with_evaluation": (18, "custom"),
    "two_optimizers_in_turn": (10, "custom"),
    "wgan_with_five_critic_updates": (6, "custom"),
    "function_in_a_loop": (20, "custom"),
    "raw_assignment_in_a_function": (13, "custom"),
    "loop_inside_a_function": (36, "function"),
    "loop_inside_a_function_after_steps_by_calls": (48, "custom"),
    "distributed_iterator": (24, "custom"),
    "two_training_loops_one_after_the_other": (12, "custom"),
    "search_with_a_new_optimizer_per_trial": (18, "custom"),
    "function_traced_earlier": (6, "custom"),
    "nothing_is_trained": (0, "none"),
}


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, object]]:
    script = Path(__file__).with_name("step_patterns.py")
    folder = tmp_path_factory.mktemp("patterns")
    done = run_file_warm(script, folder, folder=folder)
    assert done.returncode == 0, done.stderr[-4000:]
    results: dict[str, dict[str, object]] = json.loads(done.stdout.splitlines()[-1])
    return results


@pytest.mark.parametrize("name", EXPECTED)
def test_counts(counted: dict[str, dict[str, object]], name: str) -> None:
    assert (counted[name]["count"], counted[name]["source"]) == EXPECTED[name], counted[name]


def test_every_seam_was_found(counted: dict[str, dict[str, object]]) -> None:
    assert [note for result in counted.values() for note in result["notes"] if "observed" in str(note)] == []  # type: ignore[attr-defined]


def test_batch_size_is_reported_where_it_can_be_known(counted: dict[str, dict[str, object]]) -> None:
    assert counted["fit"]["batch_size"] == 12
    assert counted["eager_loop_over_dataset_with_evaluation"]["batch_size"] == 20
    assert counted["function_in_a_loop"]["batch_size"] == 24
    assert counted["eager_loop"]["batch_size"] is None
    one = counted["fit_of_one_example_each"]
    assert one["batch_size"] == 1
    turn_ms = one["mean_ms"] + one["between_ms"]  # type: ignore[operator]
    assert one["between_ms"] > one["median_ms"]  # type: ignore[operator]
    assert one["examples_per_s"] == pytest.approx(1000 / turn_ms)
