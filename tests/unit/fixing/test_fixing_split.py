"""Steps that are compiled from the tape to the update: where they are left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixing_builder import at, finding_at, patch_of, refusal_of

from tfperfkit.remedy import Compile

SOURCE = """\
import numpy as np
import tensorflow as tf


class Trainer:
    def __init__(self, rng):
        self.rng = np.random.default_rng(3)

    def step(self, x):  # here
        for name in range(3):
            with tf.GradientTape() as tape:
                loss = self.forward(x)
            self.optimizer.minimize(loss, self.weights, tape=tape)
        return float(loss)

    def forward(self, x):
        noise = self.rng.normal(size=3)
        guess = self.net(x + noise)
        return tf.reduce_mean(guess)
"""


def patched(folder: Path, source: str) -> tuple[str, str]:
    """The reasons, and the file after the patch."""
    finding = finding_at("EAG001", *((line, "step") for line in at(source)), remedy=Compile("step"))
    patch, after = patch_of(folder, source, finding)
    return (refusal_of(patch, after, source) if after == source else patch.reason), after


def test_arrays_are_drawn_before_the_compiled_function(tmp_path: Path) -> None:
    reason, after = patched(tmp_path, SOURCE)
    assert reason == ""
    assert "            noise = self._draw_forward()\n            loss = self._compiled_step(x, noise)\n" in after
    assert "    @tf.function\n    def _compiled_step(self, x, noise):\n" in after
    assert "    def _draw_forward(self):\n        noise = self.rng.normal(size=3)\n        return noise\n" in after
    assert "    def forward(self, x, noise):\n        guess = self.net(x + noise)\n" in after


@pytest.mark.parametrize(
    "old, new, why",
    [
        ("self.rng.normal(size=3)", "self.rng.normal(size=x.shape)", "calls"),
        ("        return tf.reduce", "        print(guess)\n        return tf.reduce", "print()"),
        ("        return tf.reduce_mean(guess)", "        return np.mean(guess.numpy() * 2)", "numpy"),
        ("self.forward(x)", "self.forward(x + name)", "counts"),
        ("        return float(loss)", "        return float(loss), tape", "tape is used"),
        ("    def step(self, x):", "    @timed\n    def step(self, x):", "decorated"),
        ("self.optimizer.minimize(loss, self.weights, tape=tape)", "self.save(loss)", "no update"),
        (
            "    def forward",
            "    def other(self):\n        return self.forward(3)\n\n    def forward",
            "several places",
        ),
    ],
)
def test_a_step_that_would_differ_stays(tmp_path: Path, old: str, new: str, why: str) -> None:
    source = SOURCE.replace(old, new)
    assert source != SOURCE
    reason, after = patched(tmp_path, source)
    assert after == source and any(word in reason for word in why.split("|")), reason


def test_a_generator_of_the_file_is_not_drawn_from_once_for_each_trace(tmp_path: Path) -> None:
    source = (
        "import numpy as np\nimport tensorflow as tf\n\nrng = np.random.default_rng(3)\n\n\n"
        "def step(x):  # here\n    return tf.square(x) + rng.normal()\n"
    )
    reason, after = patched(tmp_path, source)
    assert after == source and "draws from rng" in reason
