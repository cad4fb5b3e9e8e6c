"""Find prose that is not plain English: ``python -m tests.contract.prose [PATHS]`` prints each line with its reason.

The patterns are those of the style guide in CONTRIBUTING. Code is checked in its comments, docstrings and strings that
are sentences; Markdown in full, without code.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
#: Checked files: users' and maintainers' pages, and the code of the product and of its tests.
FOLDERS = ("tfperfkit", "plugins", "tests", "benchmarks", "docs", "examples")
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
#: Plugins as they were written for version 1, and these words with their test.
LEFT_OUT = (
    "tests/contract/prose.py",
    "tests/contract/test_prose.py",
    "tests/contract/version_1",
)
#: Sentences in pages have at most this many words; those in records of measurements may be longer.
WORDS_MAX = 35
RECORDS = "benchmarks/results/"
#: "all of it", "one of them" are good English.
_COUNTED = "".join(
    rf"(?<!\b[{word[0].upper()}{word[0]}]{word[1:]} )"
    for word in ("all", "one", "each", "none", "any", "both", "either", "some", "two", "several", "most")
)
_RULES = {
    "say 'again'": r"\banew\b",
    "say 'fix'": r"\bmend(?:s|ed|ing)?\b",
    "say 'the user'": r"\bthe person(?:'s)?\b",
    "say 'negligible'": r"\bnext to nothing\b",
    "say 'wall-clock'": r"\bby the clock\b",
    "say 'next to'": r"\bbeside\b",
    "say 'instead of'": r"\bin (?:place|the place) of\b",
    "say 'dispatch' or 'give'": r"\bhand(?:s|ed|ing)? out\b",
    "say 'estimate'": r"\breckon",
    "say 'reported' or 'known from'": r"\b(?:is|are|was|were) told\b",
    "say 'excluded from'": r"\b(?:is|are) no part of\b",
    "say where it is": r"\bstands? (?:in|at|below|above|for itself)\b",
    "name what 'of it' or 'of them' is": _COUNTED + r"\bof (?:it|that|those|them)\b[,.;:)]",
    "begin with the subject": r"^(?:Of|By) (?:the|a|an|what|which|it|them|this|these|those|each|all|every)\b",
    "a 'what' clause is no noun": r"^(?:What|Where) [^?]*[.:;]$",
}
_PATTERNS = {reason: re.compile(pattern) for reason, pattern in _RULES.items()}
#: Strings and comments of Python; `tokenize` takes as long as all the rest.
_LEXED = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"""|\'\'\'(?:[^\'\\]|\\.|\'(?!\'\'))*\'\'\'|"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|#[^\n]*',
    re.DOTALL,
)
_CODE = re.compile(r"```.*?```|``[^`]*``|`[^`]*`|^    .*$|<!--.*?-->|<[^>]+>|\]\([^)]*\)", re.DOTALL | re.MULTILINE)


class Found(NamedTuple):
    """A line of prose that breaks a rule."""

    path: str
    line: int
    reason: str
    text: str


def find_all(paths: list[Path] | None = None) -> list[Found]:
    """Check these files, or all of the project."""
    return [found for path in paths or files() for found in find_in(path)]


def files() -> list[Path]:
    """List the files that are checked."""
    listed = [ROOT / page for page in PAGES]
    listed += [
        path for folder in FOLDERS for ending in ("*.py", "*.md") for path in sorted((ROOT / folder).rglob(ending))
    ]
    return [path for path in listed if path.is_file() and not path.relative_to(ROOT).as_posix().startswith(LEFT_OUT)]


def find_in(path: Path) -> Iterator[Found]:
    """Check one file."""
    text = path.read_text(encoding="utf-8")
    name = path.resolve().relative_to(ROOT).as_posix()
    passages = _of_code(text) if path.suffix == ".py" else _of_page(text)
    for line, passage in passages:
        for sentence in _sentences(passage):
            for reason, pattern in _PATTERNS.items():
                if pattern.search(sentence):
                    yield Found(name, line, reason, sentence)
            words = [word for word in sentence.split() if word.strip(",.;:()") != "x"]  # x: code
            if path.suffix == ".md" and len(words) > WORDS_MAX and not name.startswith(RECORDS):
                yield Found(name, line, f"more than {WORDS_MAX} words", sentence)


def _of_page(text: str) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs, list items and table rows of a page, each with its first line."""
    blank = _CODE.sub(lambda code: re.sub(r"[^\n]", "", code[0]) if "\n" in code[0] else "x", text)
    begun, lines = 0, list[str]()
    for number, line in enumerate([*blank.splitlines(), ""], 1):
        starts = re.match(r"\s*(?:[-*#|]|\d+\.)", line)
        if lines and (not line.strip() or starts):
            yield begun, " ".join(lines)
            lines = []
        if line.startswith("#"):  # a heading may be a question
            continue
        if line.strip():
            begun = begun if lines else number
            lines.append(line.strip().lstrip("-*#0123456789. "))


def _of_code(text: str) -> Iterator[tuple[int, str]]:
    """Yield docstrings, comments, and strings that are sentences."""
    comment, begun, last = list[str](), 0, 0
    line, counted = 1, 0
    for found in _LEXED.finditer(text):
        line, counted = line + text.count("\n", counted, found.start()), found.start()
        if not found[0].startswith("#"):
            continue
        follows_code = bool(text[text.rfind("\n", 0, counted) + 1 : counted].strip())
        if comment and (line != last + 1 or follows_code):
            yield begun, " ".join(comment)
            comment = []
        begun = begun if comment else line
        last = line
        comment.append(found[0].lstrip("#: ").strip())
    if comment:
        yield begun, " ".join(comment)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count(" ") >= 3:
            for paragraph in re.split(r"\n\s*\n", node.value):
                yield node.lineno, _CODE.sub("x", " ".join(paragraph.split()))


def _sentences(passage: str) -> list[str]:
    return [sentence.strip() for sentence in re.split(r"(?<=[.!?])\s+|\s*\|\s*", passage) if sentence.strip()]


if __name__ == "__main__":
    broken = find_all([Path(path) for path in sys.argv[1:]])
    for found in broken:
        print(f"{found.path}:{found.line}: {found.reason}: {found.text[:140]}")
    print(f"{len(broken)} found", file=sys.stderr)
    sys.exit(bool(broken))
