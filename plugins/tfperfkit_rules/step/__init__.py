"""Rules about the step's surroundings: Python, fit, checkpoints and summaries."""

from __future__ import annotations

from tfperfkit.rule import LastRule, Rule
from tfperfkit_rules.step.collected_by_hand import collects
from tfperfkit_rules.step.collected_in_input import collected_in_input
from tfperfkit_rules.step.data_steps import steps_beyond_data
from tfperfkit_rules.step.epoch_ends import after_epochs
from tfperfkit_rules.step.fit_calls import one_call_a_step
from tfperfkit_rules.step.joined_steps import several_steps
from tfperfkit_rules.step.measured_again import measured_again
from tfperfkit_rules.step.on_purpose import waits
from tfperfkit_rules.step.own_validation import validated_by_hand
from tfperfkit_rules.step.periodic import every_nth
from tfperfkit_rules.step.python_between import between_steps
from tfperfkit_rules.step.python_time import hot_python
from tfperfkit_rules.step.seeds import seeded_each_step
from tfperfkit_rules.step.short_epochs import short_epochs
from tfperfkit_rules.step.side_work import hot_path
from tfperfkit_rules.step.slowing import grows_slower
from tfperfkit_rules.step.spawned_imports import imported_again
from tfperfkit_rules.step.spinning import spins
from tfperfkit_rules.step.unexplained_lines import unexplained_lines
from tfperfkit_rules.step.unexplained_parts import unexplained_parts
from tfperfkit_rules.step.whole_copies import copied_to_grow

RULES: tuple[Rule | LastRule, ...] = (
    hot_python,
    between_steps,
    hot_path,
    one_call_a_step,
    waits,
    collects,
    collected_in_input,
    after_epochs,
    steps_beyond_data,
    measured_again,
    validated_by_hand,
    short_epochs,
    grows_slower,
    every_nth,
    several_steps,
    seeded_each_step,
    copied_to_grow,
    spins,
    imported_again,
    unexplained_parts,
    unexplained_lines,
)
