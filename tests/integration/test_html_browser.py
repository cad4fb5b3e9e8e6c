"""The HTML report of a real run in a real browser: it draws, finds, links, and asks nobody for anything."""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import Browser, find
from PIL import Image
from tfperf_runner import Tfperf

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "benchmarks" / "pictures" / "train.py"
#: axe-core, MPL-2.0, as Deque publishes it: https://github.com/dequelabs/axe-core
AXE = Path(__file__).with_name("axe-core-4.14.1.min.js.gz")
#: Widths of a phone, a tablet, a desk.
WIDTHS = (390, 820, 1280)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where ``tfperf run --html`` wrote it."""
    tfperf = Tfperf(tmp_path_factory.mktemp("html"))
    # With fewer retraces than the pictures of the docs have: each takes a second.
    source = SCRIPT.read_text(encoding="utf-8")
    assert "(number // 8)" in source
    tfperf.script(source.replace("(number // 8)", "(number // 16)"))
    done = tfperf("run", "--html", "report.html", "--out", "run", "train.py")
    assert done.returncode == 0, done.stderr
    return tfperf.folder / "report.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if find() is None and not os.environ.get("CI"):
        pytest.skip("needs a browser: install chromium")
    assert find(), "CI must have chromium: see .ci/run"
    with Browser(tmp_path_factory.mktemp("browser")) as opened:
        for domain in ("Runtime", "Log", "Network"):
            opened(f"{domain}.enable")
        yield opened


def loaded(browser: Browser, page: Path, anchor: str = "", width: int = 1280, theme: str = "light") -> None:
    browser("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
    browser.size(width, 1000, phone=width < 600)
    browser.open(f"{page.as_uri()}{anchor}")
    browser.wait("This run")
    browser.evaluate(
        "new Promise((done) => document.readyState === 'complete' ? done() : addEventListener('load', done))"
    )


def complaints(browser: Browser) -> list[Any]:
    names = ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")
    return [event for event in browser.events if event["method"] in names]


def asked(browser: Browser) -> set[str]:
    urls = {
        str(event["params"]["request"]["url"])
        for event in browser.events
        if event["method"] == "Network.requestWillBeSent"
    }
    return {url for url in urls if url != "about:blank"}


@pytest.mark.parametrize("width", WIDTHS)
def test_it_draws_and_asks_nobody(browser: Browser, page: Path, width: int, tmp_path: Path) -> None:
    browser.events.clear()
    loaded(browser, page, width=width)
    text, drawn = browser.shown()
    assert "RET001" in text and "Do this first" in text and "sets the pace" in text
    assert "train_step is traced again" in browser.evaluate("document.querySelector('h1').textContent")
    assert any("ms" in words for words in drawn), drawn  # the axis of the steps
    for picture in ("#steps-plot canvas", "[data-series=memory] canvas"):
        assert browser.evaluate(f"document.querySelector({picture!r}).width") > 200
    boxes = "document.querySelectorAll('[data-tree=flame] [role=treeitem]')"
    names = browser.evaluate(f"[...{boxes}].map((box) => box.getAttribute('aria-label'))")
    # Python and the lines of compiled functions on one axis.
    assert any(name.startswith("train:") and "train.py:" in name for name in names), names
    assert any("line of a compiled function" in name for name in names), names
    assert complaints(browser) == []
    assert asked(browser) == {page.as_uri()}
    colors = Image.open(io.BytesIO(browser.screenshot(tmp_path / "page.png"))).convert("RGB").getcolors(1 << 24)
    assert colors is not None and len(colors) > 50
    # Nothing sticks out: a page that scrolls sideways can't be read on a phone.
    assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_deep_link_leads_to_its_finding(browser: Browser, page: Path) -> None:
    loaded(browser, page, "#RET001")
    browser.evaluate("new Promise((done) => setTimeout(done, 900))")
    assert browser.evaluate("document.activeElement.id") == "RET001"
    top = browser.evaluate("document.getElementById('RET001').getBoundingClientRect().top")
    assert 0 <= top < 300


def key(browser: Browser, name: str, text: str = "") -> None:
    browser("Input.dispatchKeyEvent", type="keyDown", key=name, **({"text": text} if text else {}))
    browser("Input.dispatchKeyEvent", type="keyUp", key=name)


def test_search_by_keyboard(browser: Browser, page: Path) -> None:
    loaded(browser, page)
    key(browser, "/", "/")
    assert browser.evaluate("document.activeElement.id") == "query"
    browser("Input.insertText", text="jitter")
    hits = browser.evaluate("[...document.querySelectorAll('#hits li')].map((hit) => hit.textContent)")
    assert any("def jitter(image):" in hit for hit in hits), hits
    browser.evaluate("document.getElementById('query').value = ''")
    browser("Input.insertText", text="ret001")
    key(browser, "Enter")
    assert browser.evaluate("document.activeElement.id") == "RET001"
    browser.evaluate(
        "document.getElementById('query').value = 'no such thing'; "
        "document.getElementById('query').dispatchEvent(new Event('input'))"
    )
    assert "Nothing in this report" in browser.evaluate("document.getElementById('hits').textContent")


def test_keys_move_between_findings_and_in_the_flame_graph(browser: Browser, page: Path) -> None:
    loaded(browser, page)
    key(browser, "n", "n")
    assert browser.evaluate("document.activeElement.matches('article.finding')")
    browser.evaluate("document.querySelector('[data-tree=flame] [tabindex=\"0\"]').focus()")
    key(browser, "ArrowDown")
    key(browser, "ArrowDown")
    assert "train" in browser.evaluate("document.activeElement.getAttribute('aria-label')")
    key(browser, "Enter")
    assert "train.py" in browser.evaluate("document.querySelector('[data-source=flame] figcaption').textContent")
    assert "for number, (images, labels)" in browser.evaluate(
        "document.querySelector('[data-source=flame]').textContent"
    )


def test_the_steps_can_be_zoomed_and_read_out(browser: Browser, page: Path) -> None:
    loaded(browser, page)
    before = browser.evaluate("document.querySelector('#steps-plot [role=img]').getAttribute('aria-label')")
    browser.evaluate("document.getElementById('steps-in').click()")
    after = browser.evaluate("document.querySelector('#steps-plot [role=img]').getAttribute('aria-label')")
    assert "Median" in before and before != after


def test_dark_and_light(browser: Browser, page: Path) -> None:
    loaded(browser, page, theme="dark")
    dark = "getComputedStyle(document.body).backgroundColor"
    first = browser.evaluate(dark)
    assert browser.evaluate("document.documentElement.dataset.theme") == "dark"
    key(browser, "t", "t")
    assert browser.evaluate("document.documentElement.dataset.theme") == "light"
    assert browser.evaluate(dark) != first
    browser.evaluate("localStorage.clear()")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_serious_issue(browser: Browser, page: Path, theme: str) -> None:
    loaded(browser, page, width=390 if theme == "dark" else 1280, theme=theme)
    browser.evaluate("document.querySelectorAll('details').forEach((item) => { item.open = true; })")
    browser.evaluate(gzip.decompress(AXE.read_bytes()).decode() + "; undefined")
    found = browser.evaluate(
        "axe.run(document, {resultTypes: ['violations']}).then((result) => JSON.stringify(result.violations.map("
        "(item) => [item.impact, item.id, item.help, item.nodes.slice(0, 3).map((node) => node.html.slice(0, 160) + "
        "' ' + node.failureSummary)])))"
    )
    serious = [item for item in json.loads(found) if item[0] in ("serious", "critical")]
    assert serious == []
