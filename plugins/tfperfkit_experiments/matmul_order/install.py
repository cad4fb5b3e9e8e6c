"""Products of matrices of which one is a product itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import caller, module, seams


class Factor(NamedTuple):
    """A matrix, and whether it is taken transposed."""

    matrix: Any
    turned: bool

    @property
    def sizes(self) -> tuple[int | None, int | None]:
        rows, columns = self.matrix.shape.as_list()
        return (columns, rows) if self.turned else (rows, columns)

    def other_way(self) -> Factor:
        """Transposed."""
        return Factor(self.matrix, not self.turned)


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """In graphs, where the first product is not computed unless something else asks for it. Gradients follow."""
    tensorflow: Any = module("tensorflow")
    products: dict[Any, tuple[Factor, Factor]] = {}
    trial.refuse(
        "no compiled function multiplies a product of two matrices, of known sizes, where another order is cheaper"
    )

    def multiplying(original: Callable[..., Any]) -> Callable[..., Any]:
        def times(left: Factor, right: Factor) -> Any:
            result = original(left.matrix, right.matrix, transpose_a=left.turned, transpose_b=right.turned)
            products[result.ref()] = left, right
            return result

        def factors(factor: Factor) -> tuple[Factor, Factor] | None:
            known = products.get(factor.matrix.ref())
            if known is None or not factor.turned:
                return known
            return known[1].other_way(), known[0].other_way()

        def mat_mul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, **named: Any) -> Any:
            backwards = caller().f_code.co_filename.endswith("math_grad.py")
            if backwards or not _matrix(tensorflow, a) or not _matrix(tensorflow, b):
                return original(a, b, transpose_a=transpose_a, transpose_b=transpose_b, **named)
            left, right = Factor(a, bool(transpose_a)), Factor(b, bool(transpose_b))
            first, second = factors(left), factors(right)
            if first and _cheaper(first[0], first[1], right):  # (1 2) 3 becomes 1 (2 3)
                trial.applied()
                return times(first[0], Factor(times(first[1], right), False))
            if second and _cheaper(*(item.other_way() for item in (second[1], second[0], left))):
                trial.applied()
                return times(Factor(times(left, second[0]), False), second[1])
            return times(left, right)

        return mat_mul

    with seams() as made:
        made.replace(module("tensorflow.python.ops.gen_math_ops"), "mat_mul", multiplying)
        yield


def _matrix(tensorflow: Any, value: Any) -> bool:
    return not tensorflow.executing_eagerly() and tensorflow.is_tensor(value) and value.shape.rank == 2


def _cheaper(one: Factor, two: Factor, three: Factor) -> bool:
    """Whether 1 (2 3) needs fewer multiplications than (1 2) 3."""
    (rows, inner), (_, columns), (_, last) = one.sizes, two.sizes, three.sizes
    if rows is None or inner is None or columns is None or last is None:
        return False
    return inner * columns * last + rows * inner * last < rows * inner * columns + rows * columns * last
