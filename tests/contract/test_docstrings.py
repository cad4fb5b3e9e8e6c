"""A docstring names only what exists: parameters, fields and modules that were renamed leave no trace.

ruff's checks of docstrings (D417, DOC) look at sections such as ``Args:``, which no docstring here has.
"""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
MODULES = [path for room in ("tfperfkit", "plugins") for path in sorted((ROOT / room).rglob("*.py"))]
#: Modules of tests and benchmarks, without scripts that stand for a user's code and plugins as they once were.
AROUND = [
    path
    for room in ("tests", "benchmarks")
    for path in sorted((ROOT / room).rglob("*.py"))
    if not {"scripts", "healthy", "version_1"} & set(path.relative_to(ROOT).parts)
]
#: A name in a docstring. One without an underscore may be a word of TensorFlow's, Python's or English.
NAMED = re.compile(r"``(?:\w+\.)?([a-z][a-z0-9]*_[a-z0-9_]*)``")
#: Names of other software, and names that are composed.
OTHERS = {
    "args_1",  # what Keras calls an argument
    "flops_registry",  # a module of TensorFlow
    "map_fusion",  # an option of tf.data
    "sched_autogroup_enabled",  # a setting of Linux
    "tfperf_share_input",
    "train_loop_per_worker",  # an argument of Ray Train
}


@functools.cache
def docstrings(module: Path) -> tuple[ast.Constant, ...]:
    nodes = ast.walk(ast.parse(module.read_text(encoding="utf-8")))
    places = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    firsts = [node.body[0] for node in nodes if isinstance(node, places) and node.body]
    return tuple(node.value for node in firsts if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def existing_names() -> set[str]:
    """Collect all words of the product's code, without docstrings and comments, and the names of its modules."""
    names = {part for module in MODULES for part in module.relative_to(ROOT).with_suffix("").parts}
    for module in MODULES:
        lines = module.read_text(encoding="utf-8").splitlines()
        for node in docstrings(module):
            lines[node.lineno - 1 : node.end_lineno] = [""] * ((node.end_lineno or node.lineno) - node.lineno + 1)
        names |= set(re.findall(r"\w+", "\n".join(line.partition("  # ")[0] for line in lines)))
    return names


def test_every_name_in_a_docstring_exists() -> None:
    known = existing_names() | OTHERS
    found = [
        (str(module.relative_to(ROOT)), node.lineno, name)
        for module in MODULES
        for node in docstrings(module)
        for name in NAMED.findall(str(node.value))
        if name not in known
    ]
    assert found == []


def test_a_functions_docstring_says_what_the_function_does() -> None:
    """Those of properties, classes and constants may name the thing."""
    found = []
    assert len(AROUND) > 500
    for module in [*MODULES, *AROUND]:
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if any("property" in ast.unparse(decorator) for decorator in node.decorator_list):
                continue
            if re.match(r"(?:A|An) ", ast.get_docstring(node) or ""):
                found.append((str(module.relative_to(ROOT)), node.lineno, node.name))
    assert found == []
