"""``matmul-order``: computes a product of three matrices in the order that needs fewer multiplications."""

from __future__ import annotations

from typing import Any, NamedTuple

from tfperfkit.experiment import Change
from tfperfkit.remedy import ReplaceOps
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import Seams


class MatmulOrder(Base):
    """Applies inside compiled functions, to matrices of known sizes.

    There the first product is not computed unless something else needs it. Gradients follow.
    """

    name = "matmul-order"
    keeps = "mathematics"
    remedies = (ReplaceOps("order"),)

    def apply(self, seams: Seams, change: Change) -> None:
        """Change matmuls of which one factor is a matmul itself."""
        tensorflow = seams.tensorflow
        products: dict[Any, tuple[_Factor, _Factor]] = {}
        seams.refuse(
            "no compiled function multiplies a product of two matrices, of known sizes, where another order is cheaper"
        )

        def factors(factor: _Factor) -> tuple[_Factor, _Factor] | None:
            known = products.get(factor.matrix.ref())
            if known is None or not factor.transposed:
                return known
            return known[1].transpose(), known[0].transpose()

        def mat_mul(
            original: Any, a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, **named: Any
        ) -> Any:
            def times(left: _Factor, right: _Factor) -> Any:
                result = original(left.matrix, right.matrix, transpose_a=left.transposed, transpose_b=right.transposed)
                products[result.ref()] = left, right
                return result

            backwards = seams.caller().f_code.co_filename.endswith("math_grad.py")
            if backwards or not _is_matrix(tensorflow, a) or not _is_matrix(tensorflow, b):
                return original(a, b, transpose_a=transpose_a, transpose_b=transpose_b, **named)
            left, right = _Factor(a, bool(transpose_a)), _Factor(b, bool(transpose_b))
            first, second = factors(left), factors(right)
            if first and _is_cheaper(first[0], first[1], right):  # (1 2) 3 becomes 1 (2 3)
                seams.applied()
                return times(first[0], _Factor(times(first[1], right), False))
            if second and _is_cheaper(*(item.transpose() for item in (second[1], second[0], left))):
                seams.applied()
                return times(_Factor(times(left, second[0]), False), second[1])
            return times(left, right)

        seams.replace("tensorflow.python.ops.gen_math_ops", "mat_mul", mat_mul)


class _Factor(NamedTuple):
    """A matrix, and whether it is transposed in the product."""

    matrix: Any
    transposed: bool

    @property
    def sizes(self) -> tuple[int | None, int | None]:
        rows, columns = self.matrix.shape.as_list()
        return (columns, rows) if self.transposed else (rows, columns)

    def transpose(self) -> _Factor:
        return _Factor(self.matrix, not self.transposed)


def _is_matrix(tensorflow: Any, value: Any) -> bool:
    return not tensorflow.executing_eagerly() and tensorflow.is_tensor(value) and value.shape.rank == 2


def _is_cheaper(one: _Factor, two: _Factor, three: _Factor) -> bool:
    """Whether 1 (2 3) needs fewer multiplications than (1 2) 3."""
    (rows, inner), (_, columns), (_, last) = one.sizes, two.sizes, three.sizes
    if rows is None or inner is None or columns is None or last is None:
        return False
    return inner * columns * last + rows * inner * last < rows * inner * columns + rows * columns * last
