"""``python -m benchmarks [ROUNDS [PART OF A NAME OF A LOOP]]``."""

from benchmarks.overhead import main

main()
