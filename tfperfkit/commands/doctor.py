"""``tfperf doctor``: checks this environment."""

from __future__ import annotations

from tfperfkit.commands import HELP
from tfperfkit.commands._common_options import quiet, verbose
from tfperfkit.commands._help import Command


def _doctor() -> int:
    from tfperfkit.doctor.command import doctor as examine

    return examine()


COMMAND = Command(
    "doctor",
    callback=_doctor,
    params=[quiet("Show only what is broken."), verbose()],
    short_help="Check this environment.",
    help="Check Python, TensorFlow, GPU libraries and what tfperf needs, and say how to fix what is missing.",
    status="0: everything works; 1: something is broken.",
    context_settings=HELP,
)
