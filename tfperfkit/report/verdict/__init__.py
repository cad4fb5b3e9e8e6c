"""The verdict: the end of a report on a terminal, 24 lines of 80 columns that say what to change first."""
