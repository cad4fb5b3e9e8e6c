"""Checks what analysis claims of a graph's tensors by running the graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from graph_programs import Program
from late_tensorflow import tf
from tally import Tally

from tfperfkit.graph.flow import Flow
from tfperfkit.graph.rows import Rows
from tfperfkit.graph.uses import used_at_one_end

#: Equal numbers may differ by this much: products are divided among threads by the sizes of all.
_TOLERANCE = 1e-3
#: Calls with equal arguments, to see whether a result draws at random.
_CALLS = 40


#: The kinds of claims.
SAME, ROWS, USED = "the same in every call", "a row of one row", "not used"


def check_claims(seeds: Iterable[int]) -> Tally:
    """Check all claims about the programs of these seeds."""
    tally = Tally()
    with _unoptimized():
        for program in map(Program, seeds):
            if program.can_run:
                tally.programs += 1
                for check in (_check_same, _check_rows, _check_used):
                    check(program, tally)
            else:
                tally.failed += 1
    return tally


@contextmanager
def _unoptimized() -> Iterator[None]:
    """Run graphs as they are: to optimize one takes longer than to run it, and does not change what is claimed."""
    options = tf.config.optimizer.get_experimental_options()
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    try:
        yield
    finally:
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False, **options})


def _equal(one: Any, other: Any) -> bool:
    if one.shape != other.shape:
        return False
    return np.array_equal(one, other) or bool(np.allclose(one, other, _TOLERANCE, _TOLERANCE, equal_nan=True))


def _check_same(program: Program, tally: Tally) -> None:
    """Call with other arguments, also with one argument kept, and compare."""
    flow, record = Flow(program.view), program.graph.record
    never_change = set(record.captures) - program.assigned
    for kept in (None, 0):
        arguments = program.arguments(program.seed + 1)
        if kept is not None:
            arguments[kept] = program.given[kept]
        one, other = program.made, program.run(arguments)
        states = flow.same(never_change | ({record.arguments[kept]} if kept is not None else set())).states
        for number, owner in enumerate(program.results):
            holds = _equal(one[number], other[number])
            if tally.count(SAME, states.get(owner, False), holds):
                tally.examples.append(f"seed {program.seed}: {owner} is the same with argument {kept} kept")


def _check_rows(program: Program, tally: Tally) -> None:
    """Change one row of an argument at a time, and exchange rows."""
    record, seed, arguments = program.graph.record, program.seed, program.given
    base, twice = program.made, program.made_again
    for at, axis in ((0, 0), ((0, 1), (1, 0))[seed % 2]):
        name = record.arguments[at]
        rows = arguments[at].shape[axis]
        states = Flow(program.view).rows({(name, 0): axis}).states
        changed = [_with_row(arguments, at, axis, row, seed) for row in range(rows)]
        calls = [program.run(each) for each in changed]
        order = np.roll(np.arange(rows), 1)
        exchanged = program.run(
            [np.take(each, order, axis) if number == at else each for number, each in enumerate(arguments)]
        )
        for number, owner in enumerate(program.results):
            state = states.get(owner, Rows(mixed=True))
            values, varies = [call[number] for call in calls], not _equal(base[number], twice[number])
            found = None if varies else next(_axes_of_rows(base[number], values, rows), None)
            claimed = not state.mixed
            holds = found is not None if not claimed else not varies and _holds(state, base[number], values, rows)
            if claimed and holds and state.follows and state.uniform:
                holds = _equal(_reordered(base[number], order, state.axis or 0), exchanged[number])
            if tally.count(ROWS, claimed, holds):
                tally.examples.append(f"seed {seed}: {owner} by axis {axis} of {name}: {state}")


def _with_row(arguments: list[Any], at: int, axis: int, row: int, seed: int) -> list[Any]:
    """The arguments with another row."""
    other = np.random.default_rng(seed + row).uniform(-2, 2, arguments[at].shape).astype("float32")
    where = np.arange(arguments[at].shape[axis]).reshape([-1 if each == axis else 1 for each in range(other.ndim)])
    return [np.where(where == row, other, each) if number == at else each for number, each in enumerate(arguments)]


def _holds(state: Rows, base: Any, values: list[Any], rows: int) -> bool:
    """Whether nothing has changed but what belongs to the row."""
    if state.axis is None:
        return all(_equal(base, value) for value in values)
    if state.lists or state.axis >= base.ndim or (state.block and base.shape[state.axis] != rows * state.block):
        return False
    return state.axis in _axes_of_rows(base, values, rows)


def _axes_of_rows(base: Any, values: list[Any], rows: int) -> Iterator[int]:
    """The axes along which a change of row i changed nothing beyond the i-th part; all where nothing changed."""
    for axis in range(base.ndim):
        if base.shape[axis] % rows or not base.shape[axis]:
            continue
        parts = [np.split(each, rows, axis) for each in (base, *values)]
        if all(
            _equal(parts[0][other], parts[1 + row][other])
            for row in range(rows)
            for other in range(rows)
            if other != row
        ):
            yield axis


def _reordered(base: Any, order: Any, axis: int) -> Any:
    parts = np.split(base, len(order), axis)
    return np.concatenate([parts[at] for at in order], axis)


def _check_used(program: Program, tally: Tally) -> None:
    """Change the elements of an argument that are said not to be used."""
    for at in (0, 1):
        node = program.graph.nodes[program.graph.record.arguments[at]]
        for axis, length in enumerate(program.given[at].shape):
            used = used_at_one_end(program.view, node, length, axis)
            if used is None:
                continue
            ends = (range(used.count, length), range(length - used.count))
            same = any(_unchanged(program, at, axis, end) for end in ends)
            if tally.count(USED, True, same):
                words = f"{used.count} of axis {axis} of {node.name} are used"
                tally.examples.append(f"seed {program.seed}: {words}")


def _unchanged(program: Program, at: int, axis: int, places: range) -> bool:
    """Whether what does not change by itself stays as it is when these places of an argument change."""
    other = program.given[at].copy()
    np.moveaxis(other, axis, 0)[list(places)] += 1.5
    made = program.run([other if number == at else each for number, each in enumerate(program.given)])
    changed = {number for number, each in enumerate(made) if not _equal(each, program.made[number])}
    for _ in range(_CALLS):  # a shuffle may leave few rows as they are, several times
        if changed:
            again = program.run(program.given)
            changed = {number for number in changed if _equal(again[number], program.made[number])}
    return not changed
