"""``python -m tfperfkit`` is ``tfperf``; interpreter flags (``python -O -m tfperfkit run …``) go on to the script."""

from tfperfkit.cli import main

main()
