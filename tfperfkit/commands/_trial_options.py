"""What ``tfperf try`` and ``tfperf prove`` have in common."""

from __future__ import annotations

import click


def time_for_all(usual: str) -> click.Option:
    """``--time``, with what it is unless it is given."""
    words = f"For all trials together: 90s, 3m. Default: {usual}."
    return click.Option(["--time", "budget"], metavar="TIME", default=usual, help=words)


COMMON = [
    click.Option(["--json"], metavar="FILE", help="Write what was measured as JSON; - for stdout."),
    click.Option(["--in-place"], is_flag=True, help="Run trials in the folder itself: what the script writes stays."),
    click.Option(["--seed"], type=int, help="Of the order of trials."),
]
