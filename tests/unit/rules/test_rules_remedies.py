"""Each rule says what it asks for; what tests make up of it is what the rules say."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import tfperfkit_rules
from remedies import REMEDIES, remedy_of

from tfperfkit import remedy as kinds
from tfperfkit.remedy import BatchSize, Compile, Hoist, Remedy, Rewrite, Setting, is_one_of

ROOT = Path(tfperfkit_rules.__path__[0])
#: A code of which not all findings ask for the same.
OTHERS: dict[str, tuple[Remedy, ...]] = {
    "EAG004": (Compile("model"), BatchSize("predict")),
    "OPS006": (Setting("check_numerics", "off"),),
    "PRC004": (Setting("precision", "mixed_bfloat16"),),
}


def stated() -> list[tuple[str, Remedy]]:
    """Each code with its remedy, where a rule's file has both in plain words."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        family = path.relative_to(ROOT).parts[0]
        constants = {**_constants(ROOT / family / "codes.py"), **_constants(path)}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            given = {item.arg: item.value for item in getattr(node, "keywords", ())}
            if isinstance(node, ast.ClassDef):  # a rule that is a class
                given = {ast.unparse(item.targets[0]): item.value for item in node.body if isinstance(item, ast.Assign)}
            code = constants.get(ast.unparse(given["code"]).removeprefix("codes."), "") if "code" in given else ""
            if "code" in given and isinstance(given["code"], ast.Constant):
                code = str(given["code"].value)
            if code and "remedy" in given and (remedy := _made(given["remedy"])) is not None:
                found.append((code, remedy))
    return found


def _constants(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    return {
        node.targets[0].id: node.value.value
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    }


def _made(node: ast.expr) -> Remedy | None:
    """A number that the run decides is left out."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not hasattr(kinds, node.func.id):
        return None
    words = [item.value for item in node.args if isinstance(item, ast.Constant)]
    made: Remedy = getattr(kinds, node.func.id)(*words)
    return made


def test_what_tests_make_up_is_what_the_rules_say() -> None:
    pairs = stated()
    assert len(pairs) > 70
    for code, remedy in pairs:
        assert is_one_of(remedy, (remedy_of(code), *OTHERS.get(code, ()))), (code, remedy)
    known = {code for code, _ in pairs}
    assert sum(code in known for code in REMEDIES) > 60


@pytest.mark.parametrize(
    ("wanted", "is_it"),
    [
        ((Hoist,), True),
        ((Hoist("value"), Hoist("file")), True),
        ((Hoist("value"), Rewrite), False),
        ((), False),
    ],
)
def test_a_remedy_is_found_by_its_kind_or_its_value(wanted: tuple[Remedy | type[Remedy], ...], is_it: bool) -> None:
    assert is_one_of(Hoist("file"), wanted) == is_it


def test_a_setting_without_a_value_stands_for_any() -> None:
    assert is_one_of(Setting("threads", ""), (Setting("threads"),))
    assert not is_one_of(Setting("threads"), (Setting("threads", ""),))
