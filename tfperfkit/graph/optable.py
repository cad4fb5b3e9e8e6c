"""The table of operations: one row for each operation that TensorFlow 2.16 to 2.21 registers.

Two files make a row. ``registry.tsv`` holds facts of TensorFlow's own registry; ``python -m benchmarks.optable``
writes it. ``reviewed.tsv`` holds what a user found out and wrote down; edit it to teach the tool about an operation.
An operation that the registry doesn't have (a custom one, one of another version) gets a row that says so: it is
stateful, its kind is ``unknown``, and ``varies`` is true.

The words of ``axis`` tell how elements of the result follow from the data inputs:

- ``each``: element by element; inputs are broadcast.
- ``reduced``: the axes in input 1 are reduced, all others stay apart. ``scanned``: the same, but the axis stays.
- ``within``, ``within2``: the last axis, or the last two, are worked on; all others stay apart.
- ``first``: each example along the first axis is worked on by itself.
- ``matmul``, ``batch-matmul``, ``einsum``, ``bias``, ``batch-norm``, ``reshape``, ``transpose``, ``gather``,
  ``diagonal``, ``named``: depends on attributes or on constant inputs. ``rows`` has a rule for each, and for each kind
  whose axis is ``named``.
- ``mixed``: any element may depend on any other. ``none``: the result has no axis of an input.

``flops`` is a rule for counting FLOPs. ``1*out`` and ``2*in0`` count elements of the first output or of input 0; other
words name a formula. The traits are:

- ``same``: hands its only input on as it is.
- ``shape-only``: reads the shape of its input, not the values.
- ``steady``: TensorFlow calls it stateful, but the same inputs give the same result.
- ``varies``: TensorFlow calls it stateless, but a result may differ from call to call.
- ``reads-variable``, ``writes-variable``: input 0 is a variable. ``writes-table``: it is a lookup table.
- ``scales``: multiplies by another tensor, or divides by it. ``shifts``: adds another tensor, or takes it away.
- ``adds-up``: adds numbers up, or their squares.
- ``triangular``: factorises a square matrix into triangular ones (LU, Cholesky) for its result.
- ``copies-first``: the result is input 0 with a part of it written over. ``spreads``: the result is a large tensor
  that is 0 but for the values given.
- ``makes-diagonal``: makes a matrix whose only numbers are on its diagonal. ``sets-diagonal``: writes over one.
  ``takes-diagonal``: returns one.
- ``heavy``: does the arithmetic of a network. ``batched``: multiplies stacks of matrices. ``cubic``: takes some
  operations for each number and each row of a matrix.
- ``passes``: only passes on, reads or names what is there. ``waits``: its own time is that of what it calls or awaits.
- ``instant``: does no work of its own, however long the runtime takes over it. ``moves``: copies a tensor to another
  place, or takes a part of one.
- ``eigen``, ``orthogonal``, ``inverts``, ``least-squares``, ``determinant``, ``matrix-root``, ``matrix-exponential``:
  what a decomposition is for.
- ``slow-in-xla``: XLA computes it slowly on a CPU.
- ``fusable``: XLA fuses it with operations that work element by element.
- ``joins``: joins the results of iterations: a sum, an extreme, a list.
- ``gives``: gives data to the other devices of a collective operation.

``computes`` names the function of Python's ``operator`` module, or the built-in one, that does the same with numbers.
"""

from __future__ import annotations

import math
import operator
import pkgutil
from collections.abc import Callable, Iterator
from functools import cache

import msgspec

#: The versions of TensorFlow whose registries are in the table.
FIRST_VERSION, LAST_VERSION = "2.16", "2.21"
#: The kinds of operations that draw random numbers: from TensorFlow's state, from a generator's variable, or from a
#: seed that they are given. The last make the same numbers of the same seed.
DRAWING = ("random", "generator", "seeded-random")
_BUILT_IN: dict[str, Callable[..., float]] = {
    "float": float,
    "min": min,
    "max": max,
    "round": round,
    "floor": math.floor,
    "ceil": math.ceil,
}
_ELEMENTWISE = (
    *("unary", "predicate", "binary", "ternary", "comparison", "logical", "select", "clip", "bias", "sum-of-many"),
    *("unary-grad", "fill", "fill-like"),
)
_NOTHING: frozenset[str] = frozenset()
_UNREVIEWED = ["", "unknown", "mixed", "", "", "", ""]
#: Kinds whose results follow from what they call, or from the variable that they read, although TensorFlow calls them
#: stateful. Whoever asks has to look there.
_LOOKED_INTO = frozenset({"call", "loop", "branch", "read", "variable-gather", "placeholder", "result"})


