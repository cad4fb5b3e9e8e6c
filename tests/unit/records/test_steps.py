"""Training steps: loops as people write them, played as streams of markers."""

from __future__ import annotations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from step_script import EPOCHS, INNER, LASTS, STEPS, TICK, TRIALS, Script

from tfperfkit.analysis.step_table import in_words
from tfperfkit.records.step_cutter import cut
from tfperfkit.records.steps import PAUSE, Loop, Marker, MarkerKind, Step, StepTable


def test_nothing_has_updated_weights() -> None:
    script = Script()
    script.mark(*[script.site("next", 31, STEPS)] * 5)
    assert script.counter.definition() is None


def test_one_loop_with_one_optimizer() -> None:
    script = Script()
    script.mark(*[script.site("apply", 35, STEPS)] * 12)
    assert script.definition.source == "custom"
    assert in_words(script.definition) == "an iteration of the loop at train.py:30"
    assert [step.number for step in script.steps] == list(range(1, 13))
    assert script.ticks[1:] == [1] * 11


def test_loop_over_a_dataset_lasts_from_fetch_to_fetch() -> None:
    script = Script()
    fetch, apply = script.site("next", 30, STEPS), script.site("apply", 35, STEPS)
    script.mark(*[fetch, apply] * 6)
    assert script.definition.begins == {fetch}
    assert script.ticks[:-1] == [2] * 5
    assert all(step.input_ns == LASTS for step in script.steps)


def test_validation_after_an_epoch_is_outside_of_the_steps() -> None:
    script = Script()
    fetch, apply = script.site("next", 30, EPOCHS, STEPS), script.site("apply", 35, EPOCHS, STEPS)
    validate = script.site("next", 50, EPOCHS, INNER)
    for _ in range(3):
        script.mark(*[fetch, apply] * 5)
        script.mark(fetch)  # raises StopIteration
        script.mark(*[validate] * 30)
    assert script.count == 15
    assert max(script.ticks) == 2


def test_two_optimizers_on_lines_of_their_own() -> None:
    script = Script()
    critic, generator = script.site("apply", 33, STEPS), script.site("apply", 36, STEPS, target=2)
    script.mark(*[critic, generator] * 8)
    assert script.count == 8
    assert script.definition.ends == {generator}


def test_unfinished_iteration_does_not_change_what_ends_a_step() -> None:
    script = Script()
    critic, generator = script.site("apply", 33, STEPS), script.site("apply", 36, STEPS, target=2)
    script.mark(*[critic, generator] * 2, critic)
    assert script.definition.ends == {generator}


def test_two_optimizers_at_one_line() -> None:
    """``for network in (generator, critic)``: both are updated in each step."""
    script = Script()
    generator, critic = (script.site("apply", 45, STEPS, INNER, target=target) for target in (1, 2))
    script.mark(*[generator, critic] * 10)
    assert script.count == 10
    assert in_words(script.definition) == "an iteration of the loop at train.py:30"
    assert script.ticks[1:] == [2] * 9


def test_two_optimizers_in_one_helper() -> None:
    """The updates stand on one line, but two lines of the loop call it."""
    script = Script()
    fetch = script.site("next", 30, STEPS)
    critic = script.site("apply", 5, STEPS, target=1, via=(33,))
    generator = script.site("apply", 5, STEPS, target=2, via=(36,))
    script.mark(*[fetch, critic, generator] * 8)
    assert script.count == 8
    assert in_words(script.definition) == "an iteration of the loop at train.py:30"
    assert script.definition.begins == {fetch}


def test_five_updates_of_the_critic_to_one_of_the_generator() -> None:
    script = Script()
    critic, generator = script.site("apply", 42, STEPS, INNER), script.site("apply", 50, STEPS, target=2)
    script.mark(*[*[critic] * 5, generator] * 7)
    assert script.count == 7
    assert script.ticks[1:] == [6] * 6


def test_several_updates_of_each_in_loops_of_their_own() -> None:
    script = Script()
    critic = script.site("apply", 42, STEPS, INNER)
    generator = script.site("apply", 52, STEPS, Loop("train.py", 51), target=2)
    script.mark(*[*[critic] * 5, *[generator] * 2] * 7)
    assert script.count == 7
    assert in_words(script.definition) == "an iteration of the loop at train.py:30"
    assert script.ticks[:-1] == [7] * 6


def test_two_training_loops_one_after_the_other() -> None:
    script = Script()
    before, after = script.site("apply", 25, EPOCHS), script.site("apply", 35, STEPS, target=2)
    script.mark(*[before] * 6, *[after] * 9)
    assert script.count == 15
    assert in_words(script.definition) == "an iteration of the loop at train.py:30"


