"""Renames what a user chose in a script: variables, functions, classes, arguments, attributes of own classes.

Names of libraries stay, with keywords of their calls, strings, methods that a library calls or that override its own,
and lines. Written on the syntax tree; the text is changed at the names' own columns, so that every line stays where it
is.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import io
import keyword
import random
import re
import tokenize
from collections.abc import Callable, Iterator

#: Names that a rule which decides by names would be misled by; they are given in turn.
MISLEADING = (
    "layers", "model", "factor", "header_rows", "metric", "norm", "df", "env", "half", "writer", "tqdm", "planet_mask",
    "weights", "gradient", "apply", "fit", "predict", "evaluate", "batch_size", "copy", "numpy", "requests", "logger",
    "cell", "callback", "optimizer", "network", "savefig", "update_state", "sleep", "compile", "json", "Image", "head",
    "project", "clip", "stack", "policy", "step", "train_function", "result", "random", "urllib", "PIL", "pandas",
)  # fmt: skip


_FORMATTED = re.compile(r"(?i)(f|rf|fr)['\"]")


def plain(index: int) -> str:
    """Names that say nothing."""
    return f"v{index}"


def misleading(index: int) -> str:
    """Names that say something else."""
    word = MISLEADING[index % len(MISLEADING)]
    return word if index < len(MISLEADING) else f"{word}_{index // len(MISLEADING)}"


def rename(text: str, name: Callable[[int], str] = plain, seed: int = 0) -> str:
    """The script with other names, each the same everywhere. ``name`` gives the one with a number."""
    tree = ast.parse(text)
    chosen = sorted(_chosen(tree))
    random.Random(seed).shuffle(chosen)
    taken = {token.string for token in _tokens(text)} | set(dir(builtins)) | set(keyword.kwlist)
    free = (candidate for number in range(10_000) if (candidate := name(number)) not in taken)
    others = dict(zip(chosen, free, strict=False))
    kept = _kept(tree, text)
    lines = text.splitlines(keepends=True)
    for token in reversed(_tokens(text)):
        row, column = token.start
        if token.type == tokenize.NAME and token.string in others and token.start not in kept:
            line = lines[row - 1]
            lines[row - 1] = line[:column] + others[token.string] + line[token.end[1] :]
        elif token.type == tokenize.STRING and _FORMATTED.match(token.string) and token.start[0] == token.end[0]:
            line = lines[row - 1]  # one token before Python 3.12
            lines[row - 1] = line[:column] + _in_braces(token.string, others) + line[token.end[1] :]
    return "".join(lines)


def _in_braces(text: str, others: dict[str, str]) -> str:
    """Return an f-string with other names in its expressions; names after a dot stay."""

    def expression(found: re.Match[str]) -> str:
        return re.sub(r"(?<![\w.])[A-Za-z_]\w*", lambda name: others.get(name[0], name[0]), found[0])

    return re.sub(r"(?<!\{)\{[^{}:!]+", expression, text)


def _tokens(text: str) -> list[tokenize.TokenInfo]:
    return list(tokenize.generate_tokens(io.StringIO(text).readline))


def _chosen(tree: ast.Module) -> set[str]:
    """Return the names that the user chose.

    A name that is a library's too (an attribute, a keyword, an import) is left alone.
    """
    theirs = set(_imported(tree)) | _inherited(tree)
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_self(tree, node):
            names.add(node.attr)
    return {name for name in names - theirs if not name.startswith("__") and name not in dir(builtins)}


def _is_self(tree: ast.Module, node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id in _selves(tree)


def _selves(tree: ast.Module) -> set[str]:
    return {
        item.args.args[0].arg
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for item in node.body
        if isinstance(item, ast.FunctionDef) and item.args.args
    }


def _imported(tree: ast.Module) -> Iterator[str]:
    """Return the names that imports bind: an alias is chosen by the user, but nearly all choose the same; it stays."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for item in node.names:
                yield (item.asname or item.name).partition(".")[0]


def _inherited(tree: ast.Module) -> set[str]:
    """Methods, their arguments and attributes of classes that derive from a library's: the library may call them."""
    found: set[str] = set()
    bases = {"keras.Model", "keras.Layer"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.bases:
            found |= {item for base in map(ast.unparse, node.bases) for item in _members(base, tree)}
            for item in node.body:
                if isinstance(item, ast.FunctionDef):
                    found.add(item.name)
                    if item.name != "__init__":
                        found |= {argument.arg for argument in [*item.args.args[1:], *item.args.kwonlyargs]}
    return found | bases


def _members(base: str, tree: ast.Module) -> set[str]:
    """The attributes of a library's class, so that an own one which overrides it keeps its name."""
    module, _, _ = base.partition(".")
    named = {
        item.asname or item.name: item.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for item in node.names
    }
    froms = {
        item.asname or item.name: f"{node.module}.{item.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for item in node.names
    }
    dotted = {**named, **froms}.get(module)
    if dotted is None:
        return set()
    parts = [dotted, *base.split(".")[1:]]
    first, *rest = ".".join(parts).split(".")
    try:
        found = importlib.import_module(first)
        for part in rest:
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return set()
    return set(dir(found))


def _kept(tree: ast.Module, text: str) -> set[tuple[int, int]]:
    """Return the places where a chosen name is a library's: an attribute of something that is not the user's own
    object, a keyword of a library's call, a part of an import."""
    own_attributes = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_self(tree, node)
    } | {
        item.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for item in node.body
        if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    defined = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    lines = text.splitlines()

    def column(row: int, offset: int) -> int:
        return len(lines[row - 1].encode()[:offset].decode())

    kept: set[tuple[int, int]] = set()
    ends = {token.end: token.start for token in _tokens(text) if token.type == tokenize.NAME}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            end = (node.end_lineno or 0, column(node.end_lineno or 1, node.end_col_offset or 0))
            owner = node.value
            root = owner.id if isinstance(owner, ast.Name) else ""
            of_module = root in set(_imported(tree))
            if node.attr not in own_attributes or of_module:
                kept.add(ends.get(end, end))
        elif isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            owner_is_own = isinstance(node.func, ast.Name) or name in own_attributes
            if not (owner_is_own and (name in defined or name in own_attributes)):
                kept |= {(word.lineno, column(word.lineno, word.col_offset)) for word in node.keywords if word.arg}
    return kept
