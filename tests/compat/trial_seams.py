"""Runs in a process with TensorFlow: takes away, one by one, each seam that an experiment replaces. Writes JSON.

The seams are those that the experiments ask for when all is there, so a new experiment is covered by itself. For each
it prints the experiment's answer, and the parts of TensorFlow that differ afterwards.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import keras  # noqa: F401
import tensorflow as tf

from tfperfkit import registry
from tfperfkit.errors import Unavailable
from tfperfkit.instruments.changes import replaced, results
from tfperfkit.instruments.hooks.interrupts import words_of
from tfperfkit.records.trials import parse_change

#: One of each, as it is typed.
TYPED: dict[str, str] = json.loads(sys.argv[1])


class Trial:
    """The answer of a change; a failure in a callback is a refusal, as in a real trial."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def when_keras(self, callback: Any) -> None:
        try:
            callback()
        except Unavailable as reason:
            self.said.append(str(reason))

    def is_user_code(self, filename: str) -> bool:
        return False

    def applied(self) -> None:
        pass

    def refuse(self, reason: str) -> None:
        pass  # what is said in advance, of scripts


def installed(name: str) -> Trial:
    """The change made and taken back."""
    trial = Trial()
    try:
        with registry.load_experiment(name).install(trial, parse_change(TYPED[name])):
            pass
    except Unavailable as reason:
        trial.said.append(str(reason))
    except Exception as error:  # as a real trial does
        trial.said.append(f"it failed: {words_of(error)}")
    return trial


def seams_of(name: str) -> list[tuple[Any, str]]:
    """Return the seams that it replaces if all exist."""
    asked: list[tuple[Any, str]] = []
    original = replaced.replace

    def noting(owner: Any, attribute: str, make: Any) -> Any:
        asked.append((owner, attribute))
        return original(owner, attribute, make)

    replaced.replace = noting
    try:
        trial = installed(name)
    finally:
        replaced.replace = original
    assert not trial.said, (name, trial.said)
    return asked


def main() -> None:
    rows = []
    table = {name: seams_of(name) for name in TYPED}
    every = {(owner, attribute): vars(owner)[attribute] for seams in table.values() for owner, attribute in seams}
    for name, seams in table.items():
        for owner, attribute in seams:
            for how in ("absent", "compiled"):
                kept = vars(owner)[attribute]
                if how == "absent":
                    delattr(owner, attribute)
                else:
                    setattr(owner, attribute, len)
                trial = installed(name)
                changed = [
                    f"{each.__name__}.{word}"
                    for (each, word), before in every.items()
                    if (each, word) != (owner, attribute) and vars(each).get(word) is not before
                ]
                setattr(owner, attribute, kept)
                rows.append(
                    {
                        "experiment": name,
                        "seam": f"{owner.__name__}.{attribute}",
                        "how": how,
                        "said": trial.said,
                        "changed": changed,
                    }
                )
    context = sys.modules["tensorflow.python.eager.context"]
    set_seed, context.set_global_seed = context.set_global_seed, None
    results.seed()
    context.set_global_seed = set_seed
    variables = sys.modules["tensorflow.python.ops.resource_variable_ops"]
    held, kind = tf.Variable(1.0), variables.BaseResourceVariable
    assert held.trainable and results.keep_weights(Path("weights.npy"))
    assert results.nudge_weights(1) and abs(float(held) - 1.0) < 2e-6
    del variables.BaseResourceVariable
    digest = results.keep_weights(Path("weights.npy"))
    variables.BaseResourceVariable = kind
    callbacks = sys.modules["keras.src.callbacks.callback_list"].CallbackList
    callbacks.on_train_batch_end = len
    losses = results.Losses()
    losses.install()
    losses.restore()
    print(json.dumps({"rows": rows, "digest": digest, "losses": losses.values()}))


main()
