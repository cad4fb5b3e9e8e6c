"""docs/architecture.md is true: every room stands on the page and in the floors, and none that is not there."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import grimp
import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PACKAGES = ("tfperfkit", "tfperfkit_probes", "tfperfkit_rules", "tfperfkit_experiments", "tfperfkit_trackers")


def section(title: str) -> str:
    return re.split(r"^#{2,3} ", PAGE.partition(f"# {title}")[2], maxsplit=1, flags=re.MULTILINE)[0]


def rows(text: str) -> set[str]:
    cells = re.findall(r"^\| (`[^|]+`) \|", text, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


def rooms(folder: Path) -> tuple[set[str], set[str]]:
    """Modules and packages directly in a folder."""
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__", "__main__"}
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}
    return modules, packages


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(*PACKAGES, cache_dir=None)


def test_every_room_of_the_core_is_on_the_page() -> None:
    modules, packages = rooms(ROOT / "tfperfkit")
    assert rows(section("`tfperfkit/`: what a user types or imports")) == modules
    assert rows(section("Packages, by the moment at which they run")) == packages


def test_the_floors_are_those_that_are_checked() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    assert not config.get("exclude_type_checking_imports")
    assert not any(contract.get("ignore_imports") for contract in config["contracts"])
    (checked,) = (contract["layers"] for contract in config["contracts"] if contract["type"] == "layers")
    drawn = PAGE.partition("```text\ncli")[2].partition("```")[0]
    assert ["cli" + drawn.splitlines()[0], *drawn.splitlines()[1:]] == [
        layer.replace("tfperfkit.", "") for layer in checked
    ]
    modules, packages = rooms(ROOT / "tfperfkit")
    assert {word for layer in checked for word in re.findall(r"tfperfkit\.(\w+)", layer)} == modules | packages


@pytest.mark.parametrize(
    ("package", "group"),
    [
        ("tfperfkit_probes", "probes"),
        ("tfperfkit_rules", "rules"),
        ("tfperfkit_experiments", "experiments"),
        ("tfperfkit_trackers", "trackers"),
    ],
)
def test_what_a_plugin_holds_is_registered_or_on_the_page(package: str, group: str) -> None:
    """So a new probe, experiment or family needs no line there, and what is neither is explained."""
    modules, packages = rooms(ROOT / "plugins" / package)
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    registered = {value.partition(":")[0].split(".")[1] for value in config[f"tfperfkit.{group}"].values()}
    assert registered <= modules | packages
    text = PAGE.partition(f"### `plugins/{package}/`")[2].partition("\n### ")[0]
    assert (modules | packages) - registered <= set(re.findall(r"`(\w+)`", text))


def test_what_the_page_says_of_imports(graph: grimp.ImportGraph) -> None:
    """The core imports no plugin, and what runs after the script imports no instrument."""
    core = {name for name in graph.modules if name.split(".")[0] == "tfperfkit"}
    plugins = graph.modules - core
    assert len(core) > 100 and len(plugins) > 100
    assert not {(a, b) for a in core for b in graph.find_modules_directly_imported_by(a) if b in plugins}
    for room in ("analysis", "diagnosis", "report"):
        inside = {name for name in core if name.startswith(f"tfperfkit.{room}.")}
        reached = {b for a in inside for b in graph.find_upstream_modules(a)}
        assert not {name for name in reached if name.startswith("tfperfkit.instruments")}, room
