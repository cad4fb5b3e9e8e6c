"""Does an experiment measure what the edit gains? ``python -m benchmarks.proof [NAMES...] [--out FILE]``.

For faults of the collection it times the script as it is, with the experiment that belongs to its fault, and its fixed
twin, in alternation, each as ``tfperf try`` runs it. If the rounds of a gain differ among themselves by more than the
question can bear, there are more rounds. Prints rows of Markdown as they come.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import msgspec
from scipy import stats

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "faults"))
from fault_collection import Case, cases

from tfperfkit.launch.arguments import Split
from tfperfkit.records.trials import Measured, TrialPlan
from tfperfkit.trials.choice import Choice
from tfperfkit.trials.judging import Variant
from tfperfkit.trials.outcome import Outcome
from tfperfkit.trials.process import Script
from tfperfkit.trials.rounds import Budget, Group
from tfperfkit.trials.scratch import Scratch
from tfperfkit.trials.workspace import workspace

TWIN = "mended twin"
ROUNDS, SECONDS, STEADY_S = 3, 240.0, 3.0
#: The standard error of a wall-clock gain, as a factor, up to which no more rounds are asked for: half of the 1.3, on
#: the scale of logarithms, that the two gains may be apart. It doesn't look at how far they are apart.
STEADY_ENOUGH = math.sqrt(1.3)
MOST_ROUNDS = 5


class Pair(NamedTuple):
    """A fault and the experiment that fixes it from outside. ``whole``: it shows in the whole run only."""

    fault: str
    experiment: str
    whole: bool = False


PAIRS = (
    Pair("plain_loop_mlp", "graph:train_step"),
    Pair("debug_switch_left_on", "eager-switch"),
    Pair("warmup_schedule", "tensor-arguments:train_step"),
    Pair("decorator_inside_the_loop", "one-function"),
    Pair("many_tiny_steps", "steps-per-execution=100"),
    Pair("batch_of_two", "batch=x32"),
    Pair("augmented_photos", "parallel"),
    Pair("one_thread", "threads=0,0"),
    Pair("positional_table", "once:positions"),
    Pair("denoise_unfused", "jit"),
    Pair("xla_convolutions", "jit=off"),
    Pair("double_precision_floatx", "float32"),
    Pair("rows_from_service", "prefetch"),
    Pair("onednn_switched_off", "onednn=on"),
    Pair("dqn_predict", "predict-as-call"),
    Pair("collects_by_hand", "without-line:collects_by_hand.py:26", whole=True),
    Pair("cool_down_pause", "without-line:cool_down_pause.py:12"),
    Pair("gan_two_passes", "one-pass:losses"),
    Pair("gan_compiled_networks", "one-pass:losses"),
    Pair("teacher_asked_again", "one-pass:ask"),
    Pair("hard_pixels_sorted", "top-k"),
    Pair("kernel_before_vector", "matmul-order"),
    Pair("gpu_scope_without_gpu", "present-devices"),
    Pair("small_table_gathered", "dense-gradients"),
    Pair("large_table_made_dense", "row-gradients"),
    Pair("memory_bank_copied", "rows-in-place"),
    Pair("rows_from_lists", "array-first", whole=True),
    Pair("adapts_one_by_one", "adapt-batches", whole=True),
    Pair("validation_counts_examples", "validation-once", whole=True),
    Pair("spectra_stacked_up", "grow-in-place", whole=True),
    Pair("reviews_padded_long", "like-lengths"),
    Pair("melodies_of_all_lengths", "like-lengths"),
    Pair("folds_from_scratch", "one-model", whole=True),
    Pair("lookup_in_graph", "captured-arrays", whole=True),
    Pair("frozen_features", "without-frozen"),
    Pair("ops_added_in_session", "without-line:ops_added_in_session.py:26", whole=True),
    Pair("tfrecord_crops", "parallel"),
    Pair("thumbnails_every_epoch", "cache"),
    Pair("tabular_standardise", "batch-then-map"),
    Pair("records_one_by_one", "batch-then-map"),
    Pair("forecast_windows", "batch-then-map"),
    Pair("shuffle_decoded_images", "shuffle=1000", whole=True),
    Pair("next_iter", "one-iterator"),
    Pair("faces_from_archive", "once:sample_real"),
    Pair("vocabulary_per_batch", "once:encode"),
    Pair("eager_dcgan", "graph:step"),
    Pair("compiled_eagerly", "eager-switch"),
    Pair("replay_one_by_one", "predict-as-call"),
    Pair("batch_by_batch", "batch-as-call"),
    Pair("handmade_decoder", "graph:train_batch"),
    Pair("loss_per_example", "graph:train"),
    Pair("streaming_fit", "batch-as-call"),
    Pair("mirrored_without_graph", "graph:train_step"),
    Pair("bucketless_sentences", "relaxed-shapes:step"),
    Pair("reinforce_episodes", "relaxed-shapes:update"),
    Pair("trainable_toggle", "one-model", whole=True),
    Pair("options_object", "same-objects:train_step"),
    Pair("pipeline_per_epoch", "once:training_data", whole=True),
    Pair("xla_variable_length", "jit=off"),
    Pair("auto_jit_flag", "jit"),
    Pair("numpy_default_dtype", "float32"),
    Pair("half_precision_cpu", "float32"),
    Pair("gradient_for_each_loss", "one-gradient"),
    Pair("many_short_epochs", "longer-epochs=20", whole=True),
    Pair("pass_over_a_dataset", "parallel", whole=True),
    Pair("power_iteration", "graph:refine", whole=True),
    Pair("echo_times", "graph:delay_of", whole=True),
    Pair("spectra_by_map", "graph:prepare", whole=True),
    Pair("model_per_request", "once:make_model", whole=True),
    Pair("score_each_customer", "predict-as-call", whole=True),
    Pair("predict_one_at_a_time", "predict-batch=1024", whole=True),
    Pair("rows_by_map_in_graph", "vectorized-map"),
    Pair("ratings_table", "update-rows"),
    Pair("strategy_run_eagerly", "graph:train_step"),
    Pair("mirrored_alone", "no-strategy"),
    Pair("evaluates_row_by_row", "batch-then-map", whole=True),
)


def prove(pair: Pair, case: Case, rounds: int = ROUNDS) -> tuple[Measured, Measured]:
    """Measure the gains of the experiment and of the twin."""
    choice = Choice()
    variant = choice.variant([choice.typed(pair.experiment)])
    with tempfile.TemporaryDirectory() as folder, Scratch(Path(folder)) as scratch:
        place = workspace(Path(folder), None, scratch.path)
        scripts = {
            twin: Script(Split((), str(file), False, tuple(case.arguments), ()), scratch, place)
            for twin, file in ((False, case.script), (True, case.fixed))
        }

        def run(item: Variant | None, plan: TrialPlan) -> Outcome:
            if item is None or item.text == TWIN:
                return scripts[item is not None].trial(plan, {})
            plan = msgspec.structs.replace(plan, changes=list(item.changes))
            return scripts[False].trial(plan, item.environment, item.arguments, item.edited)

        plan = TrialPlan(seconds=STEADY_S, whole=pair.whole, limit_s=90.0)
        group = Group(run, Budget(SECONDS), plan, random.Random(pair.fault))
        before = Path.cwd()
        os.chdir(folder)
        try:
            first = group.begin()
            if first.error:
                raise RuntimeError(first.error)
            both = [variant, Variant(text=TWIN)]
            experiment, twin = group.measure(both, rounds)
            while 1 < min(item.pairs for item in (experiment, twin)) < MOST_ROUNDS and group.room:
                if max(_standard_error(experiment), _standard_error(twin)) <= STEADY_ENOUGH:
                    break
                experiment, twin = group.measure(both, 1)
        finally:
            os.chdir(before)
    return experiment, twin


def _standard_error(item: Measured) -> float:
    """Return the standard error of the wall-clock gain, as a factor: its 95 % interval is Student's, on the scale of
    logarithms.
    """
    if item.interval is None:
        return math.inf
    low, high = item.interval
    return math.exp(math.log(high / low) / 2 / float(stats.t.ppf(0.975, item.pairs - 1)))


def row(pair: Pair, experiment: Measured, twin: Measured) -> str:
    """Of the table."""
    ratio = "–"
    if experiment.speedup and twin.speedup:
        apart = experiment.speedup / twin.speedup
        ratio = f"{max(apart, 1 / apart):.2f}"
    cells = (
        pair.fault,
        f"`{pair.experiment}`",
        experiment.keeps,
        _gain(experiment),
        _gain(twin),
        ratio,
        _processor(experiment, twin),
        str(experiment.pairs),
        _results(experiment),
    )
    return f"| {' | '.join(cells)} |"


def _gain(item: Measured) -> str:
    if item.speedup is None:
        return f"{item.verdict}: {item.reason}"[:90]
    if item.interval is None:
        return f"{item.speedup:.2f}"
    return f"{item.speedup:.2f} ({item.interval[0]:.2f} to {item.interval[1]:.2f})"


def _processor(experiment: Measured, twin: Measured) -> str:
    """Both gains by processor time, and how far they are apart."""
    if not experiment.processor or not twin.processor:
        return "–"
    apart = experiment.processor / twin.processor
    return f"{experiment.processor:.2f}, {twin.processor:.2f}: {max(apart, 1 / apart):.2f}"


def _results(item: Measured) -> str:
    return item.results if item.distance in (None, 0.0) else f"{item.results}, {item.distance:.1g}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.proof", description=__doc__)
    parser.add_argument("names", nargs="*", help="faults; default: all")
    parser.add_argument("--out", type=Path, help="add the rows to this file")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of the three scripts in turn")
    options = parser.parse_args()
    known = {case.name: case for case in cases()}
    for pair in PAIRS:
        if options.names and pair.fault not in options.names:
            continue
        try:
            text = row(pair, *prove(pair, known[pair.fault], options.rounds))
        except Exception as error:
            text = f"| {pair.fault} | `{pair.experiment}` | failed: {error} |"
        print(text, flush=True)
        if options.out:
            with options.out.open("a", encoding="utf-8") as file:
                file.write(text + "\n")


if __name__ == "__main__":
    main()
