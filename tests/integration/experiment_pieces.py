"""The beginning of programs that try experiments in one process: a trial that counts, and results with and without."""

from __future__ import annotations

BEGIN = """
import keras, numpy as np, tensorflow as tf
from tfperfkit.records.trials import parse_change
from tfperfkit.registry import load_experiment

def changing(text):  # NAME:TARGET=VALUE -> what makes the change in a trial
    change = parse_change(text)
    return lambda trial: load_experiment(change.experiment).install(trial, change)

def decorating(text):
    change = parse_change(text)
    return lambda trial, function: load_experiment(change.experiment).decorate(trial, change, function)

class Trial:
    def __init__(self): self.count, self.reason = 0, ""
    def when_keras(self, callback): callback()
    def is_user_code(self, filename): return filename == __file__
    def applied(self): self.count += 1
    def refuse(self, reason): self.reason = reason

rng = np.random.default_rng(0)

def both(install, compute, again=False, refuses=False):
    trial = Trial()
    plain = compute()
    with install(trial):
        assert trial.reason or not refuses
        changed = compute()
    if again:  # all is taken back
        tf.nest.map_structure(np.testing.assert_array_equal, plain, compute())
    return plain, changed, trial.count

def same(one, two): tf.nest.map_structure(np.testing.assert_array_equal, one, two)
def near(one, two): tf.nest.map_structure(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5), one, two)
"""
