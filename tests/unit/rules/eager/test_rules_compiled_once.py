"""The place where a call is to be compiled: in the user's own lines and names."""

from __future__ import annotations

import pytest
from evidence_builder import FILE, make_evidence
from tfperfkit_rules.measures.compiled_once import advise_compiling_once

IN_CLASS = """\
import tensorflow as tf
class Decoder:
    def __init__(self, speller):
        self.speller = speller
    def decode(self, beams):
        for tokens in beams:
            logits = self.speller(tokens[-1])
"""
AT_TOP = """\
import tensorflow as tf
policy = tf.keras.Sequential(
    [tf.keras.layers.Dense(2)]
)
for state in states:
    action = policy(state[None], training=False)
"""


@pytest.mark.parametrize(
    ("source", "line", "name", "said"),
    [
        (
            IN_CLASS,
            7,
            "self.speller",
            "after line 4: self.speller_compiled = tf.function(self.speller, reduce_retracing=True). In line 7 call "
            "self.speller_compiled(tokens[-1])",
        ),
        (
            AT_TOP,
            6,
            "policy",
            "after line 4: policy_compiled = tf.function(policy, reduce_retracing=True). In line 6 call "
            "policy_compiled(state[None], training=False)",
        ),
    ],
)
def test_the_line_behind_which_a_compiled_call_belongs_is_named(source: str, line: int, name: str, said: str) -> None:
    assert advise_compiling_once(make_evidence(source=source), FILE, line, name) == f"Compile {name} once, {said}"


def test_a_method_gives_way_to_a_call_of_what_is_compiled() -> None:
    source = IN_CLASS.replace("self.speller(tokens[-1])", "self.speller.predict(tokens[-1:], verbose=0)")
    said = advise_compiling_once(make_evidence(source=source), FILE, 7, "self.speller", "predict")
    assert said.startswith("Compile self.speller once, after line 4: self.speller_compiled = ")
    assert said.endswith("In line 7 call self.speller_compiled(tf.constant(tokens[-1:])).numpy()")
    assert "where it is created" in advise_compiling_once(make_evidence(source=source), FILE, 7, "self.speller")


@pytest.mark.parametrize(
    "source",
    [
        "def play(policy, states):\n    for state in states:\n        action = policy(state)\n",
        "for seed in seeds:\n    policy = make(seed)\n    action = policy(state)\n",
        "policy = one()\npolicy = other()\naction = policy(state)\n",
    ],
)
def test_of_an_argument_or_several_models_no_line_is_named(source: str) -> None:
    said = advise_compiling_once(make_evidence(source=source), FILE, 3, "policy")
    assert said.startswith("Compile policy once, where it is created, not inside the loop")


def test_what_the_function_makes_for_each_call_is_to_be_made_once() -> None:
    source = "import keras\ndef look(x):\n    part = keras.Model(m.inputs, m.outputs)\n    return part.predict(x)\n"
    said = advise_compiling_once(make_evidence(source=source), FILE, 4, "part", "predict")
    assert said.startswith("Create part once, outside the function that line 3 is in")
    looped = source.replace("    return part", "    for y in x:\n        part")
    assert "Compile part once, after line 3" in advise_compiling_once(
        make_evidence(source=looped), FILE, 5, "part", "predict"
    )
