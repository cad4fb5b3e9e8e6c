"""Rules about steps and loops that Python drives operation by operation."""

from __future__ import annotations

from tfperfkit.evidence import Rule
from tfperfkit_rules.eager_calls import model_called, predict_in_loop
from tfperfkit_rules.eager_fit import fit_in_loop
from tfperfkit_rules.eager_loops import python_loop
from tfperfkit_rules.eager_numpy import numpy_inside
from tfperfkit_rules.eager_step import eager_step
from tfperfkit_rules.eager_switch import left_eager
from tfperfkit_rules.eager_weights import weights_through_numpy

RULES: tuple[Rule, ...] = (
    eager_step, numpy_inside, left_eager, python_loop, predict_in_loop, model_called, fit_in_loop,
    weights_through_numpy,
)
