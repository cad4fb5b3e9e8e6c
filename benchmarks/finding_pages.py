"""Completes the pages of findings: title, badges, how to silence and how to verify follow from the rules.

    python -m benchmarks.finding_pages [CODE ...]

An author writes the front matter's ``since`` and ``related``, the block of what is seen, and the sections "What it
means", "Example", "Use instead" and "When to ignore it". The rest is written by this program, and a test holds that it
is up to date.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "builders"))

from remedies import stated

from benchmarks import stored_pairs
from tfperfkit import registry
from tfperfkit.explain.detection import rule_modules
from tfperfkit.explain.front_matter import FrontMatter, read_front_matter, without_front_matter
from tfperfkit.fixing.lookup import is_mechanical
from tfperfkit.remedy import Remedy, is_one_of

PAGES = Path(__file__).resolve().parents[1] / "docs" / "findings"
#: The sections of a page in their order.
SECTIONS = ("What it means", "Example", "Use instead", "When to ignore it", "How to verify", "See also")
_SEEN = re.compile(r"^```text\n.*?^```\n", re.DOTALL | re.MULTILINE)
_SILENCED = re.compile(r"^Silence it: .*(?:\n(?!\n).*)*", re.MULTILINE)
_MARK = re.compile(r"^<!-- collected: detection .*-->\n?", re.MULTILINE)
_RELATED = re.compile(r"^- Related: .*\n?", re.MULTILINE)


@lru_cache
def rule_titles() -> dict[str, str]:
    """Return the title of each code: ``TITLES`` of a rule's module, or ``code`` and ``title`` of its class."""
    found: dict[str, str] = {}
    for module in rule_modules():
        found |= getattr(module, "TITLES", {})
        for value in vars(module).values():
            if isinstance(value, type) and isinstance(vars(value).get("code"), str) and "title" in vars(value):
                found[value.code] = value.title  # type: ignore[attr-defined]
    return dict(sorted(found.items()))


@lru_cache
def _stated() -> tuple[tuple[str, Remedy], ...]:
    """Return each code with each of its remedies."""
    return tuple(stated())


@lru_cache
def _experiments() -> dict[str, tuple[bool, tuple[object, ...]]]:
    """Return of each experiment whether it only measures a ceiling, and the remedies that it imitates."""
    loaded = {name: registry.load_experiment(name) for name in sorted(registry.experiments())}
    return {name: (each.keeps == "ceiling", getattr(each, "remedies", ())) for name, each in loaded.items()}


def find_fix(code: str) -> str:
    """Return "patch" if there is a fixer for one of the code's remedies, else "suggestion"."""
    return "patch" if any(name == code and is_mechanical(remedy) for name, remedy in _stated()) else "suggestion"


def find_experiments(code: str) -> tuple[str, ...]:
    """Return the experiments for one of the code's remedies, those that measure only a ceiling last."""
    remedies = [remedy for name, remedy in _stated() if name == code]
    found = {
        name: ceiling
        for name, (ceiling, wanted) in _experiments().items()
        if any(is_one_of(remedy, wanted) for remedy in remedies)  # type: ignore[arg-type]
    }
    return tuple(sorted(found, key=lambda name: (found[name], name)))


@lru_cache
def _measured() -> dict[str, list[float]]:
    """Return the measured factors of speed by code: each of one script and its fixed twin (``benchmarks/results``)."""
    found: dict[str, list[float]] = {}
    for pair in (*stored_pairs.first_sight(), *stored_pairs.at_hand()):
        found.setdefault(pair.code, []).append(pair.measured)
    return found


def find_typical_gain(code: str) -> str:
    """Return the range of the factors that were measured for a code, and of how many scripts."""
    factors = sorted(_measured().get(code, ()))
    if not factors:
        return "not measured"
    low, high = (f"{factor:.0f}x" if factor >= 10 else f"{factor:.2g}x" for factor in (factors[0], factors[-1]))
    scripts = f"{len(factors)} script{'s' * (len(factors) > 1)}"
    return f"{low} to {high} ({scripts})" if low != high else f"{low} ({scripts})"


