"""Rules about the input pipeline, loaders and generators."""

from __future__ import annotations

from tfperfkit.rule import Rule
from tfperfkit_rules.input.debug_mode import debug_mode
from tfperfkit_rules.input.freed import freed
from tfperfkit_rules.input.late_filter import filtered_late
from tfperfkit_rules.input.late_skip import skipped_late
from tfperfkit_rules.input.opened_again import opened_again
from tfperfkit_rules.input.python_batches import python_beside, python_input
from tfperfkit_rules.input.rebuilt import constant_data, made_in_loop
from tfperfkit_rules.input.reloading import constant_values, reloads
from tfperfkit_rules.input.sequential_stages import parsed_in_a_call, per_example, sequential
from tfperfkit_rules.input.shuffled_late import shuffled_late
from tfperfkit_rules.input.single_elements import one_by_one
from tfperfkit_rules.input.stage_order import large_buffer, late_prefetch, order, repeated
from tfperfkit_rules.input.waiting import no_prefetch, waits
from tfperfkit_rules.input.windows import windows_in_a_call, windows_one_by_one

RULES: tuple[Rule, ...] = (
    reloads,
    constant_values,
    made_in_loop,
    constant_data,
    repeated,
    late_prefetch,
    shuffled_late,
    order,
    filtered_late,
    skipped_late,
    large_buffer,
    opened_again,
    debug_mode,
    python_input,
    python_beside,
    per_example,
    windows_one_by_one,
    windows_in_a_call,
    parsed_in_a_call,
    one_by_one,
    sequential,
    no_prefetch,
    waits,
    freed,
)
