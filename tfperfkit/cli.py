"""The command line: parse, delegate, map errors to exit statuses.

Only click is imported here; what a command needs, it imports when it runs (``tfperf --help`` takes 0.1 s).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from tfperfkit.errors import EXIT_USAGE, TfperfError
from tfperfkit.launch.probe_options import ProbeOptionsCommand, ReportOptionsCommand, probe_options
from tfperfkit.trials.commands import PROVE, TRY
from tfperfkit.version import __version__

_EPILOG = """\b
Exit status: the script's own for run (128 + N if signal N killed it); 2 for a mistake in our command line,
configuration or input."""


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, epilog=_EPILOG)
@click.version_option(__version__, prog_name="tfperf", message="%(prog)s %(version)s")
def cli() -> None:
    """Tells what makes a TensorFlow 2 training script slow, where, and what to change."""


_RUN_OPTIONS = [
    click.Option(
        ["--probes"],
        metavar="NAMES",
        help="Probes with commas, or all, default, none. Default: all that tfperf brings.",
    ),
    click.Option(
        ["--out"], metavar="DIR", help="Folder of this run. Default: a new one below the user's state folder."
    ),
    click.Option(["--json"], metavar="FILE", help="Write the report as JSON too."),
    click.Option(["--html"], metavar="FILE", help="Write the report as one HTML file, with pictures, too."),
    click.Option(["--output"], metavar="FILE", help="Write our header and report to a file, not to stderr."),
    click.Option(["--show"], metavar="NAMES", help="Probes whose tables the report shows in full, or all."),
    click.Option(["--steps-from"], metavar="FUNCTION", help="One call of this function is one training step."),
    click.Option(
        ["--window"],
        metavar="PROBE=START:COUNT",
        multiple=True,
        help="Give a probe these steps; PROBE=all: the whole run; none: no window; auto: where tfperf would put it.",
    ),
    click.Option(["--require-gpu"], is_flag=True, help="Exit with status 2 before the first step if there is no GPU."),
    click.Option(["--prove"], is_flag=True, help="Then measure what the findings gain, as tfperf prove does."),
]


class _RunCommand(ProbeOptionsCommand):
    """Splits our arguments from the script's before click sees them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        from tfperfkit.launch.arguments import split

        if not args:
            raise click.exceptions.NoArgsIsHelpError(ctx)
        self.look(ctx, args)
        options = {name: not getattr(param, "is_flag", False) for param in self.get_params(ctx) for name in param.opts}
        parts = split(args, options)
        if parts is None:
            self.look(ctx, None)
            return super().parse_args(ctx, ["--help"])
        ctx.obj = parts
        return super().parse_args(ctx, list(parts.ours))


def _run(**options: Any) -> None:
    from tfperfkit.explain.examples import examples
    from tfperfkit.launch.run import run

    context = click.get_current_context()
    declared, given = probe_options(context, options)
    afterwards = None
    if options["prove"]:
        from tfperfkit.trials.command import prove_after_run

        afterwards = prove_after_run
    raise SystemExit(run(context.obj, options, declared, given, afterwards, examples))


cli.add_command(
    _RunCommand(
        "run",
        callback=_run,
        params=list(_RUN_OPTIONS),
        options_metavar="[OPTIONS]",
        help="""Run a training script and report what makes it slow.

        \b
        tfperf run [OPTIONS] SCRIPT [ARGUMENTS OF THE SCRIPT]
        tfperf run [OPTIONS] -m MODULE [ARGUMENTS OF THE MODULE]

        Our options may also stand directly after SCRIPT; from the first argument that is not ours, or from -- on,
        everything is the script's.""",
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog=_EPILOG,
    )
)


