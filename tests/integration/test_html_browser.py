"""The HTML report of a real run in a real browser: it draws, finds, links, and asks nobody for anything."""

from __future__ import annotations

import gzip
import html
import io
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from chromium import Browser, find
from firefox import Firefox
from firefox import find as find_firefox
from PIL import Image
from tfperf_runner import Tfperf

from tfperfkit.analysis.analyze import analyze
from tfperfkit.model import Measured
from tfperfkit.report.html.fragment import fragment
from tfperfkit.report.html.render import page as rendered

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "benchmarks" / "pictures" / "train.py"
#: axe-core, MPL-2.0, as Deque publishes it: https://github.com/dequelabs/axe-core
AXE = Path(__file__).with_name("axe-core-4.14.1.min.js.gz")
#: Widths of a phone, a tablet, a desk.
WIDTHS = (390, 820, 1280)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page that ``tfperf run --html`` wrote."""
    tfperf = Tfperf(tmp_path_factory.mktemp("html"), warm=True)
    # With fewer retraces than the pictures of the docs have: each takes a second.
    source = SCRIPT.read_text(encoding="utf-8")
    assert "(number // 8)" in source
    tfperf.script(source.replace("(number // 8)", "(number // 16)"))
    done = tfperf("run", "--html", "report.html", "--run-dir", "run", "train.py")
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
    assert "RET001" in text and "predicted" in text and "sets the pace" in text
    assert "train_step retraced" in browser.evaluate("document.querySelector('h1').textContent")
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


def test_a_measured_gain_leaves_room_for_the_title(browser: Browser, page: Path, tmp_path: Path) -> None:
    """Only the trial is made up."""
    report = analyze(page.parent / "run", pictures=True)
    measured = Measured(
        experiment="patch:RET001", keeps="results", verdict="faster", speedup=3.9, interval=(3.1, 5.0), pairs=3,
        first_minute=2.0, processor=3.5, memory_bytes=-5e7, results="same bits",
    )  # fmt: skip
    first = msgspec.structs.replace(report.findings[0], measured=measured)
    made = msgspec.structs.replace(report, findings=(first, *report.findings[1:]))
    (tmp_path / "proven.html").write_text(rendered(made), encoding="utf-8")
    for width in WIDTHS:
        loaded(browser, tmp_path / "proven.html", width=width)
        title, card = (
            browser.evaluate(f"document.querySelector({what!r}).getBoundingClientRect().width")
            for what in ("article.finding h3", "article.finding")
        )
        assert title > card / 3, width


def test_a_deep_link_leads_to_its_finding(browser: Browser, page: Path) -> None:
    loaded(browser, page, "#RET001")
    browser.evaluate("new Promise((done) => setTimeout(done, 900))")
    assert browser.evaluate("document.activeElement.id") == "RET001"
    top = browser.evaluate("document.getElementById('RET001').getBoundingClientRect().top")
    assert 0 <= top < 300


def test_a_button_copies_its_command_and_the_patch(browser: Browser, page: Path) -> None:
    loaded(browser, page)
    browser.evaluate("addEventListener('copy', () => { window.copied = String(document.activeElement.value); })")
    browser.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")  # as in a sandboxed frame
    for button, words in (
        ("[data-copy^='tfperf try']", "--only RET001"),
        ("[data-copy-from='patch-RET001']", "+++ b/"),
    ):
        browser.evaluate(f"document.querySelector({button!r}).focus()")
        key(browser, "Enter", "\r")
        assert words in browser.evaluate("window.copied")
        assert browser.evaluate(f"document.querySelector({button!r}).textContent") == "Copied"


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


#: The stretch of the steps to mark with the mouse, as shares of the picture's width.
BRUSH = (0.25, 0.5)
RANGE = "document.querySelector('#steps-plot [role=img]').getAttribute('aria-label').match(/(\\d+) to (\\d+)/).slice(1)"
BOX = (
    "(({x, y, width, height}) => [x, y, width, height])"
    "(document.querySelector('#steps-plot .u-over').getBoundingClientRect())"
)


def test_a_stretch_of_steps_is_zoomed_into_by_brush(browser: Browser, page: Path) -> None:
    loaded(browser, page)
    browser.evaluate("document.getElementById('steps-plot').scrollIntoView({block: 'center', behavior: 'instant'})")
    before = list(map(int, browser.evaluate(RANGE)))
    x, y, width, height = browser.evaluate(BOX)
    for kind, share, buttons in (("mousePressed", 0, 1), ("mouseMoved", 1, 1), ("mouseReleased", 1, 0)):
        at = {"x": x + BRUSH[share] * width, "y": y + height / 2}
        browser("Input.dispatchMouseEvent", type=kind, button="left", buttons=buttons, clickCount=1, **at)
    zoomed(before, list(map(int, browser.evaluate(RANGE))))


def zoomed(before: list[int], after: list[int]) -> None:
    """The stretch that was marked, to a step at either end."""
    marked = [before[0] + share * (before[1] - before[0]) for share in BRUSH]
    assert all(abs(step - mark) <= 2 for step, mark in zip(after, marked, strict=True)), (before, after)


@pytest.fixture(scope="module")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    if find_firefox() is None and not os.environ.get("CI"):
        pytest.skip("needs Firefox: install firefox-esr")
    assert find_firefox(), "CI must have Firefox: see .ci/run"
    with Firefox(tmp_path_factory.mktemp("firefox")) as opened:
        yield opened


@pytest.mark.parametrize("width", (500, *WIDTHS[1:]))  # a window of Firefox is no narrower
def test_firefox_draws_the_same(firefox: Firefox, page: Path, width: int) -> None:
    firefox.size(width, 1000)
    firefox.open(page.as_uri())
    assert "train_step retraced" in firefox.evaluate("document.querySelector('h1').textContent")
    for picture in ("#steps-plot canvas", "[data-series=memory] canvas"):
        assert firefox.evaluate(f"document.querySelector({picture!r}).width") > 200
    assert firefox.evaluate("document.querySelectorAll('[data-tree=flame] [role=treeitem]').length") > 3
    assert firefox.evaluate("document.documentElement.scrollWidth <= innerWidth")
    colors = Image.open(io.BytesIO(firefox.screenshot())).convert("RGB").getcolors(1 << 24)
    assert colors is not None and len(colors) > 50
    assert firefox.said(page.as_uri()) == []


def test_firefox_zooms_and_follows_links(firefox: Firefox, page: Path) -> None:
    firefox.size(1280, 1000)
    firefox.open(f"{page.as_uri()}#RET001")
    assert firefox.evaluate("document.activeElement.id") == "RET001"
    firefox.evaluate("document.getElementById('steps-plot').scrollIntoView({block: 'center', behavior: 'instant'})")
    before = list(map(int, firefox.evaluate(RANGE)))
    x, y, width, height = firefox.evaluate(BOX)
    places = [{"x": round(x + share * width), "y": round(y + height / 2)} for share in BRUSH]
    down, up = {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}
    moves = [{"type": "pointerMove", "duration": 100, **place} for place in places]
    mouse = {"type": "pointer", "id": "mouse", "actions": [moves[0], down, moves[1], up]}
    firefox("WebDriver:PerformActions", actions=[mouse])
    zoomed(before, list(map(int, firefox.evaluate(RANGE))))
    assert firefox.said(page.as_uri()) == []


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


def framed(browser: Browser, content: str, folder: Path, sandbox: str) -> str:
    """Return the text that a sandboxed frame shows, as notebooks use for an output."""
    holder = folder / "frame.html"
    frame = f'<iframe sandbox="{sandbox}" width="900" height="700" srcdoc="{html.escape(content)}"></iframe>'
    holder.write_text(f"<!doctype html><meta charset=utf-8><body>{frame}", encoding="utf-8")
    browser.size(1000, 800)
    browser.events.clear()
    browser.open(holder.as_uri())
    browser.evaluate(
        "new Promise((done) => document.readyState === 'complete' ? done() : addEventListener('load', done))"
    )
    assert complaints(browser) == []
    assert {url for url in asked(browser) if not url.startswith("about:")} == {holder.as_uri()}
    # The page can't look into the frame, whose origin is another; the browser can.
    tree = browser("DOM.getDocument", depth=-1, pierce=True)["root"]
    texts: list[str] = []

    def visit(node: dict[str, Any]) -> None:
        if node["nodeType"] == 3:
            texts.append(node["nodeValue"])
        if node["nodeName"] not in ("SCRIPT", "STYLE"):
            for child in [*node.get("children", []), *filter(None, [node.get("contentDocument")])]:
                visit(child)

    visit(tree)
    return " ".join(" ".join(texts).split())


@pytest.mark.parametrize("sandbox", ["allow-scripts", ""])
@pytest.mark.parametrize("styled", [True, False])
def test_a_cells_output_can_be_read_in_any_renderer(
    browser: Browser, page: Path, sandbox: str, styled: bool, tmp_path: Path
) -> None:
    """Colab shows an output in a sandboxed frame; GitHub and untrusted notebooks take scripts and styles away."""
    report = analyze(page.parent / "run")
    made = fragment(report)
    assert not re.search(r"<(script|style|link|img|iframe|object|form)\b|\bon\w+=|https?:|javascript:", made)
    shown = framed(
        browser, made if styled else re.sub(r' (style|class|role|aria-label)="[^"]*"', "", made), tmp_path, sandbox
    )
    finding = report.findings[0]
    assert f"Fix first: {finding.title}" in shown and f"Change: {finding.advice}" in shown
    assert finding.code in shown and "predicted: " in shown
    assert "A step" in shown and "The whole run" in shown and f"{report.steps.count} steps, median" in shown


def test_the_page_works_in_a_sandboxed_frame(browser: Browser, page: Path, tmp_path: Path) -> None:
    """Check a frame with neither storage nor the origin of its surroundings."""
    shown = framed(browser, page.read_text(encoding="utf-8"), tmp_path, "allow-scripts")
    assert "Copy" in shown and "predicted" in shown
    # A box of the flame graph, which a script draws.
    assert re.search(r"the mean step [\d.]+ ms", shown)