def test_loop_over_a_dataset_and_then_one_without() -> None:
    script = Script()
    fetch, before = script.site("next", 20, EPOCHS), script.site("apply", 25, EPOCHS)
    after = script.site("apply", 35, STEPS, target=2)
    script.mark(*[fetch, before] * 6, fetch, *[after] * 9)
    assert script.count == 15
    assert all(step.count == 1 for step in script.steps)


def test_long_loops_in_turn_are_training_loops_of_their_own() -> None:
    """In each epoch first the autoencoder, then the classifier, a hundred batches each."""
    script = Script()
    first, second = (script.site("apply", line, EPOCHS, Loop("train.py", line - 1), target=line) for line in (32, 42))
    for _ in range(3):
        script.mark(*[first] * 100, *[second] * 100)
    assert script.count == 600


def test_search_with_a_new_optimizer_for_each_trial() -> None:
    script = Script()
    for trial in range(4):
        script.mark(*[script.site("apply", 35, TRIALS, STEPS, target=trial)] * 8)
    assert script.count == 32
    assert in_words(script.definition) == "an iteration of the loop at train.py:30"


def test_search_in_which_one_optimizer_stays() -> None:
    """Its times overlap those of all trials, so that the trials are no phases of their own."""
    script = Script()
    shared = script.site("apply", 33, TRIALS, STEPS, target=99)
    for trial in range(4):
        own = script.site("apply", 36, TRIALS, STEPS, target=trial)
        script.mark(*[shared, own] * 8)
    assert script.count == 32
    assert in_words(script.definition) == "an iteration of the loop at train.py:30"
    assert script.ticks[1:] == [2] * 31


def test_search_over_pairs_of_networks() -> None:
    script = Script()
    for trial in range(3):
        pair = [script.site("apply", 45, TRIALS, STEPS, INNER, target=10 * trial + k) for k in (1, 2)]
        script.mark(*pair * 8)
    assert script.count == 24
    assert in_words(script.definition) == "an iteration of the loop at train.py:30"


def test_update_that_builds_the_optimizer_is_no_step() -> None:
    script = Script()
    build, apply = script.site("apply", 5), script.site("apply", 35, STEPS)
    script.mark(build, *[apply] * 12)
    assert script.count == 12


def test_rare_extra_update() -> None:
    script = Script()
    fetch, apply = script.site("next", 30, STEPS), script.site("apply", 35, STEPS)
    average = script.site("apply", 38, STEPS, target=2)
    for number in range(1, 301):
        script.mark(fetch, apply, *[average] * (number % 100 == 0))
    assert script.count == 300
    assert sorted(set(script.ticks[:-1])) == [2, 3]


def test_gradients_accumulated_over_four_batches() -> None:
    """Count a step from update to update, not just the last of its batches."""
    script = Script()
    fetch, apply = script.site("next", 30, STEPS), script.site("apply", 35, STEPS)
    script.mark(*[fetch, fetch, fetch, fetch, apply] * 6)
    assert script.count == 6
    assert script.ticks[1:] == [5] * 5
    assert script.steps[-1].input_ns == 4 * LASTS


def test_step_that_fetches_two_batches_begins_with_the_first() -> None:
    script = Script()
    real, critic = script.site("next", 31, STEPS), script.site("apply", 33, STEPS)
    again, generator = script.site("next", 34, STEPS), script.site("apply", 36, STEPS, target=2)
    script.mark(*[real, critic, again, generator] * 6)
    assert script.ticks[:-1] == [4] * 5
    assert all(step.input_ns == 2 * LASTS for step in script.steps)


def test_batch_for_validation_now_and_then_does_not_begin_a_step() -> None:
    script = Script()
    validate, fetch, apply = (script.site(kind, 31 + k, STEPS) for k, kind in enumerate(("next", "next", "apply")))
    for number in range(40):
        script.mark(*[validate] * (number % 10 == 0), fetch, apply)
    assert script.count == 40
    assert script.definition.begins == {fetch}
    assert all(step.count == 1 for step in script.steps)


def test_named_function() -> None:
    script = Script()
    named, apply = script.site("named", 30, STEPS, name="one_step"), script.site("apply", 45, STEPS, INNER)
    script.mark(*[named, apply, apply, apply] * 5)
    assert in_words(script.definition) == "a call of one_step"
    assert script.count == 5
    assert script.ticks[:-1] == [4] * 4


def test_pause_of_ours_is_part_of_no_step() -> None:
    script = Script()
    apply = script.site("apply", 35, STEPS)
    script.mark(*[apply] * 3)
    script.markers.append(Marker(PAUSE, script.now, script.now + 50 * TICK, 0))
    script.wait(50)
    script.mark(*[apply] * 3)
    assert script.count == 6
    assert max(script.ticks) <= 1