@cli.command(cls=ReportOptionsCommand)
@click.argument("run")
@click.option("--json", "json_file", metavar="FILE", help="Write the report as JSON; - for stdout.")
@click.option("--html", "html_file", metavar="FILE", help="Write the report as one HTML file, with pictures.")
@click.option("--output", metavar="FILE", help="Write the report to a file.")
@click.option("--show", metavar="NAMES", help="Probes whose tables are shown in full (with commas), or all.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "html", "markdown", "sarif"]),
    help="What is written to stdout, or to --output. Default: text.",
)
@click.option("--for-agents", is_flag=True, help="Write the findings for a coding agent: short, by id, under 4 kB.")
def report(
    run: str,
    json_file: str | None,
    html_file: str | None,
    output: str | None,
    show: str | None,
    form: str | None,
    for_agents: bool,
    **options: Any,
) -> None:
    """Show the report of a finished run again. RUN: a folder, a run's name, or last."""
    from tfperfkit.explain.examples import examples
    from tfperfkit.launch.run import Wanted
    from tfperfkit.launch.run import show as show_run

    declared, given = probe_options(click.get_current_context(), options)
    if for_agents and form not in (None, "text"):
        raise click.UsageError(f"--for-agents is text; leave out --format {form}")
    form = "agents" if for_agents else form if form != "text" else None
    from tfperfkit.config import find_run
    from tfperfkit.records.rank import holds_parts

    folder = find_run(run)
    if holds_parts(folder):
        from tfperfkit.launch.output import report_file
        from tfperfkit.ranks.command import show as show_ranks

        with report_file(output, sys.stdout) as file:
            show_ranks(folder, json_file, file)
        return
    show_run(run, Wanted(json_file, html_file, output, show, form), declared, given, examples)


cli.add_command(TRY)
cli.add_command(PROVE)


@cli.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN_A RUN_B...")
@click.option("--json", "json_file", metavar="FILE", help="Write the comparison as JSON; - for stdout.")
def compare(runs: tuple[str, ...], json_file: str | None) -> None:
    """Tell what changed between runs: set-up, step time and whether that is more than chance, and why.

    The others are compared with the first. RUN: a folder, a run's name, last, or a JSON report."""
    from tfperfkit.comparing.command import compare_runs

    compare_runs(runs, json_file)


@cli.command()
@click.argument("run")
@click.argument("identity", required=False, metavar="[ID]")
@click.option("--apply", "write", is_flag=True, help="Write the patches into the files.")
def fix(run: str, identity: str | None, write: bool) -> None:
    """Show what the findings of a run have changed in the source, as patches. RUN: a folder, a run's name, or last.

    ID: of one finding, such as INP003. Needs LibCST: pip install 'tfperfkit[fix]'."""
    from tfperfkit.fixing.command import fix_run

    fix_run(run, identity, write)


class _CheckCommand(click.Command):
    """Splits our arguments from the script's before click sees them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        from tfperfkit.launch.arguments import split

        if not args:
            raise click.exceptions.NoArgsIsHelpError(ctx)
        options = {name: True for param in self.params for name in param.opts}
        parts = split(args, options)
        if parts is None:
            return super().parse_args(ctx, ["--help"])
        ctx.obj = (*(["-m"] if parts.is_module else []), parts.target, *parts.script_arguments)
        return super().parse_args(ctx, list(parts.ours))


def _check(**options: Any) -> int:
    from tfperfkit.checking.command import check

    return check(click.get_current_context().obj, options)


cli.add_command(
    _CheckCommand(
        "check",
        callback=_check,
        params=[
            click.Option(["--base"], metavar="REVISION", help="Measure step time against this revision, in turn."),
            click.Option(["--time"], metavar="TIME", default="10m", help="No new pair of runs after 90s, 5m, 1h ..."),
            click.Option(["--out"], metavar="DIR", help="Folder of the checked run."),
            *(
                click.Option([f"--{name}"], metavar="FILE", help=f"Write {words}; - for stdout.")
                for name, words in (
                    ("json", "the outcome as JSON"),
                    ("markdown", "Markdown for a pull request"),
                    ("junit", "JUnit XML"),
                    ("sarif", "SARIF 2.1.0"),
                    ("github", "annotations for a GitHub workflow"),
                )
            ),
        ],
        options_metavar="[OPTIONS] SCRIPT [ARGUMENTS OF THE SCRIPT]",
        help="""Check a script against the budget in pyproject.toml, and its step time against a base.

        Exit status: 0 the budget is kept, 1 it is not, 3 undecided, 2 a mistake in our part or pyproject.toml.""",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
)


@cli.command()
@click.argument("topic", nargs=-1)
@click.option("--list", "list_all", is_flag=True, help="List all that can be explained.")
@click.pass_context
def explain(context: click.Context, topic: tuple[str, ...], list_all: bool) -> None:
    """Explain a finding's code, a probe, or a word of the report.

    \b
    tfperf explain BAT001
    tfperf explain "clean steps"
    """
    from tfperfkit.explain.command import explain as show_pages
    from tfperfkit.explain.command import list_topics

    if list_all:
        list_topics()
    elif topic:
        show_pages(topic)
    else:
        raise click.exceptions.NoArgsIsHelpError(context)


@cli.command()
def probes() -> None:
    """List the installed probes."""
    from tfperfkit.launch.listing import list_probes

    list_probes()


@cli.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Default: a free one.")
@click.option("--no-browser", is_flag=True, help="Print the address only.")
def view(runs: tuple[str, ...], port: int, no_browser: bool) -> int:
    """Show runs' traces in TensorBoard, on this machine only, until Ctrl-C."""
    from tfperfkit.doctor.tensorboard import why_not
    from tfperfkit.viewing.command import view as show

    return show(runs, port, not no_browser, why_not)


