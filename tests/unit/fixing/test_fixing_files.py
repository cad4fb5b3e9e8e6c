"""Files as they are: encodings, line ends, links; what is said of a gain; real scripts, patched twice."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import msgspec
import pytest
from fixing_builder import FILE, finding_at, fixed, patch_of

from tfperfkit.errors import UsageError
from tfperfkit.fixing.edit import NoFix
from tfperfkit.fixing.files import Files, replace
from tfperfkit.fixing.patches import Patches, unified
from tfperfkit.fixing.render import compare_gains, gain
from tfperfkit.gain import Range
from tfperfkit.model import Measured

SCRIPTS = Path(__file__).parents[2] / "faults" / "scripts"
SOURCE = "import tensorflow as tf\nname = 'ä'\nds = ds.map(f)\n"


@pytest.mark.parametrize(
    "content",
    [
        SOURCE.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + SOURCE.encode(),
        b"# -*- coding: latin-1 -*-\n" + SOURCE.encode("latin-1"),
        SOURCE.rstrip("\n").encode(),
    ],
    ids=["carriage returns", "byte order mark", "latin-1", "no line end"],
)
def test_bytes_that_a_patch_does_not_mean_stay(tmp_path: Path, content: bytes) -> None:
    import linecache

    (tmp_path / FILE).write_bytes(content)
    linecache.checkcache()
    kept = linecache.getlines(str(tmp_path / FILE))
    patches = Patches(Files({FILE: kept}, str(tmp_path)))
    line = next(number for number, text in enumerate(kept, 1) if "map" in text)
    assert patches.make_patch("INP003", finding_at("INP003", (line, ""))).reason == ""
    assert patches.after[FILE] == content.replace(b"map(f)", b"map(f, num_parallel_calls=tf.data.AUTOTUNE)")


def test_a_file_that_changed_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(SOURCE + "\n")
    files = Files({FILE: SOURCE.splitlines(keepends=True)}, str(tmp_path))
    with pytest.raises(NoFix, match="changed since the run"):
        files.module(FILE)
    assert files.changed == {FILE}


def test_a_link_and_a_mode_stay(tmp_path: Path) -> None:
    real, link = tmp_path / "real.py", tmp_path / "link.py"
    real.write_bytes(b"a")
    real.chmod(0o750)
    link.symlink_to(real)
    replace(link, b"a", b"b")
    assert link.is_symlink() and real.read_bytes() == b"b" and real.stat().st_mode & 0o777 == 0o750
    with pytest.raises(UsageError, match="just changed"):
        replace(link, b"a", b"c")
    assert sorted(os.listdir(tmp_path)) == ["link.py", "real.py"] and real.read_bytes() == b"b"


def test_a_missing_line_end_is_said_where_git_wants_it() -> None:
    assert unified("t.py", b"a\nb", b"a\nc\n")[-4:] == [" a", "-b", "\\ No newline at end of file", "+c"]


def test_two_findings_give_one_file(tmp_path: Path) -> None:
    source = "import tensorflow as tf\nds = ds.map(f)\nds = ds.batch(2)\n"
    (tmp_path / FILE).write_text(source)
    patches = Patches(Files({FILE: source.splitlines(keepends=True)}, str(tmp_path)))
    first, again, second = (
        patches.make_patch(code, finding_at(code, (line, "")))
        for code, line in (("INP003", 2), ("INP001", 2), ("INP004", 3))
    )
    assert again.reason == "another finding's patch does it already"
    assert second.steps[0][1] == first.steps[0][2] and second.steps[0][2] == patches.after[FILE]


def test_a_gain_is_called_what_it_is() -> None:
    predicted = finding_at("INP003", (1, ""), gain=Range(1.5, 2.0, 3.0))
    assert gain(predicted) == "predicted 2.0x (1.5x to 3.0x), not measured"
    assert gain(finding_at("INP003", (1, ""))) == "not predicted, not measured"
    trial = Measured(experiment="parallel", keeps="results", verdict="faster", speedup=1.7, interval=(1.6, 1.8))
    said = gain(finding_at("INP003", (1, ""), gain=Range(2.0, 2.0, 2.0), measured=trial))
    assert said == "measured 1.7x by tfperf try (parallel, 95 %: 1.6x to 1.8x)"
    once = msgspec.structs.replace(trial, interval=None, pairs=1, verdict="undecided")
    said = gain(finding_at("INP003", (1, ""), gain=Range(2.0, 2.0, 2.0), measured=once))
    assert said == "predicted 2.0x; 1.7x in one pair of tfperf try (parallel), which is no proof"


@pytest.mark.parametrize(
    "name, code",
    [
        ("augmented_photos", "INP003"),
        ("tfrecord_crops", "INP003"),
        ("tabular_standardise", "INP004"),
        ("plain_loop_mlp", "EAG001"),
        ("reinforce_episodes", "RET002"),
        ("dqn_predict", "EAG004"),
        ("many_tiny_steps", "STP002"),
        ("collects_by_hand", "STP005"),
        ("debug_switch_left_on", "EAG003"),
        ("bucketless_sentences", "RET003"),
    ],
)
def test_a_real_script_parses_after_its_patch_and_a_second_one_changes_nothing(
    tmp_path: Path, name: str, code: str
) -> None:
    source = (SCRIPTS / f"{name}.py").read_text().replace("# FAULT", "# here")
    ast.parse(fixed(tmp_path, source, code))


def test_no_python_gets_no_patch(tmp_path: Path) -> None:
    patch, _ = patch_of(tmp_path, "print 'x'\n", finding_at("INP003", (1, "")))
    assert patch.reason == "its source can't be parsed"


def test_a_measured_gain_of_the_run_is_compared_with_the_predicted_one_of_the_run() -> None:
    found = finding_at("STP005", (1, ""), gain=Range(50.0, 70.0, 100.0), saves_s=(20.0, 30.0))
    trial = Measured(experiment="patch:STP005", keeps="results", verdict="faster", speedup=2.6, interval=(1.7, 3.9))
    assert compare_gains(found, trial, 40.0).startswith("whole run predicted 2.0x to 4.0x; measured 2.6x")
    assert compare_gains(found, trial, None).startswith("predicted 70x (50x to 100x); measured 2.6x")
