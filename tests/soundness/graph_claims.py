"""Checks what analysis claims of a graph's tensors by running the graph."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from graph_programs import SHORT, Program, Traced
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
    """Check all claims about the programs of these seeds, each traced by itself and ``LENGTH`` operations long."""
    tally = Tally()
    with _unoptimized():
        for seed in seeds:
            tally.add(_check([Program(seed)])[0])
    return tally


def check_together(seeds: Sequence[int]) -> list[Tally]:
    """Check programs of 2 to ``SHORT`` operations that are traced as one function; return the counts of each."""
    programs = [Program(seed, random.Random(f"length of {seed}").randint(2, SHORT)) for seed in seeds]
    with _unoptimized():
        return _check(programs)


def _check(programs: Sequence[Program]) -> list[Tally]:
    """Check programs as one function; each by itself if that raises."""
    traced = Traced(programs)
    if traced.can_run:
        tallies = [Tally(programs=1) for _ in programs]
        for check in (_check_same, _check_rows, _check_used):
            check(traced, tallies)
        return tallies
    if len(programs) == 1:
        return [Tally(failed=1)]
    return [tally for each in programs for tally in _check([Program(each.seed, each.length)])]


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


def _check_same(traced: Traced, tallies: Sequence[Tally]) -> None:
    """Call with other arguments, also with one argument kept, and compare."""
    flow = Flow(traced.view)
    never_change = set(traced.graph.record.captures) - traced.assigned
    for kept in (None, 0):
        arguments, same = traced.arguments(1), set(never_change)
        if kept is not None:
            arguments[kept::3] = traced.given[kept::3]
            same.update(traced.names(kept))
        one, other = traced.made, traced.run(arguments)
        states = flow.same(same).states
        for number, (program, owner) in enumerate(traced.results):
            holds = _equal(one[number], other[number])
            if tallies[program].count(SAME, states.get(owner, False), holds):
                words = f"{_words(traced, program)}: {owner} is the same with argument {kept} kept"
                tallies[program].examples.append(words)


def _words(traced: Traced, program: int) -> str:
    """Return the words that name a program: its seed, and the programs that are traced with it."""
    return f"seed {traced.programs[program].seed} (of {len(traced.programs)} from {traced.seed} on)"


def _check_rows(traced: Traced, tallies: Sequence[Tally]) -> None:
    """Change one row of an argument at a time, and exchange rows."""
    seed, given = traced.seed, traced.given
    base, twice = traced.made, traced.made_again
    for at, axis in ((0, 0), ((0, 1), (1, 0))[seed % 2]):
        rows = given[at].shape[axis]
        states = Flow(traced.view).rows({(name, 0): axis for name in traced.names(at)}).states
        calls = [traced.run(_change_row(given, at, axis, row, seed)) for row in range(rows)]
        order = np.roll(np.arange(rows), 1)
        exchanged = traced.run(
            [np.take(each, order, axis) if number % 3 == at else each for number, each in enumerate(given)]
        )
        for number, (program, owner) in enumerate(traced.results):
            state = states.get(owner, Rows(mixed=True))
            values, varies = [call[number] for call in calls], not _equal(base[number], twice[number])
            found = None if varies else next(_axes_of_rows(base[number], values, rows), None)
            claimed = not state.mixed
            holds = found is not None if not claimed else not varies and _holds(state, base[number], values, rows)
            if claimed and holds and state.follows and state.uniform:
                holds = _equal(_reordered(base[number], order, state.axis or 0), exchanged[number])
            if tallies[program].count(ROWS, claimed, holds):
                words = f"{_words(traced, program)}: {owner} by axis {axis} of argument {at}: {state}"
                tallies[program].examples.append(words)


def _change_row(given: list[Any], at: int, axis: int, row: int, seed: int) -> list[Any]:
    """Return the arguments with another row in one argument of each program."""
    shape = given[at].shape
    where = (np.arange(shape[axis]) == row).reshape([-1 if each == axis else 1 for each in range(len(shape))])
    other = np.random.default_rng(seed + row).uniform(-2, 2, shape).astype("float32")
    return [np.where(where, other, each) if number % 3 == at else each for number, each in enumerate(given)]


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


def _check_used(traced: Traced, tallies: Sequence[Tally]) -> None:
    """Change the elements of an argument that are said not to be used."""
    for at in (0, 1):
        nodes = [traced.graph.nodes[name] for name in traced.names(at)]
        for axis, length in enumerate(traced.given[at].shape):
            used = [used_at_one_end(traced.view, node, length, axis) for node in nodes]
            counts = {program: each.count for program, each in enumerate(used) if each is not None}
            holds = _find_unchanged(traced, at, axis, counts)
            for program, count in counts.items():
                if tallies[program].count(USED, True, program in holds):
                    words = f"{_words(traced, program)}: {count} of axis {axis} of argument {at} are used"
                    tallies[program].examples.append(words)


def _find_unchanged(traced: Traced, at: int, axis: int, counts: dict[int, int]) -> set[int]:
    """Return the programs whose results stay as they are when all but this many places at one end change.

    Results that change by themselves don't count.
    """
    length = traced.given[at].shape[axis]
    last = _find_changed(traced, at, axis, {program: range(count, length) for program, count in counts.items()})
    first = _find_changed(traced, at, axis, {program: range(length - counts[program]) for program in last})
    for _ in range(_CALLS):  # a shuffle may leave few rows as they are, several times
        doubtful = [program for program in first if last[program] and first[program]]
        if not doubtful:
            break
        again = traced.run(traced.given)
        for program in doubtful:
            for results in (last[program], first[program]):
                results -= {number for number in results if not _equal(again[number], traced.made[number])}
    return {program for program in counts if not (last.get(program) and first.get(program))}


def _find_changed(traced: Traced, at: int, axis: int, places: dict[int, range]) -> dict[int, set[int]]:
    """Return the results of each program that change when these places of an argument change."""
    if not places:
        return {}
    arguments = list(traced.given)
    for program, each in places.items():
        arguments[3 * program + at] = other = traced.given[3 * program + at].copy()
        np.moveaxis(other, axis, 0)[list(each)] += 1.5
    made, results = traced.run(arguments), defaultdict[int, set[int]](set)
    for number, (program, _) in enumerate(traced.results):
        values = made[number], traced.made[number], traced.made_again[number]
        if program in places and not _equal(values[0], values[1]) and _equal(values[1], values[2]):
            results[program].add(number)
    return dict(results)