@cli.command()
@click.argument("run")
@click.option("--out", metavar="FILE", help="Default: NAME.trace.json.gz in the current folder.")
def trace(run: str, out: str | None) -> None:
    """Write a run as a trace for Perfetto or chrome://tracing, and its Python samples for speedscope."""
    from tfperfkit.export.command import export

    export(run, out)


@cli.command("read")
@click.argument("path")
@click.option("--json", "json_file", metavar="FILE", help="Write what was found as JSON; - for stdout.")
@click.option("--all", "everything", is_flag=True, help="All rows of the tables.")
def read_trace(path: str, json_file: str | None, everything: bool) -> None:
    """Read a trace that TensorFlow's, JAX's or Horovod's profiler recorded.

    PATH: a TensorBoard log directory, a run below plugins/profile, an .xplane.pb, a Chrome trace (.json.gz), or a
    Horovod timeline.
    """
    from tfperfkit.reading.command import read

    read(path, json_file, everything)


@cli.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False, "help_option_names": ["--help"]}
)
@click.option("-n", "count", type=click.IntRange(2, 64), default=2, help="So many workers. Default: 2.")
@click.option("--out", metavar="DIR", help="Folder of this run. Default: a new one below the user's state folder.")
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="SCRIPT [ITS ARGUMENTS]")
def launch(count: int, out: str | None, words: tuple[str, ...]) -> int:
    """Train with several workers on this machine, for trying: TF_CONFIG is set, the rest is passed on.

    Options of tfperf run stand between ours and SCRIPT.
    """
    from tfperfkit.launch.run import launch_workers

    return launch_workers(count, out, words)


@cli.group(invoke_without_command=True)
@click.option(
    "--filter", "word", metavar="WORD", default="", help="Of which name, script, status or finding hold this."
)
@click.option("--sort", "key", type=click.Choice(("when", "name", "script", "steps", "step", "wall")), default="when")
@click.option("--most", type=click.IntRange(0), default=40, help="So many rows; 0: all. Default: 40.")
@click.option("--json", "json_file", metavar="FILE", help="Write the list as JSON; - for stdout.")
@click.pass_context
def runs(context: click.Context, word: str, key: str, most: int, json_file: str | None) -> None:
    """List the runs in the runs folder, remove old ones, ask them by SQL."""
    if context.invoked_subcommand is None:
        from tfperfkit.runs.command import show

        show(word, key, most, json_file)


@runs.command()
@click.option("--older-than", "older", metavar="AGE", help="Runs that began longer ago: 30d, 12h, 8w.")
@click.option("--larger-than", "larger", metavar="SIZE", help="The oldest, until all together take no more: 10GB.")
@click.option("--yes", is_flag=True, help="Don't ask.")
def prune(older: str | None, larger: str | None, yes: bool) -> int:
    """Remove old runs. Tells which, and asks first."""
    from tfperfkit.runs.command import prune as remove

    return remove(older, larger, yes)


