"""The output of scripts, compared: times don't count, results do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfperfkit.trials.outputs import Outputs, compare_outputs, read_outputs


def compared(plain: str | list[str], changed: str, complete: bool = True) -> tuple[str, str]:
    texts = [plain] if isinstance(plain, str) else plain
    made = [Outputs(printed=text, complete=complete) for text in texts]
    return compare_outputs(made, Outputs(printed=changed, complete=complete))


@pytest.mark.parametrize(
    "plain, changed",
    [
        ("loss 0.5013 in 12.1 s", "loss 0.5014 in 3.2 s"),
        ("epoch 3: 126 images/s", "epoch 3: 580 images/s"),
        ("took 12.5", "took 2.0"),
        ("elapsed: 90\nfound 240", "elapsed: 8\nfound 240"),
        ("\x1b[1m8/8\x1b[0m 2s 12ms/step - loss: 0.70", "\x1b[1m8/8\x1b[0m 1s 3ms/step - loss: 0.70"),
    ],
)
def test_times_and_rounding_are_no_difference(plain: str, changed: str) -> None:
    assert compared(plain, changed) == ("same", "")


@pytest.mark.parametrize(
    "plain, changed",
    [
        ("found 240", "found 239"),
        ("loss 0.5013 in 12.1 s", "loss 0.61 in 12.1 s"),
        ("done", "done\nWARNING"),
        ("mean of rows 4", "mean of columns 4"),
    ],
)
def test_other_results_are(plain: str, changed: str) -> None:
    verdict, difference = compared(plain, changed)
    assert verdict == "differ" and difference


#: Output of predict() of Keras 3 and of Keras 2 for one batch when stdout is a file.
KERAS_3 = f"\r\x1b[1m1/1\x1b[0m \x1b[32m{'━' * 20}\x1b[0m\x1b[37m\x1b[0m \x1b[1m0s\x1b[0m 320ms/step"
KERAS_2 = f"\r1/1 [{'=' * 30}] - ETA: 0s"


@pytest.mark.parametrize(
    "bar", [KERAS_3 + "\b" * 30 + KERAS_3, f"{KERAS_2}\r1/1 [{'=' * 30}] - 0s 41ms/step"], ids=["Keras 3", "Keras 2"]
)
def test_a_call_without_a_progress_bar_is_no_difference(bar: str) -> None:
    assert compared(f"{bar}\n{bar}\nfound 240", "found 240") == ("same", "")
    assert compared(f"{bar} - loss: 0.7000\nfound 240", "found 240")[0] == "differ"
    assert compared(bar, "") == ("unknown", "")


def test_what_a_script_changes_from_run_to_run_by_itself_is_no_difference() -> None:
    assert compared(["reward 1.52", "reward 1.31"], "reward 1.2")[0] == "same"
    assert compared(["reward 1.52", "reward 1.51"], "reward 1.2")[0] == "differ"
    assert compared(["at a1 b", "at c3 d"], "at e5 f")[0] == "same"


def test_two_runs_that_drift_apart_may_be_close_on_one_line() -> None:
    plain = ["loss 0.10\nloss 0.20", "loss 0.30\nloss 0.20"]
    assert compared(plain, "loss 0.10\nloss 0.35")[0] == "same"
    assert compared(plain, "loss 0.10\nloss 0.95")[0] == "differ"
    assert compared(["loss 0.10\nmae 0.20", "loss 0.30\nmae 0.20"], "loss 0.10\nmae 0.35")[0] == "differ"


def test_of_runs_that_were_stopped_the_lines_that_both_have_count() -> None:
    assert compared("a 1\nb 2", "a 1\nb 2\nc 3", complete=False) == ("same", "")
    assert compared("a 1\nb 2", "a 1\nb 3", complete=False)[0] == "differ"
    assert compared("", "a", complete=False)[0] == "unknown"


def test_files(tmp_path: Path) -> None:
    (tmp_path / "top" / "__pycache__").mkdir(parents=True)
    (tmp_path / "top" / "__pycache__" / "x.pyc").write_bytes(b"\0")
    (tmp_path / "top" / "train.py").write_text("patched")
    (tmp_path / "top" / "scores.csv").write_text("a,0.5\n")
    (tmp_path / "top" / "w.npy").write_bytes(b"\0\1\2")
    patched = [tmp_path / "top" / "train.py"]

    def read() -> Outputs:
        return read_outputs(tmp_path / "none", [tmp_path / "top"], patched, True)

    plain = read()
    assert sorted(plain.files) == ["scores.csv", "w.npy"]
    (tmp_path / "top" / "w.npy").write_bytes(b"\0\1\3")
    assert compare_outputs([plain], read()) == ("same", "")
    (tmp_path / "top" / "scores.csv").write_text("a,0.9\n")
    assert "scores.csv" in compare_outputs([plain], read())[1]
    (tmp_path / "top" / "scores.csv").unlink()
    assert compare_outputs([plain], read()) == ("differ", "scores.csv is not written")


@pytest.mark.parametrize(
    "printed, same",
    [("done", False), ("took 12.5", False), ("found 240", True), ("loss 0.5 in 12.1 s", True), ("", False)],
)
def test_only_numbers_that_are_no_times_prove_a_doubtful_change(printed: str, same: bool) -> None:
    one = Outputs(printed=printed, complete=True)
    assert compare_outputs([one], one, numbers=True)[0] == ("same" if same else "unknown")
