"""``tfperf explain WORD``: the page of a finding's code or of a probe, or an entry of the glossary."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from tfperfkit.errors import UsageError
from tfperfkit.explain import glossary, pages
from tfperfkit.explain.detection import fill_in_detection
from tfperfkit.report.terminal import Screen, terminal_of
from tfperfkit.report.text import visible

_WIDTH = 100
_NEAREST = 4


def explain(words: Sequence[str], *, full: bool = False) -> None:
    """Print what the words (one topic) mean. ``full``: with how a finding is detected.

    Raises UsageError with the nearest topics if nothing is called so.
    """
    topic = " ".join(words).strip()
    show("\n\n".join(text.strip() for text in _texts(topic, full=full)), sys.stdout)


def list_rules() -> None:
    """Print the code and the title of each finding's page."""
    for code, page in pages.findings().items():
        print(f"{code}  {pages.title(page)}")


def list_terms() -> None:
    """Print the terms that can be explained, by section."""
    lines = ["# A whole report", f"    {pages.REPORT_NAMES[0]}"]
    section = ""
    for entry in _entries():
        if entry.section != section:
            section = entry.section
            lines += ["", f"# {section}"]
        lines.append(f"    {entry.names[0]}")
    print("\n".join(line.removeprefix("# ") for line in lines))


def show(markdown: str, file: TextIO) -> None:
    """Formatted on a terminal; as it is written through a pipe."""
    screen = terminal_of(file)
    text = "\n".join(visible(line, unicode=screen.unicode) for line in _without_links(markdown).splitlines())
    if not file.isatty():
        print(text, file=file)
        return
    _formatted(text, screen, file)


def _formatted(text: str, screen: Screen, file: TextIO) -> None:
    from rich.console import Console
    from rich.markdown import Heading, Markdown
    from rich.theme import Theme

    class LeftHeading(Heading):
        """rich centres headings and draws a box around the first."""

        def __rich_console__(self, console, options):  # type: ignore[no-untyped-def]
            self.text.justify = "left"
            yield self.text

    class Page(Markdown):
        elements = {**Markdown.elements, "heading_open": LeftHeading}

    Console(
        file=file,
        width=min(screen.width, _WIDTH),
        color_system="standard" if screen.color else None,
        no_color=not screen.color,
        legacy_windows=False,
        highlight=False,
        emoji=False,
        # The terminal's own background, whatever it is.
        theme=Theme({"markdown.code": "cyan", "markdown.h1": "bold underline", "markdown.h2": "bold"}),
    ).print(Page(text, code_theme="ansi_light", hyperlinks=False))


def _texts(topic: str, *, full: bool) -> Iterator[str]:
    code = topic.upper()
    found = [_read_page(page, full=full) for name, page in pages.findings().items() if name == code]
    if not found:
        found = [entry.markdown for entry in glossary.find(_entries(), topic)]
        if glossary.plain(topic) in pages.REPORT_NAMES:
            found.append(_page(pages.root() / pages.REPORT))
        found += [_page(page) for name, page in pages.probes().items() if name == glossary.plain(topic)]
    if not found:
        raise UsageError(_unknown(topic))
    yield from found


def _unknown(topic: str) -> str:
    if pages.is_code(topic.upper()) and not difflib.get_close_matches(topic.upper(), pages.findings(), 1, 0.8):
        return f"no page for {topic.upper()}: the package that reports it ships none (tfperf list rules)"
    names = {glossary.plain(name): name for entry in _entries() for name in entry.names}
    names |= {name.lower(): name for name in (*pages.findings(), *pages.probes(), *pages.REPORT_NAMES)}
    near = difflib.get_close_matches(glossary.plain(topic)[:100], names, _NEAREST, 0.5)
    nearest = (
        f"nearest: {', '.join(names[key] for key in near)} (tfperf list rules)" if near else "see tfperf list rules"
    )
    return f"nothing is called {topic[:100]!r}; {nearest}"


def _entries() -> tuple[glossary.Entry, ...]:
    return glossary.parse(_page(pages.root() / pages.GLOSSARY))


def _read_page(page: Path, *, full: bool) -> str:
    text = _page(page)
    return fill_in_detection(text) if full else pages.shorten(text)


def _page(page: Path) -> str:
    try:
        return pages.read(page)
    except OSError as error:
        raise UsageError(f"can't read the page {page.name}: {error.strerror}") from error


def _without_links(markdown: str) -> str:
    """Links to other pages as their words: there is no page to click on."""
    return re.sub(r"\[([^\]]+)\]\((?![a-z]+://)[^)]*\)", r"\1", markdown)