@runs.command()
@click.argument("statement")
@click.option("--json", "json_file", metavar="FILE", help="Write the rows as JSON; - for stdout.")
def sql(statement: str, json_file: str | None) -> None:
    """Ask the reports of all runs: the tables runs, findings, evidence, parts."""
    from tfperfkit.runs.command import sql as ask

    ask(statement, json_file)


@runs.command("export")
@click.argument("folder")
def export_runs(folder: str) -> None:
    """Write these tables as Parquet files into FOLDER."""
    from tfperfkit.runs.command import export as write

    write(folder)


@cli.command()
@click.argument("shell")
def completion(shell: str) -> None:
    """Print what makes a shell complete our commands and options. SHELL: bash, zsh or fish.

    \b
    eval "$(tfperf completion bash)"              in ~/.bashrc, or zsh in ~/.zshrc
    tfperf completion fish > ~/.config/fish/completions/tfperf.fish
    """
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    if made is None:
        raise click.UsageError(f"completion is for bash, zsh and fish, not {shell!r:.40}")
    click.echo(made(cli, {}, "tfperf", "_TFPERF_COMPLETE").source())


@cli.command("mcp")
def serve_agents() -> None:
    """Serve coding agents: run, findings, explain, try, compare, check (Model Context Protocol on stdin and stdout)."""
    from tfperfkit.agents.command import serve

    serve()


@cli.command()
def doctor() -> int:
    """Check this environment: what was found and what to do. Exit status 1 if something is broken."""
    from tfperfkit.doctor.command import doctor as examine

    return examine()


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point of the command. A person's mistake is one line on stderr; never a traceback."""
    try:
        _main(arguments)
    except SystemExit as ended:
        if sys.flags.inspect:
            _leave(ended.code)
        raise


def _leave(status: object) -> None:
    """``python -i`` and PYTHONINSPECT are the script's: its prompt has come and gone, ours would be a second one."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            try:
                stream.flush()
            except (OSError, ValueError):
                pass
    os._exit(status if isinstance(status, int) else 0 if status is None else 1)


def _main(arguments: Sequence[str] | None) -> None:
    try:
        status = cli.main(list(arguments) if arguments is not None else None, prog_name="tfperf", standalone_mode=False)
    except TfperfError as error:
        _tell(str(error))
        raise SystemExit(error.exit_status) from None
    except (click.exceptions.NoArgsIsHelpError, click.MissingParameter) as error:
        _help(error)
        raise SystemExit(EXIT_USAGE) from None
    except click.ClickException as error:
        _tell(f"{error.format_message()} (tfperf --help)")
        raise SystemExit(EXIT_USAGE) from None
    except (click.Abort, KeyboardInterrupt):
        raise SystemExit(130) from None
    except BrokenPipeError:
        _close_stdout()
        raise SystemExit(0) from None
    except OSError as error:
        _close_stdout()
        _tell(f"{error.strerror or error}{f': {error.filename!s}' if error.filename else ''}")
        raise SystemExit(EXIT_USAGE) from None
    raise SystemExit(status if isinstance(status, int) else 0)


def _help(error: click.UsageError) -> None:
    """Called without what it needs: its help, and what was missing if that was named."""
    if error.ctx is not None:
        print(error.ctx.get_help(), file=sys.stderr)
    if isinstance(error, click.MissingParameter):
        print(file=sys.stderr)
        _tell(error.format_message().rstrip("."))


def _tell(text: str) -> None:
    """What names and words of others it quotes can neither break the line nor command the terminal."""
    from tfperfkit.report.text import one_line

    print(one_line(f"tfperf: {text}"), file=sys.stderr)


def _close_stdout() -> None:
    """Whoever read it has gone (``| head``), or its disk is full: Python must not complain once more at its end."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except OSError:
        pass


if __name__ == "__main__":
    main()
