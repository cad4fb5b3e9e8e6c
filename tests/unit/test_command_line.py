"""The help of every command, the pairs of --format and -o, and colour."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from tfperfkit.cli import cli, main
from tfperfkit.commands._common_options import paired
from tfperfkit.commands._help import Command, Root
from tfperfkit.doctor import command as doctor
from tfperfkit.doctor.check import Check
from tfperfkit.errors import UsageError
from tfperfkit.report.terminal import choose_color, choose_quiet, is_quiet, terminal_of


def helps() -> Iterator[list[str]]:
    for name, command in cli.commands.items():
        yield [name]
        yield from ([name, inner] for inner in getattr(command, "commands", ()))


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert not ended.value.code
    return capsys.readouterr().out


@pytest.mark.parametrize("words", [[], *helps()], ids=" ".join)
@pytest.mark.parametrize("flag", ["--help", "--help-all"])
def test_help_fits_80_columns_and_hides_what_click_calls_things(
    words: list[str], flag: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    command = cli.commands[words[0]] if words else cli
    if flag == "--help-all" and not (words == [] or getattr(command, "brief", ())):
        return
    text = shown(capsys, *words, flag)
    assert max(map(len, text.splitlines())) <= 80
    assert not re.search(r"INTEGER|RANGE|TEXT|FLOAT|<=|x>=", text), text
    assert "Default:" not in text


def test_eleven_commands_are_listed_and_the_others_with_help_all(capsys: pytest.CaptureFixture[str]) -> None:
    brief, full = shown(capsys, "--help"), shown(capsys, "--help-all")
    listed = [re.findall(r"^  ([a-z]+)  +[A-Z]", text, re.MULTILINE) for text in (brief, full)]
    assert len(listed[0]) == 11
    assert sorted(listed[1]) == sorted(cli.commands)
    assert set(listed[1]) - set(listed[0]) == set(Root.groups["More"])


def test_help_of_run_has_eight_options_and_examples(capsys: pytest.CaptureFixture[str]) -> None:
    brief = shown(capsys, "run", "--help")
    assert "Usage: tfperf run [OPTIONS] SCRIPT [SCRIPT ARGUMENTS]" in brief
    options = re.findall(r"^  (?:-\w, )?(--[\w-]+)", brief, re.MULTILINE)
    assert len([option for option in options if not option.startswith("--help")]) == 8
    assert "\nExamples:\n  tfperf run train.py\n" in brief and "\nExit status: " in brief
    assert "--probes" not in brief and "--lines-depth" not in brief
    full = shown(capsys, "run", "--help-all")
    assert "--probes" in full and "--lines-depth" in full


def test_every_brief_option_exists() -> None:
    for command in cli.commands.values():
        assert isinstance(command, Command)
        assert set(command.brief) <= {param.name for param in command.params if isinstance(param, click.Option)}


@pytest.mark.parametrize(
    ("formats", "outputs", "expected"),
    [
        ((), (), []),
        ((), ("a",), [("text", "a")]),
        (("json",), (), [("json", "-")]),
        (("json", "html"), ("a", "b"), [("json", "a"), ("html", "b")]),
        (("json", "html"), ("a",), [("json", "a"), ("html", "-")]),
    ],
)
def test_each_format_has_its_file(formats: tuple[str], outputs: tuple[str], expected: list[tuple[str, str]]) -> None:
    assert paired(formats, outputs) == expected


@pytest.mark.parametrize(("formats", "outputs"), [((), ("a", "b")), (("json",), ("a", "b")), (("json", "html"), ())])
def test_a_format_or_a_file_too_many(formats: tuple[str], outputs: tuple[str]) -> None:
    with pytest.raises(UsageError, match="each -"):
        paired(formats, outputs)


def test_colour_is_chosen_over_the_environment() -> None:
    try:
        choose_color("always")
        assert terminal_of(io.StringIO(), {"NO_COLOR": "1"}).color
        choose_color("never")
        assert not terminal_of(io.StringIO(), {"FORCE_COLOR": "1"}).color
    finally:
        choose_color("auto")
    assert terminal_of(io.StringIO(), {"FORCE_COLOR": "1"}).color


#: Arguments with which a command is called.
ARGUMENTS = {
    "run": ["a.py"],
    "check": ["a.py"],
    "try": ["a.py"],
    "compare": ["a", "b"],
    "explain": ["INP001"],
    "list": ["rules"],
    "completion": ["bash"],
    "launch": ["a.py"],
    "runs prune": ["--older-than", "30d"],
    "runs sql": ["select 1"],
    "runs export": ["folder"],
}


def find_command(words: list[str]) -> click.Command:
    """Return the command of these words."""
    command = cli.commands[words[0]]
    for word in words[1:]:
        assert isinstance(command, click.Group)
        command = command.commands[word]
    return command


@pytest.fixture
def loud() -> Iterator[None]:
    """Undo ``--quiet`` after the test."""
    yield
    choose_quiet(False)


@pytest.mark.parametrize("words", helps(), ids=" ".join)
def test_every_command_shows_the_traceback_of_an_error_if_asked(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise UsageError("the run is gone")

    monkeypatch.setattr(find_command(words), "callback", fail)
    arguments = ARGUMENTS.get(" ".join(words), [])
    for flag, count in ((["-v"], 1), (["--verbose"], 1), ([], 0)):
        if words == ["launch"]:  # its -v is for tfperf run
            flag, count = [], 0
        done = CliRunner().invoke(cli, [*words, *flag, *arguments])
        assert isinstance(done.exception, UsageError), done.output
        assert done.output.count("Traceback") == count


@pytest.mark.parametrize(
    "words",
    [
        *([name] for name in ("run", "report", "try", "check", "fix", "export", "view", "doctor", "runs")),
        ["runs", "prune"],
    ],
    ids=" ".join,
)
def test_commands_that_print_more_than_a_result_can_be_quiet(
    words: list[str], monkeypatch: pytest.MonkeyPatch, loud: None
) -> None:
    seen = list[bool]()
    monkeypatch.setattr(find_command(words), "callback", lambda *_, **__: seen.append(is_quiet()))
    arguments = ARGUMENTS.get(" ".join(words), [])
    for flag in ("-q", "--quiet"):
        assert CliRunner().invoke(cli, [*words, flag, *arguments]).exit_code == 0
    assert CliRunner().invoke(cli, [*words, *arguments]).exit_code == 0
    assert seen == [True, True, False]


def test_launch_passes_quiet_and_verbose_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    given = list[tuple[str, ...]]()
    monkeypatch.setattr("tfperfkit.launch.run.launch_workers", lambda count, folder, words: given.append(words))
    assert CliRunner().invoke(cli, ["launch", "-q", "-v", "a.py", "-q"]).exit_code == 0
    assert given == [("-q", "-v", "a.py", "-q")]


@pytest.mark.parametrize("words", [["doctor"], ["doctor", "-q"]], ids=" ".join)
def test_a_quiet_doctor_shows_what_is_broken(words: list[str], monkeypatch: pytest.MonkeyPatch, loud: None) -> None:
    rows = [Check("Python", "ok", "3.11"), Check("C code", "broken", "not built", "make .venv/.installed")]
    monkeypatch.setattr(doctor, "check_packages", lambda: [*rows, Check("TensorFlow", "missing", "not installed")])
    monkeypatch.setattr(doctor, "check_tensorboard", list)
    monkeypatch.setattr(doctor, "runs_folder", lambda: None)
    monkeypatch.setattr(doctor, "check_folder", lambda folder: Check("runs folder", "ok", "/runs"))
    done = CliRunner().invoke(cli, words, standalone_mode=False)
    assert done.return_value == 1
    lines = done.stdout.splitlines()
    quiet = ["broken   C code             not built", f"{'':27} -> make .venv/.installed"]
    assert [line for line in lines if line in quiet] == quiet
    assert (len(lines) == 2) == (len(words) > 1)
    assert ("broken: C code" in lines) == (len(words) == 1)
