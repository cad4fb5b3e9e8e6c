"""The remedies that the rules state, read from their files: for findings that tests and the page of proofs make up."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

import tfperfkit_rules

from tfperfkit import remedy as kinds
from tfperfkit.remedy import BatchLoop, ChangeStage, Compile, Every, KeepTrace, Remedy, Remove, ReplaceOps, Rewrite

_ROOT = Path(tfperfkit_rules.__path__[0])
#: Remedies of rules whose file does not have code and remedy side by side in plain words.
_ELSEWHERE: tuple[tuple[str, Remedy], ...] = (
    ("RET014", KeepTrace("keras")),
    ("RET014", KeepTrace("unknown")),
    ("RET014", Compile("jacobian")),
    ("DST001", ReplaceOps("whole_gradient")),
    ("DST002", ReplaceOps("gradient_rows")),
    ("DST008", Remove()),
    ("DST009", Remove()),
    ("EAG013", BatchLoop()),
    ("GRF011", ReplaceOps("order")),
    ("GRF019", ReplaceOps("in_place")),
    ("INP006", ChangeStage("cache")),
    ("STP006", Every("validate")),
    ("STP011", Remove("evaluation")),
)


@functools.cache
def stated() -> tuple[tuple[str, Remedy], ...]:
    """Return each code with each of its remedies, without numbers: these are of a run."""
    return tuple(_find_stated())


def _find_stated() -> Iterator[tuple[str, Remedy]]:
    for path in sorted(_ROOT.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "remedy" not in text:
            continue
        tree = ast.parse(text)
        constants = _constants(tree)
        for node in ast.walk(tree):
            if not isinstance(node, (ast.Call, ast.ClassDef)):
                continue
            given = {item.arg: item.value for item in node.keywords}
            if isinstance(node, ast.ClassDef):  # a rule that is a class
                given = {ast.unparse(item.targets[0]): item.value for item in node.body if isinstance(item, ast.Assign)}
            code, made = given.get("code"), _made(given.get("remedy"))
            if code is not None and made is not None:
                word = code.value if isinstance(code, ast.Constant) else ast.unparse(code)
                yield constants.get(str(word), str(word)), made
    yield from _ELSEWHERE


def _constants(tree: ast.Module) -> dict[str, str]:
    return {
        node.targets[0].id: str(node.value.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    }


def _made(node: ast.expr | None) -> Remedy | None:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not hasattr(kinds, node.func.id):
        return None
    words = [item.value for item in node.args if isinstance(item, ast.Constant)]
    if node.args and not words:  # chosen in the run
        return None
    made: Remedy = getattr(kinds, node.func.id)(*words)
    return made


@functools.cache
def _first_remedies() -> dict[str, Remedy]:
    return dict(reversed(stated()))


def remedy_of(code: str) -> Remedy:
    """The remedy of findings of a code: the first that is stated."""
    return _first_remedies().get(code, Rewrite())
