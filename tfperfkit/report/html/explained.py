"""The pages of the findings' codes, from Markdown to HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from html import escape
from typing import Any

from tfperfkit.report.html.words import name
from tfperfkit.report.text import visible

#: Returns the Markdown page of a code; "" if there is none.
Pages = Callable[[str], str]

_DEEPER = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h6"}


def no_page(code: str) -> str:
    """Return no page: for a report whose pages of findings are not at hand."""
    return ""


def explain_codes(codes: Iterable[str], read: Pages) -> list[dict[str, str]]:
    """Return ``code``, ``title`` and ``html`` of each code that has a page, once each and in their order."""
    made = []
    for code in dict.fromkeys(codes):
        page = _read(code, read)
        if page:
            title, _, body = page.partition("\n")
            made.append({"code": name(code), "title": name(title.lstrip("# ")), "html": to_html(body)})
    return made


def to_html(markdown: str) -> str:
    """Return a page as HTML: markup in it stays text, pictures are left out, only links to sites are links."""
    text = "\n".join(visible(line) for line in markdown.splitlines())
    parser = _parser()
    return str(parser.renderer.render(_adapt(parser.parse(text)), parser.options, {}))


def _read(code: str, read: Pages) -> str:
    try:
        return read(code).strip()
    except Exception:  # the page is a help; the report stands without it
        return ""


@lru_cache(maxsize=1)
def _parser() -> Any:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    for rule in ("fence", "code_block"):
        parser.add_render_rule(rule, _render_code)
    return parser


def _render_code(renderer: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    """Return a block of code that can be scrolled by keyboard."""
    return f'<pre tabindex="0"><code>{escape(tokens[index].content)}</code></pre>\n'


def _adapt(tokens: list[Any]) -> list[Any]:
    """Put headings below those of the report, and drop links to other pages."""
    kept = []
    dropped = False
    for token in tokens:
        token.tag = _DEEPER.get(token.tag, token.tag)
        if token.children:
            token.children = _adapt(token.children)
        if token.type == "link_open":
            dropped = not str(token.attrs.get("href", "")).startswith("https://")
            token.attrs["rel"] = "noreferrer"
        if token.type in ("link_open", "link_close") and dropped:
            continue
        kept.append(token)
    return kept
