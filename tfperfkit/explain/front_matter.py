"""The front matter of a finding's page: lines ``key: value`` between two lines ``---``, a subset of YAML."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

_HEAD = re.compile(r"\A---\n(.*?)^---\n", re.DOTALL | re.MULTILINE)


class FrontMatter(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about its finding at the head of a page.

    ``fix``: "patch" if ``tfperf fix`` can write one, else "suggestion". ``measure``: the experiments that test it.
    ``typical_gain``: factors that were measured, as text; "not measured" if none was.
    """

    code: str
    title: str
    fix: str
    measure: tuple[str, ...]
    typical_gain: str
    since: str
    related: tuple[str, ...]

    def write(self) -> str:
        """Return the front matter in the form of a page."""
        return (
            f"---\ncode: {self.code}\ntitle: {self.title}\nfix: {self.fix}\nmeasure: [{', '.join(self.measure)}]\n"
            f"typical_gain: {self.typical_gain}\nsince: {self.since}\nrelated: [{', '.join(self.related)}]\n---\n"
        )


def read_front_matter(page: str) -> FrontMatter | None:
    """Return the front matter of a page's text; None for a page without one, or with one that lacks a key."""
    head = _HEAD.match(page)
    found = dict(_entries(head[1])) if head else {}
    try:
        return msgspec.convert(found, FrontMatter)
    except msgspec.ValidationError:
        return None


def without_front_matter(page: str) -> str:
    """Return a page's text from its heading on."""
    return _HEAD.sub("", page).lstrip("\n")


def _entries(head: str) -> Iterator[tuple[str, object]]:
    for line in head.splitlines():
        key, _, value = line.partition(":")
        text = value.strip()
        if text.startswith("["):
            yield key, [word.strip() for word in text.strip("[]").split(",") if word.strip()]
        else:
            yield key, text