def test_pause_between_batches_is_part_of_no_step() -> None:
    script = Script()
    fetch, apply = script.site("next", 30, STEPS), script.site("apply", 35, STEPS)
    script.mark(*[fetch, apply] * 3)
    script.markers.append(Marker(PAUSE, script.now, script.now + 50 * TICK, 0))
    script.wait(50)
    script.mark(*[fetch, apply] * 3)
    assert script.count == 6
    assert max(script.ticks) == 2


def test_markers_of_unknown_sites_are_passed_over() -> None:
    script = Script()
    apply = script.site("apply", 35, STEPS)
    script.mark(apply, 77, apply)
    assert script.count == 2


def test_table_answers_by_window_and_by_time() -> None:
    steps = tuple(Step(n, 100 * n, 100 * n + 90, window="clean" if n > 2 else "warmup") for n in (1, 2, 3, 4))
    table = StepTable(steps=steps, source="custom")
    assert [step.number for step in table.clean] == [3, 4]
    assert [table.number_at(when) for when in (99, 100, 295, 10_000)] == [0, 1, 2, 4]


_kinds = st.sampled_from(["batch", "train_on_batch", "call", "apply", "next", "loop_call"])
_loops = st.lists(st.sampled_from([TRIALS, EPOCHS, STEPS, INNER]), max_size=3, unique=True).map(
    lambda loops: tuple(sorted(loops, key=lambda loop: loop.line))
)
_sites = st.lists(st.tuples(_kinds, st.integers(1, 3), _loops, st.integers(1, 3)), min_size=1, max_size=6)


@settings(deadline=None)
@given(_sites, st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2)), max_size=120))
def test_any_stream_gives_steps_in_order(
    made: list[tuple[MarkerKind, int, tuple[Loop, ...], int]], stream: list[tuple[int, int]]
) -> None:
    """Whatever a script does: steps are numbered without a gap, do not overlap, and hold what was counted."""
    script = Script()
    sites = [script.site(kind, line, *loops, target=target) for kind, line, loops, target in made]
    for number, steps in stream:
        if number == 0:
            script.markers.append(Marker(PAUSE, script.now, script.now + 10, 0))
            script.wait(1)
        else:
            script.mark(sites[number % len(sites)], steps=steps)
    definition = script.counter.definition()
    updated = [site for site in script.counter.sites.values() if site.kind != "next"]
    assert (definition is None) == (not any(script.counter.reach[site.id].count for site in updated))
    if definition is None:
        return
    assert definition.ends and definition.ends <= {site.id for site in updated}
    steps = cut(script.counter, script.markers, definition)
    assert steps
    following = 1
    for before, step in zip((None, *steps), steps, strict=False):
        assert step.number == following
        following += step.count
        assert step.end_ns >= step.begin_ns
        assert step.input_ns >= 0
        assert before is None or step.begin_ns >= before.end_ns
    assert msgspec.json.decode(msgspec.json.encode(steps), type=tuple[Step, ...]) == steps


def test_a_function_made_anew_for_each_step() -> None:
    script = Script()
    fetch = script.site("next", 31, STEPS)
    for number in range(20):
        script.mark(fetch, script.site("call", 33, STEPS, target=number))
    assert in_words(script.definition) == "an iteration of the loop at train.py:30"
    assert script.count == 20


def test_functions_made_anew_until_they_are_no_longer_told_apart() -> None:
    script = Script()
    for number in range(8):
        script.mark(script.site("call", 33, STEPS, target=number))
    last = script.site("call", 33, STEPS, target=99)
    script.mark(*[last] * 30)
    assert script.count == 38


def test_three_networks_in_an_inner_loop_are_still_one_step() -> None:
    script = Script()
    sites = [script.site("call", 43, STEPS, INNER, target=number) for number in range(3)]
    for _ in range(10):
        script.mark(*sites)
    assert in_words(script.definition) == "an iteration of the loop at train.py:30"
    assert script.count == 10


def test_what_is_read_as_a_step_begins_is_of_that_step() -> None:
    steps = tuple(Step(n + 1, n * 100, n * 100 + 90, 1, 0, "clean") for n in range(3))
    table = StepTable(steps=steps, source="custom", pauses=((90, 100), (195, 200)))
    assert [table.number_at(when) for when in (95, 198)] == [1, 2]
    assert [table.beginning_at(when) for when in (90, 95, 100, 101, 198, 201, 10_000)] == [2, 2, 2, 2, 3, 3, 3]
    assert StepTable(steps=steps).beginning_at(95) == 1
