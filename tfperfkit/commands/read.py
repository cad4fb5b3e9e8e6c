"""``tfperf read``: a trace that somebody else recorded."""

from __future__ import annotations

import click

from tfperfkit.commands import HELP


@click.command("read", context_settings=HELP, short_help="Read a trace that another profiler recorded.")
@click.argument("path")
@click.option("--json", "json_file", metavar="FILE", help="Write what was found as JSON; - for stdout.")
@click.option("--all", "everything", is_flag=True, help="All rows of the tables.")
def read_trace(path: str, json_file: str | None, everything: bool) -> None:
    """Read a trace that TensorFlow's, JAX's or Horovod's profiler recorded.

    PATH: a TensorBoard log directory, a run below plugins/profile, an .xplane.pb, a Chrome trace (.json.gz), or a
    Horovod timeline; or an address of one (gs://bucket/logs).
    """
    from tfperfkit.reading.command import read

    read(path, json_file, everything)


COMMAND = read_trace
