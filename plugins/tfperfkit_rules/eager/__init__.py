"""Rules about steps and loops that Python drives operation by operation."""

from __future__ import annotations

from tfperfkit.rule import Rule
from tfperfkit_rules.eager.adapting import adapted
from tfperfkit_rules.eager.asked_again import same_again
from tfperfkit_rules.eager.by_batch import trained_by_batch
from tfperfkit_rules.eager.direct_calls import model_called
from tfperfkit_rules.eager.elements import elements_one_by_one, maps_called_eagerly
from tfperfkit_rules.eager.finite_differences import finite_differences
from tfperfkit_rules.eager.many_fits import fit_in_loop
from tfperfkit_rules.eager.model_calls import predict_in_loop
from tfperfkit_rules.eager.numpy_in_step import numpy_inside
from tfperfkit_rules.eager.passes_again import same_pass
from tfperfkit_rules.eager.python_lists import made_of_lists
from tfperfkit_rules.eager.python_loops import python_loop
from tfperfkit_rules.eager.remade import models_made_again
from tfperfkit_rules.eager.remade_sessions import sessions_made_again
from tfperfkit_rules.eager.small_batches import batches_too_small
from tfperfkit_rules.eager.small_calls import called_for_little
from tfperfkit_rules.eager.step import eager_step
from tfperfkit_rules.eager.switch import left_eager
from tfperfkit_rules.eager.weight_copies import weights_through_numpy
from tfperfkit_rules.eager.work import eager_work

RULES: tuple[Rule, ...] = (
    eager_step,
    numpy_inside,
    left_eager,
    python_loop,
    predict_in_loop,
    same_again,
    same_pass,
    model_called,
    fit_in_loop,
    trained_by_batch,
    weights_through_numpy,
    eager_work,
    maps_called_eagerly,
    elements_one_by_one,
    models_made_again,
    sessions_made_again,
    batches_too_small,
    called_for_little,
    adapted,
    made_of_lists,
    finite_differences,
)
