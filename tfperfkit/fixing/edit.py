"""Edits of a syntax tree: which node, and its replacement; and those that several fixers make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import libcst as cst


class NoFix(Exception):
    """Why a finding has no mechanical fix here: ``str`` goes on after "no patch: "."""


@dataclass(frozen=True)
class Edit:
    """``change`` gets the node as edits below it left it, and gives what takes its place."""

    file: str
    node: cst.CSTNode
    change: Callable[[Any], Any]


class _Apply(cst.CSTTransformer):  # type: ignore[misc]
    def __init__(self, edits: Sequence[Edit]) -> None:
        super().__init__()
        self._edits = edits

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        result = super().on_leave(original_node, updated_node)
        for edit in self._edits:
            if edit.node is original_node and isinstance(result, cst.CSTNode):
                result = edit.change(result)
        return result


def applied(tree: cst.Module, edits: Sequence[Edit]) -> bytes:
    """Return the file after the edits."""
    content: bytes = tree.visit(_Apply(edits)).bytes
    return content


def argument(call: cst.Call, name: str) -> cst.Arg | None:
    """Return a keyword argument of a call."""
    return next((item for item in call.args if item.keyword is not None and item.keyword.value == name), None)


def keyword(file: str, call: cst.Call, name: str, value: cst.BaseExpression) -> Edit:
    """Add a keyword argument, laid out as those that are there; raises NoFix where a ``**`` may hold it already."""
    if any(item.star == "**" for item in call.args):
        raise NoFix(f"the call takes ** arguments, which may hold {name} already")
    return Edit(file, call, lambda node: _with_keyword(node, name, value))


def _with_keyword(call: cst.Call, name: str, value: cst.BaseExpression) -> cst.Call:
    if argument(call, name) is not None:
        return call
    new = cst.Arg(
        value, keyword=cst.Name(name), equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    )
    if not call.args:
        return call.with_changes(args=[new])
    *before, last = call.args
    between = _space_between(call)
    if isinstance(last.comma, cst.Comma):  # a trailing comma: the new argument gets one, too
        after = last.comma.whitespace_after
        new = new.with_changes(comma=last.comma.with_changes(whitespace_after=_bare(after)))
    else:
        after = last.whitespace_after_arg
        new = new.with_changes(whitespace_after_arg=_bare(after))
    last = last.with_changes(
        comma=cst.Comma(whitespace_after=_with_comment(between, after)), whitespace_after_arg=cst.SimpleWhitespace("")
    )
    return call.with_changes(args=[*before, last, new])


def _space_between(call: cst.Call) -> cst.BaseParenthesizableWhitespace:
    """Return the space between two arguments of a call, without comments."""
    if len(call.args) > 1 and isinstance(call.args[-2].comma, cst.Comma):
        return _bare(call.args[-2].comma.whitespace_after)
    bare = _bare(call.whitespace_before_args)
    return bare if isinstance(bare, cst.ParenthesizedWhitespace) else cst.SimpleWhitespace(" ")


def _bare(space: cst.BaseParenthesizableWhitespace) -> cst.BaseParenthesizableWhitespace:
    if isinstance(space, cst.ParenthesizedWhitespace):
        return space.with_changes(
            first_line=space.first_line.with_changes(comment=None, whitespace=cst.SimpleWhitespace("")), empty_lines=()
        )
    return space


def _with_comment(
    space: cst.BaseParenthesizableWhitespace, other: cst.BaseParenthesizableWhitespace
) -> cst.BaseParenthesizableWhitespace:
    """The comments of ``other`` stay behind the argument that they stood behind."""
    if not isinstance(other, cst.ParenthesizedWhitespace):
        return space
    if other.first_line.comment is None and not any(line.comment for line in other.empty_lines):
        return space
    shape = space if isinstance(space, cst.ParenthesizedWhitespace) else other
    return shape.with_changes(first_line=other.first_line, empty_lines=other.empty_lines)


def without_argument(file: str, call: cst.Call, name: str) -> Edit:
    """Remove a keyword argument; the layout of the others stays."""

    def change(node: cst.Call) -> cst.Call:
        gone = argument(node, name)
        if gone is None:
            return node
        kept = [item for item in node.args if item is not gone]
        if kept and gone is node.args[-1]:  # the bracket stands where it stood
            kept[-1] = kept[-1].with_changes(comma=gone.comma, whitespace_after_arg=gone.whitespace_after_arg)
        return node.with_changes(args=kept)

    return Edit(file, call, change)


def without_statement(file: str, line: cst.SimpleStatementLine, parent: cst.CSTNode) -> list[Edit]:
    """Remove a line; comments above it stay, above what follows. A block that would be empty gets a ``pass``."""
    edits = [Edit(file, line, lambda node: cst.RemoveFromParent())]
    if any(item.comment for item in line.leading_lines):
        body = list(parent.body)
        number = next(index for index, item in enumerate(body) if item is line)
        comments = tuple(line.leading_lines)
        if number + 1 < len(body):
            edits.append(
                Edit(
                    file,
                    body[number + 1],
                    lambda node: node.with_changes(leading_lines=(*comments, *node.leading_lines)),
                )
            )
        else:
            edits.append(Edit(file, parent, lambda node: node.with_changes(footer=(*comments, *node.footer))))
    return edits


def under_if(test: cst.BaseExpression) -> Callable[[Any], Any]:
    """Return a change that puts a line into an ``if``; comments above it stay above."""

    def change(node: cst.SimpleStatementLine) -> cst.If:
        inner = node.with_changes(leading_lines=())
        return cst.If(test, cst.IndentedBlock([inner]), leading_lines=node.leading_lines)

    return change
