"""``python -m benchmarks [ROUNDS]``."""

from benchmarks.overhead import main

main()