class Row(msgspec.Struct, frozen=True):
    """An operation. ``inputs`` and ``outputs`` are types as TensorFlow's registry writes them ("T", "int32", "N*T").

    ``functions``: the attributes that name functions. ``differentiates``: the operation whose gradient this kernel is,
    or "". ``since`` and ``until``: the first and last version that registers it, within the supported ones.
    """

    name: str
    kind: str = "unknown"
    axis: str = "mixed"
    flops: str = ""
    traits: frozenset[str] = _NOTHING
    differentiates: str = ""
    computes: str = ""
    stateful: bool = True
    commutative: bool = False
    functions: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    since: str = ""
    until: str = ""

    @property
    def known(self) -> bool:
        """Return whether TensorFlow's registry has the operation."""
        return bool(self.since)

    @property
    def varies(self) -> bool:
        """Return whether the same inputs may give another result in the next call.

        Calls, loops and branches vary if what they call does, and reads vary if the variable is written: ask the flow.
        """
        if self.kind in _LOOKED_INTO or "steady" in self.traits:
            return False
        return self.stateful or bool(self.functions) or "varies" in self.traits


def row(name: str) -> Row:
    """Return the row of an operation, e.g. ``row("Mul").kind == "binary"``; for an unregistered one that of an unknown
    one."""
    return _rows().get(name) or Row(name)


def plain(name: str) -> str:
    """Return the operation that a kernel computes: ``_MklNativeConv2D`` and ``_FusedMatMul`` are Conv2D and MatMul."""
    return name.removeprefix("_Mkl").removeprefix("Native").removeprefix("_").removeprefix("Fused")


def kernel(name: str) -> Row:
    """Return the row of a kernel's own name; if the table doesn't know the name, the row of the operation that the
    kernel computes.
    """
    found = row(name)
    return found if found.kind != "unknown" else row(plain(name))


def is_heavy(name: str) -> bool:
    """Return whether a kernel does the arithmetic of a network."""
    return "heavy" in kernel(name).traits


@cache
def names(
    *,
    kind: str | tuple[str, ...] = (),
    axis: str | tuple[str, ...] = (),
    trait: str = "",
    varies: bool | None = None,
    differentiates: bool | None = None,
) -> frozenset[str]:
    """Return the operations that have all of these properties, e.g. ``names(kind=("random", "generator"))``.

    ``kind`` and ``axis``: one word, or several of which one must fit. ``differentiates``: whether it is the gradient
    kernel of another operation.
    """
    kinds = {kind} if isinstance(kind, str) else set(kind)
    axes = {axis} if isinstance(axis, str) else set(axis)
    return frozenset(
        each.name
        for each in _rows().values()
        if (not kinds or each.kind in kinds)
        and (not axes or each.axis in axes)
        and (not trait or trait in each.traits)
        and (varies is None or each.varies is varies)
        and (differentiates is None or bool(each.differentiates) is differentiates)
    )


def compute(name: str, *values: float) -> float | None:
    """Compute the result of an operation on numbers; None if the table doesn't say, or the numbers don't fit (a
    division by 0).
    """
    word = row(name).computes
    function = getattr(operator, word, None) or _BUILT_IN.get(word)
    try:
        return function(*values) if function is not None else None
    except (TypeError, ArithmeticError, ValueError):
        return None


@cache
def elementwise() -> frozenset[str]:
    """Operations that work element by element, forward or in a gradient: XLA fuses them into one kernel."""
    return names(kind=_ELEMENTWISE, axis=("each", "bias", "none"))


@cache
def _rows() -> dict[str, Row]:
    reviewed = {cells[0]: cells for cells in _cells("reviewed.tsv")}
    families = [(name.split("*"), cells) for name, cells in reviewed.items() if "*" in name]
    found: dict[str, Row] = {}
    for name, since, until, flags, functions, inputs, outputs in _cells("registry.tsv"):
        cells = reviewed.get(name)
        if cells is None:
            fitting = (each for ends, each in families if name.startswith(ends[0]) and ends[1] in name)
            cells = next(fitting, _UNREVIEWED)
        _, kind, axis, flops, traits, differentiates, computes = cells
        found[name] = Row(
            name=name,
            kind=kind or "unknown",
            axis=axis or "mixed",
            flops=flops,
            traits=frozenset(traits.split()) if traits else _NOTHING,
            differentiates=differentiates,
            computes=computes,
            stateful="s" in flags,
            commutative="c" in flags,
            functions=tuple(functions.split()),
            inputs=tuple(inputs.split()),
            outputs=tuple(outputs.split()),
            since=since,
            until=until,
        )
    return found


def _cells(file: str) -> Iterator[list[str]]:
    """Yield the rows of a data file; a dash is an empty cell."""
    data = pkgutil.get_data(__package__, file) or b""
    lines = [line for line in data.decode().splitlines() if line and not line.startswith("#")]
    for line in lines[1:]:  # after the head
        yield ["" if cell == "-" else cell for cell in line.split("\t")]
