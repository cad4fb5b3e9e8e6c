"""``python -m tfperfkit`` is ``tfperf``; interpreter flags given here (``python -O -m tfperfkit run …``) go on to the script."""

from tfperfkit.cli import main

main()
