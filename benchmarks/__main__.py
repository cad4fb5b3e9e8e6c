"""``python -m benchmarks [ROUNDS [PART OF A LOOP'S NAME [PART OF A PROFILER'S NAME]]]``."""

from benchmarks.overhead import main

main()
