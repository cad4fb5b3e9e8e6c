"""``tfperf list probes``: what is installed, what it costs, where it comes from."""

from __future__ import annotations

import sys

from tfperfkit import registry
from tfperfkit.errors import ProbeError
from tfperfkit.report.text import one_line


def list_probes() -> None:
    """Print one line per installed probe to stdout; a probe that can't be loaded is listed with its reason."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("probe", "cost", "from", "tells"):
        table.add_column(heading, overflow="fold")
    for name, point in registry.available().items():
        source = f"{point.dist.name} {point.dist.version}" if point.dist else "unknown"
        try:
            probe = registry.load(name)
            cost = "none: on throughout" if probe.cost.value == "free" else "a window of a few steps"
            words = (type(probe).__doc__ or "").strip().partition("\n")[0]
        except ProbeError as error:
            cost, words = "-", str(error)
        table.add_row(*(Text(one_line(text)) for text in (name, cost, source, words)))
    for name, problem in registry.refused().items():
        table.add_row(Text(one_line(name)), Text("-"), Text(""), Text(one_line(f"can't be selected: {problem}")))
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else 140, highlight=False)
    with console.capture() as drawn:
        console.print(table)
    print("\n".join(line.rstrip(" ") for line in drawn.get().splitlines()))
