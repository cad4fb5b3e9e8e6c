"""A compiled function made of a loop's body."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixing_builder import fixed, reason

SCRIPT = """\
import tensorflow as tf

model = build()
for epoch in range(2):
    seen = 0
    # All batches.
    for step, (x, y) in enumerate(data):  # here

        # The forward pass.
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x))  # the loss
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, [v for v in model.trainable_variables]))
        accuracy.update_state(y, loss)
        # Now and then.
        if step % 100 == 0:
            print(float(loss))
"""
COMPILED = """\
import tensorflow as tf

model = build()


@tf.function
def train_step(x, y):
    # The forward pass.
    with tf.GradientTape() as tape:
        loss = loss_of(y, model(x))  # the loss
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, [v for v in model.trainable_variables]))
    accuracy.update_state(y, loss)
    return loss


for epoch in range(2):
    seen = 0
    # All batches.
    for step, (x, y) in enumerate(data):  # here

        loss = train_step(x, y)
        # Now and then.
        if step % 100 == 0:
            print(float(loss))
"""
INNER = "    for step, (x, y) in enumerate(data):  # here"


def test_the_body_becomes_a_function_before_all_loops(tmp_path: Path) -> None:
    assert fixed(tmp_path, SCRIPT, "EAG001") == COMPILED


def test_a_parameter_of_the_same_name_is_no_reader(tmp_path: Path) -> None:
    alike = SCRIPT.replace(
        "model = build()", "model = build()\nscaled = lambda grads: grads * 2\nfirst = lambda x=loss: x"
    )
    after = fixed(tmp_path, alike, "EAG001")
    assert "    return loss\n" in after
    read = SCRIPT.replace("model = build()", "model = build()\nscaled = lambda: grads * 2")
    assert "    return grads, loss\n" in fixed(tmp_path, read, "EAG001")


def test_what_only_another_function_or_an_inner_loop_reads_is_no_result(tmp_path: Path) -> None:
    update = "        optimizer.apply_gradients"
    inner = SCRIPT.replace(update, f"        for g in grads:\n            tf.clip_by_norm(g, 15)\n{update}")
    other = "def scale(x):\n    grads = x * 2\n    return grads\n\n\nmodel = build()"
    assert "    return loss\n" in fixed(tmp_path, inner.replace("model = build()", other), "EAG001")
    kept = SCRIPT.replace(
        "model = build()", "def scale(x):\n    global grads\n    grads = grads * 2\n\n\nmodel = build()"
    )
    assert "    return grads, loss\n" in fixed(tmp_path, kept, "EAG001")


def test_the_place_may_be_the_tape(tmp_path: Path) -> None:
    marked = SCRIPT.replace("  # here", "").replace("as tape:", "as tape:  # here")
    assert "def train_step(x, y):" in fixed(tmp_path, marked, "EAG001")


def test_in_a_function_it_is_a_function_of_its_own(tmp_path: Path) -> None:
    head, loops = SCRIPT.split("for epoch", 1)
    loops = "".join(f"    {line}\n" if line else "\n" for line in ("for epoch" + loops).splitlines())
    after = fixed(tmp_path, f"{head}\n\ndef train(model, data):\n{loops}", "EAG001")
    assert "def train(model, data):\n\n    @tf.function\n    def train_step(x, y):\n" in after
    assert "            loss = train_step(x, y)\n" in after


def test_a_model_of_each_fold_has_a_function_of_its_own(tmp_path: Path) -> None:
    after = fixed(tmp_path, SCRIPT.replace("    seen = 0", "    model = build()"), "EAG001")
    assert after.index("    model = build()") < after.index("    @tf.function\n    def train_step(x, y):")
    assert after.index("def train_step") < after.index(INNER)


def test_a_state_is_handed_over_and_comes_back(tmp_path: Path) -> None:
    source = SCRIPT.replace("model(x))", "model(x, state))").replace(
        "        grads =", "        state = advance(state)\n        grads ="
    )
    after = fixed(tmp_path, source, "EAG001")
    assert "def train_step(state, x, y):" in after
    assert "loss, state = train_step(state, x, y)" in after


def test_another_name_where_the_first_is_taken(tmp_path: Path) -> None:
    assert "compiled_step(x, y)" in fixed(tmp_path, SCRIPT + "\n\ndef train_step():\n    pass\n", "EAG001")


def test_what_can_not_be_traced_ends_the_step(tmp_path: Path) -> None:
    rest = "        print(loss)\n        average.assign(loss)\n"
    source = SCRIPT.replace("        # Now", f"{rest}        # Now")
    assert fixed(tmp_path, source, "EAG001") == COMPILED.replace("        # Now", f"{rest}        # Now")


@pytest.mark.parametrize(
    "old, new, said",
    [
        ("loss_of(y, model(x))", "loss_of(y, model(x)) * step", "uses step, a Python number"),
        ("        optimizer.", "        print(loss)\n        optimizer.", "print()"),
        ("        grads =", "        if bad(loss):\n            continue\n        grads =", "the loop is left"),
        ("        grads =", "        seen += 1\n        grads =", "seen is counted up"),
        ("loss_of(y, model(x))", "loss_of(y, model(x.numpy()))", ".numpy()"),
        ("            print(float(loss))", "            print(tape)", "tape is used after"),
        ("        optimizer.apply_gradients", "        print", "no update"),
        ("        # The forward pass.", "        model = build()", "model is another object"),
        ("for step, (x, y) in enumerate(data):", "if data:", "at its place"),
    ],
)
def test_what_would_change_its_meaning_stays(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert said in reason(tmp_path, SCRIPT.replace(old, new), "EAG001")


WALKTHROUGH = """\
import tensorflow as tf

model = build()


def grad(model, inputs, targets):
    with tf.GradientTape() as tape:
        value = loss(model, inputs, targets)
    return value, tape.gradient(value, model.trainable_variables)


value, grads = grad(model, *next(iter(data)))
optimizer.apply_gradients(zip(grads, model.trainable_variables))
for epoch in range(201):
    mean = tf.keras.metrics.Mean()
    for x, y in data:  # here
        # Optimize the model
        value, grads = grad(model, x, y)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        mean(value)
"""


def test_the_tape_may_stand_in_a_function_that_the_loop_calls(tmp_path: Path) -> None:
    """As in TensorFlow's own walkthrough of custom training. ``grads`` is read before the loop, not after it."""
    body = (
        "value, grads = grad(model, x, y)\n        optimizer.apply_gradients(zip(grads, model.trainable_variables))\n"
    )
    after = WALKTHROUGH.replace(f"        # Optimize the model\n        {body}", "        value = train_step(x, y)\n")
    made = (
        "\n\n@tf.function\ndef train_step(x, y):\n    # Optimize the model\n    value, grads = grad(model, x, y)\n"
        "    optimizer.apply_gradients(zip(grads, model.trainable_variables))\n    return value\n\n\nfor epoch"
    )
    assert fixed(tmp_path, WALKTHROUGH, "EAG001") == after.replace("for epoch", made)
    reads = WALKTHROUGH.replace("value = loss(", "value = float(loss(").replace(
        "targets)\n    return", "targets))\n    return"
    )
    assert "(in grad)" in reason(tmp_path, reads, "EAG001")
    elsewhere = WALKTHROUGH.replace("grad(model, x, y)", "other.grad(model, x, y)")
    assert "nor in a function of the file that it calls" in reason(tmp_path, elsewhere, "EAG001")
