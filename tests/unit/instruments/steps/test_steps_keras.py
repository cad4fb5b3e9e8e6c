"""Training steps if Keras, or a graph, has the loop."""

from __future__ import annotations

from step_script import EPOCHS, STEPS, TICK, Script

from tfperfkit.analysis.step_table import in_words


def test_batches_of_fit() -> None:
    script = Script()
    batch = script.site("batch", 50)
    for _ in range(3):
        script.mark(*[batch] * 5)
        script.mark(batch, steps=0)  # the epoch ends
        script.wait(200)  # checkpoints, validation
    assert script.definition.source == "keras"
    assert script.count == 15
    assert max(script.ticks) == 1
    assert [step.number for step in script.steps] == list(range(1, 16))


def test_validation_of_fit_is_outside_of_the_epochs_last_step() -> None:
    """Keras tells of the epoch's end only after it has validated."""
    script = Script()
    batch = script.site("batch", 50)
    for _ in range(2):
        script.mark(*[batch] * 5)
        script.wait(200)  # validation
        script.mark(batch, steps=0)  # the epoch ends
    assert script.count == 10
    assert max(script.ticks) == 1


def test_several_steps_in_one_execution() -> None:
    script = Script()
    batch = script.site("batch", 50)
    for _ in range(5):
        script.mark(batch, steps=10)
    assert script.count == 50
    assert [step.number for step in script.steps] == [1, 11, 21, 31, 41]
    assert script.ticks[0] == 0.1


def test_fit_with_updates_of_ones_own_between() -> None:
    script = Script()
    batch, apply = script.site("batch", 50), script.site("apply", 60)
    script.mark(*[batch] * 20, apply, *[batch] * 20)
    assert script.definition.source == "keras"
    assert script.count == 40


def test_train_on_batch_is_a_custom_loop_of_keras() -> None:
    script = Script()
    script.mark(*[script.site("train_on_batch", 35, STEPS)] * 7)
    assert (script.definition.source, script.count) == ("keras", 7)


def test_loop_inside_a_graph_counts_by_the_optimizer() -> None:
    script = Script()
    epoch = script.site("loop_call", 25, EPOCHS, name="train_epoch")
    for _ in range(4):
        script.mark(epoch, steps=25)
    assert script.definition.source == "function"
    assert "train_epoch" in in_words(script.definition)
    assert script.count == 100
    assert script.ticks[1:] == [0.0] * 3 and script.steps[1].end_ns - script.steps[1].begin_ns == TICK
