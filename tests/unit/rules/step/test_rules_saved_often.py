"""STP001 for calls that save or export a model again and again: on made steps and samples."""

from __future__ import annotations

import pytest
from evidence_builder import FILE, MS, make_evidence
from tfperfkit_rules.step.saved_often import saved_often

from tfperfkit.records.samples import Frame, SampleLog, Stack
from tfperfkit.records.steps import Step, StepTable
from tfperfkit.rule import Evidence

FIT = ("keras.src.backend.tensorflow.trainer:fit",)
EXPORT = ("keras.src.models.model:export", "keras.src.export.saved_model:export_saved_model")
SAVED = ("tensorflow.python.saved_model.save:save",)
WRITE = ("tensorflow.python.checkpoint.checkpoint:write",)
CALLBACK = """import keras
class Best(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.model.export("there")
model.fit(x, y, callbacks=[Best()])
"""
LOOP = """import tensorflow as tf
for epoch in range(9):
    train(net)
    tf.saved_model.save(net, "there")
"""
FITTED = Frame(FILE, 1, "<module>", 5, None, FIT)


def trained(source: str, below: tuple[str, ...], *outer: Frame, epochs: int = 8, saving_ms: int = 300) -> Evidence:
    """``epochs`` of ten steps of 20 ms. After each, line 4 saves: two thirds are tracing. Then 50 ms of
    something else pass."""
    leaf = Frame(FILE, 3, "on_epoch_end", 4, None, below)
    inner = Frame(FILE, 20, "call", 21)
    stacks = {
        1: Stack((*outer, Frame(FILE, 1, "<module>", 3)), "keras", "graph"),
        2: Stack((*outer, leaf, inner), "keras", "tracing"),
        3: Stack((*outer, leaf), "keras", "saving"),
        4: Stack((*outer, Frame(FILE, 1, "<module>", 3)), "", "python"),
    }
    steps, taken, when = [], [], 0
    for number in range(10 * epochs):
        steps.append(Step(number + 1, when, when + 20 * MS, 1, 0, "clean"))
        taken += [(when + n * MS, 1) for n in range(0, 20, 10)]
        when += 20 * MS
        if number % 10 == 9:
            for stack, ms in ((2, saving_ms * 2 // 3), (3, saving_ms // 3), (4, 50)):
                taken += [(when + n * MS, stack) for n in range(10, ms + 10, 10)]
                when += ms * MS
    return make_evidence(
        parts_ms={"graph": 20.0},
        steps=StepTable(steps=tuple(steps), source="keras"),
        source=source,
        log=SampleLog(stacks, taken),
        wall_s=when / 1e9 + 1,
    )


def test_an_export_in_a_callback_owns_all_that_passes_below_its_line() -> None:
    given = trained(CALLBACK, EXPORT, FITTED)
    (found,) = saved_often(given)
    assert (found.code, found.basis, found.where[0].line) == ("STP001", "run", 4)
    assert found.share_of_step == pytest.approx(8 * 0.3 / given.run.wall_s, rel=0.1)
    assert "self.model.export inside the training loop takes 46 % of the run, in about 8 calls" in found.title
    assert "once, after fit" in found.advice and "self.model.get_weights()" in found.advice


def test_any_api_that_saves_in_a_loop() -> None:
    (found,) = saved_often(trained(LOOP, SAVED))
    assert "tf.saved_model.save inside the training loop" in found.title
    assert "once, after the loop" in found.advice and "net.get_weights()" in found.advice
    written = LOOP.replace('tf.saved_model.save(net, "there")', 'checkpoint.write("there")')
    (found,) = saved_often(trained(written, WRITE))
    assert "checkpoint.write" in found.title and "best = model.get_weights()" in found.advice


def test_silent_if_it_is_rare_or_short_or_no_loop_has_it() -> None:
    assert not list(saved_often(trained(LOOP, SAVED, epochs=3)))
    assert not list(saved_often(trained(LOOP, SAVED, saving_ms=30)))
    assert not list(saved_often(trained(LOOP.replace("for epoch in range(9):", "if True:"), SAVED)))
    assert not list(saved_often(trained(LOOP, ("keras.src.saving.saving_api:load_model",))))
