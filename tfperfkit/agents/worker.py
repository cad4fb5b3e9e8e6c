"""What reads a run for the server, in a process of its own: ``python -m tfperfkit.agents.worker RUN TEXT JSON [ID]``.

Writes the findings, or all that is known of one, as text into the file TEXT and the whole report into the file JSON.
Standard output is left to the probes of others.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from tfperfkit.agents.one_finding import one_finding
from tfperfkit.analysis.analyze import analyze
from tfperfkit.config import find_run
from tfperfkit.errors import TfperfError
from tfperfkit.report.agents import agents
from tfperfkit.report.json import encode
from tfperfkit.report.text import one_line


def main(words: Sequence[str]) -> int:
    """Returns the exit status; a mistake is one line on stderr."""
    run, text, document, *identity = words
    try:
        report = analyze(find_run(run), pictures=True)
        foot = f"more of one: explain(id, run) | whole report: {document}\n"
        made = one_finding(report, identity[0]) if identity else agents(report, foot)
    except TfperfError as error:
        print(one_line(str(error)), file=sys.stderr)
        return error.exit_status
    Path(text).write_text(made, encoding="utf-8", errors="backslashreplace")
    Path(document).write_bytes(encode(report))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
