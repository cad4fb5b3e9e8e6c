"""Names for kinds of expressions, and signs for operators."""

from __future__ import annotations

import ast

from tfperfkit.syntax.nodes import COMPREHENSIONS

KINDS: dict[type[ast.expr], str] = {
    ast.Name: "name",
    ast.Attribute: "attribute",
    ast.Subscript: "subscript",
    ast.Slice: "slice",
    ast.Call: "call",
    ast.Constant: "constant",
    ast.List: "list",
    ast.Tuple: "tuple",
    ast.Set: "set",
    ast.Dict: "dict",
    ast.BinOp: "operation",
    ast.UnaryOp: "operation",
    ast.Compare: "comparison",
    ast.IfExp: "if",
    ast.Lambda: "lambda",
    ast.Starred: "starred",
    ast.Yield: "yield",
    ast.YieldFrom: "yield",
    **dict.fromkeys(COMPREHENSIONS, "comprehension"),
}
OPERATORS: dict[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.MatMult: "@",
    ast.BitOr: "|",
    ast.USub: "-",
    ast.In: "in",
    ast.NotIn: "not in",
}
