"""Options of probes: what may be stated, what a value may be, and where it comes from."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tfperfkit import registry
from tfperfkit.config import resolve, resolve_options
from tfperfkit.errors import UsageError
from tfperfkit.option import Declared, Option, convert, effective, option_problem, spelling
from tfperfkit.probe import Cost

SHARE = Option(name="min_share", type="float", minimum=0, default=0.02, help="From this share on.")
NAMES = Option(name="functions", type="names", flag="--mine", help="These functions.")


def declared(option: Option, probe: str = "mine") -> Declared:
    return Declared(probe, option, spelling(probe, option))


@pytest.mark.parametrize(
    ("kind", "given", "made"),
    [
        ("flag", True, True),
        ("flag", "off", False),
        ("int", "7", 7),
        ("int", 7, 7),
        ("float", "0.5", 0.5),
        ("float", 3, 3.0),
        ("text", "a, b", "a, b"),
        ("names", "a, b,", ["a", "b"]),
        ("names", ["a", " b"], ["a", "b"]),
    ],
)
def test_values(kind: Any, given: object, made: object, tmp_path: Path) -> None:
    found = convert(declared(Option(name="x", type=kind, help="?")), given, "here", tmp_path)
    assert found == made and type(found) is type(made)


def test_paths_are_meant_from_the_folder_of_who_says_them(tmp_path: Path) -> None:
    (tmp_path / "model.py").touch()
    option = declared(Option(name="x", type="paths", help="?"))
    assert convert(option, ("model.py",), "--x", tmp_path) == [str((tmp_path / "model.py").resolve())]
    with pytest.raises(UsageError, match="--x gone.py: no such file or folder"):
        convert(option, "gone.py", "--x", tmp_path)


@pytest.mark.parametrize(
    ("kind", "given", "says"),
    [
        ("flag", "perhaps", "takes true or false, not 'perhaps'"),
        ("flag", 1, "takes true or false"),
        ("int", "1.5", "takes a whole number from 1 up, not '1.5'"),
        ("int", "0", "from 1 up, not '0'"),
        ("int", True, "takes a whole number"),
        ("float", "nan", "takes a number"),
        ("float", [], "takes a number"),
        ("text", 3, "takes a text, not 3"),
        ("text", "a\0", "NUL"),
        ("names", 3, "takes a text or a list of texts, not 3"),
        ("names", [3], "takes a text or a list of texts"),
        ("paths", {}, "takes a text or a list of texts"),
    ],
)
def test_what_does_not_fit_is_reported_with_its_place(kind: Any, given: object, says: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        convert(declared(Option(name="x", type=kind, minimum=1, help="?")), given, "here", tmp_path)
    assert str(caught.value).startswith("here: ") and says in str(caught.value)


def test_each_way_to_set_one_in_its_order(tmp_path: Path) -> None:
    options = [declared(SHARE), declared(NAMES)]
    (tmp_path / "pyproject.toml").write_text('[tool.tfperf.mine]\nmin_share = 0.1\nfunctions = ["f", "g"]\n')
    found = resolve_options({}, tmp_path, {}, options)["mine"]
    assert (found["min_share"].value, found["functions"].value) == (0.1, ["f", "g"])
    assert found["min_share"].origin == "[tool.tfperf.mine] in pyproject.toml"

    environ = {"TFPERF_MINE_MIN_SHARE": "0.2", "TFPERF_MINE": "h"}
    found = resolve_options({}, tmp_path, environ, options)["mine"]
    assert (found["min_share"].value, found["functions"].value) == (0.2, ["h"])
    assert found["functions"].origin == "TFPERF_MINE"

    typed = {"--mine-min-share": "0.3"}
    found = resolve_options(typed, tmp_path, environ, options)["mine"]
    assert (found["min_share"].value, found["min_share"].origin) == (0.3, "command line")
    with pytest.raises(UsageError, match="^--mine-min-share: takes a number from 0 up, not '-1'$"):
        resolve_options({"--mine-min-share": "-1"}, tmp_path, {}, options)


def test_a_setting_may_stand_in_our_own_table_by_its_spelling(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.tfperf]\nmine = ["f", "g"]\n')
    resolve({}, tmp_path, {}, [declared(NAMES)])
    assert resolve_options({}, tmp_path, {}, [declared(NAMES)])["mine"]["functions"].value == ["f", "g"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[tool.tfperf.other]\nx = 1\n", "[tool.tfperf.other] is for a probe 'other', and none such is installed"),
        ("[tool.tfperf.mine]\nx = 1\n", "[tool.tfperf.mine]: the probe has no option 'x'; it has min_share"),
        ("[tool.tfperf.mine]\nmin_share = 'a'\n", "min_share in [tool.tfperf.mine]: takes a number"),
    ],
)
def test_mistakes_in_a_table_name_the_file(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(UsageError) as caught:
        resolve({}, tmp_path, {}, [declared(SHARE)], ("mine",))
        resolve_options({}, tmp_path, {}, [declared(SHARE)])
    assert says in str(caught.value) and str(tmp_path / "pyproject.toml") in str(caught.value)


def test_a_probe_is_given_its_defaults_and_what_nobody_states_any_more() -> None:
    class Stating:
        options = (SHARE, NAMES)

    assert effective(Stating(), {"functions": ["f"], "old": 1}) == {"min_share": 0.02, "functions": ["f"], "old": 1}
    assert effective(object(), {"any": 1}) == {"any": 1}

    class Misleading:
        options = {"a": "dictionary of its own"}

    assert effective(Misleading(), {}) == {}


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("x", "no Option"),
        (Option(name="Has Spaces", help="?"), "lower case"),
        (Option(name="x", flag="--other", help="?"), "must begin with --mine"),
    ],
)
def test_what_can_not_be_stated(option: object, says: str) -> None:
    assert says in (option_problem("mine", option) or "")


class Foreign:
    api, name, cost, claims = 1, "foreign", Cost.FREE, frozenset[str]()
    asked: ClassVar[list[str]] = []
    options = (SHARE, Option(name="probes", flag="--probes", help="Ours."))

    def __init__(self) -> None:
        self.asked.append("asked")

    def record(self, recording: object, /) -> None: ...

    def analyze(self, capture: object, /) -> None: ...


def test_somebody_elses_probe_is_asked_only_when_it_must_be(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = registry.installed(registry.GROUP)
    theirs = EntryPoint("foreign", f"{__name__}:Foreign", registry.GROUP)
    monkeypatch.setitem(__import__("sys").modules, __name__, __import__("sys").modules[__name__])
    monkeypatch.setattr(registry, "installed", lambda group: [*ours, theirs])
    Foreign.asked.clear()
    flags = {each.flag for each in registry.declared(lambda name: False)}
    assert {"--lines", "--lines-in", "--ops-autograph", "--ops-dump"} <= flags and not Foreign.asked
    found = [each for each in registry.declared() if each.probe == "foreign"]
    assert [each.flag for each in found] == ["--foreign-min-share"]  # not the one that is no spelling of its own
    assert Foreign.asked