def complete(page: str, code: str) -> str:
    """Return a page's text with the parts that follow from the rules. Raises ValueError for a page off the template."""
    head = read_front_matter(_with_all_keys(page, code))
    if head is None:
        raise ValueError(f"{code}: the front matter can't be read")
    head = FrontMatter(
        code=code,
        title=rule_titles()[code],
        fix=find_fix(code),
        measure=find_experiments(code),
        typical_gain=find_typical_gain(code),
        since=head.since,
        related=head.related,
    )
    body = without_front_matter(page)
    seen = _SEEN.search(body.partition("\n## ")[0] + "\n")
    sections = dict(_split_sections(body))
    missing = [name for name in SECTIONS[:4] if not sections.get(name, "").strip()]
    if missing or seen is None:
        raise ValueError(f"{code}: no {', '.join(missing) or 'block of what is seen'}")
    unknown = set(sections) - {"", *SECTIONS}
    if unknown:
        raise ValueError(f"{code}: sections that are not on the template: {', '.join(sorted(unknown))}")
    ignored = _SILENCED.sub("", sections["When to ignore it"]).strip()
    sections["When to ignore it"] = f"{ignored}\n\n{_write_silencing(code)}"
    sections["How to verify"] = _write_verifying(head)
    links = _RELATED.sub("", sections.get("See also", "")).strip()
    related = ", ".join(f"[{other}]({other}.md)" for other in head.related)
    sections["See also"] = "\n".join(filter(None, (f"- Related: {related}" if related else "", links)))
    parts = [head.write() + f"# {code} · {head.title}", _write_badges(head), seen[0].strip()]
    for name in SECTIONS:
        if name == "See also":
            parts.append(f"<!-- collected: detection {code} -->")
        if sections[name].strip():
            parts.append(f"## {name}\n\n{sections[name].strip()}")
    return "\n\n".join(parts) + "\n"


def _with_all_keys(page: str, code: str) -> str:
    """Add to the front matter the keys that an author need not write."""
    given = {"typical_gain": "-", "measure": "[]", "fix": "suggestion", "title": "-", "code": code, "since": "1.0"}
    for key, value in given.items():
        if page.startswith("---\n") and not re.search(rf"^{key}:", page.partition("\n---\n")[0], re.MULTILINE):
            page = page.replace("---\n", f"---\n{key}: {value}\n", 1)
    return page


def _split_sections(body: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each section. A line of code is no heading."""
    name, lines, fenced = "", [], False
    for line in body.splitlines():
        fenced ^= line.startswith("```")
        if line.startswith("## ") and not fenced:
            yield name, "\n".join(lines)
            name, lines = line[3:].strip(), []
        elif not _MARK.match(line + "\n"):
            lines.append(line)
    yield name, "\n".join(lines)


def _write_badges(head: FrontMatter) -> str:
    fix = "🔧 Patch available: `tfperf fix`" if head.fix == "patch" else "✏ Change by hand"
    if head.fix == "patch" or _measures_fix(head):
        measure = "📏 Measurable with `tfperf try`"
    elif head.measure:
        measure = "📏 `tfperf try` measures an upper bound"
    else:
        measure = "📏 Measure with `tfperf compare`"
    return f"{fix} · {measure} · Added in {head.since}"


def _measures_fix(head: FrontMatter) -> bool:
    return any(not _experiments()[name][0] for name in head.measure)


def _write_silencing(code: str) -> str:
    return f'Silence it: `ignore = ["{code}"]` under `[tool.tfperf]`, or `# tfperf: ignore[{code}]` at the line.'


def _write_verifying(head: FrontMatter) -> str:
    by_hand = "change the script, run it again, and compare: `tfperf compare BEFORE AFTER`."
    if head.fix == "patch" or _measures_fix(head):
        return f"`tfperf try last --only {head.code}` measures the gain without editing your files. Or {by_hand}"
    if head.measure:
        return f"`tfperf try last --only {head.code}` measures the most that can be gained. To know more, {by_hand}"
    return by_hand[0].upper() + by_hand[1:]


def index() -> str:
    """Return a table of all findings from their pages' front matter, for the site."""
    rows = ["| code | what is slow | patch | measurable | typical gain |", "|---|---|---|---|---|"]
    for path in sorted(PAGES.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        head = read_front_matter(text)
        link = f"[{path.stem}](findings/{path.stem}.md)"
        assert head is not None, f"{path.name} has no front matter"
        patch = "yes" if head.fix == "patch" else ""
        measurable = "yes" if patch or _measures_fix(head) else "upper bound" if head.measure else ""
        rows.append(f"| {link} | {head.title} | {patch} | {measurable} | {head.typical_gain} |")
    return "\n".join(rows)


def main() -> None:
    """Complete the pages of the codes, or all that are on the template."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("codes", nargs="*", metavar="CODE")
    codes = parser.parse_args().codes or [path.stem for path in sorted(PAGES.glob("*.md"))]
    for code in codes:
        path = PAGES / f"{code}.md"
        page = path.read_text(encoding="utf-8")
        try:
            path.write_text(complete(page, code), encoding="utf-8")
        except (ValueError, KeyError) as error:
            print(f"{code}: no title in the rules" if isinstance(error, KeyError) else error)


if __name__ == "__main__":
    main()
