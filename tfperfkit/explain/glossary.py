"""The glossary, ``docs/glossary.md``, as entries.

A heading of the third level begins an entry. A paragraph ``Also: a, b.`` after it names what else finds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

_ALSO = re.compile(r"Also: (.+?)\.\s*\n", re.DOTALL)


class Entry(msgspec.Struct, frozen=True):
    """One word: ``names`` are what it is called, the heading first; ``section`` is the heading above it."""

    names: tuple[str, ...]
    section: str
    text: str

    @property
    def markdown(self) -> str:
        """Return the entry as a page of its own."""
        return f"# {self.names[0]}\n\n{self.text}\n"


def parse(document: str) -> tuple[Entry, ...]:
    """Return the entries in their order."""
    entries = []
    section = ""
    for part in re.split(r"^(?=###? )", document, flags=re.MULTILINE):
        heading, _, text = part.partition("\n")
        if heading.startswith("## "):
            section = heading[3:].strip()
        elif heading.startswith("### "):
            also = _ALSO.match(text.lstrip())
            names = also.group(1).replace("\n", " ").split(", ") if also else []
            body = text.lstrip()[also.end() :] if also else text
            entries.append(Entry((heading[4:].strip(), *names), section, body.strip()))
    return tuple(entries)


def plain(word: str) -> str:
    """Return a word as it is looked up: without case, quotes, numbers of a heading and signs around it."""
    return " ".join(word.lower().replace("_", " ").replace("-", " ").strip("\"'`.:,· ").split()) or word.strip()


def find(entries: Iterable[Entry], word: str) -> tuple[Entry, ...]:
    """Return the entries of a word: by the heading, else by another name, else by its singular."""
    entries = tuple(entries)
    for wanted in dict.fromkeys((plain(word), plain(word).removesuffix("s"), plain(word) + "s")):
        found = tuple(entry for entry in entries if plain(entry.names[0]) == wanted)
        also = tuple(entry for entry in entries if wanted in map(plain, entry.names[1:]))
        if found or also:
            return found + tuple(entry for entry in also if entry not in found)
    return ()
