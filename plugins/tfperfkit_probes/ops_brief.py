"""Every concrete function in short, so that a rule can look beyond those that the report shows."""

from __future__ import annotations

from collections.abc import Mapping

from tfperfkit_probes.ops_model import Brief, Function

#: Types that work number by number (forward and gradient): what XLA fuses into one kernel.
ELEMENTWISE = frozenset({
    "Add", "AddV2", "Sub", "Mul", "Div", "RealDiv", "DivNoNan", "Maximum", "Minimum", "Neg", "Exp", "Log", "Log1p",
    "Expm1", "Sqrt", "Rsqrt", "Square", "SquaredDifference", "Pow", "Tanh", "Sigmoid", "Relu", "Relu6", "LeakyRelu",
    "Elu", "Selu", "Softplus", "Softsign", "Erf", "Abs", "Sign", "Sin", "Cos", "Select", "SelectV2", "Greater",
    "GreaterEqual", "Less", "LessEqual", "Equal", "NotEqual", "LogicalAnd", "LogicalOr", "LogicalNot", "Cast", "AddN",
    "TanhGrad", "SigmoidGrad", "ReluGrad", "LeakyReluGrad", "EluGrad", "SeluGrad", "SoftplusGrad", "RsqrtGrad",
    "SqrtGrad", "Reciprocal", "ReciprocalGrad", "Floor", "FloorMod", "Round", "ClipByValue", "BiasAdd", "ZerosLike",
    "OnesLike", "Fill", "_FusedBatchNormEx", "Xdivy", "Xlogy", "Atan", "Tan", "Inv", "InvGrad",
})
#: Parts of the names of types that do the arithmetic of a network.
HEAVY = ("Conv", "MatMul", "Einsum", "Cudnn", "LSTM", "GRU", "FFT", "Svd", "Cholesky", "Qr", "SelfAdjointEig")


def brief(function: Function) -> Brief:
    """The function in short."""
    ops: Mapping[str, int] = function.ops_optimized or function.ops
    return Brief(
        function=function.function, file=function.file, line=function.line, owner=function.owner, graph=function.graph,
        operations=function.operations, flops=function.flops, flops_note=function.flops_note,
        moved_bytes=function.moved_bytes, first_execution_ms=function.first_execution_ms, trace_ms=function.trace_ms,
        jit_compile=function.jit_compile,
        elementwise=sum(count for kind, count in ops.items() if kind in ELEMENTWISE),
        heavy=sum(count for kind, count in ops.items() if is_heavy(kind)),
        float64_flops_share=function.float64_flops_share,
        half_flops_share=function.half_flops / function.flops if function.flops else None,
        python_calls=sum(each.ops for each in function.python_calls), control=len(function.control),
    )


def is_heavy(kind: str) -> bool:
    """Whether operations of this type do the arithmetic of a network."""
    return any(part in kind for part in HEAVY)
